#include "formats/dcfg/edge_sequence.h"

#include "tests/suites.h"
#include "tests/support/edge_expand.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DICTIONARY_MAX ((size_t)1 << 24)

/* The dictionary of sections 3.4 and 3.7.1.3. */
static const struct edge_expand_entry specified[] = {
    {.key = "a", .text = "bks2hD7kB+KDk87(6*AB)Aw3ABD9"},
    {.key = "b", .text = "KkDk123(42*(25*a))45690D<a>7Fjdkpm"},
};

static struct edge_dictionary *dictionary_of(const struct edge_expand_entry *entries, size_t count)
{
    struct bt_error error;
    struct edge_dictionary *dictionary = edge_dictionary_new(DICTIONARY_MAX);
    CU_ASSERT_FATAL(dictionary != NULL);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_FATAL(edge_dictionary_add(dictionary, entries[i].key, strlen(entries[i].key),
                                            entries[i].text, strlen(entries[i].text), &error) == 0);
    return dictionary;
}

/* Reads all characters of a text, in pieces of the given size (0: of random sizes). */
static void read_as(struct edge_sequence *sequence, const struct edge_dictionary *dictionary,
                    const char *text, const char *expected, size_t piece)
{
    struct bt_error error = {0, ""};
    uint64_t random = random_seed(strlen(text));
    size_t length = strlen(expected);
    char *got = malloc(length + 101);
    CU_ASSERT_FATAL(got != NULL);
    int result = edge_sequence_start(sequence, dictionary, text, strlen(text), &error);
    if (result < 0)
        printf("%s: %s\n", text, error.message);
    CU_ASSERT_FATAL(result == 0);
    CU_ASSERT_EQUAL(edge_sequence_length(sequence), length);
    size_t count = 0;
    for (;;) {
        size_t capacity = piece ? piece : random_below(&random, 90) + 1;
        if (capacity > length + 1 - count)
            capacity = length + 1 - count;
        size_t added = edge_sequence_read(sequence, (uint8_t *)got + count, capacity);
        count += added;
        if (added < capacity || count > length)
            break;
    }
    CU_ASSERT_EQUAL_FATAL(count, length);
    for (size_t i = 0; i < count; i++)
        got[i] = edge_text_character((unsigned char)got[i]);
    CU_ASSERT(memcmp(got, expected, length) == 0);
    CU_ASSERT_EQUAL(edge_sequence_read(sequence, (uint8_t *)got, 1), 0);
    free(got);
}

static void expands_to(const char *text, const char *expected)
{
    struct bt_error error;
    struct edge_dictionary *dictionary = dictionary_of(specified, 2);
    struct edge_sequence *sequence = edge_sequence_new();
    CU_ASSERT_FATAL(sequence != NULL);
    CU_ASSERT_FATAL(edge_dictionary_finish(dictionary, &error) == 0);
    read_as(sequence, dictionary, text, expected, 1);
    read_as(sequence, dictionary, text, expected, 7);
    read_as(sequence, dictionary, text, expected, SIZE_MAX);
    edge_sequence_free(sequence);
    edge_dictionary_free(dictionary);
}

/* Section 3.7.1.1 */
static void test_base64(void)
{
    struct bt_error error;
    struct edge_sequence *sequence = edge_sequence_new();
    uint8_t values[64];
    CU_ASSERT_FATAL(sequence != NULL);
    CU_ASSERT_FATAL(edge_sequence_start(sequence, NULL, "C+", 2, &error) == 0);
    CU_ASSERT_EQUAL_FATAL(edge_sequence_read(sequence, values, sizeof values), 2);
    CU_ASSERT_EQUAL(values[0], 2 /* 000010 */);
    CU_ASSERT_EQUAL(values[1], 62 /* 111110 */);
    /* every value has a character; 63 has no other ones */
    for (unsigned value = 0; value < 64; value++) {
        char c = edge_text_character(value);
        CU_ASSERT_FATAL(edge_sequence_start(sequence, NULL, &c, 1, &error) == 0);
        CU_ASSERT_EQUAL(edge_sequence_read(sequence, values, sizeof values), 1);
        CU_ASSERT_EQUAL(values[0], value);
    }
    CU_ASSERT_EQUAL(values[0], 63);
    CU_ASSERT_EQUAL(edge_text_character(63), '-');
    for (const char *other = "./_,"; *other; other++)
        CU_ASSERT_EQUAL(edge_sequence_start(sequence, NULL, other, 1, &error), BT_DATA);
    edge_sequence_free(sequence);
}

