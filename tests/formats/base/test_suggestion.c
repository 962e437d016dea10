/* Names that may be meant by misspelt ones. */
#include "formats/base/suggestion.h"

#include "formats/base/edit_distance.h"
#include "tests/suites.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The same by definition: tries each edit of the ends of two words, without a table. */
static size_t slow_distance(const char *a, size_t m, const char *b, size_t n)
{
    if (m == 0 || n == 0)
        return m + n;
    size_t least = slow_distance(a, m - 1, b, n - 1) + (a[m - 1] != b[n - 1]);
    size_t removed = slow_distance(a, m - 1, b, n) + 1;
    size_t added = slow_distance(a, m, b, n - 1) + 1;
    least = removed < least ? removed : least;
    least = added < least ? added : least;
    if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1]) {
        size_t swapped = slow_distance(a, m - 2, b, n - 2) + 1;
        least = swapped < least ? swapped : least;
    }
    return least;
}

static void test_distances(void)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } pairs[] = {{"", "", 0},         {"", "abc", 3},           {"filter", "filtr", 1},
                 {"meis", "mesi", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CU_ASSERT_EQUAL(edit_distance(pairs[i].a, pairs[i].b), pairs[i].distance);
    uint32_t state = 1;
    for (int round = 0; round < 2000; round++) {
        char words[2][6] = {"", ""};
        for (int word = 0; word < 2; word++)
            for (size_t i = 0, length = (state >> 16) % 6; i < length; i++) {
                state = state * 1103515245u + 12345u;
                words[word][i] = (char)('a' + (state >> 16) % 3);
            }
        state = state * 1103515245u + 12345u;
        CU_ASSERT_EQUAL(edit_distance(words[0], words[1]),
                        slow_distance(words[0], strlen(words[0]), words[1], strlen(words[1])));
    }
}

static void test_names(void)
{
    static const char *const names[] = {"filter", "flush", "din", "mesi", "msi", "time-unit", NULL};
    static const struct {
        const char *given, *meant;
    } cases[] = {{"filtr", "filter"}, {"fliter", "filter"},  {"meis", "mesi"},
                 {"zip", NULL},       {"time", "time-unit"}, {"nothing", NULL},
                 {"", NULL},          {"x", NULL},           {"din", "din"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = suggestion_among(cases[i].given, names);
        CU_ASSERT_EQUAL(found != NULL, cases[i].meant != NULL);
        CU_ASSERT(!found || !cases[i].meant || strcmp(found, cases[i].meant) == 0);
    }
}

static void test_message(void)
{
    struct bt_error error;
    bt_fail(&error, BT_USAGE, "unknown 'filtr'");
    CU_ASSERT_EQUAL(suggestion_add(&error, NULL), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "unknown 'filtr'");
    CU_ASSERT_EQUAL(suggestion_add(&error, "filter"), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "unknown 'filtr', did you mean 'filter'?");
    /* there is no room: the message stays as it is */
    memset(error.message, 'm', sizeof error.message - 8);
    error.message[sizeof error.message - 8] = '\0';
    suggestion_add(&error, "filter");
    CU_ASSERT_EQUAL(strlen(error.message), sizeof error.message - 8);
}

static void test_listed(void)
{
    struct bt_error error;
    bt_fail(&error, BT_USAGE, "unknown key way; known are size, sub-block and ways");
    suggestion_add_listed(&error, "way");
    CU_ASSERT_STRING_EQUAL(
        error.message, "unknown key way; known are size, sub-block and ways, did you mean 'ways'?");
    bt_fail(&error, BT_USAGE, "known are size, sub-block and ways");
    suggestion_add_listed(&error, "subblock");
    CU_ASSERT_STRING_EQUAL(error.message,
                           "known are size, sub-block and ways, did you mean 'sub-block'?");
    bt_fail(&error, BT_USAGE, "known are size");
    suggestion_add_listed(&error, "colour");
    CU_ASSERT_STRING_EQUAL(error.message, "known are size");
}

static const struct test_case cases[] = {{"listed names", test_listed},
                                         {"distances", test_distances},
                                         {"names", test_names},
                                         {"message", test_message},
                                         {NULL, NULL}};
TEST_SUITE(suggestion, cases)
