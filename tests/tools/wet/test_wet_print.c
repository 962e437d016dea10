/* WET files as text: expected texts by hand; read again; with little memory; damaged. */
#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_text.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/wet_made.h"
#include "tools/wet/wet_check.h"
#include "tools/wet/wet_print.h"

#include <string.h>

/* The text of a file's bytes, and what was printed; the caller frees it. */
static char *print(const struct wet_bytes *bytes, size_t memory, struct wet_printed *printed)
{
    const struct wet_print_settings settings = {.memory = memory, .progress = NULL};
    struct bt_error error;
    struct wet_trace trace;
    size_t size;
    struct test_path *path = test_path_file(bytes->bytes, bytes->size);
    struct text_writer *out = text_writer_new_memory(&error);
    CU_ASSERT_EQUAL_FATAL(wet_trace_open(&trace, test_path_name(path), &error), 0);
    CU_ASSERT_EQUAL(wet_print(&trace, out, &settings, printed, &error), 0);
    const char *text = text_writer_memory(out, &size);
    char *copy = calloc(1, size + 1);
    if (size > 0)
        memcpy(copy, text, size);
    text_writer_free(out);
    wet_trace_close(&trace);
    test_path_free(path);
    return copy;
}

static int check_text(const char *text, struct wet_check *check, struct bt_error *error)
{
    struct text_reader *reader = text_reader_from_memory(text, strlen(text), "text", error);
    const int result = wet_check_text(reader, check, error);
    text_reader_close(reader);
    return result;
}

/* From doc/wet.md, by hand. */
static const char two_iterations[] = "7\n"
                                     "1 1 1000 made\\040one.c main 3\n"
                                     "SIZE 0\n"
                                     "NO VALUES\n"
                                     "2 1 1002 made\\040one.c main 4\n"
                                     "SIZE 0\n"
                                     "NO VALUES\n"
                                     "3 4 1007 made\\040one.c main 5\n"
                                     "SIZE 1\n"
                                     "    1:6 0\n"
                                     "SIZE 2\n"
                                     "    0:1 0\n"
                                     "    1:3 0\n"
                                     "SIZE 0\n"
                                     "SIZE 1\n"
                                     "    1:4 0\n"
                                     "NO VALUES\n"
                                     "4 3 1009 made\\040one.c main 6\n"
                                     "SIZE 1\n"
                                     "    1:6 0\n"
                                     "SIZE 2\n"
                                     "    0:3 0\n"
                                     "    1:3 1\n"
                                     "SIZE 0\n"
                                     "NO VALUES\n"
                                     "5 2 100b made\\040one.c main 7\n"
                                     "SIZE 1\n"
                                     "    1:6 0\n"
                                     "SIZE 2\n"
                                     "    0:2 0\n"
                                     "    1:5 0\n"
                                     "NO VALUES\n"
                                     "6 2 100d made\\040one.c main 7\n"
                                     "SIZE 1\n"
                                     "    1:6 0\n"
                                     "SIZE 2\n"
                                     "    0:5 0\n"
                                     "    1:5 1\n"
                                     "NO VALUES\n"
                                     "7 8 100f ? ? 0\n"
                                     "SIZE 0\n"
                                     "SIZE 1\n"
                                     "    0:3 1\n"
                                     "SIZE 0\n"
                                     "SIZE 0\n"
                                     "SIZE 0\n"
                                     "SIZE 0\n"
                                     "SIZE 0\n"
                                     "SIZE 0\n"
                                     "NO VALUES\n";

static void test_text(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_printed printed;
    wet_made_loop(&bytes, 2, 0);
    char *text = print(&bytes, WET_PRINT_MEMORY, &printed);
    CU_ASSERT_STRING_EQUAL(text, two_iterations);
    CU_ASSERT_EQUAL(printed.instructions, WET_MADE_IDS);
    CU_ASSERT_EQUAL(printed.passes, 1);
    CU_ASSERT_EQUAL(printed.damage.code, 0);
    free(text);
    wet_made_loop(&bytes, 2, 1);
    text = print(&bytes, WET_PRINT_MEMORY, &printed);
    CU_ASSERT_STRING_EQUAL(text, two_iterations);
    free(text);
    free(bytes.bytes);
}

