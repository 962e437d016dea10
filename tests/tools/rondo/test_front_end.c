/* Target predictors against the slow one of doc/predictors.md on random calls, returns and jumps;
 * the front end's counts; known results of return stacks and target buffers. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/slow_predictors.h"
#include "tools/rondo/front_end.h"

#include <stdio.h>
#include <string.h>

#define STREAMS  2500u
#define BRANCHES 300u

/* Branches at few addresses with few targets, so that they conflict in tables and repeat. */
static struct branch random_branch(uint64_t *random)
{
    struct branch branch = {.address = 0x1000 + random_below(random, 64),
                            .kind = (enum branch_kind)random_below(random, BRANCH_KINDS)};
    branch.next = branch.address + 3;
    branch.target = 0x1000 + 16 * random_below(random, 40);
    if (branch.kind == BRANCH_RETURN && !random_one_in(random, 3))
        branch.target = 0x1003 + random_below(random, 64);
    branch.taken = branch.kind != BRANCH_CONDITIONAL || random_one_in(random, 3);
    return branch;
}

static struct targets_settings random_settings(uint64_t *random)
{
    struct targets_settings settings = {
        .return_stack = (uint32_t)random_below(random, 6),
        .buffer_ways = 1 + (uint32_t)random_below(random, 5),
        .cache_entries = random_one_in(random, 3) ? 0 : 1u << random_below(random, 7),
        .cache_histories = 1 + (uint32_t)random_below(random, 8)};
    if (!random_one_in(random, 5))
        settings.buffer_entries = settings.buffer_ways << random_below(random, 5);
    return settings;
}

static bool compare_wrong_path(struct targets *fast, struct slow_targets *slow,
                               const struct branch *branch, uint64_t predicted, uint64_t *random)
{
    bool same = true;
    targets_wrong_begin(fast, branch, predicted);
    slow_targets_wrong_begin(slow, branch, predicted);
    for (uint64_t i = random_below(random, 15); i > 0; i--) {
        struct branch wrong = random_branch(random);
        if (wrong.kind == BRANCH_CONDITIONAL)
            continue;
        uint64_t target = targets_wrong(fast, &wrong);
        same = slow_targets_wrong(slow, &wrong) == target && same;
        if (target == 0)
            break;
    }
    targets_wrong_end(fast);
    slow_targets_wrong_end(slow);
    return same;
}

static bool compare(uint64_t seed)
{
    uint64_t random = random_seed(seed);
    const struct targets_settings settings = random_settings(&random);
    if (targets_check(&settings, NULL) < 0)
        return false;
    struct targets *fast = targets_new(&settings, NULL);
    struct slow_targets *slow =
        slow_targets_new(settings.return_stack, settings.buffer_entries, settings.buffer_ways,
                         settings.cache_entries, settings.cache_histories);
    bool same = true;
    for (unsigned i = 0; i < BRANCHES && same; i++) {
        struct branch branch = random_branch(&random);
        if (!branch.taken)
            continue;
        uint64_t target = targets_put(fast, &branch).target;
        same = slow_targets_put(slow, &branch) == target;
        if (target != 0 && target != branch.target && random_one_in(&random, 3))
            same = compare_wrong_path(fast, slow, &branch, target, &random) && same;
    }
    targets_free(fast);
    slow_targets_free(slow);
    return same;
}

static void test_twin(void)
{
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= STREAMS; seed++)
        if (!compare(seed) && failed++ < 3)
            fprintf(stderr, "seed %u\n", (unsigned)seed);
    CU_ASSERT_EQUAL(failed, 0);
}

