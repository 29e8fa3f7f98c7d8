#include "csqlite.h"

#include <stddef.h>

void csq_initialize(void) {
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
    sqlite3_initialize();
}

int csq_harden(sqlite3 *database) {
    static const struct {
        int option, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int code = sqlite3_db_config(database, settings[i].option, settings[i].value, NULL);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

int csq_leave_log_alone(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

int csq_forgive_schema(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
}

// A null pointer would be NULL; no bytes are a value too.
int csq_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

int csq_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

// A read behind the end of the file, which no disk is asked for, makes SQLite forget.
static int take_error(sqlite3_file *file) {
    int number = 0;
    int code = file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (code != SQLITE_OK || number == 0) return 0;
    char byte;
    file->pMethods->xRead(file, &byte, 1, (sqlite3_int64)1 << 50);
    return number;
}

int csq_take_file_error(sqlite3 *database) {
    static const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
    int number = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        sqlite3_file *file = NULL;
        if (sqlite3_file_control(database, "main", files[i], &file) != SQLITE_OK) continue;
        if (file == NULL || file->pMethods == NULL) continue;
        int found = take_error(file);
        if (found != 0) number = found;
    }
    return number;
}

int csq_has_moved(sqlite3 *database) {
    int moved = 0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return code == SQLITE_OK && moved;
}

int csq_deferred_violations(sqlite3 *database) {
    int current = 0, highest = 0;
    sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0);
    return current;
}