static void test_passes(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_printed once, often;
    struct wet_check check;
    struct bt_error error;
    wet_made_loop(&bytes, 1000, 400);
    char *text = print(&bytes, WET_PRINT_MEMORY, &once), *again = print(&bytes, 1, &often);
    CU_ASSERT_EQUAL(once.passes, 1);
    CU_ASSERT_EQUAL(often.passes, WET_MADE_IDS);
    CU_ASSERT_STRING_EQUAL(text, again);
    CU_ASSERT_EQUAL(check_text(text, &check, &error), 0);
    CU_ASSERT_EQUAL(check.known_instructions, WET_MADE_IDS);
    free(text);
    free(again);
    free(bytes.bytes);
}

/* What is before a cut is printed, and is what the whole file has. */
static void test_cut(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_printed printed;
    wet_made_loop(&bytes, 30, 10);
    bytes.size--; /* in the closing member */
    char *whole = print(&bytes, WET_PRINT_MEMORY, &printed), *part = NULL;
    CU_ASSERT_EQUAL(printed.instructions, WET_MADE_IDS);
    do { /* up to the second chunk */
        free(part);
        bytes.size--;
        part = print(&bytes, WET_PRINT_MEMORY, &printed);
    } while (printed.instructions == WET_MADE_IDS);
    CU_ASSERT_EQUAL(printed.instructions, WET_MADE_IDS - 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(whole, "    29:4 28\n"));
    CU_ASSERT_PTR_NULL(strstr(part, "    10:4 9\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(part, "    9:4 8\n"));
    free(whole);
    free(part);
    free(bytes.bytes);
}

/* --- checks of texts -------------------------------------------------------------------------- */

/* The text with its first occurrence of `from` replaced. The caller frees it. */
static char *with(const char *text, const char *from, const char *to)
{
    const char *found = strstr(text, from);
    char *copy = calloc(1, strlen(text) + strlen(to) + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    memcpy(copy, text, (size_t)(found - text));
    strcat(copy, to);
    strcat(copy, found + strlen(from));
    return copy;
}

static void test_check_text(void)
{
    static const struct {
        const char *from, *to, *failure; /* NULL: good */
    } cases[] = {
        {"7\n", "7\n", NULL},
        {"1 1 1000", "2 1 1000", "line 2: ids must ascend"},
        {"2 1 1002", "3 1 1002", "line 5: ids must ascend"},
        {"1:6 0", "1:8 0", "line 10: the instruction depended on does not exist"},
        {"1:6 0", "1:0 0", "line 10: the instruction depended on does not exist"},
        {"    0:1 0\n    1:3 0", "    1:1 0\n    0:3 0", "line 13: dependences must ascend"},
        {"    0:1 0\n    1:3 0", "    0:3 0\n    0:1 0", "line 13: dependences must ascend"},
        {"    0:1 0\n    1:3 0", "    0:1 0\n    0:3 0", NULL},
        {"    0:1 0\n    1:3 0", "    1:1 0\n    5:3 6", "line 13: an instance depends on a later"},
        {"NO VALUES\n2", "VALUES 2\n    1:0\n    1:0\n2", "line 6: values must ascend"},
        {"NO VALUES\n2", "VALUES 1\n    0:0\n2", NULL},
        {"NO VALUES\n3", "VALUES 1\n    0:0\n3", NULL},
        {"0:2 0\n", "0:2 1\n", NULL},
        {"7\n", "8\n", "the text ends too early"},
        {"7\n", "x\n", "neither"}};
    struct wet_check check;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bt_error error = {.message = ""};
        char *text = with(two_iterations, cases[i].from, cases[i].to);
        const int result = check_text(text, &check, &error);
        CU_ASSERT_EQUAL(result, cases[i].failure ? BT_DATA : 0);
        CU_ASSERT(!cases[i].failure || strstr(error.message, cases[i].failure));
        free(text);
    }
}

/* Values tell how many instances there are. */
static void test_check_instances(void)
{
    struct bt_error error;
    struct wet_check check;
    char *valued = with(two_iterations, "NO VALUES\n3", "VALUES 1\n    0:0\n3");
    char *text = with(valued, "0:2 0\n", "0:2 1\n");
    CU_ASSERT_EQUAL(check_text(text, &check, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "instance 1 of instruction 2 does not exist"));
    free(valued);
    free(text);
}

static void test_check_history(void)
{
    static const struct {
        const char *text, *failure;
    } cases[] = {{"0x8048242#0 --> 0x8048210#0\n0x8048242#0 --> 0x8048225#12\n", NULL},
                 {"0x0#0 --> 0xffffffffffffffff#18446744073709551615", NULL},
                 {"0x1#0 --> 0x2#0\n\n", "line 2"},
                 {"0x01#0 --> 0x2#0\n", "line 1"},
                 {"0x1#00 --> 0x2#0\n", "line 1"},
                 {"0x1#0 -> 0x2#0\n", "line 1"},
                 {"0x1#0 --> 0x2#0 \n", "line 1"},
                 {"0xA#0 --> 0x2#0\n", "line 1"},
                 {"0x1#0 --> 0x2#\n", "line 1"},
                 {"0x# --> 0x2#0\n", "line 1"},
                 {"0x1#0 --> 0x11112222333344445#0\n", "line 1"},
                 {"0x1#0 --> 0x2#18446744073709551616\n", "line 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bt_error error = {.message = ""};
        struct wet_check check;
        CU_ASSERT_EQUAL(check_text(cases[i].text, &check, &error), cases[i].failure ? BT_DATA : 0);
        CU_ASSERT(!cases[i].failure || strstr(error.message, cases[i].failure));
        CU_ASSERT_EQUAL(check.form, WET_CHECK_HISTORY);
    }
}

/* --- checks of files -------------------------------------------------------------------------- */

static int check_bytes(const struct wet_bytes *bytes, struct wet_check *check,
                       struct bt_error *error)
{
    struct wet_trace trace;
    struct test_path *path = test_path_file(bytes->bytes, bytes->size);
    int result = wet_trace_open(&trace, test_path_name(path), error);
    if (result == 0)
        result = wet_check_binary(&trace, check, NULL, NULL, error);
    wet_trace_close(&trace);
    test_path_free(path);
    return result;
}

static void test_check_file(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_check check;
    struct bt_error error = {.message = ""};
    wet_made_loop(&bytes, 100, 40);
    CU_ASSERT_EQUAL(check_bytes(&bytes, &check, &error), 0);
    CU_ASSERT_EQUAL(check.instructions, 2 + 400 + 1);
    CU_ASSERT_EQUAL(check.blocks, 101);
    CU_ASSERT_EQUAL(check.chunks, 2);
    CU_ASSERT_EQUAL(check.threads, 1);
    CU_ASSERT_EQUAL(check.known_instructions, WET_MADE_IDS);
    /* control: all in the loop but those of the first iteration; data: add 2, mov 1, dec 1, jne 1
     * an iteration, less the load of the first; syscall 1 */
    CU_ASSERT_EQUAL(check.dependences, 99 * 4 + 100 * 5 - 1 + 1);
    for (size_t size = 0; size < bytes.size; size++) {
        const struct wet_bytes part = {.bytes = bytes.bytes, .size = size};
        CU_ASSERT_EQUAL(check_bytes(&part, &check, &error), BT_DATA);
    }
    wet_bytes_put(&bytes, 0);
    CU_ASSERT_EQUAL(check_bytes(&bytes, &check, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "after the end"));
    free(bytes.bytes);
}

static const struct test_case cases[] = {{"text", test_text},
                                         {"passes", test_passes},
                                         {"cut file", test_cut},
                                         {"check text", test_check_text},
                                         {"check instances", test_check_instances},
                                         {"check history", test_check_history},
                                         {"check file", test_check_file},
                                         {NULL, NULL}};
TEST_SUITE(wet_print, cases)
