#include "tools/common/fetch_noise.h"

#include "formats/base/hash_index.h"

#include <stdlib.h>

#define BITS_ANY    2u  /* this many wrong bits are an error, whichever they are */
#define MASK_SHARE  20u /* a bit of the mask is wrong in 1 of this number of excursions */
#define MASK_MIN    4u
#define PROBE_SHARE 900u /* 1 excursion to a chunk not fetched otherwise per that many visits */
#define PROBE_MIN   8u
#define RECURS      3u /* the same excursion this often is one of the program */

static uint32_t fewer_bits(uint32_t a, uint32_t b)
{
    return b == 0 || (a != 0 && __builtin_popcount(a) <= __builtin_popcount(b)) ? a : b;
}

uint32_t fetch_noise_bits(const struct fetch_noise *noise, uint32_t before, uint32_t seen,
                          uint32_t after)
{
    uint32_t next = before + noise->chunk;
    if (seen == next || after == seen + noise->chunk ||
        (after != before && after != next && after != next + noise->chunk))
        return 0;
    uint32_t wrong = seen ^ next;
    if (after != next + noise->chunk) /* otherwise it was fetched in place of the next one */
        wrong = fewer_bits(wrong, seen ^ before);
    bool few = (unsigned)__builtin_popcount(wrong) <= BITS_ANY;
    return few || (wrong & ~noise->mask) == 0 ? wrong : 0;
}

/* --- examining a sample --- */

struct visited {
    uint32_t address;
    uint32_t visits;     /* in all */
    uint32_t excursions; /* of them, that look like errors */
};

struct visited_table {
    struct visited *chunks;
    uint32_t count;
    struct hash_index index;
};

static struct visited *visited_at(struct visited_table *table, uint32_t address)
{
    struct hash_search search = hash_search(&table->index, hash_number(address));
    while (hash_search_next(&search))
        if (table->chunks[search.number].address == address)
            return &table->chunks[search.number];
    if (hash_index_add(&table->index, hash_number(address), table->count) < 0)
        return NULL;
    table->chunks[table->count] = (struct visited){.address = address};
    return &table->chunks[table->count++];
}

/* Removes fetches equal to the previous one. Returns the number of those that are left. */
static size_t collapse(uint32_t *visits, const uint32_t *addresses, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || visits[kept - 1] != addresses[i])
            visits[kept++] = addresses[i];
    return kept;
}

/* The wrong bits of a visit; 0 for the first and the last. */
static uint32_t wrong_bits(const struct fetch_noise *noise, const uint32_t *visits, size_t count,
                           size_t i)
{
    return i > 0 && i + 1 < count ? fetch_noise_bits(noise, visits[i - 1], visits[i], visits[i + 1])
                                  : 0;
}

static int count_visits(struct visited_table *table, const struct fetch_noise *noise,
                        const uint32_t *visits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct visited *chunk = visited_at(table, visits[i]);
        if (!chunk)
            return BT_MEMORY;
        chunk->visits++;
        chunk->excursions += wrong_bits(noise, visits, count, i) != 0;
    }
    return 0;
}

/* Adds up the excursions that do not recur. */
static void add_up(struct fetch_noise_finding *finding, struct visited_table *table,
                   const struct fetch_noise *noise, const uint32_t *visits, size_t count)
{
    *finding = (struct fetch_noise_finding){.visits = count};
    for (size_t i = 0; i < count; i++) {
        const struct visited *chunk = visited_at(table, visits[i]);
        uint32_t wrong = wrong_bits(noise, visits, count, i);
        if (wrong == 0)
            continue;
        bool only_there = chunk->visits == chunk->excursions && chunk->visits < RECURS;
        finding->excursions++;
        finding->only_there += only_there;
        for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
            finding->bits[bit] += only_there && wrong >> bit & 1;
    }
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        if (finding->bits[bit] >= MASK_MIN &&
            finding->bits[bit] * MASK_SHARE >= finding->only_there)
            finding->mask |= 1u << bit;
}

int fetch_noise_find(struct fetch_noise_finding *finding, const uint32_t *addresses, size_t count,
                     uint32_t chunk, struct bt_error *error)
{
    struct fetch_noise noise = {.chunk = chunk};
    uint32_t *visits = malloc((count + 1) * sizeof *visits);
    struct visited_table table = {.chunks = malloc((count + 1) * sizeof *table.chunks)};
    int result = visits && table.chunks ? 0 : BT_MEMORY;
    size_t visit_count = result == 0 ? collapse(visits, addresses, count) : 0;
    for (int pass = 0; pass < 2 && result == 0; pass++) { /* the second one knows the bits */
        for (uint32_t i = 0; i < table.count; i++)
            table.chunks[i].visits = table.chunks[i].excursions = 0;
        result = count_visits(&table, &noise, visits, visit_count);
        if (result == 0)
            add_up(finding, &table, &noise, visits, visit_count);
        noise.mask = finding->mask;
    }
    hash_index_clear(&table.index);
    free(table.chunks);
    free(visits);
    return result == 0 ? 0 : bt_fail(error, BT_MEMORY, "no memory to examine %zu fetches", count);
}

bool fetch_noise_is_probe(const struct fetch_noise_finding *finding)
{
    return finding->only_there >= PROBE_MIN && finding->only_there * PROBE_SHARE >= finding->visits;
}
