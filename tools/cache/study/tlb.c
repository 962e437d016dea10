#include "tools/cache/study/tlb.h"

#include "tools/cache/model/hierarchy.h"

#include <stdlib.h>

/* The buffers for one page size are a hierarchy of caches whose lines are pages. */
struct tlb {
    struct sink sink;
    struct tlb_settings settings;
    struct phases phases;
    struct hierarchy *buffers[TLB_PAGES];
    struct record *run; /* translations for one hierarchy */
    size_t run_capacity;
};

static const uint32_t page_bytes[TLB_PAGES] = {4096, 1u << 21, 1u << 30};
static const char *const page_names[TLB_PAGES] = {"4K", "2M", "1G"};

const char *tlb_pages_name(enum tlb_pages pages)
{
    return page_names[pages];
}

struct tlb_settings tlb_settings_default(void)
{
    return (struct tlb_settings){.arrays = {[TLB_INSTRUCTION] = {{128, 8}, {8, 0}, {4, 0}},
                                            [TLB_DATA] = {{64, 4}, {32, 4}, {4, 0}},
                                            [TLB_SECOND] = {{1536, 12}, {1536, 12}, {16, 4}}}};
}

static enum tlb_pages pages_of(const struct tlb_settings *settings, uint32_t address)
{
    for (unsigned i = 0; i < settings->range_count; i++)
        if (address >= settings->ranges[i].low && address <= settings->ranges[i].high)
            return settings->ranges[i].pages;
    return settings->pages;
}

static int put_some(void *context, const struct record *records, size_t count,
                    struct bt_error *error)
{
    struct tlb *tlb = context;
    int result = 0;
    for (size_t begin = 0, end; begin < count && result == 0; begin = end) {
        size_t taken = 0;
        const enum tlb_pages pages = pages_of(&tlb->settings, records[begin].address);
        for (end = begin; end < count; end++) {
            if (pages_of(&tlb->settings, records[end].address) != pages)
                break;
            const enum reference_kind kind = reference_kind_of(records[end].type);
            if (kind == REFERENCE_NONE)
                continue;
            tlb->run[taken] = records[end];
            /* a write needs a translation as a read does, and leaves nothing to write back */
            tlb->run[taken].type = kind == REFERENCE_FETCH ? REQUEST_FETCH : REQUEST_MEMREAD;
            taken++;
        }
        result = hierarchy_put(tlb->buffers[pages], tlb->run, taken, error);
    }
    return result;
}

static int end_warm_up(void *context, struct bt_error *error)
{
    const struct tlb *tlb = context;
    (void)error;
    for (unsigned pages = 0; pages < TLB_PAGES; pages++)
        hierarchy_reset_counters(tlb->buffers[pages]);
    return 0;
}

static int put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    static const struct phase_operations phases = {put_some, end_warm_up};
    struct tlb *tlb = (struct tlb *)sink;
    if (batch->count > tlb->run_capacity) {
        struct record *larger = realloc(tlb->run, batch->count * sizeof *larger);
        if (!larger)
            return bt_fail(error, BT_MEMORY, "no memory for translations");
        tlb->run = larger;
        tlb->run_capacity = batch->count;
    }
    return phases_divide(&tlb->phases, batch, &phases, tlb, error);
}

static const struct sink_operations operations = {put, sink_close_nothing};

/* A buffer with room for all pages of the address space never evicts any, whatever its ways. */
static struct cache_settings buffer_settings(const struct tlb_array *array, enum tlb_pages pages)
{
    const uint64_t most = (1ull << 32) / page_bytes[pages];
    const bool all = array->entries >= most;
    const uint64_t entries = all ? most : array->entries;
    return (struct cache_settings){.size = entries * page_bytes[pages],
                                   .line = page_bytes[pages],
                                   .ways = all ? 0 : array->ways};
}

int tlb_new(struct tlb **tlb, const struct tlb_settings *settings, struct bt_error *error)
{
    struct tlb *made = calloc(1, sizeof *made);
    int result = 0;
    *tlb = NULL;
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a TLB");
    made->sink.operations = &operations;
    made->settings = *settings;
    for (unsigned i = 0; i < TLB_PAGES && result == 0; i++) {
        const enum tlb_pages pages = (enum tlb_pages)i;
        struct hierarchy_settings buffers = {.level_count = 2, .no_flush = true};
        buffers.levels[0].split = true;
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            buffers.levels[0].sides[side] = buffer_settings(
                &settings->arrays[side == CACHE_INSTRUCTION ? TLB_INSTRUCTION : TLB_DATA][pages],
                pages);
            buffers.levels[1].sides[side] =
                buffer_settings(&settings->arrays[TLB_SECOND][pages], pages);
        }
        result = hierarchy_new(&made->buffers[pages], &buffers, error);
        if (result < 0)
            bt_fail_within(error, "the TLB for pages of %s", tlb_pages_name(pages));
    }
    if (result < 0)
        tlb_free(made);
    else
        *tlb = made;
    return result;
}

void tlb_warm(struct tlb *tlb, const struct extent *warm)
{
    tlb->phases = phases_begin(warm, &(struct extent){.unit = EXTENT_NONE});
}

int tlb_clock(struct tlb *tlb, uint64_t clock_hz, struct bt_error *error)
{
    return phases_clock(&tlb->phases, clock_hz, error);
}

struct sink *tlb_sink(struct tlb *tlb)
{
    return &tlb->sink;
}

const struct tlb_settings *tlb_settings_of(const struct tlb *tlb)
{
    return &tlb->settings;
}

struct tlb_counters tlb_counters_of(const struct tlb *tlb, enum tlb_buffer buffer,
                                    enum tlb_pages pages)
{
    struct tlb_counters sum = {0, 0};
    if (tlb->phases.warming) /* the trace ended within the warm-up */
        return sum;
    const unsigned level = buffer == TLB_SECOND;
    const enum cache_side side = buffer == TLB_DATA ? CACHE_DATA : CACHE_INSTRUCTION;
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
        const struct cache_counters counters =
            hierarchy_cache_counters(tlb->buffers[pages], level, (uint8_t)processor, side);
        sum.references += reference_kinds_sum(counters.references);
        sum.misses += reference_kinds_sum(counters.misses);
    }
    return sum;
}

void tlb_free(struct tlb *tlb)
{
    if (!tlb)
        return;
    for (unsigned pages = 0; pages < TLB_PAGES; pages++)
        hierarchy_free(tlb->buffers[pages]);
    free(tlb->run);
    free(tlb);
}
