#include "tools/cache/model/lru_stacks.h"

#include "formats/base/power.h"

#include <stdlib.h>
#include <string.h>

/* An entry has the line's address in its upper half. The lower half has ENTRY_VALID and the fewest
 * ways with which the line is dirty, ENTRY_CLEAN if with none. 0: empty. */
#define ENTRY_VALID  0x10000u
#define ENTRY_CLEAN  0xffffu
#define ENTRY_LEVEL  0xffffu
#define ENTRY_TAG    0xffffffff00010000u
#define WHOLE_WRITE  REFERENCE_KINDS /* a write of whole lines, which needs no fill */
#define STACKS_KINDS (REFERENCE_KINDS + 1u)

/* Counts for one number of sets and all caches of one side. */
struct depth_counts {
    uint64_t found[STACKS_KINDS][LRU_STACKS_DEPTH + 1]; /* by depth; the last element: not found */
    uint64_t first[STACKS_KINDS]; /* found on top here, and so with all larger numbers of sets */
    uint64_t write_backs[LRU_STACKS_DEPTH + 1]; /* by ways */
};

struct side_counts {
    struct depth_counts *depths;
    uint64_t split;
    uint64_t write_bytes;
};

/* The lines of one processor's cache. */
struct stack_bank {
    uint64_t *entries; /* sets of the first depth, of the second, ... */
};

/* A queued reference to one line. A batch is made with one number of sets before the next, so that
 * the entries stay in the host's caches. */
struct waiting {
    uint64_t *entries; /* entries of its bank */
    uint32_t address;  /* address of the line */
    uint8_t kind;
    uint8_t side;
};

#define WAITING_MAX 4096u
#define AHEAD       8u /* a set is prefetched this many references in advance */

struct lru_stacks {
    struct waiting waiting[WAITING_MAX];
    unsigned waiting_count;
    struct lru_stacks_settings settings;
    struct lru_depth *depths;
    size_t *offsets; /* offset of each depth's entries in a bank */
    size_t entries;  /* number of entries of a bank */
    unsigned line_shift;
    uint32_t part_mask; /* smallest number of sets - 1 */
    struct side_counts sides[CACHE_SIDES];
    struct stack_bank banks[CACHE_PROCESSORS][CACHE_SIDES];
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

/*
 * Makes the queued references with one number of sets. ways is the depth's, passed again so that
 * the compiler can treat it as a constant. Returns how many references need more sets; these are
 * moved to the front.
 */
static inline __attribute__((always_inline)) unsigned
work_level(struct lru_stacks *stacks, unsigned number, unsigned count, unsigned ways)
{
    const uint32_t set_mask = stacks->depths[number].sets - 1;
    const size_t offset = stacks->offsets[number];
    const unsigned shift = stacks->line_shift;
    struct waiting *waiting = stacks->waiting;
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct waiting one = waiting[i];
        const struct waiting *later = &waiting[i + AHEAD < count ? i + AHEAD : i];
        __builtin_prefetch(
            later->entries + offset + (size_t)(later->address >> shift & set_mask) * ways, 1);
        const uint64_t tag = (uint64_t)one.address << 32 | ENTRY_VALID;
        const bool write = one.kind >= REFERENCE_WRITE;
        uint64_t *set = one.entries + offset + (size_t)(one.address >> shift & set_mask) * ways;
        struct depth_counts *counts = &stacks->sides[one.side].depths[number];
        if ((set[0] & ENTRY_TAG) != tag) {
            counts->found[one.kind][raise_line(set, ways, tag, write, counts->write_backs)]++;
        } else if (write && (set[0] & ENTRY_LEVEL) != 1) {
            set[0] = tag | 1;
            counts->found[one.kind][0]++;
        } else {
            counts->first[one.kind]++;
            continue;
        }
        waiting[kept++] = one;
    }
    return kept;
}

/* Makes all queued references, with one number of sets after the other. */
static void work_off(struct lru_stacks *stacks)
{
    unsigned count = stacks->waiting_count;
    for (unsigned i = 0; i < stacks->settings.depth_count && count > 0; i++) {
        unsigned ways = stacks->depths[i].ways;
        switch (ways) {
        case 1:
            count = work_level(stacks, i, count, 1);
            break;
        case 2:
            count = work_level(stacks, i, count, 2);
            break;
        case 4:
            count = work_level(stacks, i, count, 4);
            break;
        case 6:
            count = work_level(stacks, i, count, 6);
            break;
        case 8:
            count = work_level(stacks, i, count, 8);
            break;
        default:
            count = work_level(stacks, i, count, ways);
        }
    }
    stacks->waiting_count = 0;
}

/* The entries of a processor's cache, allocated at its first reference. NULL: out of memory. */
static uint64_t *find_entries(struct lru_stacks *stacks, unsigned processor, unsigned side)
{
    struct stack_bank *bank = &stacks->banks[stacks->settings.shared ? 0 : processor][side];
    if (!bank->entries)
        bank->entries = calloc(stacks->entries, sizeof *bank->entries);
    return bank->entries;
}

/* Whether a line's sets belong to this part. */
static inline bool is_mine(const struct lru_stacks *stacks, uint32_t address)
{
    return stacks->settings.parts == 1 ||
           (address >> stacks->line_shift & stacks->part_mask) % stacks->settings.parts ==
               stacks->settings.part;
}

/* Splits a reference into lines and queues them. */
static void refer(struct lru_stacks *stacks, unsigned side, uint64_t *entries,
                  const struct record *record, enum reference_kind kind)
{
    const uint32_t line = stacks->settings.line;
    struct side_counts *counts = &stacks->sides[side];
    uint32_t address = record->address;
    uint32_t left = reference_bytes(record);
    for (bool first = true; left > 0; first = false) {
        uint32_t room = line - (address & (line - 1));
        uint32_t bytes = left < room ? left : room;
        if (is_mine(stacks, address)) {
            bool whole = kind == REFERENCE_WRITE && bytes == line;
            if (stacks->waiting_count == WAITING_MAX)
                work_off(stacks);
            counts->split += !first;
            counts->write_bytes += kind == REFERENCE_WRITE ? bytes : 0;
            stacks->waiting[stacks->waiting_count++] =
                (struct waiting){.entries = entries,
                                 .address = address >> stacks->line_shift << stacks->line_shift,
                                 .kind = (uint8_t)(whole ? WHOLE_WRITE : (unsigned)kind),
                                 .side = (uint8_t)side};
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
        refer(stacks, side, entries, &records[i], kind);
    }
    work_off(stacks);
    return 0;
}

/* Dirty lines of a cache with that many ways, summed over the processors. */
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

/* References of a kind, and the misses of a cache with that many ways. */
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
