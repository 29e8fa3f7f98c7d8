#define _GNU_SOURCE
#include "ceilings.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void must(int code, sqlite3 *database) {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    fprintf(stderr, "ceiling: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static sqlite3 *open_as_we_do(const char *path) {
    sqlite3 *database;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    must(sqlite3_open_v2(path, &database, flags, NULL), database);
    must(
        sqlite3_exec(
            database,
            "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
            "PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 1000;"
            "PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -16384;",
            NULL, NULL, NULL
        ),
        database
    );
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), database);
    return statement;
}

static void run(sqlite3 *database, sqlite3_stmt *statement) {
    must(sqlite3_step(statement), database);
    sqlite3_reset(statement);
}

double ceiling_sqlite_commits(const char *path, const int *batches, int count, const void *row, int size) {
    sqlite3 *database = open_as_we_do(path);
    sqlite3_stmt *begin = prepare(database, "BEGIN IMMEDIATE");
    sqlite3_stmt *commit = prepare(database, "COMMIT");
    sqlite3_stmt *insert = prepare(database, "INSERT INTO record (body) VALUES (?)");
    double start = now();
    for (int i = 0; i < count; i++) {
        run(database, begin);
        for (int j = 0; j < batches[i]; j++) {
            sqlite3_bind_blob(insert, 1, row, size, SQLITE_STATIC);
            run(database, insert);
        }
        run(database, commit);
    }
    double seconds = now() - start;
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return seconds;
}

double ceiling_sqlite_reads(const char *path, int rows, int count) {
    sqlite3 *database;
    must(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL), database);
    must(sqlite3_exec(database, "PRAGMA cache_size = -8192", NULL, NULL, NULL), database);
    sqlite3_stmt *select = prepare(database, "SELECT body FROM record WHERE id = ?");
    long sum = 0;
    double start = now();
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(select, 1, (long)i * 7919 % rows + 1);
        must(sqlite3_step(select), database);
        const unsigned char *body = sqlite3_column_blob(select, 0);
        int size = sqlite3_column_bytes(select, 0);
        void *copy = malloc((size_t)size);
        memcpy(copy, body, (size_t)size);
        sum += ((unsigned char *)copy)[size - 1];
        free(copy);
        sqlite3_reset(select);
    }
    double seconds = now() - start;
    sqlite3_finalize(select);
    sqlite3_close(database);
    return sum < 0 ? 0 : seconds;
}
