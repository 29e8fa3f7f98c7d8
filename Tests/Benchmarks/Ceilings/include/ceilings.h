#pragma once
// The same work in plain C, as far as it will go: what a figure of ours is held against.
#include <stdint.h>

/// That many additions to one atomic number.
void ceiling_increments(uint64_t rounds);
#include "ceilings_simdjson.h"

#include <stddef.h>

// EncStrings of type 2 with OpenSSL alone; `bytes` are the 64 of the key. Each answers the bytes it
// made or -1, so that no optimiser can leave anything out.
struct ceiling_crypto;
struct ceiling_crypto *ceiling_crypto_new(const void *bytes);
void ceiling_crypto_free(struct ceiling_crypto *box);
long ceiling_crypto_open(struct ceiling_crypto *box, const char *text, size_t count, int rounds);
long ceiling_crypto_seal(struct ceiling_crypto *box, const void *plain, size_t count, int rounds);
long ceiling_crypto_item(struct ceiling_crypto *box, struct ceiling_crypto *item, const char *wrapped,
                         size_t wrapped_count, const char *field, size_t count, int fields, int rounds);

/// Commits batches of these sizes, one after the other; the seconds they took.
double ceiling_sqlite_commits(const char *path, const int *batches, int count, const void *row, int size);
/// Reads rows by primary key, copying each; the seconds they took.
double ceiling_sqlite_reads(const char *path, int rows, int count);

/// GETs the URL so often, so many at once, with libcurl's multi interface; returns how many failed.
int ceiling_curl_loop(const char *url, const char *header_lines, int requests, int concurrency);

/// Records edits in a store's file, in batches of these sizes; the seconds they took.
double ceiling_store_edits(const char *path, const int *batches, int count, const void *body, int size);
