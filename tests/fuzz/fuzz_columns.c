/*
 * Columns, on any bytes: as content that claims to hold some number of records, and as records,
 * which must come back. The first byte chooses the number and the level.
 */
#include "formats/columns/column_backend.h"
#include "formats/columns/column_codec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

/* What is decoded of any bytes can be coded and decoded again. */
static void code(int level, const struct record *records, size_t count)
{
    struct column_encoder *encoder = column_encoder_new(level, NULL);
    struct column_decoder *decoder = column_decoder_new(NULL);
    uint8_t *out = malloc(column_encode_bound(count));
    struct record *back = malloc(count * sizeof *back);
    size_t size;
    must(encoder && decoder && out && back);
    must(column_encode(encoder, records, count, false, out, &size, NULL) == 0);
    must(size <= column_encode_bound(count));
    must(column_decode(decoder, out, size, back, count, NULL) == 0);
    must(memcmp(back, records, count * sizeof *back) == 0);
    free(out);
    free(back);
    column_encoder_free(encoder);
    column_decoder_free(decoder);
}

static void decode(int level, const uint8_t *in, size_t size, size_t count)
{
    struct column_decoder *decoder = column_decoder_new(NULL);
    struct record *records = malloc(count * sizeof *records);
    uint8_t *copy = malloc(size + 1);
    must(decoder && records && copy);
    if (size > 0)
        memcpy(copy, in, size);
    const int result = column_decode(decoder, copy, size, records, count, NULL);
    must(result == 0 || result == BT_DATA || result == BT_NEWER);
    if (result == 0)
        code(level, records, count);
    free(copy);
    free(records);
    column_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const int level = 1 + data[0] % COLUMN_LEVELS;
    const size_t count = 1 + (data[0] >> 2) * (size_t)7, whole = (size - 1) / RECORD_BYTES;
    decode(level, data + 1, size - 1, count);
    if (whole > 0) {
        struct record *records = malloc(whole * sizeof *records);
        must(records != NULL);
        memcpy(records, data + 1, whole * sizeof *records);
        code(level, records, whole);
        free(records);
    }
    return 0;
}
