/* Records for studies: a thread that reads ahead delivers the same records as a reader. */
#include "tools/input/record_input.h"

#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/capture_set.h"
#include "tests/support/files.h"
#include "tests/support/folder.h"
#include "tests/support/members.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 50000u
#define FILES   4u

/* All that an input delivers: records with their ticks, losses, results. */
struct taken {
    struct record *records;
    uint64_t *ticks;
    size_t count;
    uint64_t lost;
    int result, status;
};

static struct taken take_all(int count, char **paths, const struct record_input_settings *settings)
{
    struct taken taken = {.records = malloc(8 * RECORDS * sizeof *taken.records),
                          .ticks = malloc(8 * RECORDS * sizeof *taken.ticks),
                          .count = 0,
                          .lost = 0,
                          .result = 0,
                          .status = 0};
    struct record_input *input;
    struct bt_error error;
    const struct batch *batch;
    CU_ASSERT_FATAL(taken.records && taken.ticks);
    CU_ASSERT_EQUAL_FATAL(record_input_open(&input, count, paths, settings, &error), 0);
    while ((taken.result = record_input_next(input, &batch, &error)) == 1) {
        CU_ASSERT_FATAL(taken.count + batch->count <= 8 * RECORDS);
        uint64_t tick = batch->first_tick;
        taken.lost += loss_total(&batch->lost);
        for (size_t i = 0; i < batch->count; i++) {
            tick += i > 0 ? batch->records[i].time : 0;
            taken.records[taken.count] = batch->records[i];
            taken.ticks[taken.count++] = tick;
        }
    }
    /* the next call returns the same */
    CU_ASSERT_EQUAL(record_input_next(input, &batch, &error), taken.result);
    taken.status = record_input_close(input);
    return taken;
}

static void taken_free(struct taken *taken)
{
    free(taken->records);
    free(taken->ticks);
}

static struct test_path *raw_file(struct record *records, size_t count, uint64_t seed, bool pipe)
{
    uint8_t *bytes = malloc(count * RECORD_BYTES + 1);
    CU_ASSERT_FATAL(bytes != NULL);
    records_fill_like_a_bus(records, count, &seed);
    records_put(bytes, records, count);
    struct test_path *path = pipe ? test_path_pipe(bytes, count * RECORD_BYTES)
                                  : test_path_file(bytes, count * RECORD_BYTES);
    free(bytes);
    return path;
}

static const struct record_input_settings everything = {.count = UINT64_MAX};
static const struct record_input_settings concatenated = {.concatenate = true, .count = UINT64_MAX};

static void test_raw_files(void)
{
    struct record *records = malloc(2 * RECORDS * sizeof *records);
    struct test_path *first = raw_file(records, RECORDS, 1, false);
    struct test_path *second = raw_file(records + RECORDS, RECORDS, 2, true);
    char *paths[] = {(char *)test_path_name(first), (char *)test_path_name(second)};
    struct taken taken = take_all(2, paths, &concatenated);
    CU_ASSERT_EQUAL_FATAL(taken.count, 2 * RECORDS);
    CU_ASSERT_EQUAL(memcmp(taken.records, records, taken.count * sizeof *records), 0);
    CU_ASSERT_EQUAL(taken.result, 0);
    CU_ASSERT_EQUAL(taken.status, 0);
    for (size_t i = 1; i < taken.count; i++)
        if (taken.ticks[i] < taken.ticks[i - 1])
            CU_FAIL("time goes back");
    taken_free(&taken);
    test_path_free(first);
    test_path_free(second);
    free(records);
}

