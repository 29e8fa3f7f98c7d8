#include "czlib.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct cz_unpacker {
    z_stream stream;
    bool is_whole;
};

cz_unpacker *cz_unpacker_new(void) {
    cz_unpacker *unpacker = calloc(1, sizeof *unpacker);
    if (unpacker == NULL) return NULL;
    // The largest window, and a gzip header: nothing else is taken.
    if (inflateInit2(&unpacker->stream, MAX_WBITS + 16) == Z_OK) return unpacker;
    free(unpacker);
    return NULL;
}

void cz_unpacker_free(cz_unpacker *unpacker) {
    if (unpacker == NULL) return;
    inflateEnd(&unpacker->stream);
    free(unpacker);
}

static uInt bounded(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

// gzip files may stand one behind the other; together they are one body.
static int inflate_next(cz_unpacker *unpacker) {
    z_stream *stream = &unpacker->stream;
    if (unpacker->is_whole) {
        if (stream->avail_in == 0) return Z_BUF_ERROR;
        inflateReset(stream);
        unpacker->is_whole = false;
    }
    int code = inflate(stream, Z_NO_FLUSH);
    unpacker->is_whole = code == Z_STREAM_END;
    return code;
}

struct cz_step cz_unpack(
    cz_unpacker *unpacker, const void *input, size_t count, void *room, size_t capacity
) {
    z_stream *stream = &unpacker->stream;
    uInt offered = bounded(count), open = bounded(capacity);
    stream->next_in = (z_const Bytef *)input;
    stream->avail_in = offered;
    stream->next_out = room;
    stream->avail_out = open;
    int code;
    do {
        code = inflate_next(unpacker);
    } while (code == Z_STREAM_END && stream->avail_in > 0 && stream->avail_out > 0);
    // Z_BUF_ERROR: there was nothing to do. It is no error.
    struct cz_step step = {
        .taken = offered - stream->avail_in,
        .made = open - stream->avail_out,
        .is_broken = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR,
    };
    return step;
}

bool cz_is_whole(const cz_unpacker *unpacker) { return unpacker->is_whole; }

size_t cz_pack(const void *input, size_t count, void *room, size_t capacity) {
    if (count > UINT_MAX || capacity > UINT_MAX) return 0;
    z_stream stream = {.next_in = (z_const Bytef *)input, .avail_in = (uInt)count};
    stream.next_out = room;
    stream.avail_out = (uInt)capacity;
    int code = deflateInit2(
        &stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY
    );
    if (code != Z_OK) return 0;
    code = deflate(&stream, Z_FINISH);
    size_t made = capacity - stream.avail_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? made : 0;
}
