/* The last stores of a trace, against all of them. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/wet/wet_stores.h"

#define IDS    6u
#define STORES 20000u
#define LIMIT  300u

static void test_random(void)
{
    static struct {
        uint32_t id;
        uint64_t instance;
    } all[STORES];
    uint64_t random = random_seed(3), instances[IDS] = {0};
    unsigned wrong = 0;
    struct wet_stores stores;
    CU_ASSERT_EQUAL_FATAL(wet_stores_init(&stores, IDS, LIMIT), 0);
    for (unsigned i = 0; i < STORES; i++) {
        /* phases, in which one instruction stores most */
        const uint32_t id = (uint32_t)(random_one_in(&random, 20) ? random_below(&random, IDS - 1)
                                                                  : i / 1000 % (IDS - 1));
        all[i].id = id + 1;
        all[i].instance = 5 + instances[id + 1]++;
        const struct wet_store store = {.number = i, .id = id + 1};
        CU_ASSERT_EQUAL(wet_stores_put(&stores, all[i].instance, &store), 0);
        for (unsigned k = 0; k < 5; k++) {
            const uint64_t back = random_below(&random, 2 * LIMIT);
            if (back > i)
                continue;
            const struct wet_store *found =
                wet_stores_get(&stores, all[i - back].id, all[i - back].instance);
            wrong += back < LIMIT ? !found || found->number != i - back : found != NULL;
        }
        wrong += wet_stores_get(&stores, id + 1, all[i].instance + 1) != NULL;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (uint32_t id = 1; id < IDS; id++)
        CU_ASSERT(stores.of[id].capacity <= 4 * LIMIT);
    wet_stores_clear(&stores);
}

static const struct test_case cases[] = {{"against all stores", test_random}, {NULL, NULL}};
TEST_SUITE(wet_stores, cases)
