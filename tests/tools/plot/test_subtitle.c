#include "tools/plot/subtitle.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

static void check(const char *text, unsigned characters, unsigned count, const char *last)
{
    struct subtitle subtitle;
    subtitle_break(&subtitle, text, characters);
    CU_ASSERT_EQUAL_FATAL(subtitle.count, count);
    if (count > 0)
        CU_ASSERT_STRING_EQUAL(subtitle.lines[count - 1], last);
}

static void test_lines(void)
{
    check(NULL, 10, 0, NULL);
    check("", 10, 0, NULL);
    check("one line", 10, 1, "one line");
    check("1,000 requests; filter", 14, 3, "filter");
    check("1,000 requests; filter", 15, 2, "filter");
    check("unbreakable", 4, 1, "unbreakable");
    check("unbreakable text", 4, 2, "text");
    check("a b c d e f", 1, 3, "c d e f");
    check("ends with a blank ", 5, 3, "a blank ");
}

/* Lines are the text's words in order; all but the last are short enough if their words are. */
static void test_any_text(void)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t random = random_seed(seed);
        char text[120], joined[120] = "";
        size_t length = 1 + (size_t)random_below(&random, sizeof text - 1);
        for (size_t i = 0; i < length - 1; i++) /* words of at most 4 letters */
            text[i] = i % 5 == 4 || (i > 0 && text[i - 1] != ' ' && random_one_in(&random, 4))
                          ? ' '
                          : 'x';
        text[length - 1] = '\0';
        const unsigned characters = 5 + (unsigned)random_below(&random, 30);
        struct subtitle subtitle;
        subtitle_break(&subtitle, text, characters);
        for (unsigned i = 0; i < subtitle.count; i++) {
            strcat(strcat(joined, i > 0 ? " " : ""), subtitle.lines[i]);
            CU_ASSERT(i + 1 == SUBTITLE_LINES || strlen(subtitle.lines[i]) <= characters);
        }
        size_t end = strlen(text);
        CU_ASSERT(strncmp(joined, text, strlen(joined)) == 0 && end - strlen(joined) <= 1);
    }
}

static const struct test_case cases[] = {
    {"lines", test_lines}, {"any text", test_any_text}, {NULL, NULL}};
TEST_SUITE(subtitle, cases)
