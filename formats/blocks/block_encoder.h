/*
 * Codes the records of a member as executions of blocks: templates, the sequence of their
 * executions, and the addresses that change (doc/block-codec.md). The caller describes blocks and
 * executions, or gives records, in which the encoder finds blocks itself.
 *
 * The result depends only on what the encoder was given since block_encoder_begin().
 */
#ifndef FORMATS_BLOCKS_BLOCK_ENCODER_H
#define FORMATS_BLOCKS_BLOCK_ENCODER_H

#include "formats/base/error.h"
#include "formats/blocks/block_feed.h"
#include "formats/blocks/block_template.h"

struct block_encoder;

/* NULL and *error: no memory. */
struct block_encoder *block_encoder_new(struct bt_error *error);
void block_encoder_free(struct block_encoder *encoder);

/* Memory of an encoder for members with this number of usual records, in bytes; rarely more. */
size_t block_encoder_memory(size_t records);

/* Begins a member, without templates. */
void block_encoder_begin(struct block_encoder *encoder);

/*
 * Describes a block by its `count` records (1 to BLOCK_TEMPLATE_RECORDS_MAX; their processor is
 * ignored). The addresses of the records numbered by `variable`, in ascending order, change from
 * execution to execution. Returns the number of the template, or BT_MEMORY.
 */
int64_t block_encoder_template(struct block_encoder *encoder, const struct record *records,
                               unsigned count, const uint8_t *variable, unsigned variable_count);

/* One execution of a block. */
struct block_execution {
    uint32_t template;
    uint8_t processor; /* in all its records */
    uint8_t attribute; /* exclusive or: bits that differ in the first record's attribute */
};

/* Adds an execution; `addresses` are those of the variable records. 0 or BT_MEMORY. */
int block_encoder_execute(struct block_encoder *encoder, const struct block_execution *execution,
                          const uint64_t *addresses);

/* Adds records that belong to no block. 0 or BT_MEMORY. */
int block_encoder_literals(struct block_encoder *encoder, const struct record *records,
                           size_t count);

/* The largest content of a member of `count` records. */
size_t block_encoder_bound(size_t count);

/*
 * Ends the member. capacity >= block_encoder_bound() of its records; *size gets the size of the
 * content, *check the check of its executions. 0 or BT_MEMORY.
 */
int block_encoder_finish(struct block_encoder *encoder, uint8_t *out, size_t capacity, size_t *size,
                         uint32_t *check, struct bt_error *error);

/* A member of any records, from begin to finish. */
int block_encoder_records(struct block_encoder *encoder, const struct record *records, size_t count,
                          uint8_t *out, size_t capacity, size_t *size, uint32_t *check,
                          struct bt_error *error);

/* A member of the `count` records that a feed expands to, from begin to finish; `records` is the
 * buffer of its words and records. */
int block_encoder_feed(struct block_encoder *encoder, const struct block_feed *feed,
                       const struct record *records, size_t count, uint8_t *out, size_t capacity,
                       size_t *size, uint32_t *check, struct bt_error *error);

#endif
