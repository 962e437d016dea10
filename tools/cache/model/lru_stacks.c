#include "tools/cache/model/lru_stacks_internal.h"

#include "formats/base/power.h"

#include <stdlib.h>
#include <string.h>

/* An entry has the line's number in its upper half. The lower half has ENTRY_VALID and the fewest
 * ways with which the line is dirty, ENTRY_CLEAN if with none. 0: empty. */
#define ENTRY_VALID 0x10000u
#define ENTRY_CLEAN 0xffffu
#define ENTRY_LEVEL 0xffffu
#define ENTRY_TAG   0xffffffff00010000u

#define BANK_ALIGNMENT 64u

struct lru_stacks {
    struct lru_stacks_settings settings; /* without depths */
    struct stack_depth *depths;
    size_t bank_bytes;
    unsigned line_shift;
    uint32_t part_mask; /* smallest number of sets - 1 */
    struct stacks_side sides[CACHE_SIDES];
};

unsigned lru_stacks_parts_max(const struct lru_stacks_settings *settings)
{
    return settings->depths[0].sets;
}

/* Lays out the depths in a bank. */
static void make_depths(struct lru_stacks *stacks, const struct lru_stacks_settings *settings)
{
    for (unsigned i = 0; i < settings->depth_count; i++) {
        const struct lru_depth *from = &settings->depths[i];
        struct stack_depth *depth = &stacks->depths[i];
        *depth = (struct stack_depth){.sets = from->sets,
                                      .ways = from->ways,
                                      .offset = stacks->bank_bytes,
                                      .shift = stacks->line_shift};
        lru_wide_choose(depth, settings->fastest);
        size_t bytes = depth->wide_set ? lru_wide_bytes(depth)
                                       : (size_t)depth->sets * depth->ways * sizeof(uint64_t);
        stacks->bank_bytes += (bytes + BANK_ALIGNMENT - 1) / BANK_ALIGNMENT * BANK_ALIGNMENT;
    }
}

int lru_stacks_new(struct lru_stacks **stacks, const struct lru_stacks_settings *settings,
                   struct bt_error *error)
{
    unsigned count = settings->depth_count;
    struct lru_stacks *made = calloc(1, sizeof *made);
    *stacks = made;
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a sweep");
    made->settings = *settings;
    made->settings.depths = NULL;
    made->line_shift = power_log2(settings->line);
    made->part_mask = settings->depths[0].sets - 1;
    made->depths = calloc(count, sizeof *made->depths);
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        made->sides[side].depths = calloc(count, sizeof *made->sides[side].depths);
    }
    if (!made->depths || !made->sides[0].depths || !made->sides[1].depths) {
        lru_stacks_free(made);
        *stacks = NULL;
        return bt_fail(error, BT_MEMORY, "no memory for a sweep over %u numbers of sets", count);
    }
    make_depths(made, settings);
    return 0;
}

void lru_stacks_free(struct lru_stacks *stacks)
{
    if (!stacks)
        return;
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            free(stacks->sides[side].memory[processor]);
        free(stacks->sides[side].depths);
    }
    free(stacks->depths);
    free(stacks);
}

/*
 * Moves a line that is not on top to the top. The lines above it move down by one; caches that have
 * become too small for them write them back. Returns the former depth of the line, or `ways` if it
 * was absent.
 */
static inline __attribute__((always_inline)) unsigned
raise_line(uint64_t *set, unsigned ways, uint64_t tag, bool write, uint64_t *write_backs)
{
    uint64_t raised = tag | ENTRY_CLEAN;
    uint64_t moving = set[0];
    unsigned found = ways;
    for (unsigned depth = 1; moving != 0; depth++) {
        /*
         * a dirty line was kept by caches with more ways than its depth; now one more way is needed
         */
        bool leaves = (moving & ENTRY_LEVEL) == depth;
        write_backs[depth] += leaves;
        moving += leaves;
        if (depth == ways)
            break;
        uint64_t next = set[depth];
        set[depth] = moving;
        if ((next & ENTRY_TAG) == tag) {
            raised = next;
            found = depth;
            break;
        }
        moving = next;
    }
    set[0] = write ? tag | 1 : raised;
    return found;
}

