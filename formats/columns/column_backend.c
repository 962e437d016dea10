/* for the name of one parameter, which the shared library has without a promise to keep it */
#define ZSTD_STATIC_LINKING_ONLY
#include "formats/columns/column_backend.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WORTHWHILE_BYTES 32u /* a frame of zstd has 9 bytes of its own */

/* What decides whether a search for repeated parts pays. */
#define REPEAT_BYTES 16u /* length of a repeated part */
#define REPEAT_SHARE 8u  /* one of this number of places repeats */
#define PROBES       64u /* places looked at */
#define ANCHOR_STEP  8u  /* distance of the places that are remembered */
#define ANCHOR_BITS  12u
#define SAMPLE_SHARE 8u /* the part of a stream that is compressed both ways */
#define SAMPLE_LEAST 512u

struct column_backend {
    ZSTD_CCtx *searching, *plain; /* NULL before their first use, */
    unsigned level;               /* to which the first one is set */
    ZSTD_DCtx *decompressor;
};

struct column_backend *column_backend_new(struct bt_error *error)
{
    struct column_backend *backend = calloc(1, sizeof *backend);
    if (!backend)
        bt_fail(error, BT_MEMORY, "no memory for a compressor");
    return backend;
}

void column_backend_free(struct column_backend *backend)
{
    if (!backend)
        return;
    ZSTD_freeCCtx(backend->searching);
    ZSTD_freeCCtx(backend->plain);
    ZSTD_freeDCtx(backend->decompressor);
    free(backend);
}

/* On archive levels columns are made beside the model, and take less time than it. */
static const int zstd_levels[COLUMN_LEVEL_MOST + 1] = {0, -20, 1, 3, 9, 9, 19, 19};

/* A level so far below others that zstd looks for repeated parts nowhere, and the least table. */
#define PLAIN_LEVEL    (-131072)
#define PLAIN_HASH_LOG 6

size_t column_backend_memory(unsigned level)
{
    return level > 0 && level <= COLUMN_LEVEL_MOST
               ? ZSTD_estimateCCtxSize(zstd_levels[level]) + ZSTD_estimateCCtxSize(PLAIN_LEVEL)
               : 0;
}

/*
 * A compressor of the level; NULL: no memory. On negative levels zstd leaves out entropy coding,
 * unless a parameter says otherwise; without the parameter files are only larger.
 */
static ZSTD_CCtx *compressor_new(int zstd_level)
{
    ZSTD_CCtx *compressor = ZSTD_createCCtx();
    if (!compressor)
        return NULL;
    (void)ZSTD_CCtx_setParameter(compressor, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
    if (!ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, zstd_level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_contentSizeFlag, 0)))
        return compressor;
    ZSTD_freeCCtx(compressor);
    return NULL;
}

/* Prepares the compressors. False: no memory. */
static bool prepare(struct column_backend *backend, unsigned level)
{
    if (!backend->plain) {
        backend->plain = compressor_new(PLAIN_LEVEL);
        if (!backend->plain)
            return false;
        (void)ZSTD_CCtx_setParameter(backend->plain, ZSTD_c_hashLog, PLAIN_HASH_LOG);
    }
    if (backend->searching && backend->level == level)
        return true;
    ZSTD_freeCCtx(backend->searching);
    backend->searching = compressor_new(zstd_levels[level]);
    backend->level = level;
    return backend->searching != NULL;
}

/* A hash of the 8 bytes at a place. */
static unsigned anchor(const uint8_t *at)
{
    const uint64_t word = bytes_get32(at) | (uint64_t)bytes_get32(at + 4) << 32;
    return (unsigned)(word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ANCHOR_BITS));
}

