/*
 * How the records of a data member are coded (doc/capture-file.md): engines compress, as users name
 * them; codecs are what files name, and what a reader decompresses.
 */
#ifndef FORMATS_CAPTURE_RECORD_CODEC_H
#define FORMATS_CAPTURE_RECORD_CODEC_H

#include "formats/base/error.h"
#include "formats/blocks/block_executions.h"
#include "formats/record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What files call the coding of a member. Stable numbers. In version 1 all are deflate. */
enum record_codec {
    RECORD_CODEC_DEFLATE = 1,
    RECORD_CODEC_COLUMNS = 2, /* formats/columns */
    RECORD_CODEC_BLOCKS = 3   /* formats/blocks */
};

/* The first ones are those of formats/deflate/deflate.h, with their numbers. */
enum record_engine {
    RECORD_ENGINE_BEST, /* the fastest that writes files for any gzip program */
    RECORD_ENGINE_ZLIB,
    RECORD_ENGINE_ISAL,
    RECORD_ENGINE_RECORDS,
    RECORD_ENGINE_PROGRAMS,
    RECORD_ENGINE_LIBDEFLATE,
    RECORD_ENGINE_COLUMNS,
    RECORD_ENGINE_BLOCKS, /* of executed programs */
    RECORD_ENGINES
};

/* Versions of the file format. */
enum { CAPTURE_VERSION_GZIP = 1, CAPTURE_VERSION_CODED = 2 };

/* "best", "zlib", "isa-l", "records", "programs", "libdeflate", "columns" or "blocks". */
const char *record_engine_name(enum record_engine engine);

/* Whether the engine is built in. */
bool record_engine_exists(enum record_engine engine);

/* The version of the files that the engine writes: 1 if any gzip program reads them, else 2. */
unsigned record_engine_version(enum record_engine engine);

/* What an encoder has made of the records. */
struct record_content {
    uint8_t codec; /* enum record_codec */
    uint8_t level; /* 0: the engine has none, or it is not known */
    size_t size;
    uint32_t check; /* as the codec defines it; of deflate and columns CRC-32 of the records */
};

struct record_encoder;
struct record_decoder;
struct block_feed;

/* Whether the engine has the level: -1 is the engine's default; the others are as
 * deflate_check_level and column_check_level have them; `blocks` has no others. Takes no memory. 0
 * or BT_USAGE. */
int record_engine_check_level(enum record_engine engine, int level, struct bt_error *error);

/* An encoder of a level that record_engine_check_level accepts. NULL and *error on failure. */
struct record_encoder *record_encoder_new(enum record_engine engine, int level,
                                          struct bt_error *error);
void record_encoder_free(struct record_encoder *encoder);

/* The version of the members that this encoder's content is for: that of its engine, or what
 * record_encoder_set_version has set. */
unsigned record_encoder_version(const struct record_encoder *encoder);

/* Sets the version, which must not be below the engine's: for a file that also has members of
 * another engine. */
void record_encoder_set_version(struct record_encoder *encoder, unsigned version);

/* Whether to store records without compression, in any engine. */
void record_encoder_hurry(struct record_encoder *encoder, bool hurry);

/* The most memory that an encoder of the engine takes for blocks of count records, in bytes, with
 * what the allocator adds. */
size_t record_encoder_memory(enum record_engine engine, int level, size_t count);

/* The most bytes that count records can take, in any codec. */
size_t record_encode_bound(size_t count);

/*
 * Codes count records, at least 1, in out, which has room for record_encode_bound(count) bytes.
 * The result does not depend on earlier calls. 0 or a negative code.
 */
int record_encode(struct record_encoder *encoder, const struct record *records, size_t count,
                  uint8_t *out, size_t capacity, struct record_content *content,
                  struct bt_error *error);

/* Codes the records that a feed stands for, whose words and records are in `records`: the same. The
 * engine must be `blocks`, and not in a hurry. */
int record_encode_feed(struct record_encoder *encoder, const struct block_feed *feed,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity,
                       struct record_content *content, struct bt_error *error);

/* NULL and *error on failure. */
struct record_decoder *record_decoder_new(struct bt_error *error);
void record_decoder_free(struct record_decoder *decoder);

/*
 * Decodes size bytes of the codec (any number), which must yield exactly count records; *check gets
 * what the member's check has to be. 0, BT_DATA, BT_MEMORY, or BT_NEWER: the codec or its form is
 * not known.
 */
int record_decode(struct record_decoder *decoder, unsigned codec, const uint8_t *in, size_t size,
                  struct record *records, size_t count, uint32_t *check, struct bt_error *error);

/* The same of codec `blocks`, to executions. */
int record_decode_executions(struct record_decoder *decoder, const uint8_t *in, size_t size,
                             struct block_executions *executions, size_t count, uint32_t *check,
                             struct bt_error *error);

#endif