/* The entries of a set in the general form. */
static inline uint64_t *general_set(uint8_t *entries, size_t set, unsigned ways)
{
    return (uint64_t *)(void *)entries + set * ways;
}

/*
 * Makes the queued references with one number of sets. ways is the depth's, passed again so that
 * the compiler can treat it as a constant. Returns how many references need more sets; these are
 * moved to the front.
 */
static inline __attribute__((always_inline)) unsigned work_level(struct stacks_side *side,
                                                                 const struct stack_depth *depth,
                                                                 struct depth_counts *counts,
                                                                 unsigned count, unsigned ways)
{
    const uint32_t set_mask = depth->sets - 1;
    const size_t offset = depth->offset;
    const unsigned shift = depth->shift;
    uint64_t *waiting = side->waiting;
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t one = waiting[i];
        const uint64_t later = waiting[i + AHEAD];
        __builtin_prefetch(general_set(side->banks[waiting_bank(later)] + offset,
                                       (uint32_t)later >> shift & set_mask, ways),
                           1);
        const uint32_t line = (uint32_t)one >> shift;
        const uint64_t tag = (uint64_t)line << 32 | ENTRY_VALID;
        const unsigned kind = waiting_kind(one);
        const bool write = kind >= REFERENCE_WRITE;
        uint64_t *set = general_set(side->banks[waiting_bank(one)] + offset, line & set_mask, ways);
        if ((set[0] & ENTRY_TAG) != tag) {
            counts->found[kind][raise_line(set, ways, tag, write, counts->write_backs)]++;
        } else if (write && (set[0] & ENTRY_LEVEL) != 1) {
            set[0] = tag | 1;
            counts->found[kind][0]++;
        } else {
            counts->found[kind][FOUND_FIRST]++;
            continue;
        }
        waiting[kept++] = one;
    }
    return kept;
}

/* The same for any depth. */
static unsigned work_depth(struct stacks_side *side, const struct stack_depth *depth,
                           struct depth_counts *counts, unsigned count)
{
    if (depth->masked)
        return lru_masked_work(side, depth, counts, count);
    if (depth->wide_set)
        return lru_wide_work(side, depth, counts, count);
    switch (depth->ways) {
    case 1:
        return work_level(side, depth, counts, count, 1);
    case 2:
        return work_level(side, depth, counts, count, 2);
    case 4:
        return work_level(side, depth, counts, count, 4);
    case 8:
        return work_level(side, depth, counts, count, 8);
    default:
        return work_level(side, depth, counts, count, depth->ways);
    }
}

/* Makes all queued references of a side, with one number of sets after the other. */
static void work_off(const struct lru_stacks *stacks, struct stacks_side *side)
{
    unsigned count = side->waiting_count;
    for (unsigned i = 0; i < AHEAD; i++)
        side->waiting[count + i] = side->waiting[0];
    for (unsigned i = 0; i < stacks->settings.depth_count && count > 0; i++)
        count = work_depth(side, &stacks->depths[i], &side->depths[i], count);
    side->waiting_count = 0;
}

/* Allocates the entries of a processor's cache at its first reference. 0 or BT_MEMORY. */
static int make_bank(const struct lru_stacks *stacks, struct stacks_side *side, unsigned bank,
                     struct bt_error *error)
{
    /* calloc, so that sets without references take no memory */
    uint8_t *memory = calloc(1, stacks->bank_bytes + BANK_ALIGNMENT);
    if (!memory)
        return bt_fail(error, BT_MEMORY, "no memory for the caches of a sweep");
    uint8_t *entries = memory + (0u - (uintptr_t)memory) % BANK_ALIGNMENT;
    side->memory[bank] = memory;
    for (unsigned i = 0; i < stacks->settings.depth_count; i++)
        if (stacks->depths[i].wide_set)
            lru_wide_clear(&stacks->depths[i], entries);
    side->banks[bank] = entries;
    return 0;
}

/* Whether a line's sets belong to this part. */
static inline bool is_mine(const struct lru_stacks *stacks, uint32_t line)
{
    return stacks->settings.parts == 1 ||
           (line & stacks->part_mask) % stacks->settings.parts == stacks->settings.part;
}

