/* The code of a WET file: random tables in several members, read again; damaged members. */
#include "formats/wet/wet_code.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define MEMBERS 4u
#define ROUNDS  30u

/* Numbers are often close to those before, as in a program, and sometimes anything. */
static void add_instructions(struct wet_code *code, uint64_t *random)
{
    uint64_t address = random_next(random);
    for (uint64_t left = random_below(random, 50); left > 0; left--) {
        struct wet_instruction one = {
            .address = address,
            .function = (uint32_t)random_below(random, code->function_count),
            .file = (uint32_t)random_below(random, code->file_count),
            .line = random_one_in(random, 5) ? random_next32(random)
                                             : (uint32_t)random_below(random, 1000),
            .size = (uint8_t)(1 + random_below(random, WET_INSTRUCTION_BYTES))};
        random_fill(random, one.bytes, one.size);
        CU_ASSERT(wet_code_add_instruction(code, &one) > 0);
        address = random_one_in(random, 5) ? random_next(random) : address + one.size;
    }
}

static void add_names(struct wet_code *code, uint64_t *random)
{
    static const char *const names[] = {"main", "", "a function", "operator<<", NULL};
    for (uint64_t left = random_below(random, 5); left > 0; left--) {
        CU_ASSERT(wet_code_add_function(code, random_next(random), names[random_below(random, 5)]) >
                  0);
        CU_ASSERT(wet_code_add_file(code, names[random_below(random, 4)]) > 0);
    }
}

/* Blocks have distinct ids. */
static void add_blocks(struct wet_code *code, uint64_t *random)
{
    uint32_t ids[WET_BLOCK_IDS];
    uint8_t bytes[100];
    for (uint64_t left = random_below(random, 30); left > 0 && code->instruction_count > 1;
         left--) {
        const uint32_t first = 1 + (uint32_t)random_below(random, code->instruction_count - 1);
        uint32_t count = 0;
        while (count < WET_BLOCK_IDS && first + count < code->instruction_count &&
               !random_one_in(random, 8)) {
            ids[count] = first + count;
            count++;
        }
        if (count > 0)
            CU_ASSERT(wet_code_add_block(code, ids, count) > 0);
        CU_ASSERT(wet_code_add_edge(code, (uint32_t)random_below(random, code->instruction_count),
                                    first) >= 0);
        random_fill(random, bytes, sizeof bytes);
        CU_ASSERT(wet_code_add_range(code, random_next(random),
                                     (uint32_t)random_below(random, code->function_count), bytes,
                                     1 + (uint32_t)random_below(random, sizeof bytes)) >= 0);
    }
    for (size_t i = 1; i < code->block_count; i++)
        code->blocks[i].executions =
            random_one_in(random, 2) ? 0 : random_next(random) >> (16 + random_below(random, 40));
}

static bool same_instructions(const struct wet_code *a, const struct wet_code *b)
{
    bool same = a->instruction_count == b->instruction_count;
    for (size_t i = 0; i < a->instruction_count && same; i++) {
        const struct wet_instruction *one = &a->instructions[i], *other = &b->instructions[i];
        same = one->address == other->address && one->function == other->function &&
               one->file == other->file && one->line == other->line && one->size == other->size &&
               memcmp(one->bytes, other->bytes, one->size) == 0;
    }
    return same;
}

static bool same_names(const struct wet_code *a, const struct wet_code *b)
{
    bool same = a->function_count == b->function_count && a->file_count == b->file_count;
    for (size_t i = 0; i < a->function_count && same; i++) {
        const struct wet_function *one = &a->functions[i], *other = &b->functions[i];
        same = one->start == other->start && !one->name == !other->name &&
               (!one->name || strcmp(one->name, other->name) == 0);
    }
    for (size_t i = 0; i < a->file_count && same; i++)
        same = strcmp(a->files[i], b->files[i]) == 0;
    return same;
}

static bool same_blocks(const struct wet_code *a, const struct wet_code *b)
{
    bool same = a->block_count == b->block_count && a->id_count == b->id_count &&
                memcmp(a->ids, b->ids, a->id_count * sizeof *a->ids) == 0;
    for (size_t i = 0; i < a->block_count && same; i++)
        same = a->blocks[i].first == b->blocks[i].first && a->blocks[i].count == b->blocks[i].count;
    return same;
}

