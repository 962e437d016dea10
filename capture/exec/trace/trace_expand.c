#include "capture/exec/trace/trace_compile.h"
#include "capture/exec/trace/trace_expand_internal.h"

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

/* Copies records [from, to) of a block and patches their addresses. */
static int expand_part(struct trace_expander *expander, const struct block *block,
                       const uint32_t *entries, unsigned from, unsigned to)
{
    if (expander->capacity - expander->count < to - from) {
        int result = trace_expander_flush(expander);
        if (result < 0)
            return result;
    }
    struct record *records = expander->records + expander->count;
    memcpy(records, block->records + from, (to - from) * sizeof *records);
    for (unsigned i = 0; i < block->patch_count; i++) {
        const struct patch *patch = &block->patches[i];
        if (patch->record >= from && patch->record < to)
            records[patch->record - from].address = entries[patch->slot] + patch->addend;
    }
    for (unsigned i = 0; i < block->through_fs_count; i++)
        if (block->through_fs[i] >= from && block->through_fs[i] < to)
            records[block->through_fs[i] - from].address += (uint32_t)expander->fs_base;
    for (unsigned i = 0; i < to - from && expander->processor; i++)
        records[i].processor = expander->processor;
    expander->count += to - from;
    return 0;
}

/* Whether there is room for the next records, a special with them. */
static bool has_room(const struct trace_expander *expander, unsigned records)
{
    return expander->capacity - expander->count >= records + TRACE_SPECIAL_RECORDS;
}

/* Stops at a special, which is not begun. */
static int pause_at(struct trace_expander *expander, unsigned special)
{
    expander->pause = (struct trace_pause){.on = true, .special = special};
    return TRACE_PAUSED;
}

/* Expands the records and specials before the given ones; from the pause on, if there is one. */
static int expand(struct trace_expander *expander, const struct block *block,
                  const uint32_t *entries, unsigned records, unsigned specials)
{
    unsigned from = expander->pause.special;
    unsigned at = from > 0 ? block->specials[from - 1].record : 0;
    int result = 0;
    for (unsigned i = from; i < specials && result == 0; i++) {
        const struct special *special = &block->specials[i];
        if (expander->pause.repetition == 0) {
            if (expander->pauses && !has_room(expander, special->record - at))
                return pause_at(expander, i);
            result = expand_part(expander, block, entries, at, special->record);
        }
        at = special->record;
        if (result == 0)
            result = trace_special(expander, special, entries);
        if (result == TRACE_PAUSED)
            expander->pause.special = i;
    }
    if (result != 0)
        return result;
    if (expander->pauses && !has_room(expander, records - at))
        return pause_at(expander, specials);
    return expand_part(expander, block, entries, at, records);
}

/* Expands one execution of a block. */
static int expand_block(struct trace_expander *expander, const uint32_t *entries,
                        const struct block *block)
{
    if (expander->code)
        trace_code_see(expander->code, block);
    expander->instructions += block->instructions;
    return expand(expander, block, entries, block->record_count, block->special_count);
}

/* Expands with generated code, as far as it exists and space allows. */
static const uint32_t *run_code(struct trace_expander *expander, const uint32_t *entries,
                                const uint32_t *end)
{
    struct trace_position position = {.entries = entries,
                                      .end = end,
                                      .records = expander->records + expander->count,
                                      .last = expander->records + expander->capacity -
                                              TRACE_EXPAND_RECORDS_MIN + 1,
                                      .instructions = expander->instructions,
                                      .fs_base = expander->fs_base,
                                      .processor = expander->processor};
    if (position.records > position.last)
        return entries;
    trace_code_run(expander->code, &position);
    expander->count = (size_t)(position.records - expander->records);
    expander->instructions = position.instructions;
    return position.entries;
}

int trace_expand(struct trace_expander *expander, const uint32_t *entries, size_t count)
{
    if (expander->take)
        return expander->take(expander->context, expander, entries, count, NULL, 0);
    const uint32_t *end = entries + count;
    int result = 0;
    while (entries < end && result == 0) {
        if (expander->code)
            entries = run_code(expander, entries, end);
        if (expander->capacity - expander->count < TRACE_EXPAND_RECORDS_MIN)
            result = trace_expander_flush(expander);
        else if (entries < end) {
            const struct block *block = code_cache_block(expander->cache, *entries);
            result = expand_block(expander, entries, block);
            entries += block->slots;
        }
    }
    return result;
}

size_t trace_expand_some(struct trace_expander *expander, const uint32_t *entries, size_t count)
{
    const uint32_t *begin = entries, *end = entries + count;
    int result = 0;
    expander->pauses = true;
    while (entries < end && result == 0) {
        if (expander->code && !expander->pause.on)
            entries = run_code(expander, entries, end);
        if (entries == end || expander->capacity - expander->count < TRACE_EXPAND_RECORDS_MIN)
            break;
        const struct block *block = code_cache_block(expander->cache, *entries);
        if (!block || block->slots > end - entries ||
            (expander->pause.on && block != expander->pause.block)) {
            result = BT_DEVICE;
            break;
        }
        if (expander->pause.on)
            result = expand(expander, block, entries, block->record_count, block->special_count);
        else
            result = expand_block(expander, entries, block);
        expander->pause.block = block;
        if (result == 0) {
            expander->pause = (struct trace_pause){.on = false};
            entries += block->slots;
        }
    }
    expander->pauses = false;
    return entries > end || result < 0 ? TRACE_EXPAND_UNSOUND : (size_t)(entries - begin);
}

int trace_expand_part(struct trace_expander *expander, const struct block *block,
                      const uint32_t *entries, unsigned instructions)
{
    if (expander->take)
        return expander->take(expander->context, expander, entries, 0, block, instructions);
    expander->instructions += instructions;
    if (instructions >= block->pc_map_count)
        return expand(expander, block, entries, block->record_count, block->special_count);
    const struct pc_map_entry *entry = &block->pc_map[instructions];
    return expand(expander, block, entries, entry->records, entry->specials);
}