/* Section 3.7.1.2, with the white space that the examples show */
static void test_repeats(void)
{
    expands_to("A(4*BC)D", "ABCBCBCBCD");
    expands_to("A (4*BC) D", "ABCBCBCBCD");
    expands_to("123(2*(6*a)b)456", "123aaaaaabaaaaaab456");
    expands_to("123 (2* (6*a) b) 456", "123aaaaaabaaaaaab456");
    expands_to("(1*A)(0*B)(003*C)( 2 * (1*(1*D)) )", "ACCCDD");
    expands_to("", "");
    expands_to("(18446744073709551615*)(7*(0*A))", "");
}

/* Section 3.7.1.3 */
static void test_references(void)
{
    char expected[4096];
    char run[42 * 25 + 1];
    memset(run, 'a', sizeof run - 1);
    run[sizeof run - 1] = '\0';
    expands_to("A<a>B", "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B");
    expands_to("(2*A<a>B)", "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B"
                            "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B");
    snprintf(expected, sizeof expected,
             "AKkDk123%s45690Dbks2hD7kB+KDk87ABABABABABABAw3ABD97FjdkpmB", run);
    expands_to("A<b>B", expected);
    /* the intermediate steps of the examples */
    expands_to("Abks2hD7kB+KDk87 (6*AB) Aw3ABD9B", "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B");
    expands_to("A<a>BA<a>B", "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B"
                             "Abks2hD7kB+KDk87ABABABABABABAw3ABD9B");
    expands_to("AKkDk123(42*(25*a))45690D<a>7FjdkpmB", expected);
    expands_to("AKkDk123 (42* (25*a) ) 45690Dbks2hD7kB+KDk87 (6*AB) Aw3ABD97FjdkpmB", expected);
}

/* Invalid sequences, and their error messages. */
static void test_damaged(void)
{
    static const char *const texts[][2] = {
        {"A)", "character 2: ')' without its '('"},
        {"A(2*B", "character 2: '(' without its ')'"},
        {"(2*(3*A)", "character 1: '(' without its ')'"},
        {"(*A)", "character 1: '(' without a number after it"},
        {"(-1*A)", "character 1: '(' without a number after it"},
        {"(", "character 1: '(' without a number after it"},
        {"(12", "character 1: '(' and a number without a '*'"},
        {"(2A)", "character 1: '(' and a number without a '*'"},
        {"(18446744073709551616*A)", "character 1: repeats more than 2^64 times"},
        {"AB<a", "character 3: '<' without its '>'"},
        {"<x>", "character 1: the STRING_DICTIONARY has no key \"x\""},
        {"<>", "character 1: the STRING_DICTIONARY has no key \"\""},
        {"A*", "character 2: 0x2a is not allowed in an edge-id sequence"},
        {"A\xff", "character 2: 0xff is not allowed in an edge-id sequence"},
        {"a>", "character 2: 0x3e is not allowed in an edge-id sequence"},
    };
    struct bt_error error;
    struct edge_dictionary *dictionary = dictionary_of(specified, 2);
    struct edge_sequence *sequence = edge_sequence_new();
    uint8_t value;
    CU_ASSERT_FATAL(sequence != NULL && edge_dictionary_finish(dictionary, &error) == 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i][0];
        CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, text, strlen(text), &error),
                        BT_DATA);
        CU_ASSERT_STRING_EQUAL(error.message, texts[i][1]);
        CU_ASSERT_EQUAL(edge_sequence_read(sequence, &value, 1), 0);
    }
    edge_sequence_free(sequence);
    edge_dictionary_free(dictionary);
}

