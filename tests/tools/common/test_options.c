#include "tools/common/options.h"

#include "tests/suites.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct parsed_options {
    bool flag;
    const char *text;
    uint64_t count;
    uint32_t number;
    uint64_t bytes;
    int64_t duration;
    int calls;
    uint64_t optional;
};

/* 7 stands for a missing argument. */
static int take_optional(void *settings, const char *argument, struct bt_error *error)
{
    (void)error;
    *(uint64_t *)settings = argument ? strtoull(argument, NULL, 10) : 7;
    return 0;
}

static int take_call(void *settings, const char *argument, struct bt_error *error)
{
    ((struct parsed_options *)settings)->calls++;
    return strstr(argument, "bad") ? bt_fail(error, BT_USAGE, "it is bad") : 0;
}

#define AT(field) offsetof(struct parsed_options, field)

static const struct option_row rows[] = {
    {OPTION_FLAG, 'f', "flag", NULL, "", AT(flag), NULL},
    {OPTION_TEXT, 't', "text", "TEXT", "", AT(text), NULL},
    {OPTION_COUNT, 'c', "count", "N", "", AT(count), NULL},
    {OPTION_NUMBER, 0, "number", "N", "", AT(number), NULL},
    {OPTION_BYTES, 0, "bytes", "SIZE", "", AT(bytes), NULL},
    {OPTION_DURATION, 0, "duration", "TIME", "", AT(duration), NULL},
    {OPTION_CALL, 'x', "call", "WHAT", "", 0, take_call},
    {OPTION_OPTIONAL, 0, "optional", "[N]", "", AT(optional), take_optional},
    {OPTION_CALL, 0, "rule", "RULE size= time=", "", 0, take_call},
    {OPTION_CALL, 0, "list", "LIST , raw war waw", "", 0, take_call},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Parses a line of words; the operands are left in words. */
static int parse(struct parsed_options *settings, char *words[24], const char *line,
                 struct bt_error *error)
{
    static char name[] = "command";
    static char copy[256];
    int count = 1;
    strcpy(copy, line);
    words[0] = name;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    memset(settings, 0, sizeof *settings);
    error->message[0] = '\0';
    int first = options_parse(rows, settings, count, words, error);
    return first > 0 ? count - first : first == 0 ? -100 : first;
}

static void test_every_kind(void)
{
    struct parsed_options s;
    char *words[24];
    struct bt_error error;
    CU_ASSERT_EQUAL(parse(&s, words,
                          "-f --text=hello one --count 5k --number 7 --bytes 64K --duration 2ms "
                          "-x a --call b two",
                          &error),
                    2);
    CU_ASSERT_TRUE(s.flag);
    CU_ASSERT_STRING_EQUAL(s.text, "hello");
    CU_ASSERT_EQUAL(s.count, 5000);
    CU_ASSERT_EQUAL(s.number, 7);
    CU_ASSERT_EQUAL(s.bytes, 65536);
    CU_ASSERT_EQUAL(s.duration, 2000000);
    CU_ASSERT_EQUAL(s.calls, 2);
    CU_ASSERT_STRING_EQUAL(words[15], "one");
    CU_ASSERT_STRING_EQUAL(words[16], "two");
}

static void test_optional_arguments(void)
{
    struct parsed_options s;
    char *words[24];
    struct bt_error error;
    CU_ASSERT_EQUAL(parse(&s, words, "--optional", &error), 0);
    CU_ASSERT_EQUAL(s.optional, 7);
    CU_ASSERT_EQUAL(parse(&s, words, "--optional 12 word", &error), 1);
    CU_ASSERT_EQUAL(s.optional, 12);
    CU_ASSERT_EQUAL(parse(&s, words, "--optional=13 -- 5", &error), 1);
    CU_ASSERT_EQUAL(s.optional, 13);
    CU_ASSERT_EQUAL(parse(&s, words, "--optional -- 5", &error), 1);
    CU_ASSERT_EQUAL(s.optional, 7);
    CU_ASSERT_EQUAL(parse(&s, words, "--optional -f", &error), 0);
    CU_ASSERT_EQUAL(s.optional, 7);
    CU_ASSERT(s.flag);
}

static void test_operands_after_two_dashes(void)
{
    struct parsed_options s;
    char *words[24];
    struct bt_error error;
    CU_ASSERT_EQUAL(parse(&s, words, "-f -- --text -x", &error), 2);
    CU_ASSERT_TRUE(s.flag);
    CU_ASSERT_PTR_NULL(s.text);
}

static void test_help(void)
{
    struct parsed_options s;
    char *words[24];
    struct bt_error error;
    CU_ASSERT_EQUAL(parse(&s, words, "-h", &error), -100);
    CU_ASSERT_EQUAL(parse(&s, words, "operand --help", &error), -100);
}

static void test_errors(void)
{
    static const struct {
        const char *line, *message;
    } tries[] = {
        {"--nothing", "unknown option --nothing"},
        {"--txet x", "unknown option --txet, did you mean --text?"},
        {"--durtion=1s", "unknown option --durtion=1s, did you mean --duration?"},
        {"--rule", "option --rule needs RULE"},
        {"--rule sise=bad", "--rule: it is bad, did you mean 'size='?"},
        {"--rule size=bad", "--rule: it is bad"},
        {"--list raw,wat,bad", "--list: it is bad, did you mean 'war'?"},
        {"operand -z", "unknown option -z"},
        {"-fz", "unknown option -z"},
        {"--text", "option --text needs TEXT"},
        {"-t", "option --text needs TEXT"},
        {"--flag=1", "option --flag takes no argument"},
        {"--call bad", "--call: it is bad"},
        {"--number 5G", "--number: \"5G\" is too large"},
        {"--count many", "--count: \"many\" is not a number such as 1000, 5k, 2M or 0x100"}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct parsed_options s;
        char *words[24];
        struct bt_error error;
        CU_ASSERT_EQUAL(parse(&s, words, tries[i].line, &error), BT_USAGE);
        CU_ASSERT_STRING_EQUAL(error.message, tries[i].message);
    }
}

static void test_words(void)
{
    const struct option_row list = {OPTION_CALL, 0, "list", "LIST , raw war", "", 0, NULL};
    const struct option_row none = {OPTION_TEXT, 0, "text", "TEXT", "", 0, NULL};
    const char *words = list.argument;
    char word[OPTION_WORD_BYTES];
    CU_ASSERT_TRUE(options_is_list(&list));
    CU_ASSERT_FALSE(options_is_list(&none));
    CU_ASSERT_STRING_EQUAL(options_word(&words, word), "LIST");
    CU_ASSERT_STRING_EQUAL(options_word(&words, word), "raw");
    CU_ASSERT_STRING_EQUAL(options_word(&words, word), "war");
    CU_ASSERT_PTR_NULL(options_word(&words, word));
    struct bt_error error;
    CU_ASSERT_EQUAL(options_wrong_word(&list, "list", "rav", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "--list: 'rav' is not raw or war, did you mean 'raw'?");
}

static void test_many_rows(void)
{
    enum { MANY = 200 };
    static struct option_row many[MANY + 1]; /* the last one ends the table */
    static char names[MANY][16];
    for (int n = 0; n < MANY; n++) {
        snprintf(names[n], sizeof names[n], "option%d", n);
        many[n] = (struct option_row){OPTION_COUNT, 0, names[n], "N", "", AT(count), NULL};
    }
    char *line[] = {(char *)"command", (char *)"--option199=7", NULL};
    struct parsed_options s = {0};
    struct bt_error error;
    CU_ASSERT_EQUAL(options_parse(many, &s, 2, line, &error), 2);
    CU_ASSERT_EQUAL(s.count, 7);
}

static const struct test_case cases[] = {
    {"every kind of option", test_every_kind},
    {"optional arguments", test_optional_arguments},
    {"operands after two dashes", test_operands_after_two_dashes},
    {"help", test_help},
    {"errors", test_errors},
    {"words of arguments", test_words},
    {"more than 64 options", test_many_rows},
    {NULL, NULL}};
TEST_SUITE(options, cases)
