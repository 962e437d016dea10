/* Our deflates' output for any bytes: both decoders restore the input. */
#include "formats/deflate/deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good)
{
    if (!good)
        abort();
}

/* Checks a stream with zlib. */
static void check_with_zlib(const uint8_t *packed, size_t packed_size, const uint8_t *data,
                            size_t size, uint8_t *back)
{
    z_stream stream = {0};
    must(inflateInit2(&stream, -15) == Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)packed;
    stream.avail_in = (uInt)packed_size;
    stream.next_out = back;
    stream.avail_out = (uInt)size + 1;
    must(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    must(stream.total_out == size && stream.avail_in == 0);
    must(size == 0 || memcmp(back, data, size) == 0);
    inflateEnd(&stream);
}

static void check(enum deflate_engine engine, const uint8_t *data, size_t size)
{
    size_t packed_size;
    uint32_t crc;
    uint32_t crc_back;
    size_t capacity = deflate_bound(size);
    struct deflate_encoder *encoder = deflate_encoder_new(engine, -1, NULL);
    struct deflate_decoder *decoder = deflate_decoder_new(NULL);
    uint8_t *packed = malloc(
        capacity); /* of exactly that size, so that the sanitizer detects accesses past its end */
    uint8_t *back = malloc(size + 1);
    must(encoder && decoder && packed && back);
    must(deflate_encode(encoder, data, size, packed, capacity, &packed_size, &crc, NULL) == 0);
    check_with_zlib(packed, packed_size, data, size, back);
    if (size > 0) {
        memset(back, 0, size);
        must(deflate_decode(decoder, packed, packed_size, back, size, &crc_back, NULL) == 0);
        must(crc == crc_back && memcmp(back, data, size) == 0);
    }
    free(packed);
    free(back);
    deflate_encoder_free(encoder);
    deflate_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(DEFLATE_RECORDS, data, size);
    check(DEFLATE_PROGRAMS, data, size);
    check(DEFLATE_LIBDEFLATE, data, size);
    return 0;
}
