/* The comprehensive text: the specification's example, what is written is read, and errors. */
#include "formats/wet/wet_text.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT    (1u << 20)
#define MESSAGE sizeof((struct bt_error *)NULL)->message

/* Reads a text and writes it again. Returns the reader's last result. */
static int copy(const char *text, size_t size, char *again, size_t *length, char *message)
{
    struct bt_error error = {.message = ""};
    struct wet_text_event event;
    struct text_reader *input = text_reader_from_memory(text, size, "text", &error);
    struct wet_text_reader *reader = input ? wet_text_reader_new(input, &error) : NULL;
    int result = reader ? 1 : BT_MEMORY;
    char *out = again;
    while (result == 1 && (result = wet_text_reader_next(reader, &event, &error)) == 1) {
        uint8_t bytes[WET_TEXT_VALUE_BYTES] = {0};
        switch (event.kind) {
        case WET_TEXT_COUNT:
            out = wet_text_put_count(out, event.count);
            break;
        case WET_TEXT_INSTRUCTION:
            out = wet_text_put_instruction(out, &event.instruction);
            break;
        case WET_TEXT_SIZE:
            out = wet_text_put_size(out, event.count);
            break;
        case WET_TEXT_DEPENDENCE:
            out = wet_text_put_dependence(out, event.instance, event.id, event.writer);
            break;
        case WET_TEXT_VALUES:
            out = wet_text_put_values(out, event.count);
            break;
        case WET_TEXT_NO_VALUES:
            out = wet_text_put_no_values(out);
            break;
        case WET_TEXT_VALUE:
            for (size_t digits = strlen(event.value), i = 0; i < digits; i++) {
                const char digit[2] = {event.value[digits - 1 - i], '\0'};
                bytes[i / 2] |= (uint8_t)(strtoul(digit, NULL, 16) << 4 * (i % 2));
            }
            out = wet_text_put_value(out, event.instance, bytes, sizeof bytes);
            break;
        }
    }
    *length = (size_t)(out - again);
    snprintf(message, MESSAGE, "%s", error.message);
    wet_text_reader_free(reader);
    text_reader_close(input);
    return result;
}

/* WET Trace Format, "Example", with the two other instructions. */
static const char example[] = "3\n"
                              "1 2 8048210 foo1.c main 4\n"
                              "SIZE 0\n"
                              "SIZE 0\n"
                              "NO VALUES\n"
                              "2 2 8048225 foo1.c main 6\n"
                              "SIZE 1\n"
                              "    0:1 0\n"
                              "SIZE 0\n"
                              "VALUES 1\n"
                              "    0:2\n"
                              "3 2 8048242 foo1.c main 8\n"
                              "SIZE 1\n"
                              "    0:1 0\n"
                              "SIZE 1\n"
                              "    0:2 0\n"
                              "VALUES 1\n"
                              "    0:2\n";

static void test_example(void)
{
    static char again[TEXT];
    char message[MESSAGE];
    size_t length;
    CU_ASSERT_EQUAL(copy(example, sizeof example - 1, again, &length, message), 0);
    CU_ASSERT_EQUAL(length, sizeof example - 1);
    CU_ASSERT(memcmp(again, example, length) == 0);
    CU_ASSERT_EQUAL(copy("0\n", 2, again, &length, message), 0);
}

static void test_names(void)
{
    static char out[WET_TEXT_BYTES], name[2 * WET_TEXT_NAME_BYTES];
    struct wet_text_instruction instruction = {
        .id = 7, .ports = 1, .address = 0xdeadbeef12345678, .file = "a b\\\n.c", .line = 3};
    *wet_text_put_instruction(out, &instruction) = '\0';
    CU_ASSERT_STRING_EQUAL(out, "7 1 deadbeef12345678 a\\040b\\134\\012.c ? 3\n");
    memset(name, '\x01', sizeof name - 1);
    instruction.file = instruction.function = name;
    instruction.address = 0;
    const char *end = wet_text_put_instruction(out, &instruction);
    CU_ASSERT_EQUAL(end - out, 6 + 2 * 4 * (int)WET_TEXT_NAME_BYTES + 4);
}

static void test_values(void)
{
    static const uint8_t bytes[WET_TEXT_VALUE_BYTES] = {0x20, 0, 0x0f};
    char out[200];
    *wet_text_put_value(out, 12, bytes, 64) = '\0';
    CU_ASSERT_STRING_EQUAL(out, "    12:f0020\n");
    *wet_text_put_value(out, 0, bytes, 2) = '\0';
    CU_ASSERT_STRING_EQUAL(out, "    0:20\n");
    *wet_text_put_value(out, 1, bytes + 1, 1) = '\0';
    CU_ASSERT_STRING_EQUAL(out, "    1:0\n");
}