/* The front end against a slow predictor and slow targets: totals, and counts by branch. */
static bool compare_counts(uint64_t seed)
{
    uint64_t random = random_seed(seed);
    struct front_end_settings settings = {.predictor_count = 2, .by_branch = true};
    predictor_settings_read(&settings.predictors[0], "gshare:entries=32", NULL);
    predictor_settings_read(&settings.predictors[1], "local:histories=8,history=3", NULL);
    settings.targets = random_settings(&random);
    const struct targets_settings *targets = &settings.targets;
    struct front_end *front_end = front_end_new(&settings, NULL);
    struct slow_predictor *slow[2] = {slow_predictor_new(&settings.predictors[0]),
                                      slow_predictor_new(&settings.predictors[1])};
    struct slow_targets *slow_targets =
        slow_targets_new(targets->return_stack, targets->buffer_entries, targets->buffer_ways,
                         targets->cache_entries, targets->cache_histories);
    uint64_t wrong[2] = {0, 0}, wrong_targets = 0, sum = 0;
    bool same = true;
    for (unsigned i = 0; i < BRANCHES; i++) {
        struct branch branch = random_branch(&random);
        uint64_t goes_on = branch.target;
        if (branch.kind == BRANCH_CONDITIONAL) {
            bool taken = slow_predictor_put(slow[0], &branch);
            goes_on = taken ? branch.target : branch.next;
            wrong[0] += taken != branch.taken;
            wrong[1] += slow_predictor_put(slow[1], &branch) != branch.taken;
        }
        uint64_t target = branch.taken ? slow_targets_put(slow_targets, &branch) : 0;
        if (branch.kind == BRANCH_RETURN || branch_is_indirect(&branch)) {
            goes_on = target;
            wrong_targets += target != branch.target;
        }
        same = front_end_put(front_end, &branch).goes_on == goes_on && same;
    }
    const struct front_end_totals *totals = front_end_totals(front_end);
    for (size_t i = 0; i < 2; i++)
        same = front_end_mispredicted(totals, i) == wrong[i] + wrong_targets && same;
    const struct branch_table *branches = front_end_branches(front_end);
    for (size_t i = 0; i < branch_table_count(branches); i++)
        sum += branch_table_get(branches, i)->wrong[1];
    same = sum == wrong[1] + wrong_targets && same;
    front_end_free(front_end);
    slow_predictor_free(slow[0]);
    slow_predictor_free(slow[1]);
    slow_targets_free(slow_targets);
    return same;
}

static void test_counts(void)
{
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= 500; seed++)
        if (!compare_counts(seed) && failed++ < 3)
            fprintf(stderr, "seed %u\n", (unsigned)seed);
    CU_ASSERT_EQUAL(failed, 0);
}

/* Mispredicted returns: `rounds` times `depth` nested calls and their returns. */
static unsigned wrong_returns(uint32_t places, unsigned depth, unsigned rounds)
{
    const struct targets_settings settings = {.return_stack = places};
    struct targets *targets = targets_new(&settings, NULL);
    unsigned wrong = 0;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < depth; i++) {
            struct branch call = {.address = 0x100 + 16 * i,
                                  .next = 0x105 + 16 * i,
                                  .target = 0x1000,
                                  .kind = BRANCH_CALL,
                                  .taken = true};
            targets_put(targets, &call);
        }
        for (unsigned i = depth; i-- > 0;) {
            struct branch back = {.address = 0x1000,
                                  .next = 0x1001,
                                  .target = 0x105 + 16 * i,
                                  .kind = BRANCH_RETURN,
                                  .taken = true};
            wrong += targets_put(targets, &back).target != back.target;
        }
    }
    targets_free(targets);
    return wrong;
}

static void test_return_stack(void)
{
    CU_ASSERT_EQUAL(wrong_returns(16, 16, 10), 0);
    CU_ASSERT_EQUAL(wrong_returns(16, 20, 10), 40);
    CU_ASSERT_EQUAL(wrong_returns(1, 5, 10), 40);
    CU_ASSERT_EQUAL(wrong_returns(0, 1, 10), 10);
}

/* Mispredictions of one indirect jump with a pattern of targets, in the second half. */
static unsigned wrong_jumps(const struct targets_settings *settings, const char *pattern)
{
    struct targets *targets = targets_new(settings, NULL);
    const size_t length = strlen(pattern);
    unsigned wrong = 0;
    for (size_t i = 0; i < 2000; i++) {
        struct branch jump = {.address = 0x400,
                              .next = 0x402,
                              .target = 0x10000 + 0x30 * (uint64_t)pattern[i % length],
                              .kind = BRANCH_INDIRECT_JUMP,
                              .taken = true};
        wrong += targets_put(targets, &jump).target != jump.target && i >= 1000;
    }
    targets_free(targets);
    return wrong;
}

