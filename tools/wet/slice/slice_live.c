#include "tools/wet/slice/slice_live.h"

void slice_live_clear(struct slice_live *live)
{
    for (unsigned reg = 0; reg < WET_REGISTERS; reg++)
        free(live->readers[reg]);
    *live = (struct slice_live){.registers = 0};
}

/* Notes a reader of bytes, of which those in `known` have one already. */
static void note(struct slice_readers *readers, uint64_t bytes, uint64_t known, uint32_t distance,
                 struct wet_instance reader)
{
    for (; bytes; bytes &= bytes - 1) {
        const unsigned byte = (unsigned)__builtin_ctzll(bytes);
        if (known >> byte & 1 && readers->distance[byte] <= distance)
            continue;
        readers->distance[byte] = distance;
        readers->reader[byte] = reader;
    }
}

int slice_live_need(struct slice_live *live, unsigned reg, uint64_t bytes,
                    const struct slice_link *link)
{
    if (link) {
        if (!live->readers[reg])
            live->readers[reg] = malloc(sizeof *live->readers[reg]);
        if (!live->readers[reg])
            return BT_MEMORY;
        note(live->readers[reg], bytes, live->bytes[reg], link->distance, link->next);
    }
    live->bytes[reg] |= bytes;
    live->registers |= slice_register_bit(reg);
    return 0;
}

/* Whether no register with the same bit is needed. */
static bool is_free(const struct slice_live *live, unsigned reg)
{
    if (reg < 63)
        return live->bytes[reg] == 0;
    for (reg = 63; reg < WET_REGISTERS; reg++)
        if (live->bytes[reg])
            return false;
    return true;
}

bool slice_live_define(struct slice_live *live, unsigned reg, uint64_t bytes,
                       struct slice_link *best)
{
    uint64_t found = live->bytes[reg] & bytes;
    if (!found)
        return false;
    live->bytes[reg] &= ~bytes;
    if (is_free(live, reg))
        live->registers &= ~slice_register_bit(reg);
    for (const struct slice_readers *readers = live->readers[reg]; best && found;
         found &= found - 1) {
        const unsigned byte = (unsigned)__builtin_ctzll(found);
        if (readers->distance[byte] >= best->distance)
            continue;
        best->distance = readers->distance[byte];
        best->next = readers->reader[byte];
        best->kind = SLICE_REGISTER;
        best->reg = (uint8_t)reg;
    }
    return true;
}

int slice_live_merge(struct slice_live *to, struct slice_live *from)
{
    for (unsigned reg = 0; reg < WET_REGISTERS; reg++) {
        const struct slice_readers *readers = from->readers[reg];
        uint64_t bytes = from->bytes[reg];
        if (!readers && bytes && slice_live_need(to, reg, bytes, NULL) < 0)
            return BT_MEMORY;
        for (; readers && bytes; bytes &= bytes - 1) {
            const unsigned byte = (unsigned)__builtin_ctzll(bytes);
            const struct slice_link link = {.distance = readers->distance[byte],
                                            .next = readers->reader[byte]};
            if (slice_live_need(to, reg, UINT64_C(1) << byte, &link) < 0)
                return BT_MEMORY;
        }
    }
    slice_live_clear(from);
    return 0;
}
