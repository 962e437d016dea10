/* A map from lines to slots, against an array. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/model/line_slots.h"

#include <string.h>

#define LINES 600u
#define STEPS 60000u

/* Many lines at first, few then: the map grows, and removals leave holes in full neighbourhoods. */
static void test_twin(void)
{
    struct line_slots map = {.count = 0};
    uint32_t twin[LINES] = {0}; /* slot + 1 */
    size_t count = 0;
    uint64_t state = 3;
    CU_ASSERT_EQUAL(line_slots_find(&map, 5), 0);
    line_slots_remove(&map, 5);
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t number = (uint32_t)random_below(&state, LINES);
        const uint32_t line = number * 0x10001u; /* line 0, and large ones */
        const bool add = random_below(&state, 10) < (step / 6000 % 2 ? 3u : 7u);
        CU_ASSERT_EQUAL(line_slots_find(&map, line), twin[number]);
        if (add) {
            const uint32_t slot = (uint32_t)random_below(&state, UINT32_MAX);
            CU_ASSERT_EQUAL_FATAL(line_slots_reserve(&map), 0);
            CU_ASSERT_EQUAL(line_slots_set(&map, line, slot), twin[number]);
            count += twin[number] == 0;
            twin[number] = slot + 1;
        } else {
            line_slots_remove(&map, line);
            count -= twin[number] != 0;
            twin[number] = 0;
        }
        CU_ASSERT_EQUAL(map.count, count);
    }
    for (uint32_t number = 0; number < LINES; number++)
        CU_ASSERT_EQUAL(line_slots_find(&map, number * 0x10001u), twin[number]);
    line_slots_clear(&map);
    CU_ASSERT_EQUAL(line_slots_find(&map, 0), 0);
}

static const struct test_case cases[] = {{"an array", test_twin}, {NULL, NULL}};
TEST_SUITE(line_slots, cases)
