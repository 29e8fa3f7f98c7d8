#define _GNU_SOURCE
#include "cfaultvfs.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, SHM_LOCKS = 8, SHM_REGIONS = 64 };

/// A write or a truncation that no fsync has made durable yet.
struct change {
    struct change *next;
    int is_truncation;
    int64_t offset;
    int64_t count;
    unsigned char data[];
};

struct content {
    unsigned char *bytes;
    int64_t size, capacity;
};

struct node {
    struct node *next;  // Newest first.
    char *name;
    struct content now, durable;
    struct change *first, **last;
    int is_linked, is_durably_linked;
    int is_new_log;  // The first fsync of a journal or a log flushes the directory too.
    int handles;
    // Locks on the file.
    int shared;
    void *reserved, *pending, *exclusive;
    // Shared memory.
    int shm_users;
    void *regions[SHM_REGIONS];
    int shm_shared[SHM_LOCKS];
    void *shm_exclusive[SHM_LOCKS];
};

struct fv_disk {
    sqlite3_vfs vfs;
    pthread_mutex_t mutex;
    char *name;
    struct node *nodes;
    uint64_t random;
    int generation, is_cut;
    int counted_kinds;
    long calls, fail_at, fail_times, failures, cut_at;
    int fail_kinds, error_number, last_error;
};

struct handle {
    sqlite3_file base;
    struct fv_disk *disk;
    struct node *node;
    int generation, level, deletes_itself, uses_shm;
    int last_error;  // As the system's own VFS has it: until a read comes to the end of the file.
    unsigned shm_shared, shm_exclusive;
};

// -- Chance (SplitMix64, so that a seed means the same everywhere)

static uint64_t chance(struct fv_disk *disk) {
    disk->random += 0x9E3779B97F4A7C15u;
    uint64_t mixed = disk->random;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

static int in_hundred(struct fv_disk *disk, int share) { return (int)(chance(disk) % 100) < share; }

// -- Contents

static void reserve(struct content *content, int64_t size) {
    if (size <= content->capacity) return;
    int64_t capacity = content->capacity ? content->capacity : 4096;
    while (capacity < size) capacity *= 2;
    content->bytes = realloc(content->bytes, (size_t)capacity);
    if (content->bytes == NULL) abort();
    content->capacity = capacity;
}

static void resize(struct content *content, int64_t size) {
    reserve(content, size);
    if (size > content->size) memset(content->bytes + content->size, 0, (size_t)(size - content->size));
    content->size = size;
}

static void put(struct content *content, int64_t offset, const void *bytes, int64_t count) {
    if (offset + count > content->size) resize(content, offset + count);
    if (count > 0) memcpy(content->bytes + offset, bytes, (size_t)count);
}

static void copy_content(struct content *to, const struct content *from) {
    to->size = 0;
    put(to, 0, from->bytes, from->size);
}

static void apply(struct content *content, const struct change *change) {
    if (change->is_truncation) {
        resize(content, change->offset);
    } else {
        put(content, change->offset, change->data, change->count);
    }
}

static void note(struct node *node, int is_truncation, int64_t offset, const void *bytes, int64_t count) {
    struct change *change = malloc(sizeof *change + (size_t)count);
    if (change == NULL) abort();
    *change = (struct change){.is_truncation = is_truncation, .offset = offset, .count = count};
    if (count > 0) memcpy(change->data, bytes, (size_t)count);
    *node->last = change;
    node->last = &change->next;
    apply(&node->now, change);
}

/// Lets go of the changes, having made them durable or not.
static void settle_changes(struct node *node, int is_kept) {
    for (struct change *change = node->first, *next; change; change = next) {
        next = change->next;
        if (is_kept) apply(&node->durable, change);
        free(change);
    }
    node->first = NULL;
    node->last = &node->first;
}

// -- Files

static struct node *find(struct fv_disk *disk, const char *name) {
    for (struct node *node = disk->nodes; node; node = node->next)
        if (node->is_linked && strcmp(node->name, name) == 0) return node;
    return NULL;
}

static struct node *create(struct fv_disk *disk, const char *name) {
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) abort();
    node->name = strdup(name);
    node->last = &node->first;
    node->is_linked = 1;
    node->next = disk->nodes;
    disk->nodes = node;
    return node;
}

static void free_shm(struct node *node) {
    for (int i = 0; i < SHM_REGIONS; i++) {
        free(node->regions[i]);
        node->regions[i] = NULL;
    }
}

