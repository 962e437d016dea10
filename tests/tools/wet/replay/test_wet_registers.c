/* Last writers of a register's bytes: the same as an array with one element for each byte. */
#include "tools/wet/replay/wet_registers.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define BYTES 64u

struct writer {
    uint32_t id; /* 0: none */
    uint64_t instance;
};

/* Whether the ranges are in order and do not overlap, and have so many instances. */
static bool is_in_order(const struct wet_ranges *ranges, uint64_t instances)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct wet_writers *one = &ranges->ranges[i], *before = one - 1;
        if (i > 0 && (one->id < before->id ||
                      (one->id == before->id && one->first < before->first + before->count)))
            return false;
        instances -= one->count;
    }
    return instances == 0;
}

static bool has(const struct wet_ranges *ranges, const struct writer *writer)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->ranges[i].id == writer->id && writer->instance >= ranges->ranges[i].first &&
            writer->instance - ranges->ranges[i].first < ranges->ranges[i].count)
            return true;
    return false;
}

/* Whether the ranges are the writers of the bytes, each once. */
static bool is_same(const struct wet_ranges *ranges, const struct writer *writers, uint64_t bytes)
{
    uint64_t different = 0;
    for (unsigned i = 0; i < BYTES; i++) {
        bool is_new = (bytes >> i & 1) && writers[i].id != 0;
        if (is_new && !has(ranges, &writers[i]))
            return false;
        for (unsigned k = 0; k < i && is_new; k++)
            is_new = !(bytes >> k & 1) || writers[k].id != writers[i].id ||
                     writers[k].instance != writers[i].instance;
        different += is_new;
    }
    return is_in_order(ranges, different);
}

static uint64_t random_bytes(uint64_t *random)
{
    const unsigned count = 1u << random_below(random, 7);
    const unsigned first = (unsigned)random_below(random, BYTES - count + 1);
    return (count == BYTES ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

static void test_random(void)
{
    struct wet_registers registers = {.top = 0}, copy = {.top = 0};
    struct wet_register *reg = &registers.registers[WET_VECTOR];
    struct writer writers[BYTES] = {{.id = 0}};
    struct wet_ranges ranges = {.ranges = NULL};
    uint64_t random = random_seed(5);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20000; i++) {
        const struct writer writer = {.id = (uint32_t)random_below(&random, 4),
                                      .instance = random_below(&random, 6)};
        const uint64_t written = random_bytes(&random), read = random_bytes(&random);
        CU_ASSERT_EQUAL_FATAL(wet_register_write(reg, written, writer.id, writer.instance), 0);
        for (unsigned at = 0; at < BYTES; at++)
            if (written >> at & 1)
                writers[at] = writer;
        CU_ASSERT_EQUAL_FATAL(wet_registers_copy(&copy, &registers), 0);
        ranges.count = 0;
        CU_ASSERT_EQUAL_FATAL(wet_register_read(&copy.registers[WET_VECTOR], read, &ranges), 0);
        wrong += !is_same(&ranges, writers, read);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free(ranges.ranges);
    wet_registers_clear(&copy);
    wet_registers_clear(&registers);
}

static const struct test_case cases[] = {{"random writes and reads", test_random}, {NULL, NULL}};
TEST_SUITE(wet_registers, cases)
