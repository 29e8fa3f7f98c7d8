#pragma once
// The part of zlib that unpacks gzip and packs it. No header of the library's is included here.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cz_unpacker cz_unpacker;

/// NULL if there is no memory.
cz_unpacker *cz_unpacker_new(void);
void cz_unpacker_free(cz_unpacker *unpacker);

struct cz_step {
    /// How much of the input is used up, and how much of the room filled.
    size_t taken;
    size_t made;
    /// What came is not gzip; nothing can follow.
    bool is_broken;
};

/// Unpacks as much as there is room for. A full room may mean that there is more without any input.
struct cz_step cz_unpack(
    cz_unpacker *unpacker, const void *input, size_t count, void *room, size_t capacity
);
/// Whether the end of a member has been reached, its checksum and length included, and no other begun.
bool cz_is_whole(const cz_unpacker *unpacker);

/// Packs all of the input at once, as fast as that goes. Returns how much of the room is filled, 0 if it
/// does not do.
size_t cz_pack(const void *input, size_t count, void *room, size_t capacity);
