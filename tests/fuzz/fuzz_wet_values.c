/*
 * Values of a WET file: 64 bytes of code, which make the instructions, then the streams. What is
 * read of them without an error is read again from what was written of it.
 */
#include "tools/wet/values/value_coder.h"

#include <string.h>

#define CODE_BYTES 64u
#define STEPS      3000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct program {
    struct value_rule rules[CODE_BYTES];
    unsigned count;
};

struct values {
    struct program program; /* that has no past when they are read */
    uint8_t bytes[STEPS][VALUE_BYTES];
    unsigned count;
};

static void make_program(struct program *program, const uint8_t *code)
{
    program->count = 0;
    for (unsigned at = 0; at < CODE_BYTES;) {
        struct decode_instruction instruction;
        struct data_flow flow;
        decode(&instruction, code + at, CODE_BYTES - at, 0x401000 + at);
        data_flow_of(&flow, &instruction);
        value_rule_make(&program->rules[program->count++], &instruction, &flow);
        at += instruction.size;
    }
    value_rules_join(program->rules, program->count);
}

/* The instruction of a step, and whether it defines. */
static struct value_rule *rule_of(struct program *program, unsigned step, bool *defines)
{
    *defines = step % 11 != 10;
    return &program->rules[step % program->count];
}

/* Reads values up to an error. */
static void read_values(struct values *values, struct wet_cursor *from, unsigned steps)
{
    struct program program = values->program;
    struct value_coder *coder = value_coder_new(NULL);
    bool defines;
    if (!coder)
        abort();
    value_coder_read_from(coder, from);
    for (values->count = 0; values->count < steps; values->count++) {
        struct value_rule *rule = rule_of(&program, values->count, &defines);
        const int result = value_coder_get(coder, rule, defines, values->bytes[values->count]);
        if (result != 0 && result != BT_DATA)
            abort();
        if (result != 0 || value_coder_switch(coder, values->bytes[values->count][0] % 3) != 0)
            break;
    }
    value_coder_free(coder);
}

static void write_values(const struct values *values, struct wet_bytes *to)
{
    struct program program = values->program;
    struct value_coder *coder = value_coder_new(NULL);
    bool defines;
    if (!coder)
        abort();
    value_coder_write_to(coder, to);
    for (unsigned i = 0; i < values->count; i++) {
        struct value_rule *rule = rule_of(&program, i, &defines);
        if (value_coder_put(coder, rule, defines, values->bytes[i]) != 0 ||
            value_coder_switch(coder, values->bytes[i][0] % 3) != 0)
            abort();
    }
    if (value_coder_finish(coder) != 0)
        abort();
    value_coder_free(coder);
}

static void check_same(const struct values *once, const struct values *twice)
{
    struct program program = once->program;
    bool defines;
    if (once->count != twice->count)
        abort();
    for (unsigned i = 0; i < once->count; i++) {
        const struct value_rule *rule = rule_of(&program, i, &defines);
        if (defines && memcmp(once->bytes[i], twice->bytes[i], rule->size) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct values once, twice;
    struct wet_bytes again[VALUE_STREAMS] = {{.bytes = NULL}};
    struct wet_cursor from[VALUE_STREAMS];
    if (size < CODE_BYTES)
        return 0;
    memset(&once, 0, sizeof once);
    make_program(&once.program, data);
    const size_t third = (size - CODE_BYTES) / VALUE_STREAMS;
    for (unsigned i = 0; i < VALUE_STREAMS; i++) {
        const uint8_t *at = data + CODE_BYTES + i * third;
        from[i] = (struct wet_cursor){.at = at, .end = at + third};
    }
    read_values(&once, from, STEPS);
    write_values(&once, again);
    memset(&twice, 0, sizeof twice);
    twice.program = once.program;
    for (unsigned i = 0; i < VALUE_STREAMS; i++)
        from[i] = (struct wet_cursor){
            .at = again[i].bytes, .end = again[i].bytes ? again[i].bytes + again[i].size : NULL};
    read_values(&twice, from, once.count);
    check_same(&once, &twice);
    for (unsigned i = 0; i < VALUE_STREAMS; i++)
        free(again[i].bytes);
    return 0;
}
