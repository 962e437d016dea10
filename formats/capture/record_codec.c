#include "formats/capture/record_codec.h"

#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"
#include "formats/columns/column_codec.h"
#include "formats/deflate/deflate.h"

#include <stdlib.h>

/* of any engine of deflate at any level, with what the allocator adds */
#define DEFLATE_ENCODER_BYTES ((size_t)1 << 20)

struct record_encoder {
    unsigned version;
    uint8_t level;
    bool hurry;
    struct deflate_encoder *deflate; /* NULL: columns; with blocks, what stores in a hurry */
    struct column_encoder *columns;
    struct block_encoder *blocks;
};

/* Each is NULL before its first use. */
struct record_decoder {
    struct deflate_decoder *deflate;
    struct column_decoder *columns;
    struct block_decoder *blocks;
};

_Static_assert((int)RECORD_ENGINE_LIBDEFLATE == (int)DEFLATE_LIBDEFLATE &&
                   (int)RECORD_ENGINE_PROGRAMS == (int)DEFLATE_PROGRAMS,
               "engines of deflate have the same numbers");

const char *record_engine_name(enum record_engine engine)
{
    switch (engine) {
    case RECORD_ENGINE_COLUMNS:
        return "columns";
    case RECORD_ENGINE_BLOCKS:
        return "blocks";
    default:
        return deflate_engine_name((enum deflate_engine)engine);
    }
}

bool record_engine_exists(enum record_engine engine)
{
    return engine == RECORD_ENGINE_COLUMNS || engine == RECORD_ENGINE_BLOCKS ||
           (engine < RECORD_ENGINES && deflate_has((enum deflate_engine)engine));
}

unsigned record_engine_version(enum record_engine engine)
{
    return engine == RECORD_ENGINE_COLUMNS || engine == RECORD_ENGINE_BLOCKS ? CAPTURE_VERSION_CODED
                                                                             : CAPTURE_VERSION_GZIP;
}

int record_engine_check_level(enum record_engine engine, int level, struct bt_error *error)
{
    switch (engine) {
    case RECORD_ENGINE_COLUMNS:
        return column_check_level(level, error);
    case RECORD_ENGINE_BLOCKS:
        return level == -1
                   ? 0
                   : bt_fail(error, BT_USAGE, "engine blocks has no levels: leave --level out");
    default:
        return deflate_check_level((enum deflate_engine)engine, level, error);
    }
}

struct record_encoder *record_encoder_new(enum record_engine engine, int level,
                                          struct bt_error *error)
{
    if (record_engine_check_level(engine, level, error) < 0)
        return NULL;
    struct record_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        bt_fail(error, BT_MEMORY, "no memory for a compressor");
        return NULL;
    }
    encoder->version = record_engine_version(engine);
    encoder->level = (uint8_t)(level > 0 ? level : 0);
    if (engine == RECORD_ENGINE_COLUMNS)
        encoder->columns = column_encoder_new(level, error);
    else if (engine != RECORD_ENGINE_BLOCKS)
        encoder->deflate = deflate_encoder_new((enum deflate_engine)engine, level, error);
    else if ((encoder->blocks = block_encoder_new(error)))
        encoder->deflate = deflate_encoder_new(DEFLATE_RECORDS, 0, error);
    if (encoder->columns)
        encoder->level = (uint8_t)column_encoder_level(encoder->columns);
    if (encoder->columns || encoder->deflate)
        return encoder;
    record_encoder_free(encoder);
    return NULL;
}

void record_encoder_free(struct record_encoder *encoder)
{
    if (!encoder)
        return;
    deflate_encoder_free(encoder->deflate);
    block_encoder_free(encoder->blocks);
    column_encoder_free(encoder->columns);
    free(encoder);
}

unsigned record_encoder_version(const struct record_encoder *encoder)
{
    return encoder->version;
}

void record_encoder_set_version(struct record_encoder *encoder, unsigned version)
{
    encoder->version = version;
}

void record_encoder_hurry(struct record_encoder *encoder, bool hurry)
{
    encoder->hurry = hurry;
    if (encoder->deflate)
        deflate_encoder_hurry(encoder->deflate, hurry);
}

size_t record_encoder_memory(enum record_engine engine, int level, size_t count)
{
    switch (engine) {
    case RECORD_ENGINE_COLUMNS:
        return DEFLATE_ENCODER_BYTES + column_encoder_memory(level, count);
    case RECORD_ENGINE_BLOCKS:
        return DEFLATE_ENCODER_BYTES + block_encoder_memory(count);
    default:
        return DEFLATE_ENCODER_BYTES;
    }
}

