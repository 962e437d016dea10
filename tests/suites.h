/*
 * The unit tests. Each tests/<layer>/test_<file>.c ends with one TEST_SUITE, which unit.c finds by
 * itself:
 *
 *     static const struct test_case cases[] = {{"a name", test_something}, {NULL, NULL}};
 *     TEST_SUITE(record, cases)
 */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <CUnit/CUnit.h>
#include <stdbool.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

struct test_suite {
    const char *name;
    const struct test_case *cases; /* ends with a NULL name */
    bool xsave;                    /* it translates programs, which takes a processor with XSAVE */
    struct test_suite *next;
};

void test_suite_register(struct test_suite *suite);

#define TEST_SUITE(suite_name, suite_cases)       TEST_SUITE_(suite_name, suite_cases, false)
#define TEST_SUITE_XSAVE(suite_name, suite_cases) TEST_SUITE_(suite_name, suite_cases, true)
#define TEST_SUITE_(suite_name, suite_cases, suite_xsave)                                          \
    static struct test_suite suite_##suite_name = {                                                \
        .name = #suite_name, .cases = suite_cases, .xsave = suite_xsave};                          \
    __attribute__((constructor)) static void register_##suite_name(void)                           \
    {                                                                                              \
        test_suite_register(&suite_##suite_name);                                                  \
    }

#endif
