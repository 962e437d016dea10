/* Words of options: any case, whole words only, lists; a wrong one changes nothing. */
#include "formats/dependences/dependences_options.h"

#include "formats/dependences/dependences.h"
#include "tests/suites.h"

static void test_words(void)
{
    struct bt_error error;
    enum dependences_by by = DEPENDENCES_BY_INSTRUCTION;
    enum dependences_level level = DEPENDENCES_LEVEL_FUNCTION;
    CU_ASSERT_EQUAL(dependences_take_by(&by, "Function", &error), 0);
    CU_ASSERT_EQUAL(by, DEPENDENCES_BY_FUNCTION);
    CU_ASSERT_EQUAL(dependences_take_by(&by, "lines", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "'lines' is not instruction, line or function");
    CU_ASSERT_EQUAL(dependences_take_by(&by, "lin", &error), BT_USAGE);
    CU_ASSERT_EQUAL(dependences_take_by(&by, "", &error), BT_USAGE);
    CU_ASSERT_EQUAL(by, DEPENDENCES_BY_FUNCTION);
    CU_ASSERT_EQUAL(dependences_take_level(&level, "access", &error), 0);
    CU_ASSERT_EQUAL(level, DEPENDENCES_LEVEL_ACCESS);
    CU_ASSERT_EQUAL(dependences_take_level(&level, "line", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "'line' is not function or access");
    CU_ASSERT_EQUAL(level, DEPENDENCES_LEVEL_ACCESS);
}

static void test_kinds(void)
{
    static const char *const wrong[] = {"", "raw,", ",raw", "raw,,war", "raw,waw,rar", "ra", NULL};
    struct bt_error error;
    unsigned kinds = 0;
    CU_ASSERT_EQUAL(dependences_take_kinds(&kinds, "waw,RAW,waw", &error), 0);
    CU_ASSERT_EQUAL(kinds, 1u << DEPENDENCE_RAW | 1u << DEPENDENCE_WAW);
    for (size_t i = 0; wrong[i]; i++)
        CU_ASSERT_EQUAL(dependences_take_kinds(&kinds, wrong[i], &error), BT_USAGE);
    CU_ASSERT_EQUAL(kinds, 1u << DEPENDENCE_RAW | 1u << DEPENDENCE_WAW);
    CU_ASSERT_EQUAL(dependences_take_kinds(&kinds, "raw,rar", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "'rar' is not raw, war or waw");
}

static const struct test_case cases[] = {
    {"words", test_words}, {"kinds", test_kinds}, {NULL, NULL}};

TEST_SUITE(dependences_options, cases)
