#include "formats/columns/column_codec.h"

#include "formats/base/grow.h"
#include "formats/columns/column_backend.h"
#include "formats/columns/record_model.h"

#include <stdlib.h>
#include <string.h>

/* The first byte of the content. */
enum { CONTENT_STORED = 0, CONTENT_COLUMNS = 1 };

#define KIND_BYTES   5u /* head and shift */
#define STREAM_BYTES 5u /* u8 method, u32 coded bytes */
#define BEGIN_BYTES  2u /* version and number of kinds */

struct column_encoder {
    unsigned level;             /* 0: store */
    struct record_model *model; /* of archive levels, else NULL */
    struct column_backend *backend;
    struct columns columns;
    uint8_t *beside; /* of archive levels: columns, when the model has coded the records */
    size_t beside_capacity;
};

struct column_decoder {
    struct record_model *model; /* NULL before the first of an archive level */
    struct column_backend *backend;
    struct columns columns;
};

/* --- encoding -------------------------------------------------------------------------------- */

/* How an archive level codes. */
static enum record_model_method model_method(unsigned level)
{
    return level == COLUMN_LEVEL_NIBBLES ? RECORD_MODEL_NIBBLES
           : level == COLUMN_LEVEL_FEW   ? RECORD_MODEL_FEW
                                         : RECORD_MODEL_MANY;
}

int column_check_level(int level, struct bt_error *error)
{
    if (level < -1 || level > COLUMN_LEVEL_MOST)
        return bt_fail(error, BT_USAGE, "columns have levels 0 (store) to %d, not %d",
                       COLUMN_LEVEL_MOST, level);
    return 0;
}

struct column_encoder *column_encoder_new(int level, struct bt_error *error)
{
    if (column_check_level(level, error) < 0)
        return NULL;
    struct column_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        bt_fail(error, BT_MEMORY, "no memory for a compressor");
        return NULL;
    }
    encoder->level = level < 0 ? COLUMN_LEVEL_DEFAULT : (unsigned)level;
    encoder->backend = column_backend_new(error);
    if (encoder->backend && level >= COLUMN_LEVEL_NIBBLES) {
        encoder->model = record_model_new(RECORD_MODEL_MOST);
        if (!encoder->model)
            bt_fail(error, BT_MEMORY, "no memory for a compressor");
    }
    if (encoder->backend && (encoder->model || level < COLUMN_LEVEL_NIBBLES))
        return encoder;
    column_encoder_free(encoder);
    return NULL;
}

void column_encoder_free(struct column_encoder *encoder)
{
    if (!encoder)
        return;
    column_backend_free(encoder->backend);
    record_model_free(encoder->model);
    columns_clear(&encoder->columns);
    free(encoder->beside);
    free(encoder);
}

unsigned column_encoder_level(const struct column_encoder *encoder)
{
    return encoder->level;
}

size_t column_encoder_memory(int level, size_t count)
{
    size_t bytes = column_backend_memory(level < 0 ? COLUMN_LEVEL_DEFAULT : (unsigned)level);
    for (int i = 0; i < COLUMN_STREAMS; i++)
        bytes += (count + 1) * column_width((enum column_stream)i);
    if (level >= COLUMN_LEVEL_NIBBLES)
        bytes += column_encode_bound(count) +
                 record_model_memory(model_method((unsigned)level), RECORD_MODEL_MOST);
    return bytes;
}

size_t column_encode_bound(size_t count)
{
    return 1 + count * RECORD_BYTES;
}

/* Puts kinds and streams. 0; BT_FULL if they do not fit, BT_MEMORY. */
static int put_columns(struct column_encoder *encoder, uint8_t *out, size_t capacity, size_t *size)
{
    const struct columns *columns = &encoder->columns;
    const size_t kinds = columns->kind_count;
    size_t at = BEGIN_BYTES + kinds * KIND_BYTES;
    uint8_t *directory = out + at;
    at += COLUMN_STREAMS * STREAM_BYTES;
    if (capacity < at)
        return BT_FULL;
    out[0] = CONTENT_COLUMNS;
    out[1] = (uint8_t)kinds;
    for (size_t i = 0; i < kinds; i++) {
        memcpy(out + BEGIN_BYTES + i * KIND_BYTES, columns->kinds[i].head, 4);
        out[BEGIN_BYTES + i * KIND_BYTES + 4] = columns->kinds[i].shift;
    }
    for (int i = 0; i < COLUMN_STREAMS; i++, directory += STREAM_BYTES) {
        const enum column_stream stream = (enum column_stream)i;
        size_t coded;
        int result = column_backend_encode(encoder->backend, encoder->level, columns->bytes[i],
                                           columns->elements[i] * column_width(stream), out + at,
                                           capacity - at, &coded, directory);
        if (result < 0)
            return result;
        bytes_put32(directory + 1, (uint32_t)coded);
        at += coded;
    }
    *size = at;
    return 0;
}

/* Splits the records and puts their columns. 0, BT_FULL, BT_MEMORY. */
static int encode_columns(struct column_encoder *encoder, const struct record *records,
                          size_t count, uint8_t *out, size_t capacity, size_t *size,
                          struct bt_error *error)
{
    int result = columns_reserve(&encoder->columns, count, error);
    if (result < 0)
        return result;
    columns_split(&encoder->columns, records, count);
    result = put_columns(encoder, out, capacity, size);
    return result == BT_MEMORY ? bt_fail(error, BT_MEMORY, "no memory to compress columns")
                               : result;
}