static size_t random_text(char *text, uint64_t *random)
{
    const uint32_t count = 1 + (uint32_t)random_below(random, 20);
    char *out = wet_text_put_count(text, count);
    for (uint32_t id = 1; id <= count; id++) {
        const struct wet_text_instruction instruction = {
            .id = id,
            .ports = 1 + (uint32_t)random_below(random, 4),
            .address = random_next(random) >> random_below(random, 64),
            .file = random_below(random, 3) ? "file name.c" : NULL,
            .function = random_below(random, 3) ? "main" : NULL,
            .line = random_next32(random)};
        out = wet_text_put_instruction(out, &instruction);
        for (uint32_t port = 0; port < instruction.ports; port++) {
            const uint64_t size = random_below(random, 5);
            out = wet_text_put_size(out, size);
            for (uint64_t i = 0; i < size; i++)
                out = wet_text_put_dependence(out, random_next(random), random_next32(random),
                                              random_next(random) >> random_below(random, 64));
        }
        if (random_below(random, 2)) {
            out = wet_text_put_no_values(out);
            continue;
        }
        const uint64_t values = random_below(random, 5);
        out = wet_text_put_values(out, values);
        for (uint64_t i = 0; i < values; i++) {
            uint8_t bytes[WET_TEXT_VALUE_BYTES];
            for (size_t b = 0; b < sizeof bytes; b++)
                bytes[b] = (uint8_t)(random_below(random, 3) ? random_next(random) : 0);
            out = wet_text_put_value(out, i, bytes, 1 + (unsigned)random_below(random, 64));
        }
    }
    return (size_t)(out - text);
}

/* Random texts; then with a byte changed, or cut off: an error, or another text that is good. */
static void test_random_texts(void)
{
    static char text[TEXT], again[TEXT];
    char message[MESSAGE];
    unsigned wrong = 0, errors = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = random_seed(seed);
        size_t length, size = random_text(text, &random);
        wrong += copy(text, size, again, &length, message) != 0 || length != size ||
                 memcmp(text, again, size) != 0;
        const size_t at = (size_t)random_below(&random, size);
        text[at] = (char)random_next(&random);
        if (random_below(&random, 2))
            size = at;
        const int result = copy(text, size, again, &length, message);
        wrong += result != 0 && result != BT_DATA;
        wrong += result == 0 && (length != size || memcmp(text, again, size) != 0) &&
                 text[size - 1] == '\n';
        errors += result == BT_DATA;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(errors > 100);
}

static void test_errors(void)
{
    static const struct {
        const char *text, *message;
    } errors[] = {
        {"", "the text ends too early, after line 0"},
        {"x\n", "line 1: expected the number of instructions"},
        {"01\n", "line 1: expected the number of instructions"},
        {"1\n", "the text ends too early, after line 1"},
        {"0\n1 1 0 ? ? 0\n", "line 2: expected the end, after the last instruction"},
        {"1\n1 1 0 ? ?\n", "line 2: expected an instruction: id ports address file function line"},
        {"1\n1 1 0 ? ? 0 0\n",
         "line 2: expected an instruction: id ports address file function line"},
        {"1\n1 1 0x0 ? ? 0\n",
         "line 2: expected an instruction: id ports address file function line"},
        {"1\n1 1 0 a\\777 ? 0\n",
         "line 2: expected an instruction: id ports address file function line"},
        {"1\n1 0 0 ? ? 0\n", "line 2: expected at least one port, that of control"},
        {"1\n1 1 0 ? ? 0\nNO VALUES\n", "line 3: expected SIZE and a number"},
        {"1\n1 1 0 ? ? 0\nSIZE 1\n", "the text ends too early, after line 3"},
        {"1\n1 1 0 ? ? 0\nSIZE 1\n   0:1 0\n", "line 4: expected a dependence: four blanks, X:Y Z"},
        {"1\n1 1 0 ? ? 0\nSIZE 1\n    0:1\n", "line 4: expected a dependence: four blanks, X:Y Z"},
        {"1\n1 1 0 ? ? 0\nSIZE 0\n\n", "line 4: expected NO VALUES, or VALUES and a number"},
        {"1\n1 1 0 ? ? 0\nSIZE 0\nVALUES 1\n    0:G\n",
         "line 5: expected a value: four blanks, X:hexadecimal"},
        {"1\n1 1 0 ? ? 0\nSIZE 0\nVALUES 1\n    0:01\n",
         "line 5: expected a value: four blanks, X:hexadecimal"},
        {"1\n1 1 0 ? ? 0\nSIZE 0\nNO VALUES\n\n",
         "line 5: expected the end, after the last instruction"}};
    static char again[TEXT];
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        char message[MESSAGE];
        size_t length;
        CU_ASSERT_EQUAL(copy(errors[i].text, strlen(errors[i].text), again, &length, message),
                        BT_DATA);
        CU_ASSERT_STRING_EQUAL(message, errors[i].message);
    }
    char message[MESSAGE];
    size_t length;
    CU_ASSERT_EQUAL(copy("1\n1 1 0 ? ? 0\0\n", 15, again, &length, message), BT_DATA);
    CU_ASSERT_STRING_EQUAL(message, "line 2: expected a line without a NUL");
}

static const struct test_case cases[] = {
    {"example", test_example},           {"names", test_names},   {"values", test_values},
    {"random texts", test_random_texts}, {"errors", test_errors}, {NULL, NULL}};
TEST_SUITE(wet_text, cases)
