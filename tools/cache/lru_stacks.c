#include "tools/cache/lru_stacks.h"

#include "tools/cache/power.h"

#include <stdlib.h>
#include <string.h>

/* An entry: the line's address in the upper half; below ENTRY_THERE, and the fewest ways with which
 * it is dirty, ENTRY_CLEAN for none. 0: there is no line. */
#define ENTRY_THERE  0x10000u
#define ENTRY_CLEAN  0xffffu
#define ENTRY_LEVEL  0xffffu
#define ENTRY_TAG    0xffffffff00010000u
#define WHOLE_WRITE  REFERENCE_KINDS /* a write of whole lines, which fills nothing */
#define STACKS_KINDS (REFERENCE_KINDS + 1u)

/* What was found with one number of sets, in all caches of one side. */
struct depth_counts {
    uint64_t found[STACKS_KINDS][LRU_STACKS_DEPTH + 1]; /* by depth; the last: not found */
    uint64_t first[STACKS_KINDS]; /* on top here, and so with all larger numbers of sets */
    uint64_t write_backs[LRU_STACKS_DEPTH + 1]; /* by ways */
};

struct side_counts {
    struct depth_counts *depths;
    uint64_t split;
    uint64_t write_bytes;
};

/* The lines of one processor's cache. */
struct bank {
    uint64_t *entries; /* sets of the first depth, of the second, ... */
};

struct lru_stacks {
    struct lru_stacks_settings settings;
    struct lru_depth *depths;
    size_t *offsets; /* of each depth's entries in a bank */
    size_t entries;  /* of a bank */
    unsigned line_shift;
    uint32_t part_mask; /* smallest number of sets - 1 */
    struct side_counts sides[CACHE_SIDES];
    struct bank banks[CACHE_PROCESSORS][CACHE_SIDES];
};

unsigned lru_stacks_parts_max(const struct lru_stacks_settings *settings)
{
    return settings->depths[0].sets;
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
    made->line_shift = power_log2(settings->line);
    made->part_mask = settings->depths[0].sets - 1;
    made->depths = calloc(count, sizeof *made->depths);
    made->offsets = calloc(count, sizeof *made->offsets);
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        made->sides[side].depths = calloc(count, sizeof *made->sides[side].depths);
    if (!made->depths || !made->offsets || !made->sides[0].depths || !made->sides[1].depths) {
        lru_stacks_free(made);
        *stacks = NULL;
        return bt_fail(error, BT_MEMORY, "no memory for a sweep over %u numbers of sets", count);
    }
    memcpy(made->depths, settings->depths, count * sizeof *made->depths);
    made->settings.depths = made->depths;
    for (unsigned i = 0; i < count; i++) {
        made->offsets[i] = made->entries;
        made->entries += (size_t)made->depths[i].sets * made->depths[i].ways;
    }
    return 0;
}

void lru_stacks_free(struct lru_stacks *stacks)
{
    if (!stacks)
        return;
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            free(stacks->banks[processor][side].entries);
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        free(stacks->sides[side].depths);
    free(stacks->depths);
    free(stacks->offsets);
    free(stacks);
}

/*
 * Puts a line that is not on top there. Those above where it was move down by one, and are
 * written back by the caches that are too small for them now. Returns the depth where it was, ways
 * where it was not.
 */
