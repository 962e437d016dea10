#include "tools/wet/replay/wet_registers.h"

#include "formats/base/grow.h"

#include <string.h>

void wet_registers_clear(struct wet_registers *registers)
{
    for (unsigned i = 0; i < WET_REGISTERS; i++)
        free(registers->registers[i].written);
    *registers = (struct wet_registers){.top = 0};
}

int wet_registers_copy(struct wet_registers *to, const struct wet_registers *from)
{
    for (unsigned i = 0; i < WET_REGISTERS; i++) {
        const struct wet_register *source = &from->registers[i];
        struct wet_register *target = &to->registers[i];
        if (source->count > target->capacity) {
            struct wet_written *larger =
                realloc(target->written, source->count * sizeof *target->written);
            if (!larger)
                return BT_MEMORY;
            target->written = larger;
            target->capacity = source->count;
        }
        if (source->count > 0)
            memcpy(target->written, source->written, source->count * sizeof *source->written);
        target->count = source->count;
    }
    to->top = from->top;
    return 0;
}

unsigned wet_register_of(const struct data_flow_part *part, unsigned top)
{
    switch ((enum data_flow_kind)part->kind) {
    case DATA_FLOW_GENERAL:
        return WET_GENERAL + part->number;
    case DATA_FLOW_FLAGS:
        return WET_FLAGS;
    case DATA_FLOW_VECTOR:
        return WET_VECTOR + part->number;
    case DATA_FLOW_X87:
        return WET_X87 + (top + part->number) % 8;
    case DATA_FLOW_MMX:
        return WET_X87 + part->number;
    case DATA_FLOW_CODES:
        return WET_CODES;
    default:
        return WET_MASK + part->number;
    }
}

int wet_register_write_parts(struct wet_register *reg, uint64_t bytes, uint32_t id,
                             uint64_t instance)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reg->count; i++) {
        struct wet_written written = reg->written[i];
        written.bytes &= ~bytes;
        if (written.bytes)
            reg->written[kept++] = written;
    }
    reg->count = kept;
    if (id == 0)
        return 0;
    if (kept == reg->capacity) {
        const uint32_t capacity = kept ? 2 * kept : 2;
        struct wet_written *larger = realloc(reg->written, capacity * sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        reg->written = larger;
        reg->capacity = capacity;
    }
    reg->written[reg->count++] =
        (struct wet_written){.bytes = bytes, .instance = instance, .id = id};
    return 0;
}

static bool is_before(const struct wet_writers *a, const struct wet_written *b)
{
    return a->id < b->id || (a->id == b->id && a->first <= b->instance);
}

int wet_register_read(const struct wet_register *reg, uint64_t bytes, struct wet_ranges *to)
{
    const size_t begin = to->count;
    for (uint32_t i = 0; i < reg->count; i++) {
        const struct wet_written *written = &reg->written[i];
        if (!(written->bytes & bytes))
            continue;
        struct wet_writers *larger =
            grow_array(to->ranges, &to->capacity, to->count + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        to->ranges = larger;
        size_t at = to->count;
        for (; at > begin && !is_before(&larger[at - 1], written); at--)
            larger[at] = larger[at - 1];
        if (at > begin && larger[at - 1].id == written->id &&
            larger[at - 1].first == written->instance) {
            memmove(&larger[at], &larger[at + 1], (to->count - at) * sizeof *larger);
            continue;
        }
        larger[at] =
            (struct wet_writers){.id = written->id, .first = written->instance, .count = 1};
        to->count++;
    }
    return 0;
}
