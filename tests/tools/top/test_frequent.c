#include "tools/top/frequent.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 9000, OCCURRENCES = 60000, PIECE = 777 };

/* The slow twin: an array of all keys there can be. */
struct twin {
    uint64_t counts[KEYS][FREQUENT_KINDS];
    uint64_t totals[KEYS], processors[KEYS], first[KEYS], last[KEYS];
};

static uint64_t spread(uint64_t number)
{
    return number * UINT64_C(0x1234567890123) & ((UINT64_C(1) << FREQUENT_KEY_BITS) - 1);
}

static struct occurrence make(uint64_t *random, unsigned shape, uint64_t i, uint64_t *number)
{
    const uint64_t far = random_below(random, KEYS);
    *number = shape == 0 ? far : shape == 1 ? far * far / KEYS * far / KEYS : i / 50 % KEYS;
    if (shape == 2 && random_one_in(random, 3))
        *number = random_below(random, 8);
    return (struct occurrence){.key = spread(*number),
                               .tick = 5 * i,
                               .kind = (uint8_t)random_below(random, FREQUENT_KINDS),
                               .processor = (uint8_t)random_below(random, 70)};
}

static void count(struct twin *twin, uint64_t number, const struct occurrence *one)
{
    if (twin->totals[number]++ == 0)
        twin->first[number] = one->tick;
    twin->last[number] = one->tick;
    twin->counts[number][one->kind]++;
    twin->processors[number] |= UINT64_C(1) << (one->processor < 63 ? one->processor : 63);
}

/* Counts in both. */
static struct frequent *fill(struct twin *twin, unsigned shape, uint64_t entries, uint64_t seed)
{
    static struct occurrence occurrences[OCCURRENCES];
    uint64_t random = random_seed(seed), number;
    struct bt_error error;
    struct frequent *frequent = frequent_new(entries, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(frequent);
    memset(twin, 0, sizeof *twin);
    for (size_t i = 0; i < OCCURRENCES; i++) {
        occurrences[i] = make(&random, shape, i, &number);
        count(twin, number, &occurrences[i]);
    }
    for (size_t i = 0; i < OCCURRENCES; i += PIECE) {
        const size_t some = OCCURRENCES - i < PIECE ? OCCURRENCES - i : PIECE;
        CU_ASSERT_EQUAL_FATAL(frequent_add(frequent, occurrences + i, some, &error), 0);
    }
    CU_ASSERT_EQUAL(frequent_total(frequent), OCCURRENCES);
    return frequent;
}

static void test_exact(void)
{
    static struct twin twin;
    for (unsigned shape = 0; shape < 3; shape++) {
        struct frequent *frequent = fill(&twin, shape, 0, shape + 1);
        uint64_t held = 0;
        for (uint64_t number = 0; number < KEYS; number++) {
            const struct frequent_entry *entry = frequent_find(frequent, spread(number));
            CU_ASSERT_EQUAL_FATAL(entry != NULL, twin.totals[number] > 0);
            if (!entry)
                continue;
            held++;
            CU_ASSERT_EQUAL(frequent_key(entry), spread(number));
            CU_ASSERT_EQUAL(frequent_count(frequent, entry), twin.totals[number]);
            CU_ASSERT_EQUAL(frequent_error(frequent, entry), 0);
            CU_ASSERT_EQUAL(memcmp(entry->counts, twin.counts[number], sizeof entry->counts), 0);
            CU_ASSERT_EQUAL(entry->processors, twin.processors[number]);
            CU_ASSERT_EQUAL(entry->first_tick, twin.first[number]);
            CU_ASSERT_EQUAL(entry->last_tick, twin.last[number]);
        }
        CU_ASSERT_EQUAL(held, frequent_held(frequent));
        CU_ASSERT_EQUAL(frequent_threshold(frequent), 0);
        frequent_free(frequent);
    }
}

/* The bounds that frequent.h states. */
static void check_bounds(const struct frequent *frequent, const struct twin *twin, uint64_t entries)
{
    CU_ASSERT(frequent_threshold(frequent) <= OCCURRENCES / entries);
    CU_ASSERT(frequent_held(frequent) <= 2 * entries);
    for (uint64_t number = 0; number < KEYS; number++) {
        const struct frequent_entry *entry = frequent_find(frequent, spread(number));
        const uint64_t truth = twin->totals[number];
        if (!entry) {
            CU_ASSERT_FATAL(truth <= frequent_threshold(frequent));
            continue;
        }
        const uint64_t most = frequent_count(frequent, entry);
        CU_ASSERT_FATAL(truth <= most);
        CU_ASSERT_FATAL(truth >= most - frequent_error(frequent, entry));
        CU_ASSERT(frequent_error(frequent, entry) <= frequent_threshold(frequent));
        CU_ASSERT(most > 0);
        for (unsigned kind = 0; kind < FREQUENT_KINDS; kind++)
            CU_ASSERT(entry->counts[kind] <= twin->counts[number][kind]);
        CU_ASSERT_EQUAL(entry->processors & ~twin->processors[number], 0);
        CU_ASSERT_EQUAL(entry->last_tick, twin->last[number]);
    }
}

static void test_bounded(void)
{
    static const uint64_t entries[] = {1, 2, 7, 100, 1000, KEYS};
    static struct twin twin;
    for (unsigned shape = 0; shape < 3; shape++)
        for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
            struct frequent *frequent = fill(&twin, shape, entries[i], 10 * shape + i);
            check_bounds(frequent, &twin, entries[i]);
            frequent_free(frequent);
        }
}

