/* Places as users write them. */
#include "tools/wet/slice/slice_where.h"

#include "tests/suites.h"

#include <string.h>

static void test_good(void)
{
    static const struct {
        const char *text, *file;
        enum slice_where_kind kind;
        uint64_t address, instance;
        uint32_t line;
        bool has_instance;
    } good[] = {
        {"end", "end", SLICE_AT_END, 0, 0, 0, false},
        {"401136", NULL, SLICE_AT_ADDRESS, 0x401136, 0, 0, false},
        {"0x401136#0", NULL, SLICE_AT_ADDRESS, 0x401136, 0, 0, true},
        {"ffffffffffffffff#12", NULL, SLICE_AT_ADDRESS, UINT64_MAX, 12, 0, true},
        {"beef#9999999999999999999", NULL, SLICE_AT_ADDRESS, 0xbeef, 9999999999999999999u, 0, true},
        {"foo1.c:8", "foo1.c", SLICE_AT_LINE, 0, 0, 8, false},
        {"src/foo1.c:8#3", "src/foo1.c", SLICE_AT_LINE, 0, 3, 8, true},
        {"C#:a b.c:999999999#0", "C#:a b.c", SLICE_AT_LINE, 0, 0, 999999999, true},
        {"a#1:2", "a#1", SLICE_AT_LINE, 0, 0, 2, false},
        {"main", "main", SLICE_AT_NAME, 0, 0, 0, false},
        {"_ZN3addEv.part.0#2", "_ZN3addEv.part.0", SLICE_AT_NAME, 0, 2, 0, true},
        {"add", "add", SLICE_AT_ADDRESS, 0xadd, 0, 0, false},
        {"end:1", "end", SLICE_AT_LINE, 0, 0, 1, false}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct slice_where where;
        struct bt_error error = {0};
        CU_ASSERT_EQUAL(slice_where_parse(&where, good[i].text, &error), 0);
        CU_ASSERT_EQUAL(where.kind, good[i].kind);
        CU_ASSERT_EQUAL(where.address, good[i].address);
        CU_ASSERT_EQUAL(where.line, good[i].line);
        CU_ASSERT_EQUAL(where.has_instance, good[i].has_instance);
        CU_ASSERT_EQUAL(where.instance, good[i].instance);
        if (where.kind == SLICE_AT_LINE || where.kind == SLICE_AT_NAME)
            CU_ASSERT_STRING_EQUAL(where.file, good[i].file);
    }
}

static void test_bad(void)
{
    static const char *const bad[] = {
        "",        "a b",      "0x",        "12345678901234567",
        "40g",     "401136#",  "401136#-1", "401136#1x",
        "a.c:",    "a.c:0",    "a.c:x",     "a.c:1000000000",
        ":5",      "end#1",    "#1",        "401136#99999999999999999999",
        "a.c:1#a", "0x401136 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct slice_where where;
        struct bt_error error = {0};
        CU_ASSERT_EQUAL(slice_where_parse(&where, bad[i], &error), BT_USAGE);
        CU_ASSERT_NOT_EQUAL(error.message[0], '\0');
    }
    char longest[SLICE_FILE_BYTES + 2];
    struct slice_where where;
    struct bt_error error;
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CU_ASSERT_EQUAL(slice_where_parse(&where, longest, &error), BT_USAGE);
}

static const struct test_case cases[] = {
    {"places are read", test_good}, {"others are refused", test_bad}, {NULL, NULL}};
TEST_SUITE(slice_where, cases)
