/* Coded blocks. After a first byte that is 0, any content of a member, whose first two bytes are
 * its number of records; otherwise records, which must come back, fed as they are and block by
 * block. */
#include "formats/base/bytes.h"
#include "formats/blocks/block_decoder.h"
#include "formats/blocks/block_encoder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good)
{
    if (!good)
        abort();
}

static void decode(const uint8_t *data, size_t size)
{
    size_t count = bytes_get16(data);
    struct record *records = malloc(count * sizeof *records + !count);
    struct block_decoder *decoder = block_decoder_new(NULL);
    uint32_t check;
    struct bt_error error = {.message = ""};
    must(records && decoder);
    int result = block_decode(decoder, data + 2, size - 2, records, count, &check, &error);
    must(result == 0 || ((result == BT_DATA || result == BT_NEWER) && error.message[0]));
    block_decoder_free(decoder);
    free(records);
}

static void round_trip(const uint8_t *data, size_t size)
{
    size_t count = size / RECORD_BYTES, content;
    size_t capacity = block_encoder_bound(count);
    struct record *records = malloc(count * sizeof *records);
    struct record *back = malloc(count * sizeof *back);
    uint8_t *bytes = malloc(capacity);
    struct block_encoder *encoder = block_encoder_new(NULL);
    struct block_decoder *decoder = block_decoder_new(NULL);
    uint32_t check, check_back;
    must(records && back && bytes && encoder && decoder);
    records_get(records, data, count);
    must(block_encoder_records(encoder, records, count, bytes, capacity, &content, &check, NULL) ==
         0);
    must(block_decode(decoder, bytes, content, back, count, &check_back, NULL) == 0);
    must(check == check_back && memcmp(records, back, count * sizeof *back) == 0);
    block_encoder_free(encoder);
    block_decoder_free(decoder);
    free(bytes);
    free(back);
    free(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 3 && data[0] == 0)
        decode(data + 1, size - 1);
    else if (size > RECORD_BYTES)
        round_trip(data + 1, size - 1);
    return 0;
}
