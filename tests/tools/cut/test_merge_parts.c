/* Parts of one capture, merged: what is lost and what filters exclude, against a twin that decides
 * record by record. */
#include "tools/cut/merge_parts.h"

#include "formats/record/expression.h"
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/random_capture.h"
#include "tests/support/trace_judge.h"
#include "tools/cut/cut.h"
#include "tools/cut/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPTURES  300
#define PARTS_MAX 4

/* Records skip to skip + count of the capture that match. */
struct wanted_part {
    uint64_t skip, count;
    const char *filter;
};

struct scene {
    char folder[FOLDER_PATH_BYTES];
    char names[RANDOM_CAPTURE_FILES + PARTS_MAX + 1][FOLDER_PATH_BYTES + 32];
    int files;
    struct trace_items all;
    struct wanted_part parts[PARTS_MAX];
    int part_count;
};

static const char *const disjoint[] = {"processor=0", "processor=1", "processor=2 and type=FETCH",
                                       "processor=3"};

/* All parts from the beginning to the end, with filters of which at most one matches; or parts that
 * follow each other, with any filter. */
static void choose_parts(struct scene *scene, uint64_t *random)
{
    const bool same_range = random_one_in(random, 2);
    uint64_t at = 0;
    scene->part_count = 2 + (int)random_below(random, PARTS_MAX - 1);
    for (int i = 0; i < scene->part_count; i++) {
        struct wanted_part *part = &scene->parts[i];
        *part = (struct wanted_part){.count = UINT64_MAX, .filter = disjoint[i]};
        if (same_range)
            continue;
        part->skip = at;
        if (i + 1 < scene->part_count)
            part->count = random_below(random, scene->all.count / 2 + 2);
        at += i + 1 < scene->part_count ? part->count : 0;
        part->filter = random_one_in(random, 3) ? NULL : disjoint[random_below(random, 4)];
    }
}

/* The twin: the requests of the parts that are lost, match and do not match. */
static void count_slowly(struct scene *scene, struct derived_counts *counts)
{
    struct expression *filters[PARTS_MAX] = {NULL};
    uint64_t number = 0;
    *counts = (struct derived_counts){.lost = scene->all.after};
    for (int i = 0; i < scene->part_count; i++)
        if (scene->parts[i].filter)
            CU_ASSERT_EQUAL_FATAL(expression_parse(&filters[i], scene->parts[i].filter, NULL, NULL),
                                  0);
    for (size_t i = 0; i < scene->all.count; i++) {
        const struct trace_item *item = &scene->all.items[i];
        loss_add(&counts->lost, &item->lost);
        if (!item->is_record)
            continue;
        bool held = false;
        for (int j = 0; j < scene->part_count; j++) {
            const struct wanted_part *part = &scene->parts[j];
            held = held || (number >= part->skip && number - part->skip < part->count &&
                            (!filters[j] ||
                             expression_match(filters[j], &item->record, item->index, item->tick)));
        }
        number++;
        counts->records += held;
        counts->filtered += !held;
    }
    for (int i = 0; i < scene->part_count; i++)
        expression_free(filters[i]);
}

