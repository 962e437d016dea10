#include "tools/wet/record/record_values.h"

#include "formats/base/grow.h"

#include <string.h>

struct record_values *record_values_new(struct bt_error *error)
{
    struct record_values *values = calloc(1, sizeof *values);
    if (!values) {
        bt_fail(error, BT_MEMORY, "no memory for the values of a program");
        return NULL;
    }
    values->coder = value_coder_new(error);
    if (values->coder)
        return values;
    free(values);
    return NULL;
}

void record_values_free(struct record_values *values)
{
    if (!values)
        return;
    for (size_t i = 0; i < values->capacity; i++)
        free(values->rules[i]);
    free(values->rules);
    value_coder_free(values->coder);
    free(values);
}

static struct value_rule *make_rules(const struct wet_code *code, uint32_t number)
{
    const struct wet_block *block = &code->blocks[number];
    struct value_rule *rules = calloc(block->count, sizeof *rules);
    struct decode_instruction decoded;
    struct data_flow flow;
    for (uint32_t i = 0; i < block->count && rules; i++) {
        const struct wet_instruction *instruction =
            &code->instructions[wet_code_ids(code, number)[i]];
        decode(&decoded, instruction->bytes, instruction->size, instruction->address);
        data_flow_of(&flow, &decoded);
        value_rule_make(&rules[i], &decoded, &flow);
    }
    if (rules)
        value_rules_join(rules, block->count);
    return rules;
}

struct value_rule *record_values_rules(struct record_values *values, const struct wet_code *code,
                                       uint32_t block)
{
    const size_t before = values->capacity;
    struct value_rule **larger =
        grow_array(values->rules, &values->capacity, (size_t)block + 1, sizeof *larger);
    if (!larger)
        return NULL;
    values->rules = larger;
    memset(larger + before, 0, (values->capacity - before) * sizeof *larger);
    if (!larger[block])
        larger[block] = make_rules(code, block);
    return larger[block];
}

int record_values_put(struct record_values *values, const struct record_value *list, unsigned count,
                      const uint32_t *entries)
{
    uint8_t copy[VALUE_BYTES + sizeof(uint64_t)] = {0};
    int result = 0;
    for (const struct record_value *value = list; value < list + count; value++) {
        const uint8_t *bytes = (const uint8_t *)(entries + value->slot) + value->offset;
        const bool defines =
            value->outcome_mask == 0 ||
            ((entries[value->outcome_slot] & value->outcome_mask) == 0) == value->is_zero_outcome;
        if (value->is_constant) {
            bytes = (const uint8_t *)&value->constant;
        } else if (value->is_last) {
            memcpy(copy, bytes, value->rule->size);
            bytes = copy;
        }
        result |= value_coder_put(values->coder, value->rule, defines, bytes);
    }
    return result;
}
