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

struct test_case {
    const char *name;
    void (*run)(void);
};

struct test_suite {
    const char *name;
    const struct test_case *cases; /* ends with a NULL name */
    struct test_suite *next;
};

void test_suite_register(struct test_suite *suite);

#define TEST_SUITE(suite_name, suite_cases)                                                        \
    static struct test_suite suite_##suite_name = {#suite_name, suite_cases, NULL};                \
    __attribute__((constructor)) static void register_##suite_name(void)                           \
    {                                                                                              \
        test_suite_register(&suite_##suite_name);                                                  \
    }

#endif