/* Any range of records equals that part of the whole, including the ticks if they are kept. */
static void test_ranges(void)
{
    uint64_t random = 7;
    struct capture_set set = {.seed = 3,
                              .files = FILES,
                              .file_records = 5000,
                              .block_records = 700,
                              .lost = {0, 9, 0, 0}};
    char folder[FOLDER_PATH_BYTES];
    char names[FILES][FOLDER_PATH_BYTES + 32];
    char *paths[FILES];
    folder_make(folder);
    snprintf(names[0], sizeof names[0], "%s/p", folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(&set, names[0]), 0);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s/p_%u.byu.gz", folder, FILES - i);
        paths[i] = names[i]; /* in the wrong order */
    }
    struct taken all = take_all(FILES, paths, &everything);
    CU_ASSERT_EQUAL(all.count, FILES * 5000u);
    CU_ASSERT_EQUAL(all.lost, FILES * 9u);
    uint64_t counted;
    struct bt_error error;
    CU_ASSERT_EQUAL(record_input_count(FILES, paths, &everything, &counted, &error), 0);
    CU_ASSERT_EQUAL(counted, all.count);
    for (unsigned i = 0; i < 60; i++) {
        struct record_input_settings range = {.first = random_below(&random, all.count + 100),
                                              .count = random_below(&random, all.count),
                                              .keep_ticks = i % 2};
        struct taken part = take_all(FILES, paths, &range);
        uint64_t left = range.first < all.count ? all.count - range.first : 0;
        CU_ASSERT_EQUAL_FATAL(part.count, left < range.count ? left : range.count);
        CU_ASSERT(part.count == 0 || memcmp(part.records, all.records + range.first,
                                            part.count * sizeof *part.records) == 0);
        if (range.keep_ticks && part.count > 0)
            CU_ASSERT_EQUAL(
                memcmp(part.ticks, all.ticks + range.first, part.count * sizeof *part.ticks), 0);
        taken_free(&part);
    }
    taken_free(&all);
    folder_remove(folder);
}

static void flip_byte(const char *path, long place)
{
    FILE *file = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, place, SEEK_SET);
    int byte = getc(file);
    fseek(file, place, SEEK_SET);
    putc(byte ^ 0x40, file);
    fclose(file);
}

/* A corrupt block raises the status; all other blocks are delivered. */
static void test_damage(void)
{
    struct capture_set set = {.seed = 3, .files = 1, .file_records = 5000, .block_records = 500};
    char folder[FOLDER_PATH_BYTES];
    char name[FOLDER_PATH_BYTES + 32];
    char *paths[] = {name};
    folder_make(folder);
    snprintf(name, sizeof name, "%s/p", folder);
    CU_ASSERT_EQUAL_FATAL(capture_set_write(&set, name), 0);
    snprintf(name, sizeof name, "%s/p_1.byu.gz", folder);
    flip_byte(name, 12000);
    struct taken taken = take_all(1, paths, &everything);
    CU_ASSERT_EQUAL(taken.count, 4500);
    CU_ASSERT_EQUAL(taken.result, 0);
    CU_ASSERT_EQUAL(taken.status, 1);
    taken_free(&taken);
    folder_remove(folder);
}