/* Codes the records by the model and as columns, which are smaller where long parts repeat, and
 * keeps the smaller one. */
static int encode_archive(struct column_encoder *encoder, const struct record *records,
                          size_t count, uint8_t *out, size_t *size, struct bt_error *error)
{
    const size_t most = column_encode_bound(count);
    uint8_t *beside = grow_array(encoder->beside, &encoder->beside_capacity, most, 1);
    if (!beside)
        return bt_fail(error, BT_MEMORY, "no memory to compress columns");
    encoder->beside = beside;
    int result = record_model_encode(encoder->model, model_method(encoder->level), records, count,
                                     out, size, error);
    if (result < 0)
        return result;
    size_t beside_size;
    result = encode_columns(encoder, records, count, beside, most, &beside_size, error);
    if (result == 0 && beside_size < *size) {
        memcpy(out, beside, beside_size);
        *size = beside_size;
    }
    return result == BT_FULL ? 0 : result;
}

int column_encode(struct column_encoder *encoder, const struct record *records, size_t count,
                  bool store, uint8_t *out, size_t *size, struct bt_error *error)
{
    const size_t most = column_encode_bound(count);
    if (encoder->model && !store)
        return encode_archive(encoder, records, count, out, size, error);
    int result = BT_FULL;
    if (!store && encoder->level > 0)
        result = encode_columns(encoder, records, count, out, most, size, error);
    if (result == BT_FULL) {
        out[0] = CONTENT_STORED;
        memcpy(out + 1, records, count * RECORD_BYTES);
        *size = most;
        result = 0;
    }
    return result;
}

/* --- decoding -------------------------------------------------------------------------------- */

struct column_decoder *column_decoder_new(struct bt_error *error)
{
    struct column_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) {
        bt_fail(error, BT_MEMORY, "no memory for a decompressor");
        return NULL;
    }
    decoder->backend = column_backend_new(error);
    if (decoder->backend)
        return decoder;
    column_decoder_free(decoder);
    return NULL;
}

void column_decoder_free(struct column_decoder *decoder)
{
    if (!decoder)
        return;
    column_backend_free(decoder->backend);
    record_model_free(decoder->model);
    columns_clear(&decoder->columns);
    free(decoder);
}

/* Takes the kinds. Returns their end; 0: damaged. */
static size_t get_kinds(struct columns *columns, const uint8_t *in, size_t size)
{
    if (size < BEGIN_BYTES || size - BEGIN_BYTES < in[1] * KIND_BYTES)
        return 0;
    columns->kind_count = in[1];
    for (unsigned i = 0; i < columns->kind_count; i++) {
        const uint8_t *kind = in + BEGIN_BYTES + i * KIND_BYTES;
        memcpy(columns->kinds[i].head, kind, 4);
        columns->kinds[i].shift = kind[4];
        if (kind[4] > COLUMN_SHIFT_MAX)
            return 0;
    }
    return BEGIN_BYTES + columns->kind_count * KIND_BYTES;
}

/* Decodes the streams of count records, which have to end with the content. */
static bool get_streams(struct column_decoder *decoder, const uint8_t *in, size_t size,
                        size_t count)
{
    struct columns *columns = &decoder->columns;
    if (size < COLUMN_STREAMS * STREAM_BYTES)
        return false;
    size_t at = COLUMN_STREAMS * STREAM_BYTES;
    for (int i = 0; i < COLUMN_STREAMS; i++) {
        const enum column_stream stream = (enum column_stream)i, parent = column_parent(stream);
        const uint8_t *entry = in + (size_t)i * STREAM_BYTES;
        const size_t coded = bytes_get32(entry + 1);
        columns->elements[i] =
            parent == stream ? count
                             : columns_escapes(columns->bytes[parent], columns->elements[parent]);
        if (coded > size - at ||
            !column_backend_decode(decoder->backend, entry[0], in + at, coded, columns->bytes[i],
                                   columns->elements[i] * column_width(stream)))
            return false;
        at += coded;
    }
    return at == size;
}

int column_decode(struct column_decoder *decoder, const uint8_t *in, size_t size,
                  struct record *records, size_t count, struct bt_error *error)
{
    if (size == column_encode_bound(count) && in[0] == CONTENT_STORED) {
        memcpy(records, in + 1, count * RECORD_BYTES);
        return 0;
    }
    if (size > 0 && in[0] >= RECORD_MODEL_NIBBLES && in[0] <= RECORD_MODEL_FEW) {
        if (!decoder->model)
            decoder->model = record_model_new(RECORD_MODEL_MOST);
        return decoder->model ? record_model_decode(decoder->model, in, size, records, count, error)
                              : bt_fail(error, BT_MEMORY, "no memory for a decompressor");
    }
    if (size > 0 && in[0] > CONTENT_COLUMNS)
        return bt_fail(error, BT_NEWER,
                       "columns of version %u, which this bustap does not know: read them with a "
                       "newer version",
                       in[0]);
    int result = columns_reserve(&decoder->columns, count, error);
    if (result < 0)
        return result;
    const size_t at =
        size > 0 && in[0] == CONTENT_COLUMNS ? get_kinds(&decoder->columns, in, size) : 0;
    if (at == 0 || !get_streams(decoder, in + at, size - at, count) ||
        !columns_join(&decoder->columns, records, count))
        return bt_fail(error, BT_DATA, "compressed columns are damaged");
    return 0;
}