static void finish_fails(const struct edge_expand_entry *entries, size_t count,
                         const char *expected)
{
    struct bt_error error = {0, ""};
    struct edge_dictionary *dictionary = dictionary_of(entries, count);
    CU_ASSERT_EQUAL(edge_dictionary_finish(dictionary, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, expected);
    edge_dictionary_free(dictionary);
}

static void test_damaged_dictionary(void)
{
    static const struct edge_expand_entry self[] = {{.key = "a", .text = "B<a>"}};
    static const struct edge_expand_entry circle[] = {{.key = "x", .text = "A<y>"},
                                                      {.key = "y", .text = "(2*B)<z>"},
                                                      {.key = "z", .text = "<x>C"}};
    static const struct edge_expand_entry missing[] = {{.key = "x", .text = "A<y>"}};
    static const struct edge_expand_entry broken[] = {{.key = "x", .text = "A"},
                                                      {.key = "y", .text = "<x>(A"}};
    struct bt_error error;
    finish_fails(self, 1, "STRING_DICTIONARY, \"a\", character 2: a circular reference");
    finish_fails(circle, 3, "STRING_DICTIONARY, \"z\", character 1: a circular reference");
    finish_fails(missing, 1,
                 "STRING_DICTIONARY, \"x\": character 2: the STRING_DICTIONARY has no key \"y\"");
    finish_fails(broken, 2, "STRING_DICTIONARY, \"y\": character 4: '(' without a number after it");
    struct edge_dictionary *dictionary = dictionary_of(specified, 2);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "a", 1, "A", 1, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, "duplicate key \"a\"");
    edge_dictionary_free(dictionary);
}

/* The limits count memory, not characters alone: also empty entries, and nodes for a character or
 * two. */
static void test_limits(void)
{
    struct bt_error error;
    struct edge_dictionary *dictionary = edge_dictionary_new(900);
    struct edge_sequence *sequence = edge_sequence_new();
    char text[900];
    int result = 0;
    unsigned added = 0;
    memset(text, 'A', sizeof text);
    CU_ASSERT_FATAL(dictionary && sequence);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "a", 1, text, 900, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, "a STRING_DICTIONARY of more than 900 octets");
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "a", 1, text, 500, &error), 0);
    for (; added < 100 && result == 0; added++) {
        char key = (char)('0' + added);
        result = edge_dictionary_add(dictionary, &key, 1, "", 0, &error);
    }
    CU_ASSERT_EQUAL(result, BT_DATA);
    CU_ASSERT(added > 1 && added < 10);
    CU_ASSERT_EQUAL(edge_dictionary_finish(dictionary, &error), 0);
    edge_sequence_set_limit(sequence, 1000);
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, text, 900, &error), 0);
    for (size_t i = 0; i < sizeof text; i += 3)
        memcpy(text + i, "<a>", 3);
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, text, 900, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message,
                           "character 127: more than 1000 octets of memory: the limit");
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, text, 90, &error), 0);
    edge_sequence_free(sequence);
    edge_dictionary_free(dictionary);
    /* what entries are compiled to */
    dictionary = edge_dictionary_new(100000);
    char *many = malloc(90000);
    CU_ASSERT_FATAL(dictionary && many);
    for (size_t i = 0; i < 90000; i += 2)
        memcpy(many + i, "<>", 2);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "", 0, "A", 1, &error), 0);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "b", 1, many, 90000, &error), 0);
    CU_ASSERT_EQUAL(edge_dictionary_finish(dictionary, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "octets of memory: the limit"));
    free(many);
    edge_dictionary_free(dictionary);
}

