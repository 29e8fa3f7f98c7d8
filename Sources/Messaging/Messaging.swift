enum MessagingRoom {}
