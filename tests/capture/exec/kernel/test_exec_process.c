/* Programs that receive signals, that fail, and that change their own code. */
#include "tests/suites.h"
#include "tests/support/exec_ways.h"

static void test_signals(void)
{
    CU_ASSERT(exec_ways_agree("signals", NULL));
    CU_ASSERT(exec_ways_agree("pending", NULL));
    CU_ASSERT(exec_ways_agree("targets", NULL));
}

static void test_faults(void)
{
    static const char *const endings[] = {"4", "6", "8", "11", "15", "9", "1", "34", "17", NULL};
    CU_ASSERT(exec_ways_agree("faults", endings));
    CU_ASSERT(exec_ways_agree("traps", NULL));
    CU_ASSERT(exec_ways_agree("addresses", NULL));
}

static void test_modified(void)
{
    static const char *const changes[] = {"1,200,0", "2,200,1000", "3,100,300", NULL};
    CU_ASSERT(exec_ways_agree("modify", NULL));
    CU_ASSERT(exec_ways_agree("changing", changes));
}

static void test_modified_elsewhere(void)
{
    static const char *const changes[] = {"4,200,0,1", "5,200,300,1", NULL};
    CU_ASSERT(exec_ways_agree("elsewhere", NULL));
    CU_ASSERT(exec_ways_agree("changing", changes));
}

static void test_rewritten(void)
{
    CU_ASSERT(exec_ways_agree("rewritten", NULL));
}

static void test_stepped(void)
{
    CU_ASSERT(exec_ways_agree("stepped", NULL));
}

static void test_surroundings(void)
{
    CU_ASSERT(exec_ways_agree("surroundings", NULL));
    CU_ASSERT(exec_ways_agree("vsyscall", NULL));
}

static const struct test_case cases[] = {{"signals", test_signals},
                                         {"faults", test_faults},
                                         {"code that changes", test_modified},
                                         {"code that changes elsewhere", test_modified_elsewhere},
                                         {"code that the kernel changes", test_rewritten},
                                         {"the trap flag", test_stepped},
                                         {"what programs see of themselves", test_surroundings},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_process, cases)