static bool same_ways(const struct wet_code *a, const struct wet_code *b)
{
    bool same = a->edge_count == b->edge_count && a->range_count == b->range_count;
    for (size_t i = 0; i < a->edge_count && same; i++)
        same = a->edges[i].from == b->edges[i].from && a->edges[i].to == b->edges[i].to;
    for (size_t i = 0; i < a->range_count && same; i++) {
        const struct wet_range *one = &a->ranges[i], *other = &b->ranges[i];
        same = one->address == other->address && one->function == other->function &&
               one->size == other->size &&
               memcmp(a->range_bytes + one->bytes, b->range_bytes + other->bytes, one->size) == 0;
    }
    return same;
}

/* Writes the code into a member, and reads it. */
static void transfer(struct wet_code *code, struct wet_code *again)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct bt_error error;
    uint64_t *executions = calloc(code->block_count, sizeof *executions);
    for (size_t i = 0; i < code->block_count; i++)
        executions[i] = code->blocks[i].executions;
    CU_ASSERT_EQUAL(wet_code_put(code, &bytes), 0);
    CU_ASSERT_EQUAL_FATAL(wet_code_get(again, &bytes, &error), 0);
    CU_ASSERT(same_instructions(code, again));
    CU_ASSERT(same_names(code, again));
    CU_ASSERT(same_blocks(code, again));
    CU_ASSERT(same_ways(code, again));
    for (size_t i = 0; i < code->block_count; i++) {
        CU_ASSERT_EQUAL(again->blocks[i].executions, executions[i]);
        CU_ASSERT_EQUAL(code->blocks[i].executions, 0);
    }
    free(executions);
    free(bytes.bytes);
}

static void test_round_trip(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t random = random_seed(round);
        struct wet_code code = {.instructions = NULL}, again = {.instructions = NULL};
        CU_ASSERT_EQUAL_FATAL(wet_code_init(&code), 0);
        CU_ASSERT_EQUAL_FATAL(wet_code_init(&again), 0);
        for (unsigned i = 0; i < MEMBERS; i++) {
            add_names(&code, &random);
            add_instructions(&code, &random);
            add_blocks(&code, &random);
            transfer(&code, &again);
        }
        wet_code_clear(&code);
        wet_code_clear(&again);
    }
}

/* Shortened members are an error; changed ones are, or give tables whose numbers exist. */
static void test_damage(void)
{
    uint64_t random = random_seed(7);
    struct wet_code code = {.instructions = NULL};
    struct wet_bytes bytes = {.bytes = NULL};
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(wet_code_init(&code), 0);
    add_names(&code, &random);
    add_instructions(&code, &random);
    add_blocks(&code, &random);
    CU_ASSERT_EQUAL(wet_code_put(&code, &bytes), 0);
    for (size_t i = 0; i < 2 * bytes.size; i++) {
        const size_t at = i / 2;
        struct wet_code again = {.instructions = NULL};
        struct wet_bytes part = {.bytes = bytes.bytes, .size = i % 2 ? at : bytes.size};
        CU_ASSERT_EQUAL_FATAL(wet_code_init(&again), 0);
        bytes.bytes[at] ^= i % 2 ? 0 : (uint8_t)(1 + random_below(&random, 255));
        const int result = wet_code_get(&again, &part, &error);
        CU_ASSERT(result == BT_DATA || (result == 0 && i % 2 == 0));
        for (size_t k = 0; k < again.id_count; k++)
            CU_ASSERT(again.ids[k] < again.instruction_count);
        for (size_t k = 0; k < again.edge_count; k++)
            CU_ASSERT(again.edges[k].from < again.instruction_count &&
                      again.edges[k].to < again.instruction_count);
        wet_code_clear(&again);
    }
    wet_code_clear(&code);
    free(bytes.bytes);
}

static const struct test_case cases[] = {
    {"round trip", test_round_trip}, {"damage", test_damage}, {NULL, NULL}};
TEST_SUITE(wet_code, cases)
