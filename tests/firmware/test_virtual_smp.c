#include "firmware/p6.h"
#include "firmware/virtual/smp.h"
#include "firmware/virtual/smp_machine.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

/* Each processor may have added up to 9 under a lock before it counts them itself. */
static bool counters_consistent(const struct smp *smp)
{
    for (uint32_t n = 0; n < SMP_COUNTERS; n++) {
        uint32_t difference = smp->shared[(SMP_COUNTER(n) + SMP_COUNTER_VALUE) / 4];
        for (unsigned i = 0; i < smp->count; i++)
            difference -= smp->own[i][SMP_ADDED(n) / 4];
        if (difference > 9 * smp->count)
            return false;
    }
    return true;
}

static bool queues_consistent(const struct smp *smp)
{
    for (uint32_t n = 0; n < SMP_QUEUES; n++) {
        const uint32_t *queue = &smp->shared[SMP_QUEUE(n) / 4];
        uint32_t head = queue[SMP_QUEUE_HEAD / 4], tail = queue[SMP_QUEUE_TAIL / 4];
        uint32_t sum = queue[SMP_QUEUE_PUT_SUM / 4] - queue[SMP_QUEUE_TAKE_SUM / 4];
        if (queue[0])
            continue; /* locked: in use */
        if (head - tail > SMP_QUEUE_LENGTH)
            return false;
        for (uint32_t i = tail; i != head; i++)
            sum -= queue[SMP_QUEUE_ITEMS / 4 + i % SMP_QUEUE_LENGTH];
        if (sum != 0)
            return false;
    }
    return true;
}

/* The number of data caches that hold a line. */
static unsigned holders(const struct smp *smp, uint32_t address)
{
    unsigned count = 0;
    for (unsigned i = 0; i < smp->count; i++)
        for (unsigned way = 0; way < SMP_CACHE_WAYS; way++) {
            smp_line line =
                smp->processors[i].data.lines[address / SMP_LINE_BYTES % SMP_CACHE_SETS][way];
            count += smp_line_state(line) != SMP_INVALID && smp_line_address(line) == address;
        }
    return count;
}

static bool caches_consistent(const struct smp *smp)
{
    for (unsigned i = 0; i < smp->count; i++)
        for (unsigned set = 0; set < SMP_CACHE_SETS; set++)
            for (unsigned way = 0; way < SMP_CACHE_WAYS; way++) {
                smp_line line = smp->processors[i].data.lines[set][way];
                if (smp_line_state(line) >= SMP_EXCLUSIVE &&
                    holders(smp, smp_line_address(line)) != 1)
                    return false;
            }
    return true;
}

/*
 * Whether the results of the processors are right: the shared counters are the sums of the
 * additions under their locks, nothing is lost between producers and consumers, no line has two
 * owners.
 */
static bool is_consistent(const struct smp *smp)
{
    return counters_consistent(smp) && queues_consistent(smp) && caches_consistent(smp);
}

static void test_computes_right(void)
{
    static struct bus_phase phases[256];
    for (unsigned processors = 1; processors <= SMP_PROCESSORS_MAX; processors++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct smp *smp = smp_new(processors, seed);
            unsigned inconsistent = 0;
            CU_ASSERT_PTR_NOT_NULL_FATAL(smp);
            for (unsigned i = 0; i < 200; i++) {
                CU_ASSERT_EQUAL(smp_fill(smp, phases, 256), 256);
                inconsistent += !is_consistent(smp);
            }
            CU_ASSERT_EQUAL(inconsistent, 0);
            smp_free(smp);
        }
}