/* Whether the bytes repeat earlier ones, at enough of some places all over the stream. */
static bool repeats(const uint8_t *in, size_t size)
{
    uint32_t anchors[1u << ANCHOR_BITS];
    size_t added = 0;
    unsigned found = 0;
    if (size < PROBES * ANCHOR_STEP)
        return false;
    memset(anchors, 0, sizeof anchors);
    for (unsigned probe = 1; probe < PROBES; probe++) {
        const uint8_t *at = in + probe * (size / PROBES);
        const uint8_t *end = in + size - REPEAT_BYTES - ANCHOR_STEP;
        for (; in + added + ANCHOR_STEP <= at; added += ANCHOR_STEP)
            anchors[anchor(in + added)] = (uint32_t)added;
        for (unsigned i = 0; i < ANCHOR_STEP && at < end; i++, at++)
            if (memcmp(in + anchors[anchor(at)], at, REPEAT_BYTES) == 0) {
                found++;
                break;
            }
    }
    return found * REPEAT_SHARE >= PROBES;
}

/*
 * The compressor of a stream on levels 1 and 2. The fields of requests on a bus are often too
 * irregular for repeated parts: what says where they are takes more than it saves, and time. Level
 * 1 searches where long parts repeat, level 2 also where it makes a part from the middle smaller.
 */
static ZSTD_CCtx *choose(const struct column_backend *backend, const uint8_t *in, size_t size,
                         uint8_t *out, size_t capacity)
{
    const size_t sample = size / SAMPLE_SHARE;
    if (repeats(in, size))
        return backend->searching;
    if (backend->level == 1)
        return backend->plain;
    if (sample < SAMPLE_LEAST)
        return backend->searching;
    in += (size - sample) / 2;
    const size_t plain = ZSTD_compress2(backend->plain, out, capacity, in, sample);
    const size_t searched = ZSTD_compress2(backend->searching, out, capacity, in, sample);
    return searched < plain ? backend->searching : backend->plain; /* errors are large */
}

/* Compresses a stream; returns the size, or an error of zstd, which is larger than any size. From
 * level 3 on it takes the better way. */
static size_t compress(const struct column_backend *backend, const uint8_t *in, size_t size,
                       uint8_t *out, size_t capacity)
{
    const size_t room = capacity < size - 1 ? capacity : size - 1; /* else it will be stored */
    if (backend->level <= 2)
        return ZSTD_compress2(choose(backend, in, size, out, room), out, room, in, size);
    const size_t searched = ZSTD_compress2(backend->searching, out, room, in, size);
    const size_t used = ZSTD_isError(searched) ? 0 : searched;
    const size_t plain = ZSTD_compress2(backend->plain, out + used, capacity - used, in, size);
    if (plain >= searched || plain > room)
        return searched;
    memmove(out, out + used, plain);
    return plain;
}

int column_backend_encode(struct column_backend *backend, unsigned level, const uint8_t *in,
                          size_t size, uint8_t *out, size_t capacity, size_t *out_size,
                          uint8_t *method)
{
    if (size >= WORTHWHILE_BYTES) {
        if (!prepare(backend, level))
            return BT_MEMORY;
        const size_t coded = compress(backend, in, size, out, capacity);
        if (!ZSTD_isError(coded)) {
            *out_size = coded;
            *method = COLUMN_ZSTD;
            return 0;
        }
    }
    if (capacity < size)
        return BT_FULL;
    if (size > 0)
        memcpy(out, in, size);
    *out_size = size;
    *method = COLUMN_STORED;
    return 0;
}

bool column_backend_decode(struct column_backend *backend, unsigned method, const uint8_t *in,
                           size_t size, uint8_t *out, size_t out_size)
{
    switch (method) {
    case COLUMN_STORED:
        if (size != out_size)
            return false;
        if (size > 0)
            memcpy(out, in, size);
        return true;
    case COLUMN_ZSTD:
        if (!backend->decompressor)
            backend->decompressor = ZSTD_createDCtx();
        return backend->decompressor &&
               ZSTD_decompressDCtx(backend->decompressor, out, out_size, in, size) == out_size;
    default:
        return false;
    }
}
