#include "firmware/p6.h"
#include "firmware/virtual/smp.h"
#include "firmware/virtual/smp_cache.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

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
                inconsistent += !smp_consistent(smp);
            }
            CU_ASSERT_EQUAL(inconsistent, 0);
            smp_free(smp);
        }
}

/* What a processor may ask for: never an odd encoding, nothing closer than 3 ticks. */
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

/* The slow twin of a cache: every line ever put, with when it was used last. */
struct twin_line {
    uint32_t address;
    enum smp_state state;
    unsigned used;
};

static void test_cache(void)
{
    struct smp_cache cache = {0};
    static struct twin_line lines[1024]; /* by line number modulo 1024: all that the test uses */
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
    {"processors compute right, and own lines alone", test_computes_right},
    {"requests of all types, 3 ticks apart", test_requests},
    {"the same requests in pieces of any size", test_pieces_do_not_matter},
    {"caches", test_cache},
    {NULL, NULL}};
TEST_SUITE(virtual_smp, cases)
