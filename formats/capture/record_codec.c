#include "formats/capture/record_codec.h"

#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"
#include "formats/deflate/deflate.h"

#include <stdlib.h>

struct record_encoder {
    unsigned version;
    uint8_t level;
    struct deflate_encoder *deflate; /* also of the others, in a hurry */
    struct block_encoder *blocks;    /* NULL: another engine */
    bool hurry;
};

struct record_decoder {
    struct deflate_decoder *deflate;
    struct block_decoder *blocks; /* NULL: not needed so far */
};

_Static_assert((int)RECORD_ENGINE_LIBDEFLATE == (int)DEFLATE_LIBDEFLATE &&
                   (int)RECORD_ENGINE_PROGRAMS == (int)DEFLATE_PROGRAMS,
               "engines of deflate have the same numbers");

const char *record_engine_name(enum record_engine engine)
{
    return engine == RECORD_ENGINE_BLOCKS ? "blocks"
                                          : deflate_engine_name((enum deflate_engine)engine);
}

bool record_engine_exists(enum record_engine engine)
{
    return engine == RECORD_ENGINE_BLOCKS ||
           (engine < RECORD_ENGINES && deflate_has((enum deflate_engine)engine));
}

unsigned record_engine_version(enum record_engine engine)
{
    return engine == RECORD_ENGINE_BLOCKS ? CAPTURE_VERSION_CODED : CAPTURE_VERSION_GZIP;
}

struct record_encoder *record_encoder_new(enum record_engine engine, int level,
                                          struct bt_error *error)
{
    struct record_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        bt_fail(error, BT_MEMORY, "no memory for a compressor");
        return NULL;
    }
    encoder->version = record_engine_version(engine);
    encoder->level = (uint8_t)(level > 0 ? level : 0);
    bool blocks = engine == RECORD_ENGINE_BLOCKS;
    if (blocks && level != -1)
        bt_fail(error, BT_USAGE, "engine blocks has no levels: leave --level out");
    else
        encoder->deflate = deflate_encoder_new(
            blocks ? DEFLATE_RECORDS : (enum deflate_engine)engine, level, error);
    if (encoder->deflate && blocks)
        encoder->blocks = block_encoder_new(error);
    if (encoder->deflate && (encoder->blocks || !blocks))
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
    deflate_encoder_hurry(encoder->deflate, hurry);
}

size_t record_encode_bound(size_t count)
{
    return block_encoder_bound(count); /* also holds what deflate makes */
}

int record_encode(struct record_encoder *encoder, const struct record *records, size_t count,
                  uint8_t *out, size_t capacity, struct record_content *content,
                  struct bt_error *error)
{
    if (encoder->blocks && !encoder->hurry) {
        *content = (struct record_content){.codec = RECORD_CODEC_BLOCKS};
        return block_encoder_records(encoder->blocks, records, count, out, capacity, &content->size,
                                     &content->check, error);
    }
    *content = (struct record_content){.codec = RECORD_CODEC_DEFLATE, .level = encoder->level};
    return deflate_encode(encoder->deflate, (const uint8_t *)records, count * RECORD_BYTES, out,
                          capacity, &content->size, &content->check, error);
}

struct record_decoder *record_decoder_new(struct bt_error *error)
{
    struct record_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        bt_fail(error, BT_MEMORY, "no memory for a decompressor");
        return NULL;
    }
    decoder->deflate = deflate_decoder_new(error);
    if (decoder->deflate)
        return decoder;
    record_decoder_free(decoder);
    return NULL;
}

void record_decoder_free(struct record_decoder *decoder)
{
    if (!decoder)
        return;
    deflate_decoder_free(decoder->deflate);
    block_decoder_free(decoder->blocks);
    free(decoder);
}

int record_decode(struct record_decoder *decoder, unsigned codec, const uint8_t *in, size_t size,
                  struct record *records, size_t count, uint32_t *check, struct bt_error *error)
{
    switch (codec) {
    case RECORD_CODEC_DEFLATE:
        return deflate_decode(decoder->deflate, in, size, (uint8_t *)records, count * RECORD_BYTES,
                              check, error);
    case RECORD_CODEC_BLOCKS:
        if (!decoder->blocks)
            decoder->blocks = block_decoder_new(error);
        return decoder->blocks
                   ? block_decode(decoder->blocks, in, size, records, count, check, error)
                   : BT_MEMORY;
    default:
        return bt_fail(error, BT_DATA,
                       "a block is coded by method %u, which this bustap does not "
                       "know: read it with a newer one",
                       codec);
    }
}
