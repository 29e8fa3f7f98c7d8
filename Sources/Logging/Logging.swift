enum LoggingRoom {}
