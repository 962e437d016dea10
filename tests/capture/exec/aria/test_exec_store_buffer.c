/* A store buffer against a plain array of bytes. */
#include "capture/exec/aria/store_buffer.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 8192u

/* Memory at an address: its contents, and the view of a path. */
struct ground {
    uint64_t address;
    uint8_t memory[BYTES], seen[BYTES];
    uint8_t stored[BYTES]; /* 1: it was */
};

static void store(struct ground *ground, struct store_buffer *buffer, size_t at,
                  const uint8_t *from, size_t size)
{
    store_buffer_put(buffer, ground->address + at, from, size);
    memcpy(ground->seen + at, from, size);
    memset(ground->stored + at, 1, size);
}

static void forget(struct ground *ground)
{
    memcpy(ground->seen, ground->memory, BYTES);
    memset(ground->stored, 0, sizeof ground->stored);
}

/* Loads of any size and position, after any stores. */
static bool is_same(const struct ground *ground, const struct store_buffer *buffer,
                    uint64_t *random)
{
    uint8_t loaded[512];
    size_t size = random_below(random, 4) ? random_below(random, 65) : random_below(random, 513);
    size_t at = random_below(random, BYTES - size);
    memcpy(loaded, ground->memory + at, size);
    store_buffer_get(buffer, loaded, ground->address + at, size);
    return memcmp(loaded, ground->seen + at, size) == 0 &&
           store_buffer_holds(buffer, ground->address + at, size) ==
               (memchr(ground->stored + at, 1, size) != NULL);
}

static void test_random(void)
{
    static const uint64_t addresses[] = {0, 0x10000000, 0x7fffffffe000u, UINT64_MAX - BYTES + 1};
    static struct ground ground;
    struct store_buffer *buffer = store_buffer_new(), *copy = store_buffer_new();
    uint64_t random = random_seed(1);
    unsigned wrong = 0;
    for (unsigned round = 0; round < 400; round++) {
        ground.address = addresses[round % 4];
        random_fill(&random, ground.memory, BYTES);
        forget(&ground);
        store_buffer_clear(buffer);
        for (unsigned i = random_below(&random, 200); i > 0; i--) {
            uint8_t bytes[128];
            size_t size = random_below(&random, sizeof bytes + 1);
            random_fill(&random, bytes, sizeof bytes);
            store(&ground, buffer, random_below(&random, BYTES - size), bytes, size);
            wrong += !is_same(&ground, buffer, &random);
        }
        store_buffer_assign(copy, buffer);
        for (unsigned i = 0; i < 20; i++)
            wrong += !is_same(&ground, copy, &random);
        store_buffer_assign(copy, copy);
        wrong += !is_same(&ground, copy, &random);
        /* a copy does not see the stores of the other */
        const uint8_t byte = (uint8_t)~ground.seen[7];
        store_buffer_put(copy, ground.address + 7, &byte, 1);
        uint8_t found = ground.memory[7];
        store_buffer_get(buffer, &found, ground.address + 7, 1);
        wrong += found != ground.seen[7];
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_FALSE(store_buffer_failed(buffer));
    store_buffer_clear(buffer);
    CU_ASSERT_FALSE(store_buffer_holds(buffer, ground.address, BYTES));
    store_buffer_free(buffer);
    store_buffer_free(copy);
    store_buffer_free(NULL);
}

static const struct test_case cases[] = {{"as an array of bytes", test_random}, {NULL, NULL}};
TEST_SUITE(exec_store_buffer, cases)
