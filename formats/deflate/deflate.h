/*
 * One-shot deflate, by one of five engines: two for 12-byte records, zlib and libdeflate always,
 * ISA-L if the build found it. What ISA-L makes of the same bytes varies from run to run (it
 * depends on the address of its state); the others' result depends on the input alone.
 */
#ifndef FORMATS_DEFLATE_DEFLATE_H
#define FORMATS_DEFLATE_DEFLATE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum deflate_engine {
    DEFLATE_BEST, /* the fastest: records, or with a level above 0 ISA-L, else zlib */
    DEFLATE_ZLIB,
    DEFLATE_ISAL,
    DEFLATE_RECORDS,  /* formats/deflate/deflate_records.h */
    DEFLATE_PROGRAMS, /* formats/deflate/deflate_program.h */
    DEFLATE_LIBDEFLATE,
    DEFLATE_ENGINES
};

struct deflate_encoder;
struct deflate_decoder;

/* Whether the engine is built in. */
bool deflate_has(enum deflate_engine engine);
/* "best", "zlib", "isa-l", "records", "programs" or "libdeflate". */
const char *deflate_engine_name(enum deflate_engine engine);

/*
 * Whether the engine is built in and has the level: 1 to 9 for zlib, 1 to 12 for libdeflate, 0 to 3
 * for ISA-L, -1 for the engine's default (1); the engines for records accept -1, and 0: stored
 * blocks, for slow processors. 0 or BT_USAGE.
 */
int deflate_check_level(enum deflate_engine engine, int level, struct bt_error *error);

/* An encoder of a level that deflate_check_level accepts. NULL and *error on failure. */
struct deflate_encoder *deflate_encoder_new(enum deflate_engine engine, int level,
                                            struct bt_error *error);
void deflate_encoder_free(struct deflate_encoder *encoder);

/* Whether to store blocks without compression, in any engine. */
void deflate_encoder_hurry(struct deflate_encoder *encoder, bool hurry);

/* The largest size of size bytes after compression. */
size_t deflate_bound(size_t size);

/*
 * Compresses size bytes into one raw deflate stream of *out_size bytes; capacity >=
 * deflate_bound(size). *crc32 gets the gzip CRC-32 of the input.
 */
int deflate_encode(struct deflate_encoder *encoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t capacity, size_t *out_size, uint32_t *crc32, struct bt_error *error);

/* gzip's CRC-32, by the fastest library; size fits 32 bits. */
uint32_t deflate_crc32(const uint8_t *in, size_t size);

struct deflate_decoder *deflate_decoder_new(struct bt_error *error);
void deflate_decoder_free(struct deflate_decoder *decoder);

/*
 * Decompresses one raw deflate stream, which must yield exactly out_size bytes and use all of size;
 * *crc32 gets the CRC-32 of the output. 0 or BT_DATA.
 */
int deflate_decode(struct deflate_decoder *decoder, const uint8_t *in, size_t size, uint8_t *out,
                   size_t out_size, uint32_t *crc32, struct bt_error *error);

#endif
