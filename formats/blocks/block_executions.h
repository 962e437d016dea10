/*
 * The content of a member as a stream of executions: for studies that work by blocks, not by
 * records. It owns all that it points to, so that a thread can decode it ahead.
 */
#ifndef FORMATS_BLOCKS_BLOCK_EXECUTIONS_H
#define FORMATS_BLOCKS_BLOCK_EXECUTIONS_H

#include "formats/blocks/block_decoder.h"

#define BLOCK_LITERALS          UINT32_MAX /* instead of a template's number */
#define BLOCK_STEP_LITERALS_MAX 4096u

/* An execution, or literals. */
struct execution_step {
    uint32_t template; /* its number, or BLOCK_LITERALS */
    union {
        uint32_t literals; /* number of records, 1 to BLOCK_STEP_LITERALS_MAX */
        struct {
            uint8_t processor;
            uint8_t attribute; /* as in struct block_step */
        } execution;
    } of;
};

/* Zero: empty. */
struct block_executions {
    struct block_template
        *templates; /* by number; addresses of their references are 0 or offsets */
    struct execution_step *steps;
    uint32_t *addresses;     /* of the references, execution by execution */
    struct record *literals; /* step by step */
    size_t template_count, step_count, address_count, literal_count;
    uint64_t time;       /* the sum of the times of all records */
    uint32_t first_time; /* of the first record */

    /* of the templates, and the room in all arrays */
    struct record *records;
    struct block_reference *references;
    size_t template_capacity, step_capacity, address_capacity, literal_capacity, record_capacity,
        reference_capacity;
};

/* Decodes a member of `count` records; *check as in block_decode. 0, BT_DATA or BT_MEMORY, which
 * leave the executions empty. */
int block_executions_get(struct block_executions *executions, struct block_decoder *decoder,
                         const uint8_t *in, size_t size, size_t count, uint32_t *check,
                         struct bt_error *error);

/* Empties the executions, but keeps the memory; frees it. */
void block_executions_clear(struct block_executions *executions);
void block_executions_free(struct block_executions *executions);

/* The next step of the executions, with its addresses and literals. All zero: the first one. */
struct execution_place {
    size_t step, address, literal;
};

/* Number of records of a step. */
unsigned block_step_records(const struct block_executions *executions, size_t step);

/* Writes the records of the step at *place, block_step_records() of them, and advances. */
void block_step_expand(const struct block_executions *executions, struct execution_place *place,
                       struct record *out);

/* Advances without writing them. */
void block_step_pass(const struct block_executions *executions, struct execution_place *place);

#endif
