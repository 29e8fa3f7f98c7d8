#pragma once
// SQLite as Swift can call it. `sqlite3.h` includes nothing of the system but <stdarg.h>, so it may
// stand here; below is only what Swift cannot say: variadic functions and macros.
#include <sqlite3.h>

/// Settles what holds for the whole process, before the first connection is opened.
///
/// Connections are guarded by their owners, so SQLite takes no mutex for them; nobody asks how much
/// memory it uses, so it does not count under a lock; and what a savepoint sets aside never goes
/// into a temporary file. If somebody has used SQLite before, that one's settings stay: slower, and
/// as correct, because every connection is opened without its mutex anyway.
void csq_initialize(void);

/// Refuses what a damaged or foreign schema could do: tampering with the schema table, functions
/// with side effects inside it, and text in double quotes taken for a string.
int csq_harden(sqlite3 *database);

/// Closing this connection never moves the log into the database.
int csq_leave_log_alone(sqlite3 *database);

/// What cannot be understood of the schema is passed over. To be called before it is read.
int csq_forgive_schema(sqlite3 *database);

/// Binds without a copy: the bytes stay as they are until the statement is reset.
int csq_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count);
int csq_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);

/// The system's reason for the last failure of the log or, if it has had none, of the database file;
/// 0 for none. SQLite passes it on from a statement, but not from a commit, and not where it takes a
/// failed read for damage. It is told once: SQLite would keep it for as long as the file is open.
int csq_take_file_error(sqlite3 *database);

/// Whether the database's file is not to be found any more under its name.
int csq_has_moved(sqlite3 *database);

/// How many deferred foreign keys the open transaction violates so far.
int csq_deferred_violations(sqlite3 *database);