static void test_indirect(void)
{
    const struct targets_settings buffer = {.buffer_entries = 16, .buffer_ways = 4};
    const struct targets_settings cache = {.cache_entries = 4096, .cache_histories = 4};
    CU_ASSERT_EQUAL(wrong_jumps(&buffer, "a"), 0);
    CU_ASSERT_EQUAL(wrong_jumps(&buffer, "ab"), 1000);
    CU_ASSERT_EQUAL(wrong_jumps(&buffer, "aab"), 666);
    CU_ASSERT_EQUAL(wrong_jumps(&cache, "ab"), 0);
    CU_ASSERT_EQUAL(wrong_jumps(&cache, "aabcb"), 0);
    CU_ASSERT_EQUAL(wrong_jumps(&cache, "abacadaeaf"), 0);
}

static void test_target_buffer(void)
{
    const struct targets_settings settings = {.buffer_entries = 4, .buffer_ways = 2};
    struct targets *targets = targets_new(&settings, NULL);
    static const struct {
        uint64_t address;
        bool buffered;
    } steps[] = {{2, false}, {4, false}, {2, true}, {6, false}, {2, true},
                 {4, false}, {3, false}, {2, true}, {4, true},  {6, false}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct branch jump = {.address = steps[i].address,
                              .next = 0,
                              .target = 0x50,
                              .kind = BRANCH_JUMP,
                              .taken = true};
        CU_ASSERT_EQUAL(targets_put(targets, &jump).buffered, steps[i].buffered);
    }
    targets_free(targets);
}

static void test_settings(void)
{
    struct targets_settings settings = {.buffer_entries = 12, .buffer_ways = 3};
    struct bt_error error;
    CU_ASSERT_EQUAL(targets_check(&settings, &error), 0);
    settings.buffer_ways = 5;
    CU_ASSERT_EQUAL(targets_check(&settings, &error), BT_USAGE);
    settings.buffer_ways = 0;
    CU_ASSERT_EQUAL(targets_check(&settings, &error), BT_USAGE);
    settings = (struct targets_settings){.cache_entries = 8};
    CU_ASSERT_EQUAL(targets_check(&settings, &error), BT_USAGE);
    settings = (struct targets_settings){.return_stack = RETURN_STACK_MAX + 1};
    CU_ASSERT_EQUAL(targets_check(&settings, &error), BT_USAGE);
}

/* Branches above the limit are counted together. */
static void test_many_branches(void)
{
    struct branch_table *table = branch_table_new(1, NULL);
    struct branch branch = {.kind = BRANCH_JUMP};
    for (uint64_t i = 0; i < BRANCH_TABLE_MAX + 5; i++) {
        branch.address = i * 0x10001 + 1;
        branch_table_at(table, &branch)->executed++;
    }
    CU_ASSERT_EQUAL(branch_table_count(table), BRANCH_TABLE_MAX);
    CU_ASSERT_EQUAL(branch_table_others(table)->executed, 5);
    branch.address = 0x10001 + 1;
    CU_ASSERT_EQUAL(branch_table_at(table, &branch)->executed, 1);
    CU_ASSERT_EQUAL(branch_table_get(table, 1)->address, 0x10002);
    branch_table_free(table);
}

static const struct test_case cases[] = {{"targets equal the slow ones", test_twin},
                                         {"totals and counts by branch", test_counts},
                                         {"return stack", test_return_stack},
                                         {"indirect jumps", test_indirect},
                                         {"target buffer", test_target_buffer},
                                         {"valid and invalid settings", test_settings},
                                         {"more branches than the limit", test_many_branches},
                                         {NULL, NULL}};
TEST_SUITE(front_end, cases)
