enum SQLiteRoom {}
