/* The values of a replay: value_coder.h with a rule for each instruction of each block. */
#include "tools/wet/replay/wet_replay_internal.h"
#include "tools/wet/values/value_coder.h"

_Static_assert(VALUE_STREAMS == WET_VALUE_STREAMS, "a chunk has the streams of values");

struct wet_replay_values {
    struct value_coder *coder;
    struct value_rule *rules; /* by place in wet_code.ids */
    struct wet_cursor streams[VALUE_STREAMS];
    uint8_t value[VALUE_BYTES];
};

/* Makes the rules of a block. */
static void make_rules(struct wet_replay_values *values, const struct wet_code *code,
                       const struct wet_block *block)
{
    struct decode_instruction decoded;
    struct data_flow flow;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct wet_instruction *instruction =
            &code->instructions[code->ids[block->first + i]];
        decode(&decoded, instruction->bytes, instruction->size, instruction->address);
        data_flow_of(&flow, &decoded);
        value_rule_make(&values->rules[block->first + i], &decoded, &flow);
    }
    value_rules_join(&values->rules[block->first], block->count);
}

int wet_values_new(struct wet_replay *replay)
{
    const struct wet_code *code = &replay->trace->file.code;
    struct bt_error error;
    if (!(replay->wanted & WET_WANTS_VALUES))
        return 0;
    struct wet_replay_values *values = calloc(1, sizeof *values);
    replay->values = values;
    if (!values)
        return BT_MEMORY;
    values->coder = value_coder_new(&error);
    values->rules = calloc(code->id_count + 1, sizeof *values->rules);
    if (!values->coder || !values->rules)
        return BT_MEMORY;
    for (size_t i = 1; i < code->block_count; i++)
        make_rules(values, code, &code->blocks[i]);
    return 0;
}

void wet_values_free(struct wet_replay *replay)
{
    if (!replay->values)
        return;
    value_coder_free(replay->values->coder);
    free(replay->values->rules);
    free(replay->values);
}

int wet_values_begin(struct wet_replay *replay)
{
    struct wet_replay_values *values = replay->values;
    if (!values)
        return 0;
    for (unsigned i = 0; i < VALUE_STREAMS; i++)
        values->streams[i] = wet_cursor_of(&replay->chunk.streams[WET_STREAM_VALUES + i]);
    value_coder_read_from(values->coder, values->streams);
    return 0;
}

int wet_values_switch(struct wet_replay *replay, uint32_t thread)
{
    return replay->values ? value_coder_switch(replay->values->coder, thread) : 0;
}

int wet_values_fork(struct wet_replay *replay, uint32_t thread, uint32_t parent)
{
    return replay->values ? value_coder_fork(replay->values->coder, thread, parent) : 0;
}

int wet_values_result(struct wet_replay *replay, uint64_t value)
{
    return replay->values ? value_coder_result(replay->values->coder, replay->thread->number, value)
                          : 0;
}

int wet_values_get(struct wet_replay *replay, uint32_t at, bool defines, const uint8_t **value)
{
    struct wet_replay_values *values = replay->values;
    struct value_rule *rule = &values->rules[at];
    if (value_rule_is_empty(rule))
        return 0;
    const int result = value_coder_get(values->coder, rule, defines, values->value);
    if (rule->size > 0 && defines && rule->operation != VALUE_SYSTEM_CALL)
        *value = values->value;
    return result;
}
