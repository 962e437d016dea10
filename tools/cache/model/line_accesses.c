#include "tools/cache/model/line_accesses.h"

#include "formats/base/grow.h"
#include "tools/cache/model/line_values.h"

#include <string.h>

#define PROCESSORS  256u
#define FILTER_BITS 0x10000u
/* bytes of an x86 instruction: a longer fetch is a transfer of a bus, which fills a cache */
#define INSTRUCTION_MAX 15u

struct line_accesses {
    const struct line_values *lines; /* values are struct cache_line_counters */
    unsigned line_shift;
    size_t most;
    uint64_t least; /* traffic of a line from which on its accesses are counted */
    struct line_access *rows;
    size_t count, capacity;
    struct hash_index by_key;
    struct cache_line_counters before; /* counters of the line that is being referenced */
    uint32_t fetched[PROCESSORS];
    bool fetches[PROCESSORS];
    uint64_t filter[FILTER_BITS / 64]; /* lines that may have the traffic, by their low bits */
};

struct line_accesses *line_accesses_new(const struct line_values *lines, unsigned line_shift,
                                        size_t most)
{
    struct line_accesses *accesses = calloc(1, sizeof *accesses);
    if (!accesses)
        return NULL;
    accesses->lines = lines;
    accesses->line_shift = line_shift;
    accesses->most = most;
    accesses->least = 1;
    return accesses;
}

void line_accesses_free(struct line_accesses *accesses)
{
    if (!accesses)
        return;
    hash_index_clear(&accesses->by_key);
    free(accesses->rows);
    free(accesses);
}

static uint64_t *filter_word(struct line_accesses *accesses, uint32_t address)
{
    return &accesses->filter[(address >> accesses->line_shift) % FILTER_BITS / 64];
}

static uint64_t filter_bit(const struct line_accesses *accesses, uint32_t address)
{
    return UINT64_C(1) << (address >> accesses->line_shift) % 64;
}

static uint32_t line_of(const struct line_accesses *accesses, uint32_t address)
{
    return address >> accesses->line_shift << accesses->line_shift;
}

/* The counters of a line; zeros if it had no traffic. */
static struct cache_line_counters counters_of(const struct line_accesses *accesses,
                                              uint32_t address)
{
    const struct cache_line_counters *line =
        line_values_find(accesses->lines, line_of(accesses, address));
    return line ? *line : (struct cache_line_counters){.address = 0};
}

static uint32_t hash_of(const struct line_access *row)
{
    return hash_pair((uint64_t)row->line << 32 | row->instruction,
                     (uint64_t)row->offset << 32 | row->bytes << 16 | row->processor);
}

