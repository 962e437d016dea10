/* Blocks of records as columns, compressed: codec 2 of doc/capture-file.md. */
#ifndef FORMATS_COLUMNS_COLUMN_CODEC_H
#define FORMATS_COLUMNS_COLUMN_CODEC_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>

struct column_encoder;
struct column_decoder;

/* Whether there is such a level: 1 to COLUMN_LEVELS, for archives up to COLUMN_LEVEL_MOST; -1: the
 * default; 0: records are stored. 0 or BT_USAGE. */
int column_check_level(int level, struct bt_error *error);

/* An encoder of a level that column_check_level accepts. NULL and *error on failure. */
struct column_encoder *column_encoder_new(int level, struct bt_error *error);
void column_encoder_free(struct column_encoder *encoder);

/* The level, after -1. */
unsigned column_encoder_level(const struct column_encoder *encoder);

/* The most memory that an encoder takes for blocks of count records, in bytes. */
size_t column_encoder_memory(int level, size_t count);

/* The most bytes that count records can take. */
size_t column_encode_bound(size_t count);

/*
 * Codes count records in *size bytes; out has room for column_encode_bound(count). store: without
 * compression. The result depends on the records, the level and the version of zstd alone. 0 or
 * BT_MEMORY.
 */
int column_encode(struct column_encoder *encoder, const struct record *records, size_t count,
                  bool store, uint8_t *out, size_t *size, struct bt_error *error);

/* NULL and *error on failure. */
struct column_decoder *column_decoder_new(struct bt_error *error);
void column_decoder_free(struct column_decoder *decoder);

/* Decodes exactly count records of size bytes. 0, BT_DATA, BT_MEMORY, or BT_NEWER: a later version.
 */
int column_decode(struct column_decoder *decoder, const uint8_t *in, size_t size,
                  struct record *records, size_t count, struct bt_error *error);

#endif
