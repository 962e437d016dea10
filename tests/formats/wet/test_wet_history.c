/* Lines of a limited history: what is written is read; nothing else is. */
#include "formats/wet/wet_history.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

static bool is_read(const char *text)
{
    struct wet_history_line line;
    return wet_history_get(text, strlen(text), &line);
}

static void test_written(void)
{
    char text[WET_HISTORY_BYTES];
    const struct wet_history_line small = {.reader = {.address = 0x401136, .instance = 0},
                                           .writer = {.address = 0, .instance = 12}};
    const struct wet_history_line large = {
        .reader = {.address = UINT64_MAX, .instance = UINT64_MAX},
        .writer = {.address = UINT64_C(1) << 32, .instance = 1}};
    *wet_history_put(text, &small) = '\0';
    CU_ASSERT_STRING_EQUAL(text, "0x401136#0 --> 0x0#12\n");
    *wet_history_put(text, &large) = '\0';
    CU_ASSERT_STRING_EQUAL(text, "0xffffffffffffffff#18446744073709551615 --> 0x100000000#1\n");
}

static void test_read_again(void)
{
    uint64_t random = random_seed(17);
    unsigned wrong = 0;
    for (unsigned i = 0; i < 10000; i++) {
        char text[WET_HISTORY_BYTES];
        struct wet_history_line line, read = {.reader = {.address = 0}};
        uint64_t *const numbers[] = {&line.reader.address, &line.reader.instance,
                                     &line.writer.address, &line.writer.instance};
        for (unsigned at = 0; at < 4; at++)
            *numbers[at] = random_next(&random) >> random_below(&random, 64);
        const char *end = wet_history_put(text, &line);
        wrong += end > text + sizeof text || end[-1] != '\n' ||
                 !wet_history_get(text, (size_t)(end - text) - 1, &read) ||
                 memcmp(&line, &read, sizeof line) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_rejected(void)
{
    static const char *const texts[] = {"",
                                        "0x1#0",
                                        "0x1#0 --> ",
                                        "0x1#0 -->0x2#0",
                                        "0x1#0 --> 0x2#0 ",
                                        " 0x1#0 --> 0x2#0",
                                        "0x1#0 --> 0x2#",
                                        "0x1# --> 0x2#0",
                                        "0x#0 --> 0x2#0",
                                        "1#0 --> 0x2#0",
                                        "0x1 --> 0x2#0",
                                        "0x01#0 --> 0x2#0",
                                        "0x1#00 --> 0x2#0",
                                        "0xA#0 --> 0x2#0",
                                        "0x1#a --> 0x2#0",
                                        "0x1#-1 --> 0x2#0",
                                        "0x11111111111111111#0 --> 0x2#0",
                                        "0x1#18446744073709551616 --> 0x2#0"};
    CU_ASSERT(is_read("0x1#0 --> 0x2#0"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_FALSE(is_read(texts[i]));
}

static const struct test_case cases[] = {{"written", test_written},
                                         {"read again", test_read_again},
                                         {"rejected", test_rejected},
                                         {NULL, NULL}};
TEST_SUITE(wet_history, cases)