/* Checks a request: a valid encoding, at least 3 ticks after the previous one. */
static void test_requests(void)
{
    static struct bus_phase phases[256];
    unsigned seen[256] = {0}, wrong = 0, processors = 0;
    uint64_t last = 0;
    struct smp *smp = smp_new(4, 11);
    for (unsigned i = 0; i < 4000; i++) {
        smp_fill(smp, phases, 256);
        for (unsigned k = 0; k < 256; k++) {
            struct record record;
            wrong += p6_decode(&phases[k], &record) != P6_RECORD;
            wrong += last && phases[k].tick < last + 3;
            wrong += record.processor > 3 || phases[k].missed;
            last = phases[k].tick;
            seen[record.type]++;
            processors |= 1u << record.processor;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(processors, 15);
    for (unsigned ordinal = 0; ordinal < REQUEST_TYPES; ordinal++)
        CU_ASSERT(seen[request_type_at(ordinal)] > 0);
    CU_ASSERT(seen[REQUEST_MEMWRITE] > 10000 && seen[REQUEST_FETCH] > 10000);
    smp_free(smp);
}

static void test_pieces_do_not_matter(void)
{
    static struct bus_phase whole[5000], pieces[5000];
    struct smp *a = smp_new(3, 5), *b = smp_new(3, 5), *other = smp_new(3, 6);
    uint64_t random = 1;
    unsigned different = 0;
    smp_fill(a, whole, 5000);
    for (size_t at = 0; at < 5000;) {
        size_t more = 1 + random_below(&random, 300);
        more = more < 5000 - at ? more : 5000 - at;
        smp_fill(b, pieces + at, more);
        at += more;
    }
    for (size_t i = 0; i < 5000; i++)
        different += whole[i].tick != pieces[i].tick || whole[i].address_a != pieces[i].address_a ||
                     whole[i].address_b != pieces[i].address_b;
    CU_ASSERT_EQUAL(different, 0);
    smp_fill(other, pieces, 5000);
    for (size_t i = 0; i < 5000; i++)
        different += whole[i].address_a != pieces[i].address_a;
    CU_ASSERT(different > 100);
    smp_free(a);
    smp_free(b);
    smp_free(other);
}

/* A slow reference of a cache: every inserted line, with the time of its last use. */
struct twin_line {
    uint32_t address;
    enum smp_state state;
    unsigned used;
};

static void test_cache(void)
{
    struct smp_cache cache = {0};
    static struct twin_line
        lines[1024]; /* by line number modulo 1024, which covers the test's lines */
    uint64_t random = 3;
    unsigned wrong = 0, evicted = 0;
    for (unsigned now = 1; now < 200000; now++) {
        uint32_t number = (uint32_t)random_below(&random, 1024);
        uint32_t address = number * SMP_LINE_BYTES + (uint32_t)random_below(&random, 32);
        struct twin_line *line = &lines[number];
        smp_line *found = smp_cache_use(&cache, address);
        wrong += (found != NULL) != (line->state != SMP_INVALID);
        line->used = now;
        if (found) {
            wrong += smp_line_state(*found) != line->state;
            wrong += smp_line_address(*found) != number * SMP_LINE_BYTES;
            continue;
        }
        struct twin_line *oldest = NULL;
        unsigned held = 0;
        for (uint32_t n = number % SMP_CACHE_SETS; n < 1024; n += SMP_CACHE_SETS)
            if (lines[n].state != SMP_INVALID) {
                held++;
                oldest = !oldest || lines[n].used < oldest->used ? &lines[n] : oldest;
            }
        line->state = 1 + random_below(&random, 3);
        smp_line old = smp_cache_put(&cache, address, line->state);
        if (held < SMP_CACHE_WAYS) {
            wrong += old != 0;
            continue;
        }
        evicted++;
        wrong += smp_line_address(old) != (uint32_t)(oldest - lines) * SMP_LINE_BYTES;
        wrong += smp_line_state(old) != oldest->state;
        oldest->state = SMP_INVALID;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(evicted > 1000);
}

static const struct test_case cases[] = {
    {"processors compute correctly and own lines exclusively", test_computes_right},
    {"requests of all types, 3 ticks apart", test_requests},
    {"the same requests in pieces of any size", test_pieces_do_not_matter},
    {"caches", test_cache},
    {NULL, NULL}};
TEST_SUITE(virtual_smp, cases)