static void free_node(struct node *node) {
    settle_changes(node, 0);
    free_shm(node);
    free(node->now.bytes);
    free(node->durable.bytes);
    free(node->name);
    free(node);
}

/// Frees what nobody can reach any more.
static void sweep(struct fv_disk *disk) {
    for (struct node **link = &disk->nodes; *link;) {
        struct node *node = *link;
        if (node->is_linked || node->is_durably_linked || node->handles > 0) {
            link = &node->next;
        } else {
            *link = node->next;
            free_node(node);
        }
    }
}

static void flush_directory(struct fv_disk *disk) {
    for (struct node *node = disk->nodes; node; node = node->next)
        node->is_durably_linked = node->is_linked;
    sweep(disk);
}

// -- The power cut

static void keep_piece(
    struct fv_disk *disk, struct content *content, const struct change *change, int64_t start, int64_t count,
    int share
) {
    const unsigned char *piece = change->data + (start - change->offset);
    if (in_hundred(disk, share)) {
        put(content, start, piece, count);
    } else if (chance(disk) % 16 == 0) {
        // The sector was being written when the power went.
        unsigned char garbage[SECTOR];
        for (int i = 0; i < SECTOR; i++) garbage[i] = (unsigned char)chance(disk);
        put(content, start, garbage, count);
    }
}

static void keep_some(struct fv_disk *disk, struct content *content, const struct change *change, int share) {
    if (change->is_truncation) {
        if (in_hundred(disk, share)) apply(content, change);
        return;
    }
    int64_t end = change->offset + change->count;
    for (int64_t start = change->offset, next; start < end; start = next) {
        next = (start / SECTOR + 1) * SECTOR;
        if (next > end) next = end;
        keep_piece(disk, content, change, start, next - start, share);
    }
}

/// How much of what was not flushed a file keeps: nothing, everything, or some.
static int share_kept(struct fv_disk *disk) {
    switch (chance(disk) % 4) {
    case 0: return 0;
    case 1: return 100;
    default: return (int)(chance(disk) % 100);
    }
}

static int survives(struct fv_disk *disk, const struct node *node) {
    if (node->is_linked == node->is_durably_linked) return node->is_linked;
    return (int)(chance(disk) & 1);
}

static void restore(struct fv_disk *disk, struct node *node) {
    int share = share_kept(disk);
    struct node *copy = create(disk, node->name);
    copy_content(&copy->durable, &node->durable);
    for (struct change *change = node->first; change; change = change->next)
        keep_some(disk, &copy->durable, change, share);
    copy_content(&copy->now, &copy->durable);
    copy->is_durably_linked = 1;
}

/// Whether a newer file has already taken the name. `first` is the first of those before the cut.
static int is_taken(struct fv_disk *disk, const struct node *first, const char *name) {
    for (struct node *node = disk->nodes; node != first; node = node->next)
        if (strcmp(node->name, name) == 0) return 1;
    return 0;
}

static void cut(struct fv_disk *disk) {
    if (disk->is_cut) return;
    disk->is_cut = 1;
    disk->generation++;
    struct node *first = disk->nodes;
    for (struct node *node = first; node; node = node->next) {
        if (survives(disk, node) && !is_taken(disk, first, node->name)) restore(disk, node);
        node->is_linked = node->is_durably_linked = 0;
    }
    sweep(disk);
}

/// What the system still shows is there, whether the disk has it or not.
static void outlive(struct fv_disk *disk, struct node *node) {
    struct node *copy = create(disk, node->name);
    copy_content(&copy->durable, &node->durable);
    copy_content(&copy->now, &node->now);
    if (node->first) {
        copy->first = node->first;
        copy->last = node->last;
        node->first = NULL;
        node->last = &node->first;
    }
    copy->is_linked = node->is_linked;
    copy->is_durably_linked = node->is_durably_linked;
    copy->is_new_log = node->is_new_log;
    node->is_linked = node->is_durably_linked = 0;
}

static void kill_users(struct fv_disk *disk) {
    disk->generation++;
    struct node *first = disk->nodes;
    for (struct node *node = first; node; node = node->next)
        if (node->is_linked || node->is_durably_linked) outlive(disk, node);
    sweep(disk);
}

// -- Faults

