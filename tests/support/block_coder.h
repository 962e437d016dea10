/* Records as executions of blocks, for tests: codes them, and decodes the member. */
#ifndef TESTS_SUPPORT_BLOCK_CODER_H
#define TESTS_SUPPORT_BLOCK_CODER_H

#include "formats/blocks/block_encoder.h"
#include "formats/blocks/block_executions.h"

struct block_coder {
    struct block_encoder *encoder;
    struct block_decoder *decoder;
    struct block_executions executions;
    uint8_t *bytes;
    size_t capacity;
};

/* Makes one for up to `records` records at a time; to be cleared in any case. */
bool block_coder_make(struct block_coder *coder, size_t records);
void block_coder_clear(struct block_coder *coder);

/* The executions of the records, valid until the next call. NULL: they cannot be coded. */
const struct block_executions *block_coder_put(struct block_coder *coder,
                                               const struct record *records, size_t count);

#endif