static int create(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* Cuts the parts, merges them in any order, and verifies the result. */
static bool merge_fast(struct scene *scene, struct derived_counts *counts, uint64_t order)
{
    char *paths[RANDOM_CAPTURE_FILES + PARTS_MAX + 1], *parts[PARTS_MAX];
    struct input_report report;
    struct trace_verdict verdict;
    struct bt_error error;
    input_report_begin(&report, false);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        paths[i] = scene->names[i];
    for (int i = 0; i < scene->part_count; i++) {
        const struct wanted_part *part = &scene->parts[i];
        const struct cut_settings settings = {.report = &report,
                                              .input.first = part->skip,
                                              .input.count = part->count,
                                              .input.filter = part->filter};
        char *path = scene->names[RANDOM_CAPTURE_FILES + i];
        parts[(i + order) % (uint64_t)scene->part_count] = path;
        const int file = create(path);
        CU_ASSERT_EQUAL_FATAL(cut_run(counts, file, path, scene->files, paths, &settings, &error),
                              0);
        close(file);
    }
    const struct merge_settings settings = {.report = &report};
    char *out = scene->names[RANDOM_CAPTURE_FILES + PARTS_MAX];
    const int file = create(out);
    CU_ASSERT_EQUAL_FATAL(merge_run(counts, file, out, scene->part_count, parts, &settings, &error),
                          0);
    close(file);
    CU_ASSERT_EQUAL(report.status, 0);
    CU_ASSERT_EQUAL(trace_judge(&verdict, &out, 1), 1);
    return verdict.complete;
}

static void test_twin(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct derived_counts got, wanted;
    uint64_t random = random_seed(5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene);
    folder_make(scene->folder);
    for (int i = 0; i <= RANDOM_CAPTURE_FILES + PARTS_MAX; i++)
        snprintf(scene->names[i], sizeof scene->names[i], "%s/p_%d.byu.gz", scene->folder, i + 1);
    for (uint64_t seed = 1; seed <= CAPTURES; seed++) {
        char prefix[FOLDER_PATH_BYTES + 8];
        snprintf(prefix, sizeof prefix, "%s/p", scene->folder);
        scene->files = random_capture_write(&scene->all, prefix, seed, false);
        choose_parts(scene, &random);
        const bool valid = merge_fast(scene, &got, seed);
        count_slowly(scene, &wanted);
        const bool same = valid && got.records == wanted.records &&
                          got.filtered == wanted.filtered &&
                          memcmp(got.lost.count, wanted.lost.count, sizeof got.lost.count) == 0;
        CU_ASSERT_TRUE(same);
        if (!same)
            printf("\nseed %" PRIu64 ", %d parts: %" PRIu64 " records, %" PRIu64
                   " filtered, %" PRIu64 " lost; wanted %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n",
                   seed, scene->part_count, got.records, got.filtered, loss_total(&got.lost),
                   wanted.records, wanted.filtered, loss_total(&wanted.lost));
    }
    folder_remove(scene->folder);
    free(scene);
}

static struct capture_info info_of(uint8_t id, uint64_t first_index, bool derived)
{
    struct capture_info info = {.first_index = first_index, .derived = derived};
    info.id[0] = id;
    return info;
}

static void end(struct merge_parts *parts, size_t input, uint64_t records, uint64_t end_index,
                uint64_t filtered)
{
    const struct merge_part_end part = {
        .records = records, .end_index = end_index, .filtered = filtered};
    merge_parts_end(parts, input, &part);
}

static void test_filtered(void)
{
    const struct capture_info infos[] = {info_of(1, 0, true), info_of(2, 0, false),
                                         info_of(1, 50, true), info_of(0, 0, false),
                                         info_of(0, 0, false)};
    struct merge_parts *parts = merge_parts_new(5);
    CU_ASSERT_PTR_NOT_NULL_FATAL(parts);
    for (int i = 0; i < 5; i++)
        merge_parts_add(parts, &infos[i]);
    /* requests 0 to 99 and 50 to 149 of one capture: 30 + 60 of 150 are held */
    end(parts, 0, 30, 30, 70);
    end(parts, 2, 60, 110, 40);
    /* what a board excludes has no indices */
    end(parts, 1, 10, 10, 5);
    /* raw traces are of different captures */
    end(parts, 3, 7, 7, 0);
    end(parts, 4, 7, 7, 0);
    CU_ASSERT_EQUAL(merge_parts_filtered(parts), 60 + 5);
    /* all held, some of them twice; counts of a damaged file */
    end(parts, 0, 100, 100, 0);
    end(parts, 2, 100, 150, 0);
    CU_ASSERT_EQUAL(merge_parts_filtered(parts), 5);
    end(parts, 1, 10, 10, UINT64_MAX);
    CU_ASSERT_EQUAL(merge_parts_filtered(parts), UINT64_MAX);
    merge_parts_free(parts);
}

static uint64_t take(struct merge_parts *parts, size_t input, uint64_t bus, uint64_t disk,
                     uint32_t milliseconds)
{
    struct loss lost = {.count = {[LOSS_BUS] = bus, [LOSS_DISK] = disk}};
    struct gap gap = {.milliseconds = milliseconds, .uncounted = milliseconds > 0};
    merge_parts_take_hole(parts, input, &lost, &gap);
    CU_ASSERT_EQUAL(gap.uncounted, gap.milliseconds > 0);
    return loss_total(&lost) + 1000 * gap.milliseconds;
}

static void test_holes(void)
{
    const struct capture_info infos[] = {info_of(1, 0, true), info_of(1, 0, true),
                                         info_of(2, 0, true), info_of(1, 90, true)};
    struct merge_parts *parts = merge_parts_new(4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(parts);
    for (int i = 0; i < 4; i++)
        merge_parts_add(parts, &infos[i]);
    CU_ASSERT_EQUAL(take(parts, 0, 5, 1, 20), 20006);
    CU_ASSERT_EQUAL(take(parts, 1, 2, 1, 0), 0);
    CU_ASSERT_EQUAL(take(parts, 2, 5, 1, 20), 20006);
    CU_ASSERT_EQUAL(take(parts, 1, 4, 0, 20), 1); /* joined losses: 1 is new */
    CU_ASSERT_EQUAL(take(parts, 0, 1, 0, 30), 30000);
    /* a part that begins later */
    merge_parts_begin(parts, 3);
    CU_ASSERT_EQUAL(take(parts, 3, 5, 0, 0), 5);
    CU_ASSERT_EQUAL(take(parts, 0, 6, 0, 0), 1);
    merge_parts_free(parts);
}

static const struct test_case cases[] = {{"parts of random captures", test_twin},
                                         {"what filters exclude", test_filtered},
                                         {"losses and gaps", test_holes},
                                         {NULL, NULL}};
TEST_SUITE(merge_parts, cases)