/* What a record of a type is; the first types are those of memory references. */
struct stacks_type {
    uint64_t waiting; /* a queued reference to line 0 */
    uint32_t side;
    uint32_t write;   /* 1 or 0 */
    uint32_t written; /* a mask of the bytes that it writes */
};

#define TYPES 4u

/* For a processor's records. */
static void make_types(const struct lru_stacks *stacks, unsigned bank,
                       struct stacks_type types[TYPES])
{
    for (uint8_t i = 0; i < TYPES; i++) {
        const enum reference_kind kind = reference_kind_of(i);
        const bool write = kind == REFERENCE_WRITE;
        types[i] = (struct stacks_type){
            .waiting = (uint64_t)kind << WAITING_KIND | (uint64_t)bank << WAITING_BANK,
            .side =
                stacks->settings.split && kind != REFERENCE_FETCH ? CACHE_DATA : CACHE_INSTRUCTION,
            .write = write,
            .written = write ? UINT32_MAX : 0};
        if (write && stacks->settings.line >= LRU_WIDE_LINE)
            types[i].waiting |= WAITING_WRITE;
    }
}

/* A queued reference to bytes of a line. */
static inline uint64_t waiting_of(const struct stacks_type *type, uint32_t line_mask,
                                  uint32_t address, uint32_t bytes)
{
    const uint64_t whole = type->write & (bytes == line_mask + 1);
    return (type->waiting | (address & ~line_mask)) + (whole << WAITING_KIND);
}

/* Queues the parts of a reference that crosses lines. */
static void refer_in_parts(const struct lru_stacks *stacks, struct stacks_side *side,
                           const struct stacks_type *type, const struct record *record)
{
    const uint32_t line_mask = stacks->settings.line - 1;
    uint32_t address = record->address;
    uint32_t left = record->size;
    for (bool first = true; left > 0; first = false) {
        uint32_t room = line_mask + 1 - (address & line_mask);
        uint32_t bytes = left < room ? left : room;
        if (is_mine(stacks, address >> stacks->line_shift)) {
            side->split += !first;
            side->write_bytes += bytes & type->written;
            side->waiting[side->waiting_count++] = waiting_of(type, line_mask, address, bytes);
            if (side->waiting_count == WAITING_MAX)
                work_off(stacks, side);
        }
        left -= bytes;
        address += bytes;
    }
}

/* Begins records of a processor (0 if the cache is shared). 0 or BT_MEMORY. */
static int begin_processor(const struct lru_stacks *stacks, struct stacks_side sides[CACHE_SIDES],
                           unsigned bank, struct stacks_type types[TYPES], struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; i < (stacks->settings.split ? CACHE_SIDES : 1) && result == 0; i++)
        if (!sides[i].banks[bank])
            result = make_bank(stacks, &sides[i], bank, error);
    make_types(stacks, bank, types);
    return result;
}

#define NO_LAST UINT64_MAX

/*
 * Queues references, unless they are to the same line as the one before and change nothing: these,
 * which are many, would follow each other through the entries of one set. last: the line's number,
 * twice, plus 1 if it is dirty in all caches.
 */
static inline __attribute__((always_inline)) int put(struct lru_stacks *stacks,
                                                     const struct record *records, size_t count,
                                                     bool split, bool divided,
                                                     struct bt_error *error)
{
    const uint32_t line_mask = stacks->settings.line - 1;
    const unsigned line_shift = stacks->line_shift;
    struct stacks_type types[TYPES];
    uint64_t last[CACHE_SIDES] = {NO_LAST, NO_LAST};
    unsigned waiting[CACHE_SIDES] = {0, 0};
    unsigned processor = NO_PROCESSOR;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        record_prefetch(record);
        const uint32_t address = record->address;
        const uint32_t bytes = reference_bytes(record);
        if (record->type >= TYPES)
            continue;
        if (record->processor != processor) {
            processor = record->processor;
            last[0] = last[1] = NO_LAST;
            const unsigned bank = stacks->settings.shared ? 0 : processor;
            if (begin_processor(stacks, stacks->sides, bank, types, error) < 0)
                return BT_MEMORY;
        }
        const struct stacks_type *type = &types[record->type];
        const unsigned number = split ? type->side : CACHE_INSTRUCTION;
        struct stacks_side *side = &stacks->sides[number];
        if ((address & line_mask) + bytes > line_mask + 1) {
            side->waiting_count = waiting[number];
            refer_in_parts(stacks, side, type, record);
            waiting[number] = side->waiting_count;
            last[number] = NO_LAST;
            continue;
        }
        const uint64_t line = address >> line_shift;
        if (divided && !is_mine(stacks, (uint32_t)line))
            continue;
        const uint64_t change = last[number] ^ line << 1;
        const bool first = (change ^ type->write) < 2 - type->write;
        last[number] = line << 1 | type->write | (change == 1);
        const uint64_t one = waiting_of(type, line_mask, address, bytes);
        side->write_bytes += bytes & type->written;
        side->depths[0].found[waiting_kind(one)][FOUND_FIRST] += first;
        side->waiting[waiting[number]] = one;
        waiting[number] += first ^ 1;
        if (waiting[number] == WAITING_MAX) {
            side->waiting_count = WAITING_MAX;
            work_off(stacks, side);
            waiting[number] = 0;
        }
    }
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        stacks->sides[side].waiting_count = waiting[side];
        work_off(stacks, &stacks->sides[side]);
    }
    return 0;
}

