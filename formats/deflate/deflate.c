#include "formats/deflate/deflate.h"

#include "formats/deflate/deflate_codes.h"
#include "formats/deflate/deflate_program.h"
#include "formats/deflate/deflate_records.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l.h>
#endif

#define ZLIB_RAW_WINDOW (-15)

struct deflate_encoder {
    enum deflate_engine engine; /* never DEFLATE_BEST */
    z_stream zlib;
    struct deflate_records *records; /* both NULL: a library, or stored blocks */
    struct deflate_program *program;
    struct libdeflate_compressor *libdeflate;
    bool hurry;
#ifdef HAVE_ISAL
    int level;
    uint32_t level_bytes;
    uint8_t *level_memory; /* ISA-L's match tables; levels above 0 need them */
    struct isal_zstream isal;
#endif
};

struct deflate_decoder {
#ifdef HAVE_ISAL
    struct inflate_state isal;
#else
    z_stream zlib;
#endif
};

bool deflate_has(enum deflate_engine engine)
{
#ifdef HAVE_ISAL
    return (unsigned)engine < DEFLATE_ENGINES;
#else
    return (unsigned)engine < DEFLATE_ENGINES && engine != DEFLATE_ISAL;
#endif
}

const char *deflate_engine_name(enum deflate_engine engine)
{
    static const char *const names[DEFLATE_ENGINES] = {"best",    "zlib",     "isa-l",
                                                       "records", "programs", "libdeflate"};
    return names[engine];
}

static enum deflate_engine resolve(enum deflate_engine engine, int level)
{
    if (engine != DEFLATE_BEST)
        return engine;
    if (level <= 0)
        return DEFLATE_RECORDS;
    return deflate_has(DEFLATE_ISAL) ? DEFLATE_ISAL : DEFLATE_ZLIB;
}

int deflate_check_level(enum deflate_engine engine, int level, struct bt_error *error)
{
    if (!deflate_has(engine))
        return bt_fail(error, BT_USAGE, "this bustap was built without ISA-L; use zlib");
    switch (resolve(engine, level)) {
    case DEFLATE_RECORDS:
    case DEFLATE_PROGRAMS:
        return level == 0 || level == -1
                   ? 0
                   : bt_fail(error, BT_USAGE, "this engine has only level 0 (store)");
    case DEFLATE_LIBDEFLATE:
        return level >= -1 && level != 0 && level <= 12
                   ? 0
                   : bt_fail(error, BT_USAGE, "libdeflate has levels 1 to 12, not %d", level);
    case DEFLATE_ISAL:
        return level >= -1 && level <= 3
                   ? 0
                   : bt_fail(error, BT_USAGE, "ISA-L has levels 0 to 3, not %d", level);
    default:
        return level >= -1 && level != 0 && level <= 9
                   ? 0
                   : bt_fail(error, BT_USAGE, "zlib has levels 1 to 9, not %d", level);
    }
}

static int own_setup(struct deflate_encoder *encoder, int level, struct bt_error *error)
{
    if (level == 0)
        return 0; /* to store needs no memory */
    if (encoder->engine == DEFLATE_RECORDS)
        encoder->records = deflate_records_new();
    else
        encoder->program = deflate_program_new();
    return encoder->records || encoder->program
               ? 0
               : bt_fail(error, BT_MEMORY, "no memory for a compressor");
}

