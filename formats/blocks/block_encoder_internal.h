/* Inside the encoder of blocks: what a member holds before it is coded. */
#ifndef FORMATS_BLOCKS_BLOCK_ENCODER_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_ENCODER_INTERNAL_H

#include "formats/blocks/block_encoder.h"
#include "formats/blocks/block_models_internal.h"
#include "formats/deflate/deflate.h"

#define BLOCK_CONSTANT 255u /* in place of a leader: the address has been the same each time */

/* A template; its records and references are in arrays of the encoder. */
struct block_described {
    uint32_t first_record, first_reference;
    uint8_t record_count, reference_count;
    bool executed;
    uint32_t number;    /* in the content, + 1; 0: none yet */
    uint32_t chained;   /* used to find blocks: the next template with this hash, + 1 */
    uint32_t successor; /* used to find blocks: the template that followed last, + 1 */
};

/* What is exceptional before and at an execution, or the end. */
struct block_exception {
    uint32_t at;       /* number of the execution */
    uint32_t literals; /* before it */
    uint8_t what;      /* BLOCK_EXCEPTION_LITERALS etc. */
    uint8_t processor, attribute;
};

/* A growing stream. */
struct block_stream {
    struct bit_coder coder;
    uint8_t *bytes;
    size_t capacity;
};

struct block_encoder {
    struct block_models *models;
    struct deflate_encoder *deflate; /* of literals */

    struct block_described *templates;
    size_t template_count, template_capacity;
    struct record *records;
    size_t record_count, record_capacity;
    struct block_reference *references;
    size_t reference_count, reference_capacity;
    uint64_t *last; /* by reference: its address in the template's last execution */
    size_t last_capacity;

    uint32_t *executions; /* templates */
    size_t execution_count, execution_capacity;
    uint64_t *addresses; /* of the executions' references, in order */
    size_t address_count, address_capacity;

    struct record *literals;
    size_t literal_count, literal_capacity;
    size_t literals_pending; /* those after the last execution */
    struct block_exception *exceptions;
    size_t exception_count, exception_capacity;
    uint8_t processor; /* of the last execution */

    struct block_stream definitions, sequence, coded, other;
    uint32_t *heads;             /* used to find blocks: by hash, the latest template + 1 */
    struct block_feeder *feeder; /* NULL: not used yet */
};

/* Makes room for a number of executions and of their addresses. False: no memory. */
bool block_encoder_reserve(struct block_encoder *encoder, size_t executions, size_t addresses);

/* Adds an execution, for which there is room; its addresses are the next ones of the encoder. 0 or
 * BT_MEMORY. */
int block_encoder_add(struct block_encoder *encoder, const struct block_execution *execution);

/* Makes literals of all executions. 0 or BT_MEMORY. */
int block_encoder_expand(struct block_encoder *encoder);

#endif