static inline unsigned raise_line(uint64_t *set, unsigned ways, uint64_t tag, bool write,
                                  uint64_t *write_backs)
{
    uint64_t raised = tag | ENTRY_CLEAN;
    uint64_t moving = set[0];
    unsigned found = ways;
    for (unsigned depth = 1; moving != 0; depth++) {
        /* where it is dirty it stayed with more ways than it is deep: now one more is needed */
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

/* The same, unrolled for few ways. */
static unsigned raise_few(uint64_t *set, unsigned ways, uint64_t tag, bool write,
                          uint64_t *write_backs)
{
    switch (ways) {
    case 1:
        return raise_line(set, 1, tag, write, write_backs);
    case 2:
        return raise_line(set, 2, tag, write, write_backs);
    case 4:
        return raise_line(set, 4, tag, write, write_backs);
    case 6:
        return raise_line(set, 6, tag, write, write_backs);
    case 8:
        return raise_line(set, 8, tag, write, write_backs);
    default:
        return raise_line(set, ways, tag, write, write_backs);
    }
}

/* Asks the processor for the sets of a line in large numbers of sets before their turn comes. */
static inline void ask_ahead(const struct lru_stacks *stacks, const uint64_t *entries,
                             uint32_t line)
{
    for (unsigned i = 3; i < stacks->settings.depth_count; i++) {
        const struct lru_depth *depth = &stacks->depths[i];
        __builtin_prefetch(
            entries + stacks->offsets[i] + (size_t)(line & (depth->sets - 1)) * depth->ways, 1);
    }
}

/* A reference to one line. */
static inline void refer(struct lru_stacks *stacks, struct side_counts *counts, uint64_t *entries,
                         uint32_t address, unsigned kind)
{
    const uint32_t line = address >> stacks->line_shift;
    const uint64_t tag = (uint64_t)(line << stacks->line_shift) << 32 | ENTRY_THERE;
    const bool write = kind >= REFERENCE_WRITE;
    for (unsigned i = 0; i < stacks->settings.depth_count; i++) {
        const struct lru_depth *depth = &stacks->depths[i];
        struct depth_counts *found = &counts->depths[i];
        uint64_t *set =
            entries + stacks->offsets[i] + (size_t)(line & (depth->sets - 1)) * depth->ways;
        if ((set[0] & ENTRY_TAG) == tag) {
            if (!write || (set[0] & ENTRY_LEVEL) == 1) {
                found->first[kind]++;
                return;
            }
            set[0] = tag | 1;
            found->found[kind][0]++;
            continue;
        }
        if (i == 0)
            ask_ahead(stacks, entries, line);
        found->found[kind][raise_few(set, depth->ways, tag, write, found->write_backs)]++;
    }
}

/* The entries of a processor's cache, made when it occurs. NULL: no memory. */
static uint64_t *find_entries(struct lru_stacks *stacks, unsigned processor, unsigned side)
{
    struct bank *bank = &stacks->banks[stacks->settings.shared ? 0 : processor][side];
    if (!bank->entries)
        bank->entries = calloc(stacks->entries, sizeof *bank->entries);
    return bank->entries;
}

/* Whether a line's sets are in this part. */
static inline bool is_mine(const struct lru_stacks *stacks, uint32_t address)
{
    return stacks->settings.parts == 1 ||
           (address >> stacks->line_shift & stacks->part_mask) % stacks->settings.parts ==
               stacks->settings.part;
}

/* A reference as it comes, line by line. */
static void refer_all(struct lru_stacks *stacks, struct side_counts *counts, uint64_t *entries,
                      const struct record *record, enum reference_kind kind)
{
    const uint32_t line = stacks->settings.line;
    uint32_t address = record->address;
    uint32_t left = reference_bytes(record);
    for (bool first = true; left > 0; first = false) {
        uint32_t room = line - (address & (line - 1));
        uint32_t bytes = left < room ? left : room;
        if (is_mine(stacks, address)) {
            counts->split += !first;
            counts->write_bytes += kind == REFERENCE_WRITE ? bytes : 0;
            refer(stacks, counts, entries, address,
                  kind == REFERENCE_WRITE && bytes == line ? WHOLE_WRITE : (unsigned)kind);
        }
        left -= bytes;
        address += bytes;
    }
}

int lru_stacks_put(struct lru_stacks *stacks, const struct record *records, size_t count,
                   struct bt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        enum reference_kind kind = reference_kind_of(records[i].type);
        if (kind == REFERENCE_NONE)
            continue;
        unsigned side =
            stacks->settings.split && kind != REFERENCE_FETCH ? CACHE_DATA : CACHE_INSTRUCTION;
        uint64_t *entries = find_entries(stacks, records[i].processor, side);
        if (!entries)
            return bt_fail(error, BT_MEMORY, "no memory for the caches of a sweep");
        refer_all(stacks, &stacks->sides[side], entries, &records[i], kind);
    }
    return 0;
}

/* Lines that a cache of so many ways holds dirty, in all processors' caches. */
static uint64_t count_dirty(const struct lru_stacks *stacks, unsigned number, uint32_t ways,
                            unsigned side)
{
    const struct lru_depth *depth = &stacks->depths[number];
    size_t entries = (size_t)depth->sets * depth->ways;
    uint64_t dirty = 0;
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
        const uint64_t *bank = stacks->banks[processor][side].entries;
        for (size_t i = 0; bank && i < entries; i++) {
            uint64_t entry = bank[stacks->offsets[number] + i];
            dirty += entry != 0 && (entry & ENTRY_LEVEL) <= ways;
        }
    }
    return dirty;
}

/* References of a kind, and those that a cache of so many ways misses. */
static void count_kind(const struct lru_stacks *stacks, const struct side_counts *counts,
                       unsigned number, uint32_t ways, unsigned kind, uint64_t *references,
                       uint64_t *misses)
{
    *references = *misses = 0;
    for (unsigned i = 0; i <= number; i++)
        *references += counts->depths[i].first[kind];
    for (unsigned i = 0; i <= stacks->depths[number].ways; i++) {
        uint64_t found = counts->depths[number].found[kind][i];
        *references += found;
        *misses += i >= ways ? found : 0;
    }
}

void lru_stacks_counters(const struct lru_stacks *stacks, uint32_t sets, uint32_t ways,
                         enum cache_side side, bool write_through, bool flush,
                         struct cache_counters *counters)
{
    const struct side_counts *counts = &stacks->sides[side];
    unsigned number = 0;
    memset(counters, 0, sizeof *counters);
    while (stacks->depths[number].sets != sets)
        number++;
    for (unsigned kind = 0; kind < STACKS_KINDS; kind++) {
        unsigned known = kind == WHOLE_WRITE ? REFERENCE_WRITE : kind;
        uint64_t references;
        uint64_t misses;
        count_kind(stacks, counts, number, ways, kind, &references, &misses);
        counters->references[known] += references;
        counters->misses[known] += misses;
        counters->line_misses[known] += misses;
        counters->fills += kind == WHOLE_WRITE ? 0 : misses;
    }
    counters->split = counts->split;
    counters->fill_bytes = counters->fills * stacks->settings.line;
    if (write_through) {
        counters->write_throughs = counters->references[REFERENCE_WRITE];
        counters->write_through_bytes = counts->write_bytes;
        return;
    }
    counters->write_backs = counts->depths[number].write_backs[ways];
    if (flush)
        counters->write_backs += count_dirty(stacks, number, ways, side);
    counters->write_back_bytes = counters->write_backs * stacks->settings.line;
}