size_t record_encode_bound(size_t count)
{
    const size_t columns = column_encode_bound(count), blocks = block_encoder_bound(count);
    return columns > blocks ? columns : blocks; /* the latter also holds what deflate makes */
}

int record_encode(struct record_encoder *encoder, const struct record *records, size_t count,
                  uint8_t *out, size_t capacity, struct record_content *content,
                  struct bt_error *error)
{
    const uint8_t *bytes = (const uint8_t *)records;
    if (capacity < record_encode_bound(count))
        return bt_fail(error, BT_USAGE, "no room for a block of %zu records", count);
    if (encoder->blocks && !encoder->hurry) {
        *content = (struct record_content){.codec = RECORD_CODEC_BLOCKS};
        return block_encoder_records(encoder->blocks, records, count, out, capacity, &content->size,
                                     &content->check, error);
    }
    *content = (struct record_content){.codec = RECORD_CODEC_DEFLATE, .level = encoder->level};
    if (encoder->deflate)
        return deflate_encode(encoder->deflate, bytes, count * RECORD_BYTES, out, capacity,
                              &content->size, &content->check, error);
    content->codec = RECORD_CODEC_COLUMNS;
    content->check = deflate_crc32(bytes, count * RECORD_BYTES);
    return column_encode(encoder->columns, records, count, encoder->hurry, out, &content->size,
                         error);
}

int record_encode_feed(struct record_encoder *encoder, const struct block_feed *feed,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity,
                       struct record_content *content, struct bt_error *error)
{
    if (!encoder->blocks || capacity < record_encode_bound(count))
        return bt_fail(error, BT_USAGE, "no room for a block of %zu records", count);
    *content = (struct record_content){.codec = RECORD_CODEC_BLOCKS};
    return block_encoder_feed(encoder->blocks, feed, records, count, out, capacity, &content->size,
                              &content->check, error);
}

struct record_decoder *record_decoder_new(struct bt_error *error)
{
    struct record_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        bt_fail(error, BT_MEMORY, "no memory for a decompressor");
    return decoder;
}

void record_decoder_free(struct record_decoder *decoder)
{
    if (!decoder)
        return;
    deflate_decoder_free(decoder->deflate);
    block_decoder_free(decoder->blocks);
    column_decoder_free(decoder->columns);
    free(decoder);
}

static int decode_deflate(struct record_decoder *decoder, const uint8_t *in, size_t size,
                          struct record *records, size_t count, uint32_t *check,
                          struct bt_error *error)
{
    if (!decoder->deflate)
        decoder->deflate = deflate_decoder_new(error);
    return decoder->deflate ? deflate_decode(decoder->deflate, in, size, (uint8_t *)records,
                                             count * RECORD_BYTES, check, error)
                            : BT_MEMORY;
}

static int decode_columns(struct record_decoder *decoder, const uint8_t *in, size_t size,
                          struct record *records, size_t count, uint32_t *check,
                          struct bt_error *error)
{
    if (!decoder->columns)
        decoder->columns = column_decoder_new(error);
    if (!decoder->columns)
        return BT_MEMORY;
    int result = column_decode(decoder->columns, in, size, records, count, error);
    if (result == 0)
        *check = deflate_crc32((const uint8_t *)records, count * RECORD_BYTES);
    return result;
}

static bool has_blocks(struct record_decoder *decoder, struct bt_error *error)
{
    if (!decoder->blocks)
        decoder->blocks = block_decoder_new(error);
    return decoder->blocks != NULL;
}

int record_decode_executions(struct record_decoder *decoder, const uint8_t *in, size_t size,
                             struct block_executions *executions, size_t count, uint32_t *check,
                             struct bt_error *error)
{
    return has_blocks(decoder, error)
               ? block_executions_get(executions, decoder->blocks, in, size, count, check, error)
               : BT_MEMORY;
}

int record_decode(struct record_decoder *decoder, unsigned codec, const uint8_t *in, size_t size,
                  struct record *records, size_t count, uint32_t *check, struct bt_error *error)
{
    switch (codec) {
    case RECORD_CODEC_DEFLATE:
        return decode_deflate(decoder, in, size, records, count, check, error);
    case RECORD_CODEC_COLUMNS:
        return decode_columns(decoder, in, size, records, count, check, error);
    case RECORD_CODEC_BLOCKS:
        return has_blocks(decoder, error)
                   ? block_decode(decoder->blocks, in, size, records, count, check, error)
                   : BT_MEMORY;
    default:
        return bt_fail(error, BT_NEWER,
                       "a block is coded by method %u, which this bustap does not "
                       "know: read it with a newer version",
                       codec);
    }
}