/// Counts the call. Returns whether it has to fail.
static int strikes(struct fv_disk *disk, int kind) {
    if (!(disk->counted_kinds & kind)) return 0;
    disk->calls++;
    if (!(disk->fail_kinds & kind) || disk->calls < disk->fail_at || disk->fail_times == 0) return 0;
    if (disk->fail_times > 0) disk->fail_times--;
    disk->failures++;
    disk->last_error = disk->error_number;
    return 1;
}

static int strikes_file(struct handle *handle, int kind) {
    if (!strikes(handle->disk, kind)) return 0;
    handle->last_error = handle->disk->error_number;
    return 1;
}

/// Called when the call has had its effect.
static int ends_in_cut(struct fv_disk *disk, int kind) {
    if (!(disk->counted_kinds & kind) || disk->cut_at == 0 || disk->calls < disk->cut_at) return 0;
    cut(disk);
    return 1;
}

static int is_dead(struct handle *handle) {
    return handle->disk->is_cut || handle->generation != handle->disk->generation;
}

static void lock(struct fv_disk *disk) { pthread_mutex_lock(&disk->mutex); }

static int unlock(struct fv_disk *disk, int code) {
    pthread_mutex_unlock(&disk->mutex);
    return code;
}

// -- The methods of a file

static int file_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    struct handle *handle = (struct handle *)file;
    struct fv_disk *disk = handle->disk;
    lock(disk);
    if (is_dead(handle)) return unlock(disk, SQLITE_IOERR_READ);
    if (strikes_file(handle, FV_READ)) {
        // SQLite makes damage of this one.
        int is_of_disk = disk->error_number == EIO || disk->error_number == ENXIO;
        return unlock(disk, is_of_disk ? SQLITE_IOERR_CORRUPTFS : SQLITE_IOERR_READ);
    }
    struct content *content = &handle->node->now;
    int64_t there = content->size - offset;
    if (there >= count) {
        memcpy(buffer, content->bytes + offset, (size_t)count);
        return unlock(disk, SQLITE_OK);
    }
    if (there < 0) there = 0;
    if (there > 0) memcpy(buffer, content->bytes + offset, (size_t)there);
    memset((char *)buffer + there, 0, (size_t)(count - there));
    handle->last_error = 0;
    return unlock(disk, SQLITE_IOERR_SHORT_READ);
}

static int file_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    struct handle *handle = (struct handle *)file;
    struct fv_disk *disk = handle->disk;
    lock(disk);
    if (is_dead(handle)) return unlock(disk, SQLITE_IOERR_WRITE);
    if (strikes_file(handle, FV_WRITE)) {
        note(handle->node, 0, offset, buffer, count / 2);  // A short write before the refusal.
        return unlock(disk, disk->error_number == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE);
    }
    note(handle->node, 0, offset, buffer, count);
    return unlock(disk, ends_in_cut(disk, FV_WRITE) ? SQLITE_IOERR_WRITE : SQLITE_OK);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct handle *handle = (struct handle *)file;
    struct fv_disk *disk = handle->disk;
    lock(disk);
    if (is_dead(handle) || strikes_file(handle, FV_TRUNCATE)) return unlock(disk, SQLITE_IOERR_TRUNCATE);
    note(handle->node, 1, size, NULL, 0);
    return unlock(disk, ends_in_cut(disk, FV_TRUNCATE) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK);
}

static int file_sync(sqlite3_file *file, int flags) {
    struct handle *handle = (struct handle *)file;
    struct fv_disk *disk = handle->disk;
    (void)flags;
    lock(disk);
    if (is_dead(handle)) return unlock(disk, SQLITE_IOERR_FSYNC);
    if (strikes_file(handle, FV_SYNC)) {
        // What had reached the disk by then stays; nobody is told how much that is.
        int share = share_kept(disk);
        for (struct change *change = handle->node->first; change; change = change->next)
            keep_some(disk, &handle->node->durable, change, share);
        settle_changes(handle->node, 0);
        return unlock(disk, SQLITE_IOERR_FSYNC);
    }
    if (ends_in_cut(disk, FV_SYNC)) return unlock(disk, SQLITE_IOERR_FSYNC);
    settle_changes(handle->node, 1);
    if (handle->node->is_new_log) {
        handle->node->is_new_log = 0;
        flush_directory(disk);
    }
    return unlock(disk, SQLITE_OK);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    struct handle *handle = (struct handle *)file;
    lock(handle->disk);
    if (is_dead(handle)) return unlock(handle->disk, SQLITE_IOERR_FSTAT);
    *size = handle->node->now.size;
    return unlock(handle->disk, SQLITE_OK);
}

