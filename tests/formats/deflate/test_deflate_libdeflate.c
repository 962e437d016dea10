#include "tests/formats/deflate/deflate_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"

/* Kind 0: a few addresses again and again; kind 1: noise. */
static void fill(struct record *records, size_t count, unsigned kind, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t address = (uint32_t)random_below(random, kind ? UINT32_MAX : 40) * 8;
        records[i] = (struct record){.address = address};
    }
}

static const struct deflate_fixture fixture = {DEFLATE_LIBDEFLATE, 2, fill, NULL, 41};

static void test_any_bytes(void)
{
    deflate_check_any_bytes(&fixture);
}

static void test_noise_hardly_grows(void)
{
    deflate_check_noise_hardly_grows(&fixture);
}

/* WET files are equal for equal executions. */
static void test_result_depends_on_input_alone(void)
{
    deflate_check_input_alone(&fixture);
}

static const struct test_case cases[] = {
    {"any bytes", test_any_bytes},
    {"noise hardly grows", test_noise_hardly_grows},
    {"the result depends on the input alone", test_result_depends_on_input_alone},
    {NULL, NULL}};
TEST_SUITE(deflate_libdeflate, cases)
