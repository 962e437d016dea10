#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/gnuplot_script.h"

#include <ctype.h>
#include <string.h>

/* A script that holds the quoted text: *result, *size. The caller frees it. */
static struct gnuplot_script *quoted(const char *text, size_t most, const char **result,
                                     size_t *size)
{
    struct gnuplot_script *script = gnuplot_script_new(NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(script);
    gnuplot_script_quote(script, text, most);
    CU_ASSERT_EQUAL_FATAL(gnuplot_script_text(script, result, size, NULL), 0);
    return script;
}

static void check_quote(const char *text, size_t most, const char *wanted)
{
    const char *result;
    size_t size;
    struct gnuplot_script *script = quoted(text, most, &result, &size);
    CU_ASSERT(size == strlen(wanted) && memcmp(result, wanted, size) == 0);
    gnuplot_script_free(script);
}

static void test_quotes(void)
{
    check_quote(NULL, 0, "\"\"");
    check_quote("Miss ratio", 0, "\"Miss ratio\"");
    check_quote("a.b5", 0, "\"a\\056b\\065\"");
    check_quote("`id` \"'$@\\n", 0, "\"\\140id\\140 \\042\\047\\044\\100\\134n\"");
    check_quote("\n\xff", 0, "\"\\357\\277\\275\\357\\277\\275\"");
    check_quote("\xc2\xb5s", 0, "\"\\302\\265s\"");
    check_quote("abcdefghij", 5, "\"ab\\342\\200\\246ij\"");
    check_quote("abcde", 5, "\"abcde\"");
}

/* The result has only letters, spaces and octal escapes in one pair of quotes. */
static void test_any_octets(void)
{
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        uint64_t random = random_seed(seed);
        char text[64];
        size_t length = (size_t)random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(1 + random_below(&random, 255));
        text[length] = 0;
        const char *result;
        size_t size;
        struct gnuplot_script *script =
            quoted(text, (size_t)random_below(&random, 40), &result, &size);
        CU_ASSERT_FATAL(size >= 2 && result[0] == '"' && result[size - 1] == '"');
        for (size_t i = 1; i + 1 < size; i++) {
            if (result[i] == '\\') {
                CU_ASSERT_FATAL(i + 4 < size && strspn(result + i + 1, "01234567") == 3);
                i += 3;
            } else {
                CU_ASSERT_FATAL(isalpha((unsigned char)result[i]) || result[i] == ' ');
            }
        }
        gnuplot_script_free(script);
    }
}

static const struct test_case cases[] = {
    {"quotes", test_quotes}, {"any octets", test_any_octets}, {NULL, NULL}};
TEST_SUITE(figure_script, cases)
