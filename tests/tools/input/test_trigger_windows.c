/* Reports of the windows that files hold. */
#include "tools/input/trigger_windows.h"

#include "tests/suites.h"

#include <stdlib.h>
#include <unistd.h>

#define FILES 5

static void fill(struct trace_file files[FILES])
{
    const struct capture_window match = {.kind = CAPTURE_WINDOW_MATCHES,
                                         .omitted = 10,
                                         .matches = 1,
                                         .first_index = 15,
                                         .first_tick = 1500,
                                         .last_index = 15,
                                         .last_tick = 1500};
    const struct capture_window matches = {.kind = CAPTURE_WINDOW_MATCHES,
                                           .omitted = 40,
                                           .matches = 3,
                                           .first_index = 60,
                                           .first_tick = 6000,
                                           .last_index = 70,
                                           .last_tick = 7001};
    const struct capture_window snapshot = {.kind = CAPTURE_WINDOW_SNAPSHOT, .omitted = 90};
    const struct capture_window windows[FILES] = {match, matches, snapshot, match, {.omitted = 0}};
    for (int i = 0; i < FILES; i++)
        files[i] = (struct trace_file){.path = "t",
                                       .closed = i != 3, /* killed: its window is not known */
                                       .records = 5,
                                       .info.file_number = (uint32_t)i + 1,
                                       .totals.window = windows[i]};
}

static void test_json(void)
{
    struct trace_file files[FILES];
    fill(files);
    struct json_put *json = json_put_new_memory();
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    json_put_object(json);
    trigger_windows_json(json, files, FILES);
    json_put_object_end(json);
    char *text = json_put_take(json, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(
        text, "{\"windows\":[{\"path\":\"t\",\"file_number\":1,\"snapshot\":false,\"records\":5,"
              "\"omitted\":10,\"matches\":1,\"first_match_index\":15,\"first_match_tick\":1500,"
              "\"last_match_index\":15,\"last_match_tick\":1500},"
              "{\"path\":\"t\",\"file_number\":2,\"snapshot\":false,\"records\":5,\"omitted\":40,"
              "\"matches\":3,\"first_match_index\":60,\"first_match_tick\":6000,"
              "\"last_match_index\":70,\"last_match_tick\":7001},"
              "{\"path\":\"t\",\"file_number\":3,\"snapshot\":true,\"records\":5,\"omitted\":90,"
              "\"matches\":0}]}");
    free(text);
}

/* What a call prints on standard output. */
static void printed(char text[1000], const struct trace_file *files, size_t count)
{
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    CU_ASSERT_FATAL(kept >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    trigger_windows_print(files, count);
    fflush(stdout);
    CU_ASSERT(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, 999, file)] = '\0';
    fclose(file);
}

static void test_text(void)
{
    struct trace_file files[FILES];
    char text[1000];
    fill(files);
    printed(text, files, FILES);
    CU_ASSERT_STRING_EQUAL(
        text,
        "windows       file 1, 1 match: record 15 at tick 1500; 10 records left out before it\n"
        "              file 2, 3 matches: record 60 at tick 6000 to record 70 at tick 7001; 40 "
        "records left out before it\n"
        "              file 3, snapshot; 90 records left out before it\n");
    printed(text, files + 3, 2);
    CU_ASSERT_STRING_EQUAL(text, "");
}

static const struct test_case cases[] = {{"JSON", test_json}, {"text", test_text}, {NULL, NULL}};
TEST_SUITE(trigger_windows, cases)
