#include "formats/dcfg/id_index.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>

struct thing {
    uint32_t before, id;
};

static uint32_t slow_find(const struct thing *things, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (things[i].id == id)
            return i;
    return ID_INDEX_NONE;
}

static uint32_t slow_duplicate(const struct thing *things, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (slow_find(things, i, things[i].id) != ID_INDEX_NONE)
            return i;
    return ID_INDEX_NONE;
}

static void test_against_search(void)
{
    static const uint32_t limits[] = {10, 300, 5000, 100000, 0x80000000u, UINT32_MAX};
    for (uint64_t seed = 0; seed < 600; seed++) {
        uint64_t state = random_seed(seed);
        struct thing things[300];
        uint32_t count = (uint32_t)random_below(&state, 301);
        uint32_t limit = limits[random_below(&state, 6)];
        bool consecutive = random_one_in(&state, 4);
        uint32_t first = (uint32_t)random_below(&state, limit);
        if (first > UINT32_MAX - count)
            first = UINT32_MAX - count;
        for (uint32_t i = 0; i < count; i++)
            things[i] = (struct thing){
                .before = 7, .id = consecutive ? first + i : (uint32_t)random_below(&state, limit)};
        /* consecutive except for one */
        if (consecutive && count > 0 && random_one_in(&state, 2))
            things[random_below(&state, count)].id = (uint32_t)random_below(&state, limit);
        struct id_index index;
        uint32_t duplicate;
        CU_ASSERT_EQUAL_FATAL(
            id_index_build(&index, &things[0].id, sizeof *things, count, &duplicate), 0);
        CU_ASSERT_EQUAL(duplicate, slow_duplicate(things, count));
        for (uint32_t i = 0; i < count; i++)
            CU_ASSERT_EQUAL(id_index_find(&index, things[i].id),
                            slow_find(things, count, things[i].id));
        for (uint32_t i = 0; i < 100; i++) {
            uint32_t id = (uint32_t)random_below(&state, limit);
            CU_ASSERT_EQUAL(id_index_find(&index, id), slow_find(things, count, id));
        }
        CU_ASSERT_EQUAL(id_index_find(&index, UINT32_MAX), slow_find(things, count, UINT32_MAX));
        CU_ASSERT(id_index_bytes(&index) <= 4 * (4 * (size_t)count + 4096));
        id_index_clear(&index);
    }
}

static const struct test_case cases[] = {{"against a linear search", test_against_search},
                                         {NULL, NULL}};
TEST_SUITE(id_index, cases)
