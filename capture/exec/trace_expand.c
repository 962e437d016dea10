#include "capture/exec/trace_expand.h"

#include <string.h>

int trace_expander_flush(struct trace_expander *expander)
{
    size_t count = expander->count;
    expander->count = 0;
    return count ? expander->put(expander->context, expander->records, count) : 0;
}

int trace_expander_add(struct trace_expander *expander, uint32_t address, bool write, unsigned size)
{
    if (expander->count == expander->capacity) {
        int result = trace_expander_flush(expander);
        if (result < 0)
            return result;
    }
    expander->records[expander->count++] =
        (struct record){.address = address,
                        .type = write ? REQUEST_MEMWRITE : REQUEST_MEMREAD,
                        .size = (uint8_t)size,
                        .attribute = ATTRIBUTE_WRITE_BACK,
                        .processor = expander->processor};
    return 0;
}

/* Records [from, to) of a block with their addresses; patches from *patch on. */
static int expand_plain(struct trace_expander *expander, const struct block *block,
                        const uint32_t *entries, unsigned from, unsigned to, unsigned *patch)
{
    if (expander->capacity - expander->count < to - from) {
        int result = trace_expander_flush(expander);
        if (result < 0)
            return result;
    }
    struct record *records = expander->records + expander->count;
    memcpy(records, block->records + from, (to - from) * sizeof *records);
    for (; *patch < block->patch_count && block->patches[*patch].record < to; ++*patch) {
        const struct patch *one = &block->patches[*patch];
        records[one->record - from].address = (one->slot ? entries[one->slot] : 0) + one->addend +
                                              (one->fs ? (uint32_t)expander->fs_base : 0);
    }
    if (expander->processor)
        for (unsigned i = 0; i < to - from; i++)
            records[i].processor = expander->processor;
    expander->count += to - from;
    return 0;
}

/* The records and specials in front of given ones. */
static int expand(struct trace_expander *expander, const struct block *block,
                  const uint32_t *entries, unsigned records, unsigned specials)
{
    unsigned at = 0, patch = 0;
    int result = 0;
    for (unsigned i = 0; i < specials && result == 0; i++) {
        const struct special *special = &block->specials[i];
        result = expand_plain(expander, block, entries, at, special->record, &patch);
        at = special->record;
        if (result == 0)
            result = trace_special(expander, special, entries);
    }
    return result == 0 ? expand_plain(expander, block, entries, at, records, &patch) : result;
}

int trace_expand(struct trace_expander *expander, const uint32_t *entries, size_t count)
{
    const uint32_t *end = entries + count;
    int result = 0;
    while (entries < end && result == 0) {
        const struct block *block = code_cache_block(expander->cache, *entries);
        result = expand(expander, block, entries, block->record_count, block->special_count);
        entries += block->slots;
    }
    return result;
}

int trace_expand_part(struct trace_expander *expander, const struct block *block,
                      const uint32_t *entries, unsigned instructions)
{
    if (instructions >= block->place_count)
        return expand(expander, block, entries, block->record_count, block->special_count);
    const struct place *place = &block->places[instructions];
    return expand(expander, block, entries, place->records, place->specials);
}
