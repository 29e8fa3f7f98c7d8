#pragma once
// A disk in memory for SQLite, on which things go wrong when a test says so.
//
// It registers as a VFS under its name. Every file knows what an fsync has made durable and which
// writes came since; a power cut keeps some of those, torn at sectors, and loses directory entries
// that were not flushed. A failed fsync flushes some of what it should have flushed and drops the
// rest, as Linux does: a later one that succeeds does not bring it back, though it can still be read.
#include <stdint.h>

struct fv_disk;

/// What is counted, and may fail.
enum {
    FV_OPEN = 1,
    FV_WRITE = 2,
    FV_SYNC = 4,
    FV_TRUNCATE = 8,
    FV_DELETE = 16,
    FV_READ = 32,
};

struct fv_disk *fv_disk_new(const char *name, uint64_t seed);
/// After the last connection to it is closed.
void fv_disk_free(struct fv_disk *disk);

/// Counts calls of these kinds from now on, beginning at 0.
void fv_count(struct fv_disk *disk, int kinds);
long fv_calls(struct fv_disk *disk);
/// Fails calls of these kinds, from the `at`th on (from 1), so many times (-1: until healed).
void fv_fail(struct fv_disk *disk, int kinds, long at, long times, int error_number);
void fv_heal(struct fv_disk *disk);
/// How many calls have failed since the last `fv_fail`.
long fv_failures(struct fv_disk *disk);

/// Cuts the power in the midst of the `at`th call of these kinds.
void fv_cut_at(struct fv_disk *disk, int kinds, long at);
void fv_cut(struct fv_disk *disk);
/// Ends all who use the disk, as a killed process does: what they wrote can be read by the next, and
/// is no more durable than before.
void fv_kill(struct fv_disk *disk);
int fv_is_cut(struct fv_disk *disk);
/// What survived is there; connections from before the cut stay dead.
void fv_power_on(struct fv_disk *disk);

/// The size of a file, or -1 if there is none.
int64_t fv_size(struct fv_disk *disk, const char *name);
/// Turns bits over, as an ageing disk does. Nothing happens beyond the end.
void fv_flip(struct fv_disk *disk, const char *name, int64_t offset, int count);
/// Whether the bytes stand anywhere in the file.
int fv_contains(struct fv_disk *disk, const char *name, const void *bytes, int count);