static void test_missing_file(void)
{
    char name[] = "/nonexistent/trace.byu";
    char *paths[] = {name};
    struct record_input *input;
    struct bt_error error;
    CU_ASSERT_EQUAL(record_input_open(&input, 1, paths, &everything, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/nonexistent/trace.byu"));
}

/* A trace in another program's format. */
static void test_foreign(void)
{
    static const char text[] = "0 1000\n1 2004\n2 fffffffc\n";
    static const enum request_type types[] = {REQUEST_MEMREAD, REQUEST_MEMWRITE, REQUEST_FETCH};
    struct test_path *path = test_path_file(text, sizeof text - 1);
    char *paths[] = {(char *)test_path_name(path), (char *)test_path_name(path)};
    struct record_input_settings settings = {
        .trace.from = "din", .concatenate = true, .count = UINT64_MAX};
    struct taken taken = take_all(2, paths, &settings);
    CU_ASSERT_EQUAL_FATAL(taken.count, 6);
    CU_ASSERT_EQUAL(taken.status, 0);
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(taken.records[i].type, types[i % 3]);
    CU_ASSERT_EQUAL(taken.records[5].address, 0xfffffffc);
    taken_free(&taken);
    settings.first = 4;
    taken = take_all(2, paths, &settings);
    CU_ASSERT_EQUAL(taken.count, 2);
    taken_free(&taken);
    uint64_t counted;
    struct bt_error error;
    CU_ASSERT_EQUAL(record_input_count(2, paths, &settings, &counted, &error), 0);
    CU_ASSERT_EQUAL(counted, 6);
    struct record_input *input;
    settings.trace.from = "dinn";
    CU_ASSERT_EQUAL(record_input_open(&input, 2, paths, &settings, &error), BT_USAGE);
    test_path_free(path);
}

/* A study may close its input before the end. */
static void test_early_close(void)
{
    struct record *records = malloc(8 * RECORDS * sizeof *records);
    struct test_path *path = raw_file(records, 8 * RECORDS, 11, false);
    char *paths[] = {(char *)test_path_name(path)};
    for (int batches = 0; batches < 4; batches++) {
        struct record_input *input;
        struct bt_error error;
        const struct batch *batch;
        CU_ASSERT_EQUAL_FATAL(record_input_open(&input, 1, paths, &everything, &error), 0);
        for (int i = 0; i < batches; i++)
            CU_ASSERT_EQUAL(record_input_next(input, &batch, &error), 1);
        CU_ASSERT_EQUAL(record_input_close(input), 0);
    }
    test_path_free(path);
    free(records);
}

/* Two captures in one file, as cat joins them, each of two blocks; its ticks begin at 5. */
static struct test_path *two_captures(struct record records[100])
{
    struct members both = {0};
    test_path_free(raw_file(records, 100, 7, false));
    for (uint8_t id = 1; id <= 2; id++) {
        const struct capture_info info = {
            .id = {id}, .board = "a board", .started_ns = 1, .file_number = 1};
        struct batch batch = {.records = records,
                              .count = 100,
                              .first_tick = 5,
                              .last_tick = 5 + records_time(records + 1, 99)};
        members_append_header(&both, &info);
        members_append_data(&both, RECORD_ENGINE_BEST, &batch);
        batch.first_index = 100;
        batch.first_tick = batch.last_tick + records[0].time;
        batch.last_tick = batch.first_tick + records_time(records + 1, 99);
        members_append_data(&both, RECORD_ENGINE_BEST, &batch);
    }
    struct test_path *path = test_path_file(both.bytes, both.size);
    free(both.bytes);
    return path;
}

/* The error that refuses several traces: on opening, or while reading if `opened`. */
static struct bt_error refused(int count, char **paths, bool opened)
{
    struct record_input *input;
    struct bt_error error = {0};
    int result = record_input_open(&input, count, paths, &everything, &error);
    CU_ASSERT_EQUAL_FATAL(result, opened ? 0 : BT_USAGE);
    if (result < 0)
        return error;
    const struct batch *batch;
    while ((result = record_input_next(input, &batch, &error)) == 1)
        ;
    CU_ASSERT_EQUAL(result, BT_USAGE);
    record_input_close(input);
    return error;
}

static void test_several_traces_are_refused(void)
{
    struct record records[100];
    struct test_path *first = raw_file(records, 100, 1, false);
    struct test_path *second = raw_file(records, 100, 2, false);
    struct test_path *stream = raw_file(records, 100, 3, true);
    char *paths[] = {(char *)test_path_name(first), (char *)test_path_name(second),
                     (char *)test_path_name(stream)};
    struct bt_error error = refused(3, paths, false);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "2 traces are given"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "--concatenate"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "(no header)"));
    char *piped[] = {paths[0], paths[2]}; /* a pipe is identified only while reading */
    error = refused(2, piped, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "another trace begins here"));
    test_path_free(stream);
    test_path_free(second);
    test_path_free(first);

    struct test_path *cat = two_captures(records);
    char *path = (char *)test_path_name(cat);
    error = refused(1, &path, true);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "a board, started 1970"));
    struct record_input_settings settings = concatenated;
    settings.silent = true;
    struct taken taken = take_all(1, &path, &settings);
    CU_ASSERT_EQUAL(taken.count, 400);
    taken_free(&taken);
    test_path_free(cat);
}

/* As stored: several traces are accepted with their ticks and indexes, and each header is returned
 * before its records. */
