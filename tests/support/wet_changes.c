#include "tests/support/wet_changes.h"

#include <stdio.h>
#include <string.h>

#define FLAGS UINT64_C(0xcd5) /* CF PF AF ZF SF DF OF */

/* Bytes of a register, or flags, that are defined. */
static uint64_t defined(const struct random_instruction *made, const struct wet_flow *flow,
                        const struct machine *before, const struct machine *after,
                        enum wet_flow_kind kind, unsigned number)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < flow->definition_count; i++) {
        const struct wet_flow_definition *definition = &flow->definitions[i];
        if (definition->part.kind != kind || definition->part.number != number)
            continue;
        if (wet_flow_happens(made, definition->condition, before, after))
            bytes |= definition->part.bytes;
        else if (kind == WET_GENERAL && definition->condition == WET_IF_MOVED)
            bytes |= 0xf0; /* a cmov of 32 bits that does not move clears them */
    }
    return bytes;
}

/* Bytes that differ. */
static uint64_t changed(const uint8_t *a, const uint8_t *b, unsigned size)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < size; i++)
        bytes |= (uint64_t)(a[i] != b[i]) << i;
    return bytes;
}

static void copy_vector(const struct machine *machine, unsigned number, uint8_t bytes[64])
{
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = *machine_vector_byte(machine, number, i);
}

/* A physical register of x87, which is saved in the order of the stack. */
static const uint8_t *physical(const struct machine *machine, unsigned number)
{
    return machine->vector + 32 + (size_t)16 * ((number + 8 - wet_flow_top(machine)) % 8);
}

static uint64_t defined87(const struct random_instruction *made, const struct wet_flow *flow,
                          const struct machine *before, const struct machine *after,
                          unsigned number)
{
    const bool is_push = (wet_flow_top(after) + 1) % 8 == wet_flow_top(before);
    const unsigned top = wet_flow_top(is_push ? after : before);
    return defined(made, flow, before, after, WET_MMX, number) |
           defined(made, flow, before, after, WET_X87, (number + 8 - top) % 8);
}

bool wet_changes_find(const struct random_instruction *made, const struct wet_flow *flow,
                      const struct machine *before, const struct machine *after, char what[64])
{
    uint8_t old[64], new[64];
    size_t size;
    const size_t masks = machine_component(5, &size);
    what[0] = '\0';
    for (unsigned i = 0; i < 16; i++)
        if (changed((const uint8_t *)&before->registers[i], (const uint8_t *)&after->registers[i],
                    8) &
            ~defined(made, flow, before, after, WET_GENERAL, i))
            snprintf(what, 64, "general register %u", i);
    if ((before->flags ^ after->flags) & FLAGS & ~defined(made, flow, before, after, WET_FLAGS, 0))
        snprintf(what, 64, "flags");
    for (unsigned i = 0; i < 32; i++) {
        copy_vector(before, i, old);
        copy_vector(after, i, new);
        if (changed(old, new, 64) & ~defined(made, flow, before, after, WET_VECTOR, i))
            snprintf(what, 64, "vector register %u", i);
    }
    for (unsigned i = 0; i < 8; i++) {
        if (changed(physical(before, i), physical(after, i), 10) &
            ~defined87(made, flow, before, after, i))
            snprintf(what, 64, "x87 register %u", i);
        if (size && changed(before->vector + masks + (size_t)8 * i,
                            after->vector + masks + (size_t)8 * i, 8) &
                        ~defined(made, flow, before, after, WET_MASK, i))
            snprintf(what, 64, "mask register %u", i);
    }
    return what[0] != '\0';
}