static int file_lock(sqlite3_file *file, int level) {
    struct handle *handle = (struct handle *)file;
    struct node *node = handle->node;
    lock(handle->disk);
    if (is_dead(handle)) return unlock(handle->disk, SQLITE_IOERR_LOCK);
    if (handle->level >= level) return unlock(handle->disk, SQLITE_OK);
    if (handle->level == SQLITE_LOCK_NONE) {
        if (node->pending || node->exclusive) return unlock(handle->disk, SQLITE_BUSY);
        node->shared++;
        handle->level = SQLITE_LOCK_SHARED;
    }
    if (level >= SQLITE_LOCK_RESERVED) {
        if (node->reserved && node->reserved != handle) return unlock(handle->disk, SQLITE_BUSY);
        node->reserved = handle;
        handle->level = SQLITE_LOCK_RESERVED;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE) {
        node->pending = handle;
        handle->level = SQLITE_LOCK_PENDING;
        if (node->shared > 1) return unlock(handle->disk, SQLITE_BUSY);
        node->exclusive = handle;
        handle->level = SQLITE_LOCK_EXCLUSIVE;
    }
    return unlock(handle->disk, SQLITE_OK);
}

static void give_up(struct handle *handle, int level) {
    struct node *node = handle->node;
    if (node->exclusive == handle) node->exclusive = NULL;
    if (node->pending == handle) node->pending = NULL;
    if (node->reserved == handle) node->reserved = NULL;
    if (handle->level > SQLITE_LOCK_NONE && level == SQLITE_LOCK_NONE) node->shared--;
    if (level < handle->level) handle->level = level;
}

static int file_unlock(sqlite3_file *file, int level) {
    struct handle *handle = (struct handle *)file;
    lock(handle->disk);
    if (handle->level > level) give_up(handle, level);
    return unlock(handle->disk, SQLITE_OK);
}

static int file_is_reserved(sqlite3_file *file, int *is_reserved) {
    struct handle *handle = (struct handle *)file;
    lock(handle->disk);
    *is_reserved = handle->node->reserved != NULL;
    return unlock(handle->disk, SQLITE_OK);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    if (operation != SQLITE_FCNTL_LAST_ERRNO) return SQLITE_NOTFOUND;
    struct handle *handle = (struct handle *)file;
    lock(handle->disk);
    *(int *)argument = handle->last_error;
    return unlock(handle->disk, SQLITE_OK);
}