static void test_as_stored(void)
{
    struct record records[100];
    struct test_path *file = two_captures(records);
    char *path = (char *)test_path_name(file);
    struct record_input_settings settings = {
        .as_stored = true, .headers = true, .first = 150, .count = UINT64_MAX};
    for (int skipped = 0; skipped < 2; skipped++, settings.first = 0) {
        struct record_input *input;
        struct bt_error error;
        const struct batch *batch;
        int more;
        uint8_t headers = 0;
        uint64_t count = 0, next_index = settings.first;
        CU_ASSERT_EQUAL_FATAL(record_input_open(&input, 1, &path, &settings, &error), 0);
        while ((more = record_input_next(input, &batch, &error)) > 0) {
            const struct capture_info *info = record_input_info(input);
            CU_ASSERT_PTR_NOT_NULL_FATAL(info);
            if (more == RECORD_INPUT_FILE) {
                headers++;
                next_index = headers > 1 ? 0 : next_index;
            } else if (batch->count > 0) {
                CU_ASSERT_EQUAL(batch->first_index, next_index);
                CU_ASSERT(batch->first_index > 0 || batch->first_tick == 5);
                next_index += batch->count;
                count += batch->count;
            }
            CU_ASSERT_EQUAL(info->id[0], headers);
        }
        CU_ASSERT_EQUAL(more, 0);
        CU_ASSERT_EQUAL(headers, 2);
        CU_ASSERT_EQUAL(count, 400 - settings.first);
        CU_ASSERT_EQUAL(record_input_to_skip(input), 0);
        record_input_close(input);
    }
    settings.first = 1000;
    struct taken taken = {.count = 0};
    struct record_input *input;
    const struct batch *batch;
    struct bt_error error;
    settings.headers = false;
    CU_ASSERT_EQUAL_FATAL(record_input_open(&input, 1, &path, &settings, &error), 0);
    while (record_input_next(input, &batch, &error) == 1)
        taken.count += batch->count;
    CU_ASSERT_EQUAL(taken.count, 0);
    CU_ASSERT_EQUAL(record_input_to_skip(input), 600);
    record_input_close(input);
    test_path_free(file);
}

/* In the caller's thread: the same records, the trace stays open after its end, and a file that
 * cannot be opened is refused at once. */
static void test_unthreaded(void)
{
    struct record records[100];
    struct test_path *file = two_captures(records);
    char missing[] = "/nonexistent/trace.byu";
    char *paths[] = {(char *)test_path_name(file), missing};
    struct input_report report;
    const struct record_input_settings settings = {
        .unthreaded = true, .report = &report, .count = UINT64_MAX};
    struct record_input *input;
    struct bt_error error;
    const struct batch *batch;
    uint64_t count = 0;
    int more;
    input_report_begin(&report, true);
    CU_ASSERT_EQUAL_FATAL(record_input_open(&input, 1, paths, &settings, &error), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(record_input_trace(input)->reader);
    while ((more = record_input_next(input, &batch, &error)) == 1)
        count += batch->count;
    CU_ASSERT_EQUAL(count, 400);
    CU_ASSERT_EQUAL(record_input_next(input, &batch, &error), more);
    CU_ASSERT_EQUAL(input_trace_offset(record_input_trace(input)),
                    input_trace_size(record_input_trace(input)));
    record_input_close(input);
    CU_ASSERT_EQUAL(record_input_open(&input, 1, paths + 1, &settings, &error), BT_IO);
    input_report_end(&report);
    test_path_free(file);
}

/* --raw and --lp64 without --from mean BYU records, whatever the content looks like. */
static void test_raw_is_byu(void)
{
    static const char text[] = "0 1000\n1 2004\n2 fffffffc\n";
    struct test_path *path = test_path_file(text, 24);
    char *paths[] = {(char *)test_path_name(path)};
    struct record_input_settings settings = {.count = UINT64_MAX};
    struct taken taken = take_all(1, paths, &settings);
    CU_ASSERT_EQUAL(taken.count, 3); /* din, by its content */
    taken_free(&taken);
    settings.trace.reading.raw = true;
    taken = take_all(1, paths, &settings);
    CU_ASSERT_EQUAL(taken.count, 24 / RECORD_BYTES);
    taken_free(&taken);
    test_path_free(path);
}

static const struct test_case cases[] = {
    {"raw files and pipes", test_raw_files},
    {"ranges", test_ranges},
    {"a corrupt block", test_damage},
    {"a missing file", test_missing_file},
    {"other programs' formats", test_foreign},
    {"closed early", test_early_close},
    {"several traces are refused", test_several_traces_are_refused},
    {"as stored", test_as_stored},
    {"unthreaded", test_unthreaded},
    {"raw means BYU records", test_raw_is_byu},
    {NULL, NULL}};
TEST_SUITE(record_input, cases)
