#include "tests/suites.h"
#include "tests/support/exec_rig.h"

#include <string.h>

#define INT3  0xccu
#define FIRST EXEC_RIG_CODE
#define AHEAD 4u /* executor_continue.c */

/* A block that only jumps to the next, then conditional branches, all to an int3. */
#define BRANCHES 8u
#define BRANCH   2u /* bytes of a branch */
#define AFTER    (FIRST + BRANCH * (1 + BRANCHES))

static uint64_t branch_at(unsigned number)
{
    return FIRST + BRANCH * (1 + number);
}

static void begin(struct exec_rig *rig, enum exec_trace trace, bool stepping)
{
    CU_ASSERT_FATAL(exec_rig_begin(rig, trace, stepping, 0, 0));
    uint8_t *at = rig->code;
    *at++ = 0xeb; /* jmp to the next byte */
    *at++ = 0;
    for (unsigned i = 0; i < BRANCHES; i++) {
        *at++ = 0x75; /* jne */
        *at++ = (uint8_t)(AFTER - branch_at(i + 1));
    }
    *at = INT3;
    rig->thread->rip = FIRST;
}

static struct block *block_at(const struct exec_rig *rig, uint64_t address)
{
    return code_cache_find(executor_cache(rig->executor), address);
}

static unsigned count_branches(const struct exec_rig *rig)
{
    unsigned count = 0;
    while (count < BRANCHES && block_at(rig, branch_at(count)))
        count++;
    return count;
}

/* The first branch is taken: all later ones are only translated ahead. Each is linked to the next,
 * and none to the int3, which was translated last. */
static void test_ahead(void)
{
    struct exec_rig rig;
    begin(&rig, EXEC_TRACE_NONE, false);
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.thread->rip, AFTER);
    CU_ASSERT_EQUAL_FATAL(count_branches(&rig), 1 + AHEAD);
    CU_ASSERT_PTR_EQUAL(block_at(&rig, FIRST)->exits[0].to, block_at(&rig, branch_at(0)));
    for (unsigned i = 0; i <= AHEAD; i++) {
        const struct exit *exits = block_at(&rig, branch_at(i))->exits;
        CU_ASSERT_PTR_EQUAL(exits[1].to, i < AHEAD ? block_at(&rig, branch_at(i + 1)) : NULL);
        CU_ASSERT_PTR_NULL(i > 0 ? exits[0].to : NULL);
    }
    exec_rig_end(&rig);
}

/* A block that exists is linked, and not translated again. */
static void test_existing(void)
{
    struct exec_rig rig;
    begin(&rig, EXEC_TRACE_NONE, false);
    rig.thread->rip = branch_at(2);
    exec_rig_run(&rig);
    const struct block *third = block_at(&rig, branch_at(2)), *end = block_at(&rig, AFTER);
    CU_ASSERT_FATAL(third && end);
    rig.thread->rip = FIRST;
    exec_rig_run(&rig);
    CU_ASSERT_PTR_EQUAL(block_at(&rig, branch_at(2)), third);
    CU_ASSERT_EQUAL_FATAL(count_branches(&rig), 3);
    for (unsigned i = 0; i < 2; i++) {
        const struct exit *exits = block_at(&rig, branch_at(i))->exits;
        CU_ASSERT_PTR_EQUAL(exits[0].to, end);
        CU_ASSERT(i == 1 || exits[1].to == block_at(&rig, branch_at(1)));
    }
    exec_rig_end(&rig);
}

/* Nothing ahead with a trace, which names blocks; nor when runs stop after each branch. */
static void test_only_executed(void)
{
    static const struct {
        enum exec_trace trace;
        bool stepping;
    } ways[] = {{EXEC_TRACE_ALL, false}, {EXEC_TRACE_FETCHES, false}, {EXEC_TRACE_NONE, true}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct exec_rig rig;
        struct executor_stop stop;
        begin(&rig, ways[i].trace, ways[i].stepping);
        do
            stop = exec_rig_run(&rig);
        while (stop.reason == EXECUTOR_BRANCH);
        CU_ASSERT(stop.reason == EXECUTOR_TRAP && rig.thread->rip == AFTER);
        CU_ASSERT_EQUAL(count_branches(&rig), 1);
        exec_rig_end(&rig);
    }
}

/* Not from a breakpoint on, and not where nothing can be read. */
static void test_end(void)
{
    struct exec_rig rig;
    begin(&rig, EXEC_TRACE_NONE, false);
    executor_set_breakpoint(rig.executor, branch_at(2));
    exec_rig_run(&rig);
    CU_ASSERT_EQUAL(rig.thread->rip, AFTER);
    CU_ASSERT_EQUAL(count_branches(&rig), 2);
    executor_set_breakpoint(rig.executor, 0);

    const uint64_t last = EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES - 2;
    static const uint8_t jump[] = {0xe9}, to_itself[] = {0x75, 0xfe}; /* jmp; jne */
    const uint32_t distance = (uint32_t)(last - FIRST - 5);
    executor_invalidate(rig.executor, FIRST, AFTER + 1);
    memcpy(rig.code, jump, sizeof jump);
    memcpy(rig.code + sizeof jump, &distance, sizeof distance);
    memcpy(rig.code + (last - FIRST), to_itself, sizeof to_itself);
    rig.thread->rip = FIRST;
    rig.thread->flags |= 0x40; /* ZF: the branch is not taken */
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT(stop.reason == EXECUTOR_FAULT && rig.thread->rip == last + 2);
    exec_rig_end(&rig);
}

/* The block after a call is entered by a return: the thread's table has it before it is executed.
 */
static void test_call(void)
{
    static const uint8_t code[] = {0xeb, 0x00,                   /* jmp to the call */
                                   0xe8, 0x01, 0x00, 0x00, 0x00, /* call the int3 */
                                   0x90, INT3};
    struct exec_rig rig;
    begin(&rig, EXEC_TRACE_NONE, false);
    memcpy(rig.code, code, sizeof code);
    rig.thread->registers[DECODE_RSP] = EXEC_RIG_DATA + 256;
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.thread->rip, FIRST + 8);
    const struct block *after = block_at(&rig, FIRST + 7);
    CU_ASSERT_PTR_NOT_NULL_FATAL(after);
    CU_ASSERT_EQUAL(rig.thread->targets[0][EXEC_LOOKUP_FIRST(FIRST + 7)],
                    (uint64_t)(uintptr_t)after->indirect);
    CU_ASSERT_EQUAL(rig.thread->targets[0][EXEC_LOOKUP_FIRST(FIRST + 8)],
                    (uint64_t)(uintptr_t)rig.thread->find);
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {{"branches ahead", test_ahead},
                                         {"blocks that exist", test_existing},
                                         {"only what is executed", test_only_executed},
                                         {"where it ends", test_end},
                                         {"after a call", test_call},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_continue, cases)