static int file_sector_size(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int file_characteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

// -- Shared memory

static int shm_map(sqlite3_file *file, int index, int size, int extends, void volatile **memory) {
    struct handle *handle = (struct handle *)file;
    struct node *node = handle->node;
    lock(handle->disk);
    *memory = NULL;
    if (is_dead(handle) || index >= SHM_REGIONS) return unlock(handle->disk, SQLITE_IOERR_SHMMAP);
    if (!handle->uses_shm) {
        handle->uses_shm = 1;
        node->shm_users++;
    }
    if (node->regions[index] == NULL && extends) node->regions[index] = calloc(1, (size_t)size);
    *memory = node->regions[index];
    return unlock(handle->disk, SQLITE_OK);
}

static int can_share(struct node *node, struct handle *handle, int slot) {
    return node->shm_exclusive[slot] == NULL || node->shm_exclusive[slot] == handle;
}

static int can_exclude(struct node *node, struct handle *handle, int slot) {
    int own = (handle->shm_shared >> slot) & 1;
    return can_share(node, handle, slot) && node->shm_shared[slot] == own;
}

static void shm_release(struct handle *handle, int slot) {
    struct node *node = handle->node;
    unsigned bit = 1u << slot;
    if (handle->shm_shared & bit) node->shm_shared[slot]--;
    if (handle->shm_exclusive & bit) node->shm_exclusive[slot] = NULL;
    handle->shm_shared &= ~bit;
    handle->shm_exclusive &= ~bit;
}

static void shm_take(struct handle *handle, int slot, int is_shared) {
    struct node *node = handle->node;
    unsigned bit = 1u << slot;
    if (!is_shared) {
        node->shm_exclusive[slot] = handle;
        handle->shm_exclusive |= bit;
    } else if (!(handle->shm_shared & bit)) {
        node->shm_shared[slot]++;
        handle->shm_shared |= bit;
    }
}

static int shm_lock(sqlite3_file *file, int first, int count, int flags) {
    struct handle *handle = (struct handle *)file;
    struct node *node = handle->node;
    int is_shared = flags & SQLITE_SHM_SHARED;
    lock(handle->disk);
    // Letting go works even without power: the connection has to be closed somehow.
    if (flags & SQLITE_SHM_UNLOCK) {
        for (int slot = first; slot < first + count; slot++) shm_release(handle, slot);
        return unlock(handle->disk, SQLITE_OK);
    }
    if (is_dead(handle)) return unlock(handle->disk, SQLITE_IOERR_SHMLOCK);
    for (int slot = first; slot < first + count; slot++)
        if (!(is_shared ? can_share(node, handle, slot) : can_exclude(node, handle, slot)))
            return unlock(handle->disk, SQLITE_BUSY);
    for (int slot = first; slot < first + count; slot++) shm_take(handle, slot, is_shared);
    return unlock(handle->disk, SQLITE_OK);
}

static void shm_barrier(sqlite3_file *file) {
    (void)file;
    __sync_synchronize();
}

static void leave_shm(struct handle *handle) {
    if (!handle->uses_shm) return;
    for (int slot = 0; slot < SHM_LOCKS; slot++) shm_release(handle, slot);
    handle->uses_shm = 0;
    if (--handle->node->shm_users == 0) free_shm(handle->node);
}

static int shm_unmap(sqlite3_file *file, int deletes) {
    struct handle *handle = (struct handle *)file;
    (void)deletes;
    lock(handle->disk);
    leave_shm(handle);
    return unlock(handle->disk, SQLITE_OK);
}

static int file_close(sqlite3_file *file) {
    struct handle *handle = (struct handle *)file;
    struct fv_disk *disk = handle->disk;
    lock(disk);
    leave_shm(handle);
    give_up(handle, SQLITE_LOCK_NONE);
    if (handle->deletes_itself) handle->node->is_linked = handle->node->is_durably_linked = 0;
    handle->node->handles--;
    sweep(disk);
    return unlock(disk, SQLITE_OK);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// -- The methods of the VFS

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    struct fv_disk *disk = vfs->pAppData;
    struct handle *handle = (struct handle *)file;
    memset(handle, 0, sizeof *handle);
    lock(disk);
    if (disk->is_cut || strikes(disk, FV_OPEN)) return unlock(disk, SQLITE_CANTOPEN);
    struct node *node = name ? find(disk, name) : NULL;
    if (node == NULL) {
        if (name && !(flags & SQLITE_OPEN_CREATE)) return unlock(disk, SQLITE_CANTOPEN);
        node = create(disk, name ? name : "");
        node->is_new_log =
            (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
    }
    if (ends_in_cut(disk, FV_OPEN)) return unlock(disk, SQLITE_CANTOPEN);
    node->handles++;
    handle->base.pMethods = &methods;
    handle->disk = disk;
    handle->node = node;
    handle->generation = disk->generation;
    handle->deletes_itself = name == NULL || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    if (out_flags) *out_flags = flags;
    return unlock(disk, SQLITE_OK);
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int flushes_directory) {
    struct fv_disk *disk = vfs->pAppData;
    lock(disk);
    if (disk->is_cut || strikes(disk, FV_DELETE)) return unlock(disk, SQLITE_IOERR_DELETE);
    struct node *node = find(disk, name);
    if (node == NULL) return unlock(disk, SQLITE_IOERR_DELETE_NOENT);
    node->is_linked = 0;
    if (ends_in_cut(disk, FV_DELETE)) return unlock(disk, SQLITE_IOERR_DELETE);
    if (flushes_directory) flush_directory(disk);
    sweep(disk);
    return unlock(disk, SQLITE_OK);
}

static int disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
    struct fv_disk *disk = vfs->pAppData;
    lock(disk);
    struct node *node = disk->is_cut ? NULL : find(disk, name);
    // SQLite takes an empty journal or log for none.
    *answer = node != NULL && (flags != SQLITE_ACCESS_EXISTS || node->now.size > 0);
    return unlock(disk, SQLITE_OK);
}

static int disk_full_path(sqlite3_vfs *vfs, const char *name, int count, char *path) {
    (void)vfs;
    sqlite3_snprintf(count, path, "%s", name);
    return SQLITE_OK;
}

static int disk_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    struct fv_disk *disk = vfs->pAppData;
    lock(disk);
    for (int i = 0; i < count; i++) bytes[i] = (char)chance(disk);
    return unlock(disk, count);
}

