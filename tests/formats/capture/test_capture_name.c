/* Which names are names of capture files. */
#include "formats/capture/capture_name.h"

#include "tests/suites.h"

#include <stdio.h>
#include <string.h>

static void test_names(void)
{
    static const struct {
        const char *path, *prefix;
        uint32_t number;
        int64_t second;
        bool part, coded;
    } names[] = {
        {"p_00007_20010909T014640Z.byu.gz", "p", 7, 1000000000, false, false},
        {"a/b_00001_x_12345_19700101T000000Z.byu.gz.part", "a/b_00001_x", 12345, 0, true, false},
        {"p_00007_20010909T014640Z.byb", "p", 7, 1000000000, false, true},
        {"p_00007_20010909T014640Z.byb.part", "p", 7, 1000000000, true, true},
        {"p_4294967295_20260228T235959Z.byu.gz", "p", 4294967295u, 1772323199, false, false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct capture_name name;
        char ending[CAPTURE_NAME_ENDING_BYTES];
        CU_ASSERT(capture_name_get(&name, names[i].path));
        CU_ASSERT_EQUAL(name.prefix_bytes, strlen(names[i].prefix));
        CU_ASSERT_EQUAL(name.number, names[i].number);
        CU_ASSERT_EQUAL(name.second, names[i].second);
        CU_ASSERT_EQUAL(name.part, names[i].part);
        CU_ASSERT_EQUAL(name.coded, names[i].coded);
        capture_name_put(ending, &name);
        CU_ASSERT_STRING_EQUAL(ending, names[i].path + name.prefix_bytes);
    }
}

static void test_others(void)
{
    static const char *const names[] = {"",
                                        "p",
                                        ".byu.gz",
                                        "_20010909T014640Z.byu.gz",
                                        "00007_20010909T014640Z.byu.gz",
                                        "p_0007_20010909T014640Z.byu.gz",
                                        "p_000007_20010909T014640Z.byu.gz",
                                        "p_4294967296_20010909T014640Z.byu.gz",
                                        "p_99999999999_20010909T014640Z.byu.gz",
                                        "p00007_20010909T014640Z.byu.gz",
                                        "p_00007-20010909T014640Z.byu.gz",
                                        "p_00007_20011309T014640Z.byu.gz",
                                        "p_00007_20010229T014640Z.byu.gz",
                                        "p_00007_20010909T0146 4Z.byu.gz",
                                        "p_00007_20010909T014640.byu.gz",
                                        "p_00007_20010909T014640Z.byu",
                                        "p_00007_20010909T014640Z.byu.gz.gz",
                                        "p_00007_20010909T014640Z.byb.gz",
                                        "p_00007_20010909T014640Z.byu.gz.byb",
                                        "p_00007_20010909T014640Z.byu.gz.part.part",
                                        "p_00007_20010909T014640Z.byu.gz.part-1"};
    struct capture_name name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_FALSE(capture_name_get(&name, names[i]));
}

static void test_asks_coded(void)
{
    CU_ASSERT_TRUE(capture_name_asks_coded("a/b.byb"));
    CU_ASSERT_FALSE(capture_name_asks_coded("a/b.byb.part"));
    CU_ASSERT_FALSE(capture_name_asks_coded("a/b.byu.gz"));
    CU_ASSERT_FALSE(capture_name_asks_coded("byb"));
    CU_ASSERT_FALSE(capture_name_asks_coded("-"));
}

static const struct test_case cases[] = {{"names", test_names},
                                         {"other names", test_others},
                                         {"names that ask for version 2", test_asks_coded},
                                         {NULL, NULL}};
TEST_SUITE(capture_name, cases)
