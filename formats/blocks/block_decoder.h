/*
 * Decodes the content of a member whose records were coded as blocks (doc/block-codec.md): to
 * records, or block by block for studies that need not look at every record.
 */
#ifndef FORMATS_BLOCKS_BLOCK_DECODER_H
#define FORMATS_BLOCKS_BLOCK_DECODER_H

#include "formats/base/error.h"
#include "formats/blocks/block_template.h"

struct block_decoder;

/* NULL and *error: no memory. */
struct block_decoder *block_decoder_new(struct bt_error *error);
void block_decoder_free(struct block_decoder *decoder);

/*
 * Decodes a member to exactly `count` records; *check gets the check of its executions. 0, BT_DATA,
 * BT_MEMORY or BT_NEWER.
 */
int block_decode(struct block_decoder *decoder, const uint8_t *in, size_t size,
                 struct record *records, size_t count, uint32_t *check, struct bt_error *error);

/* One step of a walk: literals, or an execution. */
struct block_step {
    const struct record *literals; /* NULL: an execution; valid until the next call */
    size_t literal_count;
    uint32_t template; /* number in the member, below block_walk_templates() */
    uint8_t processor;
    uint8_t attribute;         /* exclusive or: bits that differ in the first record's attribute */
    const uint64_t *addresses; /* of the template's references; valid until the next call */
};

/* Begins a walk through a member of `count` records, which must stay in memory. 0, BT_DATA,
 * BT_MEMORY or BT_NEWER. */
int block_walk_begin(struct block_decoder *decoder, const uint8_t *in, size_t size, size_t count,
                     struct bt_error *error);

/* The templates of the member, by number in the order of their first executions. */
size_t block_walk_templates(const struct block_decoder *decoder);
const struct block_template *block_walk_template(const struct block_decoder *decoder,
                                                 uint32_t number);

/* The next step. 1; 0: the end; or BT_DATA. */
int block_walk_next(struct block_decoder *decoder, struct block_step *step, struct bt_error *error);

/* After the end: the check of the executions. */
uint32_t block_walk_check(const struct block_decoder *decoder);

#endif