static int zlib_setup(struct deflate_encoder *encoder, int level, struct bt_error *error)
{
    if (deflateInit2(&encoder->zlib, level < 0 ? 1 : level, Z_DEFLATED, ZLIB_RAW_WINDOW, 9,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return bt_fail(error, BT_MEMORY, "no memory for zlib");
    return 0;
}

static int libdeflate_setup(struct deflate_encoder *encoder, int level, struct bt_error *error)
{
    encoder->libdeflate = libdeflate_alloc_compressor(level < 0 ? 1 : level);
    return encoder->libdeflate ? 0 : bt_fail(error, BT_MEMORY, "no memory for libdeflate");
}

#ifdef HAVE_ISAL
static int isal_setup(struct deflate_encoder *encoder, int level, struct bt_error *error)
{
    static const uint32_t level_bytes[] = {0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                           ISAL_DEF_LVL3_DEFAULT};
    encoder->level = level < 0 ? 1 : level;
    encoder->level_bytes = level_bytes[encoder->level];
    if (encoder->level_bytes && !(encoder->level_memory = malloc(encoder->level_bytes)))
        return bt_fail(error, BT_MEMORY, "no memory for ISA-L");
    return 0;
}
#endif

struct deflate_encoder *deflate_encoder_new(enum deflate_engine engine, int level,
                                            struct bt_error *error)
{
    if (deflate_check_level(engine, level, error) < 0)
        return NULL;
    struct deflate_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        bt_fail(error, BT_MEMORY, "no memory for a compressor");
        return NULL;
    }
    encoder->engine = resolve(engine, level);
    int result;
    switch (encoder->engine) {
    case DEFLATE_RECORDS:
    case DEFLATE_PROGRAMS:
        result = own_setup(encoder, level, error);
        break;
    case DEFLATE_LIBDEFLATE:
        result = libdeflate_setup(encoder, level, error);
        break;
#ifdef HAVE_ISAL
    case DEFLATE_ISAL:
        result = isal_setup(encoder, level, error);
        break;
#endif
    default:
        result = zlib_setup(encoder, level, error);
        break;
    }
    if (result < 0) {
        free(encoder);
        return NULL;
    }
    return encoder;
}

void deflate_encoder_free(struct deflate_encoder *encoder)
{
    if (!encoder)
        return;
    if (encoder->engine == DEFLATE_ZLIB)
        deflateEnd(&encoder->zlib);
    deflate_records_free(encoder->records);
    deflate_program_free(encoder->program);
    if (encoder->libdeflate)
        libdeflate_free_compressor(encoder->libdeflate);
#ifdef HAVE_ISAL
    free(encoder->level_memory);
#endif
    free(encoder);
}

void deflate_encoder_hurry(struct deflate_encoder *encoder, bool hurry)
{
    encoder->hurry = hurry;
}

size_t deflate_bound(size_t size)
{
    /* Stored blocks of at most 65,535 bytes cost 5 bytes each; ISA-L may begin with a longer
     * header. */
    return size + size / 1000 + 1024;
}

#ifdef HAVE_ISAL
static bool isal_encode(struct deflate_encoder *encoder, const uint8_t *in, size_t size,
                        uint8_t *out, size_t capacity, size_t *out_size)
{
    struct isal_zstream *stream = &encoder->isal;
    isal_deflate_init(stream);
    stream->level = (uint32_t)encoder->level;
    stream->level_buf = encoder->level_memory;
    stream->level_buf_size = encoder->level_bytes;
    stream->gzip_flag = IGZIP_DEFLATE;
    stream->end_of_stream = 1;
    stream->flush = NO_FLUSH;
    /* isal_deflate promises not to write through next_in */
    stream->next_in = (uint8_t *)(uintptr_t)in;
    stream->avail_in = (uint32_t)size;
    stream->next_out = out;
    stream->avail_out = (uint32_t)capacity;
    if (isal_deflate(stream) != COMP_OK || stream->internal_state.state != ZSTATE_END)
        return false;
    *out_size = stream->total_out;
    return true;
}
#endif

static bool zlib_encode(struct deflate_encoder *encoder, const uint8_t *in, size_t size,
                        uint8_t *out, size_t capacity, size_t *out_size)
{
    z_stream *stream = &encoder->zlib;
    if (deflateReset(stream) != Z_OK)
        return false;
    stream->next_in = (Bytef *)(uintptr_t)in;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = (uInt)capacity;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        return false;
    *out_size = stream->total_out;
    return true;
}

uint32_t deflate_crc32(const uint8_t *in, size_t size)
{
#if defined(HAVE_ISAL) && defined(__x86_64__)
    /* without that instruction ISA-L processes single bytes, and zlib is twice as fast */
    if (__builtin_cpu_supports("pclmul"))
        return crc32_gzip_refl(0, in, size);
#endif
    return (uint32_t)crc32(0, in, (uInt)size);
}

/* Whether the encoder only stores. */
static bool stores(const struct deflate_encoder *encoder)
{
    return (encoder->engine == DEFLATE_RECORDS || encoder->engine == DEFLATE_PROGRAMS) &&
           !encoder->records && !encoder->program;
}

int deflate_encode(struct deflate_encoder *encoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t capacity, size_t *out_size, uint32_t *crc, struct bt_error *error)
{
    if (size > UINT32_MAX / 2 || capacity < deflate_bound(size))
        return bt_fail(error, BT_USAGE, "no room to compress a block of %zu bytes", size);
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    bool done = true;
    *crc = deflate_crc32(in, size);
    if (encoder->hurry || stores(encoder)) {
        *out_size = deflate_store(in, size, out);
        return 0;
    }
    switch (encoder->engine) {
    case DEFLATE_RECORDS:
        *out_size = deflate_records_encode(encoder->records, in, size, out, capacity);
        break;
    case DEFLATE_PROGRAMS:
        *out_size = deflate_program_encode(encoder->program, in, size, out, capacity);
        break;
    case DEFLATE_LIBDEFLATE:
        *out_size = libdeflate_deflate_compress(encoder->libdeflate, in, size, out, capacity);
        done = *out_size > 0;
        break;
#ifdef HAVE_ISAL
    case DEFLATE_ISAL:
        done = isal_encode(encoder, in, size, out, capacity, out_size);
        break;
#endif
    default:
        done = zlib_encode(encoder, in, size, out, capacity, out_size);
        break;
    }
    return done ? 0
                : bt_fail(error, BT_MEMORY, "%s failed to compress a block",
                          deflate_engine_name(encoder->engine));
}

struct deflate_decoder *deflate_decoder_new(struct bt_error *error)
{
    struct deflate_decoder *decoder = calloc(1, sizeof *decoder);
#ifndef HAVE_ISAL
    if (decoder && inflateInit2(&decoder->zlib, ZLIB_RAW_WINDOW) != Z_OK) {
        free(decoder);
        decoder = NULL;
    }
#endif
    if (!decoder)
        bt_fail(error, BT_MEMORY, "no memory for a decompressor");
    return decoder;
}

void deflate_decoder_free(struct deflate_decoder *decoder)
{
#ifndef HAVE_ISAL
    if (decoder)
        inflateEnd(&decoder->zlib);
#endif
    free(decoder);
}

#ifdef HAVE_ISAL
static bool decode(struct deflate_decoder *decoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t out_size, uint32_t *crc)
{
    struct inflate_state *state = &decoder->isal;
    isal_inflate_init(state);
    state->next_in = (uint8_t *)(uintptr_t)in;
    state->avail_in = (uint32_t)size;
    state->next_out = out;
    state->avail_out = (uint32_t)out_size;
    if (isal_inflate_stateless(state) != ISAL_DECOMP_OK || state->avail_in || state->avail_out)
        return false;
    *crc = deflate_crc32(out, out_size);
    return true;
}
#else
static bool decode(struct deflate_decoder *decoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t out_size, uint32_t *crc)
{
    z_stream *stream = &decoder->zlib;
    if (inflateReset(stream) != Z_OK)
        return false;
    stream->next_in = (Bytef *)(uintptr_t)in;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = (uInt)out_size;
    if (inflate(stream, Z_FINISH) != Z_STREAM_END || stream->avail_in || stream->avail_out)
        return false;
    *crc = deflate_crc32(out, out_size);
    return true;
}
#endif

int deflate_decode(struct deflate_decoder *decoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t out_size, uint32_t *crc, struct bt_error *error)
{
    if (size > UINT32_MAX || out_size > UINT32_MAX ||
        !decode(decoder, in, size, out, out_size, crc))
        return bt_fail(error, BT_DATA, "compressed data is damaged");
    return 0;
}
