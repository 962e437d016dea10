/* Sets and maps of instances. */
#include "tools/wet/slice/slice_set.h"

#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/wet/slice/slice_map.h"

#include <string.h>

#define IDS       5u
#define INSTANCES 4000u

static void test_random(void)
{
    static bool expected[IDS][INSTANCES];
    struct slice_set set;
    uint64_t state = 1;
    unsigned wrong = 0;
    memset(expected, 0, sizeof expected);
    slice_set_init(&set);
    for (unsigned i = 0; i < 10000; i++) {
        const uint32_t id = (uint32_t)(random_next(&state) % IDS);
        const uint64_t instance = random_next(&state) % INSTANCES;
        wrong += slice_set_add(&set, id, instance) != !expected[id][instance];
        expected[id][instance] = true;
    }
    for (uint32_t id = 0; id < IDS; id++)
        for (uint64_t instance = 0; instance < INSTANCES; instance++)
            wrong += slice_set_has(&set, id, instance) != expected[id][instance];
    CU_ASSERT_EQUAL(wrong, 0);
    slice_set_clear(&set);
}

static void test_pages(void)
{
    struct slice_set set;
    slice_set_init(&set);
    CU_ASSERT_EQUAL(slice_set_add(&set, 7, 3 * SLICE_PAGE + 1), 1);
    const uint32_t page = slice_set_find(&set, 7, 3);
    CU_ASSERT_NOT_EQUAL_FATAL(page, SLICE_PAGE_NONE);
    CU_ASSERT_EQUAL(slice_set_find(&set, 7, 2), SLICE_PAGE_NONE);
    CU_ASSERT_EQUAL(slice_set_find(&set, 3, 7), SLICE_PAGE_NONE);
    slice_set_remove(&set, page);
    CU_ASSERT_FALSE(slice_set_has(&set, 7, 3 * SLICE_PAGE + 1));
    /* its memory is used again, and is empty */
    CU_ASSERT_EQUAL(slice_set_insert(&set, 9, UINT64_MAX / SLICE_PAGE), page);
    CU_ASSERT_FALSE(slice_set_has(&set, 9, UINT64_MAX));
    CU_ASSERT_EQUAL(slice_set_add(&set, 9, UINT64_MAX), 1);
    CU_ASSERT_EQUAL(slice_set_add(&set, 9, UINT64_MAX), 0);
    slice_set_clear(&set);
}

static void test_map(void)
{
    struct slice_map map = {.links = NULL};
    struct slice_link link = {.instance = {.id = 3, .instance = 8}, .distance = 5};
    CU_ASSERT_PTR_NULL(slice_map_find(&map, link.instance));
    CU_ASSERT_EQUAL(slice_map_put(&map, &link), 0);
    link.distance = 9;
    CU_ASSERT_EQUAL(slice_map_put(&map, &link), 0);
    CU_ASSERT_EQUAL(slice_map_find(&map, link.instance)->distance, 5);
    link.distance = 4;
    CU_ASSERT_EQUAL(slice_map_put(&map, &link), 0);
    CU_ASSERT_EQUAL(slice_map_find(&map, link.instance)->distance, 4);
    CU_ASSERT_PTR_NULL(slice_map_find(&map, (struct wet_instance){.id = 8, .instance = 3}));
    slice_map_clear(&map);
}

static const struct test_case cases[] = {{"random instances are found", test_random},
                                         {"pages are removed and used again", test_pages},
                                         {"a map keeps the shortest link", test_map},
                                         {NULL, NULL}};
TEST_SUITE(slice_set, cases)
