#include "tools/mrc/stack_internal.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

enum { REFERENCES = 4000 };

/* The definition: a list of lines, the most recently used first. */
struct stack_twin {
    uint32_t lines[REFERENCES];
    uint32_t count;
};

static uint32_t twin_reference(struct stack_twin *twin, uint32_t line)
{
    uint32_t place = 0;
    while (place < twin->count && twin->lines[place] != line)
        place++;
    const uint32_t distance = place < twin->count ? place : STACK_COLD;
    twin->count += place == twin->count;
    memmove(twin->lines + 1, twin->lines, place * sizeof *twin->lines);
    twin->lines[0] = line;
    return distance;
}

/* A random stream: uniform, local, looping or strided. */
static void make_stream(uint32_t *lines, size_t count, uint64_t *random)
{
    const uint64_t distinct = 1 + random_below(random, 1 + random_below(random, 3000));
    const uint32_t spread = (uint32_t)random_next(random) | 1;
    const uint64_t kind = random_below(random, 4);
    for (size_t i = 0; i < count; i++) {
        uint64_t line = random_below(random, distinct);
        if (kind == 1)
            line = random_below(random, line + 1);
        else if (kind == 2)
            line = i % distinct;
        else if (kind == 3 && i > 0 && !random_one_in(random, 4))
            line = lines[i - 1] / spread;
        lines[i] = (uint32_t)line * spread;
    }
}

static void check_stream(uint64_t seed)
{
    static uint32_t lines[REFERENCES], distances[REFERENCES];
    static struct stack_twin twin;
    uint64_t random = random_seed(seed);
    struct bt_error error;
    struct stack *stack = stack_new(&error);
    const size_t count = 1 + (size_t)random_below(&random, seed % 16 == 0 ? REFERENCES : 600);
    bool same = true;
    CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
    make_stream(lines, count, &random);
    twin.count = 0;
    for (size_t done = 0; done < count;) {
        const size_t some = (size_t)random_below(&random, count - done) + 1;
        CU_ASSERT_EQUAL_FATAL(stack_run(stack, lines + done, some, distances + done, &error), 0);
        done += some;
    }
    for (size_t i = 0; i < count; i++)
        same = same && twin_reference(&twin, lines[i]) == distances[i];
    CU_ASSERT_TRUE(same);
    CU_ASSERT_EQUAL(stack->recency.live, twin.count);
    stack_free(stack);
}

static void test_equals_twin(void)
{
    for (uint64_t seed = 0; seed < 3000; seed++)
        check_stream(seed);
}

/* Too many lines for the twin; the distances of a loop are known. */
static void test_large(void)
{
    enum { LINES = 300000, ROUNDS = 12, SOME = 1000 };
    static uint32_t lines[SOME], distances[SOME];
    struct bt_error error;
    struct stack *stack = stack_new(&error);
    bool good = true;
    CU_ASSERT_PTR_NOT_NULL_FATAL(stack);
    for (uint32_t i = 0; i < ROUNDS * LINES; i += SOME) {
        for (uint32_t j = 0; j < SOME; j++)
            lines[j] = (i + j) % LINES * 64;
        CU_ASSERT_EQUAL_FATAL(stack_run(stack, lines, SOME, distances, &error), 0);
        for (uint32_t j = 0; j < SOME; j++)
            good = good && distances[j] == (i < LINES ? STACK_COLD : LINES - 1);
    }
    CU_ASSERT_TRUE(good);
    CU_ASSERT_EQUAL(stack->recency.live, LINES);
    CU_ASSERT(line_table_bytes(&stack->map) + stack->recency.bytes <= 28u * LINES - sizeof *stack);
    stack_free(stack);
}

static const struct test_case cases[] = {{"distances equal those of a list", test_equals_twin},
                                         {"a loop over many lines", test_large},
                                         {NULL, NULL}};
TEST_SUITE(stack, cases)
