#define _DEFAULT_SOURCE /* strdup, open_memstream */
/* Text from anywhere has no effect on a terminal or a log. */
#include "formats/base/printable.h"

#include "formats/base/utf8.h"
#include "tests/suites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *raw, *shown;
} texts[] = {
    {"", ""},
    {"plain ~ text", "plain ~ text"},
    {"a\033[2Jb", "a?[2Jb"},
    {"a\nb\rc\td\x7f"
     "e\bf",
     "a?b?c?d?e?f"},
    {"\xc2\x9b"
     "31m",
     "??31m"}, /* CSI as UTF-8 */
    {"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"},
    {"\x9b"
     "31m",
     "?31m"}, /* and raw */
    {"\xe2\x82\xac \xc3\x9f \xc3\x80", "\xe2\x82\xac \xc3\x9f \xc3\x80"},
    {"a\xe2\x80\xaeyb\xe2\x81\xa6", "a???yb???"}, /* right to left */
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xc3", "\xc3"},             /* truncated */
    {"\xe2\x82", "\xe2?"},        /* truncated: 0x82 remains */
    {"\xe0\x82\x9b", "\xe0??"},   /* overlong encoding */
    {"\xed\xa0\x80", "\xed\xa0?"} /* a surrogate */
};

static void test_texts(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *made = strdup(texts[i].raw);
        char *put = NULL;
        size_t size;
        struct printable_room room;
        FILE *out = open_memstream(&put, &size);
        printable_put(texts[i].raw, out);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(put, texts[i].shown);
        CU_ASSERT_STRING_EQUAL(printable_in(&room, texts[i].raw), texts[i].shown);
        CU_ASSERT_STRING_EQUAL(PRINTABLE(texts[i].raw), texts[i].shown);
        CU_ASSERT_PTR_EQUAL(printable_make(made), made);
        CU_ASSERT_STRING_EQUAL(made, texts[i].shown);
        free(put);
        free(made);
    }
}

/* Replaces exactly those characters that Unicode classifies as controls. */
static void test_every_character(void)
{
    for (unsigned c = 1; c < 0x800; c++) {
        struct printable_room room;
        char text[3] = {(char)c, 0, 0};
        if (c >= 0x80) {
            text[0] = (char)(0xc0 | c >> 6);
            text[1] = (char)(0x80 | (c & 0x3f));
        }
        bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
        const char *shown = printable_in(&room, text);
        CU_ASSERT_EQUAL(strcmp(shown, text) != 0, control);
        CU_ASSERT_TRUE(!control || strspn(shown, "?") == strlen(text));
    }
}

static void test_long(void)
{
    static char text[3 * PRINTABLE_BYTES];
    struct printable_room room;
    memset(text, 'x', sizeof text - 1);
    CU_ASSERT_PTR_EQUAL(printable_in(&room, text), text);
    text[1] = '\033';
    CU_ASSERT_EQUAL(strlen(printable_in(&room, text)), PRINTABLE_BYTES - 1);
    CU_ASSERT_EQUAL(room.text[1], '?');
    printable_make(text);
    CU_ASSERT_EQUAL(strlen(text), sizeof text - 1);
}

static const struct test_case cases[] = {{"texts", test_texts},
                                         {"every character", test_every_character},
                                         {"of any length", test_long},
                                         {NULL, NULL}};
TEST_SUITE(printable, cases)
