/*
 * The values of a recording: the coder, and the rules of all blocks' instructions.
 */
#ifndef TOOLS_WET_RECORD_RECORD_VALUES_H
#define TOOLS_WET_RECORD_RECORD_VALUES_H

#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_code.h"
#include "tools/wet/values/value_coder.h"

/* The value of one of a translated block's instructions: where its entries are. */
struct record_value {
    struct value_rule *rule;
    uint16_t slot;         /* of its first byte */
    uint16_t outcome_slot; /* of the entry that decides whether it is defined */
    uint32_t outcome_mask; /* entry & mask is not 0; mask 0: it is always defined */
    uint8_t offset;        /* of the first byte in its slot */
    bool is_zero_outcome;  /* the other way round: defined if entry & mask is 0 */
    bool is_constant;      /* it has no entries, and is `constant` */
    bool is_last;          /* eight bytes do not lie in the block's entries */
    uint64_t constant;
};

struct record_values {
    struct value_coder *coder;
    struct value_rule **rules; /* by block; NULL: none was made yet */
    size_t capacity;
};

/* NULL and *error without memory. record_values_free() accepts NULL. */
struct record_values *record_values_new(struct bt_error *error);
void record_values_free(struct record_values *values);

/* The rules of a block, one for each instruction; they stay. NULL: no memory. */
struct value_rule *record_values_rules(struct record_values *values, const struct wet_code *code,
                                       uint32_t block);

/* Puts the values of an execution. 0 or BT_MEMORY. */
int record_values_put(struct record_values *values, const struct record_value *list, unsigned count,
                      const uint32_t *entries);

#endif
