// Records