/* Entries of an earlier process remain valid, unless a later one replaces them. */
static void test_processes(void)
{
    struct bt_error error;
    struct edge_dictionary *dictionary = dictionary_of(specified, 2);
    struct edge_sequence *sequence = edge_sequence_new();
    CU_ASSERT_FATAL(sequence != NULL && edge_dictionary_finish(dictionary, &error) == 0);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "a", 1, "QQ", 2, &error), 0);
    CU_ASSERT_EQUAL(edge_dictionary_add(dictionary, "c", 1, "<a>R", 4, &error), 0);
    CU_ASSERT_EQUAL(edge_dictionary_finish(dictionary, &error), 0);
    read_as(sequence, dictionary, "<c><a>", "QQRQQ", 3);
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, "<b>", 3, &error), 0);
    CU_ASSERT_EQUAL(edge_sequence_length(sequence), 7 + 42 * 25 + 6 + 36 - 2 + 7);
    edge_sequence_free(sequence);
    edge_dictionary_free(dictionary);
}

/* A dictionary in which each entry is twice the next: 2^count of the last one. */
static struct edge_dictionary *doubling(size_t count, const char *last)
{
    struct bt_error error;
    struct edge_dictionary *dictionary = edge_dictionary_new(DICTIONARY_MAX);
    for (size_t i = 0; i < count; i++) {
        char key[16];
        char text[64];
        snprintf(key, sizeof key, "%zu", i);
        snprintf(text, sizeof text, "<%zu>(2*)<%zu>", i + 1, i + 1);
        if (i + 1 == count)
            snprintf(text, sizeof text, "%s", last);
        CU_ASSERT_FATAL(
            edge_dictionary_add(dictionary, key, strlen(key), text, strlen(text), &error) == 0);
    }
    CU_ASSERT_FATAL(edge_dictionary_finish(dictionary, &error) == 0);
    return dictionary;
}

/* Texts that would take forever if they were walked: the test ends. */
static void test_exponential(void)
{
    struct bt_error error;
    uint8_t values[1000];
    struct edge_sequence *sequence = edge_sequence_new();
    struct edge_dictionary *empty = doubling(900, "(99999999*(99999999*))");
    struct edge_dictionary *full = doubling(900, "AB");
    CU_ASSERT_FATAL(sequence != NULL);
    static const char nothing[] = "(999999999999*<0>(999999999999*<1>))X";
    CU_ASSERT_FATAL(edge_sequence_start(sequence, empty, nothing, sizeof nothing - 1, &error) == 0);
    CU_ASSERT_EQUAL(edge_sequence_length(sequence), 1);
    CU_ASSERT_EQUAL(edge_sequence_read(sequence, values, sizeof values), 1);
    static const char much[] = "(18446744073709551615*<0>(2*C))";
    CU_ASSERT_FATAL(edge_sequence_start(sequence, full, much, sizeof much - 1, &error) == 0);
    CU_ASSERT_EQUAL(edge_sequence_length(sequence), UINT64_MAX);
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(edge_sequence_read(sequence, values, sizeof values), sizeof values);
        CU_ASSERT(values[0] == 0 && values[1] == 1 && values[999] == 1);
    }
    edge_sequence_free(sequence);
    edge_dictionary_free(empty);
    edge_dictionary_free(full);
}

