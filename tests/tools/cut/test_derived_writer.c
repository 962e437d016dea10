/* Captures written batch by batch, read back. */
#include "tools/cut/derived_writer.h"

#include "formats/capture/capture_file.h"
#include "formats/capture/trace_reader.h"
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/random_capture.h"
#include "tests/support/trace_judge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPTURES 200
#define PIECE    60u

static int create(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static struct capture_info header_of(const char *path)
{
    struct trace_reader *reader;
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, path, 0, NULL), 0);
    const struct capture_info info = *source_info(trace_reader_source(reader));
    source_close(trace_reader_source(reader));
    return info;
}

/* Copies one file, in batches of any size. */
static void copy(const char *from, const char *to, uint64_t *random, struct derived_counts *counts)
{
    struct record records[PIECE];
    struct trace_reader *reader;
    struct bt_error error;
    struct loss lost = {.first_tick = 0};
    const int file = create(to);
    CU_ASSERT_EQUAL_FATAL(trace_reader_open(&reader, from, 0, &error), 0);
    struct source *source = trace_reader_source(reader);
    struct derived_writer *writer = derived_writer_new(file, to, source_info(source), &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    for (;;) {
        struct batch batch = {.records = records, .capacity = 1 + random_below(random, PIECE)};
        if (source_next(source, &batch, -1, &error) != 1)
            break;
        loss_add(&lost, &batch.lost);
        CU_ASSERT_EQUAL(derived_writer_put(writer, &batch, &error), 0);
    }
    const struct capture_totals *closing = trace_reader_closing(reader);
    CU_ASSERT_PTR_NOT_NULL_FATAL(closing);
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE,
                                    .last_tick = closing->last_tick,
                                    .end_index = closing->end_index,
                                    .source.known = true,
                                    .source.filtered = 7};
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        totals.file_lost[stage] = closing->file_lost[stage] - lost.count[stage];
        totals.end_index -= totals.file_lost[stage];
    }
    CU_ASSERT_EQUAL(derived_writer_close(writer, &totals, &error), 0);
    *counts = *derived_writer_counts(writer);
    CU_ASSERT_EQUAL(counts->end_index, closing->end_index);
    CU_ASSERT_EQUAL(counts->records, closing->file_records);
    CU_ASSERT_EQUAL(memcmp(counts->lost.count, closing->file_lost, sizeof closing->file_lost), 0);
    CU_ASSERT_EQUAL(counts->filtered, 7);
    CU_ASSERT_EQUAL(counts->bytes, (uint64_t)lseek(file, 0, SEEK_END));
    derived_writer_free(writer);
    source_close(source);
    close(file);
}

static void test_copies(void)
{
    struct trace_items *all = calloc(2, sizeof *all);
    char folder[FOLDER_PATH_BYTES], prefix[FOLDER_PATH_BYTES + 8], from[FOLDER_PATH_BYTES + 32],
        to[FOLDER_PATH_BYTES + 8];
    char *paths[] = {to};
    uint64_t random = random_seed(9);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    folder_make(folder);
    snprintf(prefix, sizeof prefix, "%s/p", folder);
    snprintf(to, sizeof to, "%s/out", folder);
    for (uint64_t seed = 1; seed <= CAPTURES; seed++) {
        struct derived_counts counts;
        struct trace_verdict verdict;
        const int files = random_capture_write(all, prefix, seed, seed % 2 == 0);
        snprintf(from, sizeof from, "%s_%d.byu.gz", prefix, files);
        copy(from, to, &random, &counts);
        CU_ASSERT(trace_judge(&verdict, paths, 1) == 1 && verdict.complete);
        trace_items_read(&all[0], from);
        trace_items_read(&all[1], to);
        trace_items_join(&all[0]);
        trace_items_join(&all[1]);
        const bool same = trace_items_equal(&all[1], &all[0]);
        CU_ASSERT_TRUE(same);
        if (!same)
            printf("\nseed %" PRIu64 "\n", seed);
        const struct capture_info was = header_of(from), is = header_of(to);
        CU_ASSERT(is.derived && is.file_number == 1 && memcmp(is.id, was.id, sizeof is.id) == 0);
        CU_ASSERT_EQUAL(is.first_index, was.first_index);
    }
    folder_remove(folder);
    free(all);
}