int line_access_compare(const void *a, const void *b)
{
    const struct line_access *one = a;
    const struct line_access *other = b;
    const uint32_t left[] = {one->line,      one->offset, one->bytes,
                             one->processor, one->known,  one->instruction};
    const uint32_t right[] = {other->line,      other->offset, other->bytes,
                              other->processor, other->known,  other->instruction};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* Keeps the rows of lines with enough traffic. Never fails: the index has room for them. */
static void keep_busy(struct line_accesses *accesses)
{
    size_t kept = 0;
    hash_index_empty(&accesses->by_key);
    memset(accesses->filter, 0, sizeof accesses->filter);
    for (size_t i = 0; i < accesses->count; i++) {
        const struct cache_line_counters line = counters_of(accesses, accesses->rows[i].line);
        if (cache_line_traffic(&line) < accesses->least)
            continue;
        accesses->rows[kept] = accesses->rows[i];
        *filter_word(accesses, line.address) |= filter_bit(accesses, line.address);
        hash_index_add(&accesses->by_key, hash_of(&accesses->rows[kept]), (uint32_t)kept);
        kept++;
    }
    accesses->count = kept;
}

/* The limit is reached: forgets the lines with the least traffic until half of it is free. */
static void make_room(struct line_accesses *accesses)
{
    while (accesses->count > accesses->most / 2) {
        accesses->least *= 2;
        keep_busy(accesses);
    }
}

/* The row of an access, added if missing. NULL: out of memory. */
static struct line_access *row_of(struct line_accesses *accesses, const struct line_access *access)
{
    const uint32_t hash = hash_of(access);
    struct hash_search search = hash_search(&accesses->by_key, hash);
    while (hash_search_next(&search))
        if (line_access_compare(&accesses->rows[search.number], access) == 0)
            return &accesses->rows[search.number];
    struct line_access *rows = grow_array(accesses->rows, &accesses->capacity, accesses->count + 1,
                                          sizeof *accesses->rows);
    if (rows)
        accesses->rows = rows;
    if (!rows || hash_index_add(&accesses->by_key, hash, (uint32_t)accesses->count) < 0)
        return NULL;
    rows[accesses->count] = *access;
    return &rows[accesses->count++];
}

/* Counts an access to a line with traffic. 0 or BT_MEMORY. */
static int count_access(struct line_accesses *accesses, const struct record *record,
                        uint32_t address, uint32_t bytes, const struct cache_line_counters *line)
{
    const struct line_access access = {.line = line->address,
                                       .offset = address - line->address,
                                       .bytes = bytes,
                                       .instruction = accesses->fetched[record->processor],
                                       .processor = record->processor,
                                       .known = accesses->fetches[record->processor]};
    const struct cache_line_counters *before = &accesses->before;
    struct line_access *row = row_of(accesses, &access);
    if (!row)
        return BT_MEMORY;
    row->references[reference_kind_of(record->type)]++;
    row->traffic += cache_line_traffic(line) - cache_line_traffic(before);
    row->true_sharing += line->true_sharing - before->true_sharing;
    row->false_sharing += line->false_sharing - before->false_sharing;
    if (accesses->count > accesses->most)
        make_room(accesses);
    return 0;
}

void line_accesses_record(struct line_accesses *accesses, const struct record *record)
{
    if (reference_kind_of(record->type) != REFERENCE_FETCH)
        return;
    const bool instruction = record->size <= INSTRUCTION_MAX;
    accesses->fetched[record->processor] = instruction ? record->address : 0;
    accesses->fetches[record->processor] = instruction;
}

int line_accesses_put(struct line_accesses *accesses, const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        line_accesses_record(accesses, record);
        if (!(*filter_word(accesses, record->address) & filter_bit(accesses, record->address)))
            continue;
        const struct cache_line_counters line = counters_of(accesses, record->address);
        accesses->before = line;
        if (cache_line_traffic(&line) >= accesses->least &&
            count_access(accesses, record, record->address, reference_bytes(record), &line) < 0)
            return BT_MEMORY;
    }
    return 0;
}

void line_accesses_begin(struct line_accesses *accesses, uint32_t address)
{
    accesses->before = counters_of(accesses, address);
}

int line_accesses_end(struct line_accesses *accesses, const struct record *record, uint32_t address,
                      uint32_t bytes)
{
    const struct cache_line_counters line = counters_of(accesses, address);
    if (cache_line_traffic(&line) < accesses->least)
        return 0;
    *filter_word(accesses, address) |= filter_bit(accesses, address);
    return count_access(accesses, record, address, bytes, &line);
}

void line_accesses_reset(struct line_accesses *accesses)
{
    hash_index_empty(&accesses->by_key);
    memset(accesses->filter, 0, sizeof accesses->filter);
    accesses->count = 0;
    accesses->least = 1;
}

int line_accesses_take(const struct line_accesses *accesses, struct line_access **rows,
                       size_t *count, struct bt_error *error)
{
    *count = accesses->count;
    *rows = calloc(accesses->count + 1, sizeof **rows);
    if (!*rows)
        return bt_fail(error, BT_MEMORY, "no memory for the accesses of lines");
    if (accesses->count > 0)
        memcpy(*rows, accesses->rows, accesses->count * sizeof **rows);
    qsort(*rows, *count, sizeof **rows, line_access_compare);
    return 0;
}

uint64_t line_accesses_least(const struct line_accesses *accesses)
{
    return accesses->least;
}
