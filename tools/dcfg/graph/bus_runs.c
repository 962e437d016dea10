#include "tools/dcfg/graph/bus_runs.h"

#include "tools/common/fetch_noise.h"

#include <stdbool.h>
#include <stdlib.h>

#define WRONG_BITS 2
#define LESS_OFTEN 10u /* an error comes this many times less often than what it should be */
#define MASK_SHARE 20u

static size_t run_end(const struct record *fetches, size_t count, size_t start, uint32_t chunk)
{
    size_t end = start + 1;
    while (end < count && fetches[end].address == fetches[end - 1].address + chunk)
        end++;
    return end;
}

unsigned bus_runs_short(const struct record *fetches, size_t count, uint32_t chunk, unsigned ahead)
{
    size_t runs = 0;
    size_t shorter = 0;
    for (size_t i = 0, end; i < count; i = end) {
        end = run_end(fetches, count, i, chunk);
        shorter += end - i <= ahead;
        runs++;
    }
    return runs >= BUS_RUNS_MIN ? (unsigned)(shorter * 1000 / runs) : 1000;
}

/* --- repair --- */

int bus_runs_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The addresses of fetches in ascending order; NULL without memory. */
static uint32_t *sort_addresses(const struct record *fetches, size_t count)
{
    uint32_t *sorted = malloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = fetches[i].address;
    if (sorted && count > 0)
        qsort(sorted, count, sizeof *sorted, bus_runs_compare);
    return sorted;
}

static size_t lower_bound(const uint32_t *sorted, size_t count, uint64_t address)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct sorted_addresses {
    uint32_t *at;
    size_t count;
};

static size_t occurrences(const struct sorted_addresses *sorted, uint32_t address)
{
    return lower_bound(sorted->at, sorted->count, (uint64_t)address + 1) -
           lower_bound(sorted->at, sorted->count, address);
}

static bool is_almost(uint32_t seen, uint32_t real)
{
    return __builtin_popcount(seen ^ real) <= WRONG_BITS;
}

/* Whether an address that comes that often may be an error for another one. */
static bool may_be(const struct sorted_addresses *sorted, uint32_t seen, size_t often,
                   uint32_t real)
{
    return is_almost(seen, real) &&
           (often < BUS_RUNS_OFTEN || often * LESS_OFTEN < occurrences(sorted, real));
}

/* What an address should be: the next one of the run before it, or the one before the run after it.
 */
static uint32_t repaired_address(const struct sorted_addresses *sorted, const struct record *before,
                                 const struct record *fetch, const struct record *after,
                                 uint32_t chunk)
{
    const uint32_t seen = fetch->address;
    if ((before && seen == before->address + chunk) || (after && seen + chunk == after->address))
        return seen;
    if (before && after && before->address + 2 * chunk == after->address &&
        is_almost(seen, before->address + chunk))
        return before->address + chunk;
    size_t often = occurrences(sorted, seen);
    if (before && may_be(sorted, seen, often, before->address + chunk))
        return before->address + chunk;
    if (after && may_be(sorted, seen, often, after->address - chunk))
        return after->address - chunk;
    return seen;
}

int bus_runs_repair(struct bus_repair *repair, const struct record *fetches, size_t count,
                    uint32_t chunk, struct bt_error *error)
{
    size_t bits[FETCH_NOISE_BITS] = {0};
    struct sorted_addresses sorted = {sort_addresses(fetches, count), count};
    *repair = (struct bus_repair){.fetches = malloc((count + 1) * sizeof *fetches)};
    for (size_t i = 0; sorted.at && repair->fetches && i < count; i++) {
        struct record *made = &repair->fetches[i];
        *made = fetches[i];
        made->address = repaired_address(&sorted, i > 0 ? made - 1 : NULL, &fetches[i],
                                         i + 1 < count ? &fetches[i + 1] : NULL, chunk);
        repair->count += made->address != fetches[i].address;
        for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
            bits[bit] += (made->address ^ fetches[i].address) >> bit & 1;
    }
    for (unsigned bit = 0; bit < FETCH_NOISE_BITS; bit++)
        if (bits[bit] > 0 && bits[bit] * MASK_SHARE >= repair->count)
            repair->mask |= 1u << bit;
    bool done = sorted.at && repair->fetches;
    free(sorted.at);
    if (done)
        return 0;
    free(repair->fetches);
    return bt_fail(error, BT_MEMORY, "no memory to find the prefetches of a bus");
}