/* Small batches that continue each other share a block; others do not. A trace without a header
 * gets an id. */
static void test_blocks(void)
{
    char folder[FOLDER_PATH_BYTES], path[FOLDER_PATH_BYTES + 8];
    const struct capture_info none = {.clock_hz = 0};
    struct capture_totals totals = {.end = CAPTURE_END_LIMIT, .end_index = 9, .last_tick = 50};
    struct bt_error error;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    const int file = create(path);
    struct derived_writer *writer = derived_writer_new(file, path, &none, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    /* times 3, 5, one that does not fit its tick, and one that is saturated */
    static const uint64_t ticks[] = {10, 15, 40, 50};
    static const uint32_t times[] = {3, 5, 9, UINT32_MAX};
    for (uint64_t i = 0; i < 4; i++) {
        struct record record = {.time = times[i]};
        const struct batch batch = {.records = &record,
                                    .count = 1,
                                    .capacity = 1,
                                    .first_index = 5 + i,
                                    .first_tick = ticks[i],
                                    .last_tick = ticks[i]};
        CU_ASSERT_EQUAL(derived_writer_put(writer, &batch, &error), 0);
    }
    const struct batch nothing = {.first_index = 9, .first_tick = 50, .last_tick = 50};
    CU_ASSERT_EQUAL(derived_writer_put(writer, &nothing, &error), 0);
    CU_ASSERT_EQUAL(derived_writer_close(writer, &totals, &error), 0);
    const struct derived_counts *counts = derived_writer_counts(writer);
    CU_ASSERT(counts->records == 4 && counts->blocks == 3 && counts->copied == 0);
    CU_ASSERT(counts->first_index == 5 && counts->end_index == 9);
    CU_ASSERT(counts->first_tick == 10 && counts->last_tick == 50);
    derived_writer_free(writer);
    close(file);
    const struct capture_info info = header_of(path);
    CU_ASSERT(capture_info_has_id(&info) && info.derived && info.first_index == 5);
    folder_remove(folder);
}

/* Counts of a forged file, whose sum has more than 64 bits. */
static void test_large_counts(void)
{
    char folder[FOLDER_PATH_BYTES], path[FOLDER_PATH_BYTES + 8];
    char *paths[] = {path};
    const struct capture_info none = {.clock_hz = 0};
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE,
                                    .file_lost = {[LOSS_BUS] = 3},
                                    .source = {.known = true, .filtered = UINT64_MAX - 2}};
    struct trace_verdict verdict;
    struct bt_error error;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/out", folder);
    const int file = create(path);
    struct derived_writer *writer = derived_writer_new(file, path, &none, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    CU_ASSERT_EQUAL(derived_writer_close(writer, &totals, &error), 0);
    derived_writer_free(writer);
    close(file);
    CU_ASSERT_EQUAL(trace_judge(&verdict, paths, 1), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(verdict.why, "the counts of the boards are too large"));
    folder_remove(folder);
}

static void test_full(void)
{
    const struct capture_info none = {.clock_hz = 0};
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE};
    struct bt_error error;
    const int file = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct derived_writer *writer = derived_writer_new(file, "full", &none, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    CU_ASSERT_EQUAL(derived_writer_close(writer, &totals, &error), BT_FULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "full"));
    derived_writer_free(writer);
    close(file);
}

static const struct test_case cases[] = {{"batches of any size", test_copies},
                                         {"blocks", test_blocks},
                                         {"counts that are too large", test_large_counts},
                                         {"a full disk", test_full},
                                         {NULL, NULL}};
TEST_SUITE(derived_writer, cases)