int lru_stacks_put(struct lru_stacks *stacks, const struct record *records, size_t count,
                   struct bt_error *error)
{
    if (stacks->settings.parts > 1)
        return put(stacks, records, count, true, true, error);
    return stacks->settings.split ? put(stacks, records, count, true, false, error)
                                  : put(stacks, records, count, false, false, error);
}

/* Dirty lines of a cache with that many ways, summed over the processors. */
static uint64_t count_dirty(const struct stacks_side *side, const struct stack_depth *depth,
                            uint32_t ways)
{
    const size_t entries = (size_t)depth->sets * depth->ways;
    uint64_t dirty = 0;
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
        uint8_t *bank = side->banks[processor];
        if (bank && depth->wide_set) {
            dirty += lru_wide_dirty(depth, bank, ways);
            continue;
        }
        for (size_t i = 0; bank && i < entries; i++) {
            uint64_t entry = *general_set(bank + depth->offset, i, 1);
            dirty += entry != 0 && (entry & ENTRY_LEVEL) <= ways;
        }
    }
    return dirty;
}

/* References of a kind, and the misses of a cache with that many ways. */
static void count_kind(const struct stacks_side *side, unsigned number, uint32_t largest,
                       uint32_t ways, unsigned kind, uint64_t *references, uint64_t *misses)
{
    const uint64_t *found = side->depths[number].found[kind];
    *references = *misses = 0;
    for (unsigned i = 0; i <= number; i++)
        *references += side->depths[i].found[kind][FOUND_FIRST];
    for (unsigned i = 0; i <= largest; i++) {
        *references += found[i];
        *misses += i >= ways ? found[i] : 0;
    }
}

void lru_stacks_counters(const struct lru_stacks *stacks, uint32_t sets, uint32_t ways,
                         enum cache_side side, bool write_through, bool flush,
                         struct cache_counters *counters)
{
    const struct stacks_side *from = &stacks->sides[side];
    unsigned number = 0;
    memset(counters, 0, sizeof *counters);
    while (stacks->depths[number].sets != sets)
        number++;
    for (unsigned kind = 0; kind < STACKS_KINDS; kind++) {
        unsigned known = kind == WHOLE_WRITE ? REFERENCE_WRITE : kind;
        uint64_t references;
        uint64_t misses;
        count_kind(from, number, stacks->depths[number].ways, ways, kind, &references, &misses);
        counters->references[known] += references;
        counters->misses[known] += misses;
        counters->line_misses[known] += misses;
        counters->fills += kind == WHOLE_WRITE ? 0 : misses;
    }
    counters->split = from->split;
    counters->fill_bytes = counters->fills * stacks->settings.line;
    if (write_through) {
        counters->write_throughs = counters->references[REFERENCE_WRITE];
        counters->write_through_bytes = from->write_bytes;
        return;
    }
    counters->write_backs = from->depths[number].write_backs[ways];
    if (flush)
        counters->write_backs += count_dirty(from, &stacks->depths[number], ways);
    counters->write_back_bytes = counters->write_backs * stacks->settings.line;
}