/* With room for all keys, a bounded table is exact. */
static void test_bounded_exact(void)
{
    static struct twin twin;
    struct frequent *frequent = fill(&twin, 0, KEYS / 2, 3);
    CU_ASSERT_EQUAL(frequent_threshold(frequent), 0);
    for (uint64_t number = 0; number < KEYS; number++) {
        const struct frequent_entry *entry = frequent_find(frequent, spread(number));
        CU_ASSERT_EQUAL(entry ? frequent_count(frequent, entry) : 0, twin.totals[number]);
    }
    frequent_free(frequent);
}

/* Checks the order of the result, and that no other key belongs into it. */
static void check_top(const struct frequent *frequent, size_t wanted)
{
    const struct frequent_entry **top = calloc(wanted + 1, sizeof(struct frequent_entry *));
    struct bt_error error;
    const int64_t got = frequent_top(frequent, top, wanted, NULL, NULL, &error);
    const uint64_t held = frequent_held(frequent);
    CU_ASSERT_EQUAL_FATAL((uint64_t)got, wanted < held ? wanted : held);
    for (int64_t i = 1; i < got; i++) {
        const uint64_t before = frequent_count(frequent, top[i - 1]);
        const uint64_t after = frequent_count(frequent, top[i]);
        CU_ASSERT_FATAL(before > after ||
                        (before == after && frequent_key(top[i - 1]) < frequent_key(top[i])));
    }
    uint64_t better = 0;
    for (uint64_t number = 0; number < KEYS && got > 0; number++) {
        const struct frequent_entry *entry = frequent_find(frequent, spread(number));
        const struct frequent_entry *last = top[got - 1];
        if (entry)
            better += frequent_count(frequent, entry) > frequent_count(frequent, last) ||
                      (frequent_count(frequent, entry) == frequent_count(frequent, last) &&
                       frequent_key(entry) <= frequent_key(last));
    }
    CU_ASSERT_EQUAL(better, (uint64_t)got);
    free(top);
}

static void test_top(void)
{
    static const size_t wanted[] = {0, 1, 2, 20, 500, KEYS, 2 * KEYS};
    static struct twin twin;
    for (unsigned shape = 0; shape < 3; shape++) {
        struct frequent *frequent = fill(&twin, shape, 0, 50 + shape);
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            check_top(frequent, wanted[i]);
        frequent_free(frequent);
    }
}

/* The result does not depend on the hash, whose seed differs. */
static void test_same(void)
{
    static struct twin twin;
    for (unsigned shape = 0; shape < 3; shape++) {
        struct frequent *one = fill(&twin, shape, 50, 7), *other = fill(&twin, shape, 50, 7);
        const struct frequent_entry *top[2][100];
        struct bt_error error;
        const int64_t held = frequent_top(one, top[0], 100, NULL, NULL, &error);
        CU_ASSERT_EQUAL_FATAL(frequent_top(other, top[1], 100, NULL, NULL, &error), held);
        for (int64_t i = 0; i < held; i++)
            CU_ASSERT_EQUAL(memcmp(top[0][i], top[1][i], sizeof *top[0][i]), 0);
        frequent_free(one);
        frequent_free(other);
    }
}

static void test_empty(void)
{
    static struct twin twin;
    struct frequent *frequent = fill(&twin, 1, 10, 7);
    const struct occurrence one = {.key = 5, .tick = 1, .kind = REFERENCE_READ};
    const struct frequent_entry *top;
    struct bt_error error;
    frequent_empty(frequent);
    CU_ASSERT_EQUAL(frequent_top(frequent, &top, 1, NULL, NULL, &error), 0);
    CU_ASSERT_EQUAL(frequent_add(frequent, &one, 1, &error), 0);
    CU_ASSERT_EQUAL(frequent_top(frequent, &top, 1, NULL, NULL, &error), 1);
    CU_ASSERT_EQUAL(frequent_count(frequent, top), 1);
    frequent_free(frequent);
}

static void test_memory(void)
{
    CU_ASSERT_EQUAL(frequent_entries(0), 0);
    CU_ASSERT_EQUAL(frequent_entries(frequent_bytes(1)), 1);
    CU_ASSERT_EQUAL(frequent_entries(frequent_bytes(1000)), 1000);
    CU_ASSERT_EQUAL(frequent_entries(frequent_bytes(1000) - 1), 999);
    CU_ASSERT(frequent_bytes(frequent_entries(1u << 30)) <= 1u << 30);
}

static const struct test_case cases[] = {{"exact counts are those of a twin", test_exact},
                                         {"bounded counts keep their bounds", test_bounded},
                                         {"a bounded table with room is exact", test_bounded_exact},
                                         {"the first ones, in order", test_top},
                                         {"the result does not depend on the hash", test_same},
                                         {"an emptied table counts again", test_empty},
                                         {"entries of an amount of memory", test_memory},
                                         {NULL, NULL}};
TEST_SUITE(frequent, cases)
