#include "tools/wet/slice/slice_words.h"

#include "tools/wet/replay/wet_registers.h"

#include <stdio.h>

/* The name of a vector register as the instruction has it that reads these bytes. */
static const char *vector_name(unsigned number, uint64_t bytes, char text[SLICE_REGISTER_BYTES])
{
    const char letter = bytes >> 32 ? 'z' : bytes >> 16 ? 'y' : 'x';
    snprintf(text, SLICE_REGISTER_BYTES, "%cmm%u", letter, number % 100);
    return text;
}

/* The bytes of a register that the next step of a link reads. */
static uint64_t bytes_read(const struct wet_trace *trace, const struct slice_link *link)
{
    struct decode_instruction decoded;
    struct data_flow flow;
    const struct wet_instruction *next =
        link->next.id ? &trace->file.code.instructions[link->next.id] : &trace->file.closing.fault;
    uint64_t bytes = 0;
    decode(&decoded, next->bytes, next->size, next->address);
    data_flow_of(&flow, &decoded);
    for (unsigned i = 0; i < flow.port_count; i++)
        if (flow.ports[i].kind == DATA_FLOW_VECTOR &&
            flow.ports[i].number == link->reg - WET_VECTOR)
            bytes |= flow.ports[i].bytes;
    return bytes;
}

/* Registers are numbered as in wet_registers.h. */
static const char *register_name(const struct wet_trace *trace, const struct slice_link *link,
                                 char text[SLICE_REGISTER_BYTES])
{
    static const char *const general[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const unsigned reg = link->reg;
    if (reg < WET_FLAGS)
        return general[reg];
    if (reg == WET_FLAGS)
        return "flags";
    if (reg < WET_X87)
        return vector_name(reg - WET_VECTOR, bytes_read(trace, link), text);
    if (reg < WET_CODES)
        snprintf(text, SLICE_REGISTER_BYTES, "x87-%u", (reg - WET_X87) % 100);
    else if (reg == WET_CODES)
        return "c0-c3";
    else
        snprintf(text, SLICE_REGISTER_BYTES, "k%u", (reg - WET_MASK) % 100);
    return text;
}

const char *slice_link_name(const struct wet_trace *trace, const struct slice_link *link,
                            char text[SLICE_REGISTER_BYTES])
{
    switch ((enum slice_kind)link->kind) {
    case SLICE_CONTROL:
        return "control";
    case SLICE_MEMORY:
        return "memory";
    case SLICE_REGISTER:
        return register_name(trace, link, text);
    default:
        return "";
    }
}

const char *slice_value_text(const struct slice_value *value, char text[SLICE_DIGITS_BYTES])
{
    char *at = text;
    unsigned size = value ? value->size : 0;
    *at = '\0';
    if (size == 0)
        return text;
    while (size > 1 && value->bytes[size - 1] == 0)
        size--;
    at += snprintf(at, 5, "0x%x", value->bytes[size - 1]);
    while (--size > 0)
        at += snprintf(at, 3, "%02x", value->bytes[size - 1]);
    return text;
}

const struct slice_value *slice_row_value(const struct slice_rows *rows,
                                          const struct slice_row *row, const uint64_t *last,
                                          const struct slice_values *values)
{
    const struct slice_value *latest = NULL;
    for (uint32_t i = 0; values && !row->is_library && i < row->number; i++) {
        const uint32_t id = rows->ids[row->first + i];
        const struct slice_value *value =
            slice_values_find(values, (struct wet_instance){.id = id, .instance = last[id]});
        if (value && value->size > 0 && (!latest || value->number > latest->number))
            latest = value;
    }
    return latest;
}
