/* for the name of one parameter, which the shared library has without a promise to keep it */
#define ZSTD_STATIC_LINKING_ONLY
#include "formats/columns/column_backend.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WORTHWHILE_BYTES 32u /* a frame of zstd has 9 bytes of its own */

struct column_backend {
    ZSTD_CCtx *compressor; /* NULL before its first use, */
    unsigned level;        /* which it is set to */
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
    ZSTD_freeCCtx(backend->compressor);
    ZSTD_freeDCtx(backend->decompressor);
    free(backend);
}

static const int zstd_levels[COLUMN_LEVELS + 1] = {0, -20, 1, 3, 9};

size_t column_backend_memory(unsigned level)
{
    return level > 0 && level <= COLUMN_LEVELS ? ZSTD_estimateCCtxSize(zstd_levels[level]) : 0;
}

/*
 * Prepares the compressor. False: no memory. On the first level zstd hardly searches for repeated
 * parts. It then leaves out entropy coding, too, unless a parameter says otherwise; without the
 * parameter files are only larger.
 */
static bool prepare(struct column_backend *backend, unsigned level)
{
    if (backend->compressor && backend->level == level)
        return true;
    if (!backend->compressor)
        backend->compressor = ZSTD_createCCtx();
    if (!backend->compressor)
        return false;
    backend->level = level;
    (void)ZSTD_CCtx_setParameter(backend->compressor, ZSTD_c_literalCompressionMode,
                                 ZSTD_ps_enable);
    return !ZSTD_isError(ZSTD_CCtx_setParameter(backend->compressor, ZSTD_c_compressionLevel,
                                                zstd_levels[level])) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(backend->compressor, ZSTD_c_contentSizeFlag, 0));
}

int column_backend_encode(struct column_backend *backend, unsigned level, const uint8_t *in,
                          size_t size, uint8_t *out, size_t capacity, size_t *out_size,
                          uint8_t *method)
{
    if (size >= WORTHWHILE_BYTES) {
        if (!prepare(backend, level))
            return BT_MEMORY;
        /* no room for more than that: it would be stored */
        const size_t room = capacity < size - 1 ? capacity : size - 1;
        const size_t coded = ZSTD_compress2(backend->compressor, out, room, in, size);
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
