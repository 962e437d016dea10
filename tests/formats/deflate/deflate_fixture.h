/* Tests for every compressor of 12-byte records. */
#ifndef TESTS_FORMATS_DEFLATE_DEFLATE_FIXTURE_H
#define TESTS_FORMATS_DEFLATE_DEFLATE_FIXTURE_H

#include "formats/deflate/deflate.h"
#include "formats/record/record.h"

#define DEFLATE_RECORDS_MAX                                                                        \
    90000u /* more than a default block, so that the sample is only a part */

struct deflate_fixture {
    enum deflate_engine engine;
    unsigned kinds; /* number of kinds of records */
    void (*fill)(struct record *records, size_t count, unsigned kind, uint64_t *random);
    /* called with each stream; may be NULL */
    void (*look)(const uint8_t *in, size_t size, const uint8_t *out, size_t packed);
    uint64_t seed;
};

/* Compresses, has zlib decompress, compares. Returns the compressed size. */
size_t deflate_check(const struct deflate_fixture *fixture, struct deflate_encoder *encoder,
                     const uint8_t *in, size_t size);

/* Test cases. */
void deflate_check_records(const struct deflate_fixture *fixture);
void deflate_check_any_bytes(const struct deflate_fixture *fixture);
void deflate_check_noise_hardly_grows(const struct deflate_fixture *fixture);
/* Earlier input does not influence the result. */
void deflate_check_input_alone(const struct deflate_fixture *fixture);

/* A block of one kind of records becomes smaller than a percentage of another engine's result. */
void deflate_check_smaller(const struct deflate_fixture *fixture, unsigned kind,
                           enum deflate_engine other, unsigned percent);

#endif
