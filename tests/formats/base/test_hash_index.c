/* The hash index, alone and compared with a slow twin: a plain list of elements. */
#include "formats/base/hash_index.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#define ELEMENTS 3000u

/* Returns the number of the only element with a hash; -1: none; -2: several. */
static long only(const struct hash_index *index, uint32_t hash)
{
    long found = -1;
    struct hash_search search = hash_search(index, hash);
    while (hash_search_next(&search))
        found = found == -1 ? (long)search.number : -2;
    return found;
}

static void test_empty(void)
{
    struct hash_index index = {0};
    for (uint32_t hash = 0; hash < 200; hash++)
        CU_ASSERT_EQUAL(only(&index, hash), -1);
    CU_ASSERT_EQUAL(hash_index_bytes(&index), 0);
    hash_index_empty(&index);
    hash_index_clear(&index);
}

static void test_same_hash(void)
{
    struct hash_index index = {0};
    unsigned seen = 0;
    for (uint32_t number = 0; number < 5; number++)
        CU_ASSERT_EQUAL(hash_index_add(&index, UINT32_MAX, number), 0);
    CU_ASSERT_EQUAL(hash_index_add(&index, 0, HASH_INDEX_NUMBER_MAX), 0);
    struct hash_search search = hash_search(&index, UINT32_MAX);
    while (hash_search_next(&search))
        seen |= 1u << search.number;
    CU_ASSERT_EQUAL(seen, 0x1f);
    CU_ASSERT_EQUAL(only(&index, 0), (long)HASH_INDEX_NUMBER_MAX);
    hash_index_remove(&index, UINT32_MAX, 3);
    hash_index_renumber(&index, 0, HASH_INDEX_NUMBER_MAX, 77);
    seen = 0;
    search = hash_search(&index, UINT32_MAX);
    while (hash_search_next(&search))
        seen |= 1u << search.number;
    CU_ASSERT_EQUAL(seen, 0x17);
    CU_ASSERT_EQUAL(only(&index, 0), 77);
    CU_ASSERT_EQUAL(index.count, 5);
    hash_index_empty(&index);
    CU_ASSERT_EQUAL(only(&index, 0), -1);
    CU_ASSERT_EQUAL(only(&index, UINT32_MAX), -1);
    hash_index_clear(&index);
}

static void test_memory(void)
{
    struct hash_index index = {0};
    CU_ASSERT_EQUAL(hash_index_reserve(&index, 1000), 0);
    const size_t bytes = hash_index_bytes(&index);
    for (uint32_t number = 0; number < 1000; number++) {
        CU_ASSERT_EQUAL(hash_index_growth(&index, 1), 0);
        CU_ASSERT_EQUAL(hash_index_add(&index, hash_number(number), number), 0);
    }
    CU_ASSERT_EQUAL(hash_index_bytes(&index), bytes);
    const size_t growth = hash_index_growth(&index, 1000);
    CU_ASSERT(growth > bytes);
    CU_ASSERT_EQUAL(hash_index_reserve(&index, 1000), 0);
    CU_ASSERT_EQUAL(hash_index_bytes(&index), growth);
    hash_index_clear(&index);
    CU_ASSERT_EQUAL(hash_index_bytes(&index), 0);
}

/* Consecutive, aligned and paired keys must not collide much: 32-bit hashes of N random keys have
 * N * N / 2^33 equal pairs. */
static void test_hashes(void)
{
    static const unsigned shifts[] = {0, 2, 6, 12, 20};
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        struct hash_index numbers = {0}, pairs = {0};
        unsigned collisions = 0;
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            const uint64_t key = (uint64_t)i << shifts[s];
            const uint32_t pair = hash_pair(key, key + i % 3);
            collisions += only(&numbers, hash_number(key)) != -1;
            collisions += only(&pairs, pair) != -1;
            CU_ASSERT_EQUAL(hash_index_add(&numbers, hash_number(key), i), 0);
            CU_ASSERT_EQUAL(hash_index_add(&pairs, pair, i), 0);
        }
        CU_ASSERT(collisions <= 4);
        hash_index_clear(&numbers);
        hash_index_clear(&pairs);
    }
    CU_ASSERT_NOT_EQUAL(hash_pair(1, 2), hash_pair(2, 1));
}

/* --- compared with the twin --- */

struct twin {
    uint32_t hashes[ELEMENTS];
    size_t count;
};

static unsigned count_of(const struct twin *twin, uint32_t hash)
{
    unsigned count = 0;
    for (size_t i = 0; i < twin->count; i++)
        count += twin->hashes[i] == hash;
    return count;
}

static void compare(const struct hash_index *index, const struct twin *twin, uint32_t hash)
{
    unsigned found = 0;
    bool seen[ELEMENTS] = {false};
    struct hash_search search = hash_search(index, hash);
    while (hash_search_next(&search)) {
        CU_ASSERT_FATAL(search.number < twin->count);
        CU_ASSERT_EQUAL(twin->hashes[search.number], hash);
        CU_ASSERT_FALSE(seen[search.number]);
        seen[search.number] = true;
        found++;
    }
    CU_ASSERT_EQUAL(found, count_of(twin, hash));
}

/* Removes an element as callers with dense arrays do: the last one takes its number. */
static void remove_one(struct hash_index *index, struct twin *twin, uint32_t number)
{
    const uint32_t last = (uint32_t)--twin->count;
    hash_index_remove(index, twin->hashes[number], number);
    if (number == last)
        return;
    hash_index_renumber(index, twin->hashes[last], last, number);
    twin->hashes[number] = twin->hashes[last];
}

static void run_beside_twin(uint64_t seed)
{
    struct hash_index index = {0};
    struct twin twin = {.count = 0};
    uint64_t random = random_seed(seed);
    /* few distinct hashes in some runs; hashes that collide at the end of the table in others */
    const uint32_t range = random_one_in(&random, 2) ? 50 : UINT32_MAX;
    const uint32_t base = random_one_in(&random, 2) ? 0 : UINT32_MAX - 20;
    for (unsigned step = 0; step < 2 * ELEMENTS; step++) {
        const uint32_t hash = base + (uint32_t)random_below(&random, range);
        const uint64_t what = random_below(&random, 100);
        if (what < 55 && twin.count < ELEMENTS) {
            CU_ASSERT_EQUAL(hash_index_add(&index, hash, (uint32_t)twin.count), 0);
            twin.hashes[twin.count++] = hash;
        } else if (what < 90 && twin.count > 0) {
            remove_one(&index, &twin, (uint32_t)random_below(&random, twin.count));
        } else if (what == 99 && random_one_in(&random, 20)) {
            hash_index_empty(&index);
            twin.count = 0;
        }
        compare(&index, &twin, hash);
        if (twin.count > 0)
            compare(&index, &twin, twin.hashes[random_below(&random, twin.count)]);
        CU_ASSERT_EQUAL(index.count, twin.count);
    }
    for (size_t i = 0; i < twin.count; i++)
        compare(&index, &twin, twin.hashes[i]);
    hash_index_clear(&index);
}

static void test_twin(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        run_beside_twin(seed);
}

static const struct test_case cases[] = {{"empty", test_empty},
                                         {"the same hash", test_same_hash},
                                         {"memory", test_memory},
                                         {"hashes of regular keys", test_hashes},
                                         {"beside a slow twin", test_twin},
                                         {NULL, NULL}};
TEST_SUITE(hash_index, cases)
