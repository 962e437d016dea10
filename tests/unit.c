/* Runs all unit tests, or the suites named on the command line. Exit status 77: this processor can
 * run none of them. */
#include "tests/suites.h"

#include <CUnit/Basic.h>
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_suite *first_suite;

void test_suite_register(struct test_suite *suite)
{
    struct test_suite **place = &first_suite;
    while (*place && strcmp((*place)->name, suite->name) < 0)
        place = &(*place)->next;
    suite->next = *place;
    *place = suite;
}

static bool wanted(const char *name, int count, char **names)
{
    if (count == 0)
        return true;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool has_xsave(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
}

static bool add_suite(const struct test_suite *suite)
{
    CU_pSuite added = CU_add_suite(suite->name, NULL, NULL);
    for (const struct test_case *c = suite->cases; added && c->name; c++)
        if (!CU_add_test(added, c->name, c->run))
            return false;
    return added != NULL;
}

int main(int argc, char **argv)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* timers interrupt what is tested */
    setvbuf(stdout, NULL, _IOLBF, 0);      /* what is killed has said where it was */
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 3;
    unsigned skipped = 0;
    for (const struct test_suite *s = first_suite; s; s = s->next)
        if (!wanted(s->name, argc - 1, argv + 1)) {
            continue;
        } else if (s->xsave && !has_xsave()) {
            printf("%s: this processor has no XSAVE\n", s->name);
            skipped++;
        } else if (!add_suite(s)) {
            fprintf(stderr, "unit: cannot add suite %s: %s\n", s->name, CU_get_error_msg());
            return 3;
        }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    unsigned run = CU_get_number_of_tests_run();
    CU_cleanup_registry();
    if (run == 0 && skipped > 0)
        return 77;
    return failures || run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