static int disk_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int disk_time(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
    (void)vfs;
    *milliseconds = (sqlite3_int64)2460000 * 86400000;
    return SQLITE_OK;
}

static int disk_last_error(sqlite3_vfs *vfs, int count, char *text) {
    (void)count, (void)text;
    struct fv_disk *disk = vfs->pAppData;
    lock(disk);
    return unlock(disk, disk->last_error);
}

struct fv_disk *fv_disk_new(const char *name, uint64_t seed) {
    struct fv_disk *disk = calloc(1, sizeof *disk);
    if (disk == NULL) abort();
    pthread_mutex_init(&disk->mutex, NULL);
    disk->name = strdup(name);
    disk->random = seed;
    disk->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct handle),
        .mxPathname = 512,
        .zName = disk->name,
        .pAppData = disk,
        .xOpen = disk_open,
        .xDelete = disk_delete,
        .xAccess = disk_access,
        .xFullPathname = disk_full_path,
        .xRandomness = disk_randomness,
        .xSleep = disk_sleep,
        .xGetLastError = disk_last_error,
        .xCurrentTimeInt64 = disk_time,
    };
    if (sqlite3_vfs_register(&disk->vfs, 0) != SQLITE_OK) abort();
    return disk;
}

void fv_disk_free(struct fv_disk *disk) {
    sqlite3_vfs_unregister(&disk->vfs);
    for (struct node *node = disk->nodes, *next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    pthread_mutex_destroy(&disk->mutex);
    free(disk->name);
    free(disk);
}

// -- What the test says

static void plan(struct fv_disk *disk, int kinds) {
    disk->counted_kinds = kinds;
    disk->calls = disk->failures = disk->fail_at = disk->fail_times = disk->cut_at = 0;
    disk->fail_kinds = disk->last_error = 0;
}

void fv_count(struct fv_disk *disk, int kinds) {
    lock(disk);
    plan(disk, kinds);
    unlock(disk, 0);
}

void fv_fail(struct fv_disk *disk, int kinds, long at, long times, int error_number) {
    lock(disk);
    plan(disk, kinds);
    disk->fail_kinds = kinds;
    disk->fail_at = at;
    disk->fail_times = times;
    disk->error_number = error_number;
    unlock(disk, 0);
}

void fv_heal(struct fv_disk *disk) {
    lock(disk);
    disk->fail_kinds = 0;
    disk->last_error = 0;
    unlock(disk, 0);
}

void fv_cut_at(struct fv_disk *disk, int kinds, long at) {
    lock(disk);
    plan(disk, kinds);
    disk->cut_at = at;
    unlock(disk, 0);
}

void fv_cut(struct fv_disk *disk) {
    lock(disk);
    cut(disk);
    unlock(disk, 0);
}

void fv_kill(struct fv_disk *disk) {
    lock(disk);
    kill_users(disk);
    unlock(disk, 0);
}

void fv_power_on(struct fv_disk *disk) {
    lock(disk);
    plan(disk, 0);
    disk->is_cut = 0;
    unlock(disk, 0);
}

long fv_calls(struct fv_disk *disk) {
    lock(disk);
    long calls = disk->calls;
    unlock(disk, 0);
    return calls;
}

long fv_failures(struct fv_disk *disk) {
    lock(disk);
    long failures = disk->failures;
    unlock(disk, 0);
    return failures;
}

int fv_is_cut(struct fv_disk *disk) {
    lock(disk);
    return unlock(disk, disk->is_cut);
}

int64_t fv_size(struct fv_disk *disk, const char *name) {
    lock(disk);
    struct node *node = find(disk, name);
    int64_t size = node ? node->now.size : -1;
    unlock(disk, 0);
    return size;
}

static void flip(struct content *content, int64_t offset, int count) {
    for (int64_t i = offset; i < offset + count && i < content->size; i++) content->bytes[i] ^= 0x5a;
}

void fv_flip(struct fv_disk *disk, const char *name, int64_t offset, int count) {
    lock(disk);
    struct node *node = find(disk, name);
    if (node) {
        flip(&node->now, offset, count);
        flip(&node->durable, offset, count);
    }
    unlock(disk, 0);
}

int fv_contains(struct fv_disk *disk, const char *name, const void *bytes, int count) {
    lock(disk);
    struct node *node = find(disk, name);
    int is_there =
        node && node->now.size > 0
        && memmem(node->now.bytes, (size_t)node->now.size, bytes, (size_t)count) != NULL;
    return unlock(disk, is_there);
}
