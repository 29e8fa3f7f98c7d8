// For clock_gettime, which plain C11 hides.
#define _POSIX_C_SOURCE 200809L

#include "ceilings.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Each file of the ceilings stands alone, so each has a clock of its own.
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

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    must(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), database);
    return statement;
}

static void run(sqlite3 *database, sqlite3_stmt *statement) {
    must(sqlite3_step(statement), database);
    sqlite3_reset(statement);
}

static void text(sqlite3_stmt *statement, int index, const char *value) {
    sqlite3_bind_text(statement, index, value, -1, SQLITE_STATIC);
}

struct statements {
    sqlite3_stmt *begin, *commit, *alias, *pending, *account, *tally, *base, *upsert, *ended, *receipt;
};

static struct statements prepare_all(sqlite3 *database) {
    struct statements all = {
        .begin = prepare(database, "BEGIN IMMEDIATE"),
        .commit = prepare(database, "COMMIT"),
        .alias = prepare(database, "SELECT cipher_id FROM alias WHERE user_id = ? AND made_id = ?"),
        .pending = prepare(
            database, "SELECT * FROM pending_change WHERE user_id = ? AND cipher_id = ?"
        ),
        .account = prepare(database, "SELECT 1 FROM account WHERE id = ?"),
        .tally = prepare(
            database,
            "SELECT ifnull(sum(count), 0), ifnull(sum(bytes), 0) FROM pending_tally WHERE user_id = ?"
        ),
        .base = prepare(database, "SELECT * FROM base_cipher WHERE user_id = ? AND cipher_id = ?"),
        .upsert = prepare(
            database,
            "INSERT INTO pending_change (id, user_id, cipher_id, version, change_type, state,"
            " due_ticks, created_ticks, updated_ticks, baseline_text, baseline_ticks,"
            " password_changes, snapshot, base_copy, record)"
            " VALUES (?, ?, ?, 1, 'create', 'ready', 0, 1, 1, NULL, NULL, 0, ?, NULL, ?)"
            " ON CONFLICT (user_id, cipher_id) DO UPDATE SET version = version + 1,"
            " change_type = excluded.change_type, state = excluded.state,"
            " due_ticks = excluded.due_ticks, updated_ticks = excluded.updated_ticks,"
            " password_changes = excluded.password_changes, snapshot = excluded.snapshot,"
            " record = excluded.record"
        ),
        .ended = prepare(
            database,
            "UPDATE receipt SET status = 'superseded', ended_ticks = 1"
            " WHERE pending_id = ? AND status IN ('queued', 'quarantined')"
        ),
        .receipt = prepare(
            database,
            "INSERT INTO receipt (id, user_id, pending_id, cipher_id, status, queued_ticks)"
            " VALUES (?, ?, ?, ?, 'queued', 1)"
        ),
    };
    return all;
}

/// One edit with the statements that ours takes.
static void edit(
    sqlite3 *database, struct statements *all, int number, const void *body, int size
) {
    char id[64], user[16], cipher[64], receipt[64];
    // As random as ours: numbers in order would make the indexes grow at one end only.
    unsigned mixed = (unsigned)number * 2654435761u;
    snprintf(id, sizeof id, "%08x-0000-4000-8000-%012x", mixed, (unsigned)number);
    snprintf(receipt, sizeof receipt, "%08x-0000-4000-9000-%012x", mixed ^ 0x5a5a5a5a, (unsigned)number);
    snprintf(user, sizeof user, "user-%d", number % 64);
    snprintf(cipher, sizeof cipher, "%08x-item-%012x", mixed, (unsigned)number);
    text(all->alias, 1, user), text(all->alias, 2, cipher);
    run(database, all->alias);
    text(all->pending, 1, user), text(all->pending, 2, cipher);
    run(database, all->pending);
    text(all->account, 1, user);
    run(database, all->account);
    text(all->tally, 1, user);
    run(database, all->tally);
    text(all->base, 1, user), text(all->base, 2, cipher);
    run(database, all->base);
    text(all->upsert, 1, id), text(all->upsert, 2, user), text(all->upsert, 3, cipher);
    sqlite3_bind_blob(all->upsert, 4, body, size, SQLITE_STATIC);
    sqlite3_bind_blob(all->upsert, 5, body, 240, SQLITE_STATIC);
    run(database, all->upsert);
    text(all->ended, 1, id);
    run(database, all->ended);
    text(all->receipt, 1, receipt), text(all->receipt, 2, user);
    text(all->receipt, 3, id), text(all->receipt, 4, cipher);
    run(database, all->receipt);
}

double ceiling_store_edits(
    const char *path, const int *batches, int count, const void *body, int size
) {
    sqlite3 *database;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
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
    struct statements all = prepare_all(database);
    int number = 0;
    double start = now();
    for (int i = 0; i < count; i++) {
        run(database, all.begin);
        for (int j = 0; j < batches[i]; j++) edit(database, &all, number++, body, size);
        run(database, all.commit);
    }
    double seconds = now() - start;
    for (sqlite3_stmt **statement = &all.begin; statement <= &all.receipt; statement++) {
        sqlite3_finalize(*statement);
    }
    sqlite3_close(database);
    return seconds;
}