static void test_depth(void)
{
    struct bt_error error;
    struct edge_sequence *sequence = edge_sequence_new();
    char text[EDGE_TEXT_DEPTH_MAX * 4 + 16];
    uint8_t value;
    CU_ASSERT_FATAL(sequence != NULL);
    for (size_t depth = EDGE_TEXT_DEPTH_MAX; depth <= EDGE_TEXT_DEPTH_MAX + 1; depth++) {
        size_t length = 0;
        for (size_t i = 0; i < depth; i++, length += 3)
            memcpy(text + length, "(3*", 3);
        text[length++] = 'Q';
        memset(text + length, ')', depth);
        int result = edge_sequence_start(sequence, NULL, text, length + depth, &error);
        CU_ASSERT_EQUAL(result, depth <= EDGE_TEXT_DEPTH_MAX ? 0 : BT_DATA);
    }
    CU_ASSERT_STRING_EQUAL(error.message, "character 3073: nested deeper than 1024");
    /* references nest too; those that only rename do not */
    struct edge_dictionary *dictionary = doubling(EDGE_TEXT_DEPTH_MAX, "A");
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, "<0>", 3, &error), 0);
    CU_ASSERT_EQUAL(edge_sequence_read(sequence, &value, 1), 1);
    CU_ASSERT_EQUAL(edge_sequence_start(sequence, dictionary, "(2*<0>)", 7, &error), BT_DATA);
    edge_dictionary_free(dictionary);
    edge_sequence_free(sequence);
}

/* A random text; references only to entries before `entries`. Sometimes broken. */
static size_t random_text(uint64_t *random, char *text, size_t capacity, size_t entries, int depth)
{
    size_t length = 0;
    size_t parts = random_below(random, 6);
    for (size_t i = 0; i < parts && length + 40 < capacity; i++) {
        switch (random_below(random, depth > 4 ? 2 : 4)) {
        case 0:
            for (size_t n = random_below(random, 8); n > 0; n--)
                text[length++] = edge_text_character((unsigned)random_below(random, 64));
            break;
        case 1:
            if (entries > 0)
                length +=
                    (size_t)sprintf(text + length, "<%u>", (unsigned)random_below(random, entries));
            break;
        default:
            length += (size_t)sprintf(text + length, "(%u*", (unsigned)random_below(random, 5));
            length +=
                random_text(random, text + length, (capacity - length) / 2, entries, depth + 1);
            text[length++] = ')';
        }
        if (depth == 0 && random_one_in(random, 200))
            text[length++] = "()<>*?"[random_below(random, 6)];
    }
    text[length] = '\0';
    return length;
}

/* Random dictionaries and texts against substitution in strings. */
static void test_twin(void)
{
    enum { ENTRIES = 6, TEXT = 1000 };
    static char texts[ENTRIES + 1][TEXT];
    static const char *const keys[ENTRIES] = {"0", "1", "2", "3", "4", "5"};
    struct edge_sequence *sequence = edge_sequence_new();
    unsigned good = 0;
    CU_ASSERT_FATAL(sequence != NULL);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t random = random_seed(seed);
        struct bt_error error;
        struct edge_expand_entry entries[ENTRIES];
        for (size_t i = 0; i <= ENTRIES; i++)
            random_text(&random, texts[i], TEXT, i, 0);
        for (size_t i = 0; i < ENTRIES; i++)
            entries[ENTRIES - 1 - i] = (struct edge_expand_entry){.key = keys[i], .text = texts[i]};
        struct edge_dictionary *dictionary = dictionary_of(entries, ENTRIES);
        int result = edge_dictionary_finish(dictionary, &error);
        char *expected = edge_expand(texts[ENTRIES], entries, ENTRIES, 5000);
        if (expected && result == 0) {
            read_as(sequence, dictionary, texts[ENTRIES], expected, seed % 3 ? 0 : SIZE_MAX);
            good++;
        }
        free(expected);
        edge_dictionary_free(dictionary);
    }
    CU_ASSERT(good > 1200);
    edge_sequence_free(sequence);
}

static const struct test_case cases[] = {
    {"Base64, section 3.7.1.1", test_base64},
    {"repeats, section 3.7.1.2", test_repeats},
    {"references, sections 3.4 and 3.7.1.3", test_references},
    {"damaged texts", test_damaged},
    {"damaged dictionaries", test_damaged_dictionary},
    {"limits count memory", test_limits},
    {"dictionaries of several processes", test_processes},
    {"exponential texts", test_exponential},
    {"depth", test_depth},
    {"against substitution in strings", test_twin},
    {NULL, NULL},
};
TEST_SUITE(edge_sequence, cases)
