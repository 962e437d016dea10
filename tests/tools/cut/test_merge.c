/* Merged random captures against a sort of all that they hold; clocks. */
#include "tools/cut/merge.h"

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

#define MERGES 200
#define INPUTS 4
#define PATHS  (INPUTS * RANDOM_CAPTURE_FILES)
#define OFFSET 500

/* What is merged, and room for what becomes of it. */
struct scene {
    char folder[FOLDER_PATH_BYTES];
    char names[PATHS][FOLDER_PATH_BYTES + 48];
    char *paths[PATHS];
    int count;
    int first_path[INPUTS];
    int inputs;
    char out[FOLDER_PATH_BYTES + 8];
    struct trace_items of[INPUTS];
    struct trace_items wanted, got;
};

/* An item with its place in the merged trace. */
struct placed {
    uint64_t key;
    size_t input, ordinal;
    struct trace_item item;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left;
    const struct placed *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->input != b->input)
        return a->input < b->input ? -1 : 1;
    return a->ordinal < b->ordinal ? -1 : 1;
}

static void add_placed(struct placed *placed, size_t *count, uint64_t *key, uint64_t at,
                       size_t input, const struct trace_item *item)
{
    struct placed *new = &placed[*count];
    *key = at > *key ? at : *key;
    *new = (struct placed){.key = *key, .input = input, .ordinal = (*count)++, .item = *item};
}

/* Places holes and records separately; a hole is not after the record that follows it. */
static void place_items(struct placed *placed, size_t *count, const struct trace_items *items,
                        size_t input, uint64_t later)
{
    uint64_t key = 0, tick = 0;
    struct trace_item hole = {.is_record = false};
    for (size_t i = 0; i <= items->count; i++) {
        struct trace_item item = {.tick = tick};
        if (i < items->count)
            item = items->items[i];
        loss_add(&hole.lost, &item.lost);
        gap_add(&hole.gap, &item.gap);
        tick = item.tick;
        if (i < items->count && !item.is_record)
            continue;
        const bool chosen = hole.gap.chosen;
        const bool lost = loss_total(&hole.lost) > 0;
        const bool early = lost && (!item.is_record || hole.lost.first_tick < item.tick);
        hole.gap.chosen = false;
        hole.tick = (early ? hole.lost.first_tick : item.tick) + later;
        hole.lost.first_tick += lost ? later : 0;
        hole.lost.last_tick += lost ? later : 0;
        if (lost || hole.gap.milliseconds > 0)
            add_placed(placed, count, &key, hole.tick, input, &hole);
        hole = (struct trace_item){.is_record = false};
        item.tick += later;
        item.lost = (struct loss){.first_tick = 0};
        item.gap = (struct gap){.chosen = chosen};
        if (item.is_record)
            add_placed(placed, count, &key, item.tick, input, &item);
    }
}

/* The twin: sorts everything. */
static void merge_slowly(struct scene *scene, uint64_t later)
{
    struct placed *placed = calloc(2 * INPUTS * (size_t)TRACE_ITEMS_MAX, sizeof *placed);
    struct trace_items *out = &scene->wanted;
    size_t count = 0;
    uint64_t index = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(placed);
    out->count = 0;
    out->after = (struct loss){.first_tick = 0};
    for (int i = 0; i < scene->inputs; i++) {
        place_items(placed, &count, &scene->of[i], (size_t)i, i == 1 ? later : 0);
        loss_add(&out->after, &scene->of[i].after);
    }
    qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < count; i++) {
        struct trace_item item = placed[i].item;
        if (item.lost.first_tick < placed[i].key)
            item.lost.first_tick = placed[i].key;
        if (item.lost.last_tick < item.lost.first_tick)
            item.lost.last_tick = item.lost.first_tick;
        index += loss_total(&item.lost);
        item.index = index;
        index += item.is_record;
        out->items[out->count++] = item;
    }
    free(placed);
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    char prefix[FOLDER_PATH_BYTES + 16];
    uint64_t random = random_seed(seed);
    scene->inputs = 2 + (int)random_below(&random, INPUTS - 1);
    scene->count = 0;
    snprintf(scene->out, sizeof scene->out, "%s/out", scene->folder);
    for (int i = 0; i < scene->inputs; i++) {
        snprintf(prefix, sizeof prefix, "%s/%d", scene->folder, i);
        int files =
            random_capture_write(&scene->of[i], prefix, 10 * seed + (uint64_t)i, seed % 2 == 0);
        scene->first_path[i] = scene->count;
        for (int file = files; file > 0; file--, scene->count++) {
            scene->paths[scene->count] = scene->names[scene->count];
            snprintf(scene->names[scene->count], sizeof scene->names[0], "%s_%d.byu.gz", prefix,
                     file);
        }
    }
}

/* Merges with the second input later by so many ticks. */
static bool merge_fast(struct scene *scene, uint64_t later)
{
    struct input_report report;
    struct derived_counts counts;
    struct trace_verdict verdict;
    struct bt_error error;
    char *paths[] = {scene->out};
    const char *second = scene->paths[scene->first_path[1]];
    const struct merge_file_offset offset = {
        .file = second,
        .length = strlen(second),
        .offset = {.given = true, .is_ticks = true, .value = (int64_t)later}};
    const struct merge_settings settings = {
        .offsets = &offset, .offset_count = later > 0, .report = &report};
    const int file = open(scene->out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    input_report_begin(&report, false);
    CU_ASSERT_EQUAL_FATAL(
        merge_run(&counts, file, "out", scene->count, scene->paths, &settings, &error), 0);
    CU_ASSERT_EQUAL(report.status, 0);
    close(file);
    CU_ASSERT_EQUAL(trace_judge(&verdict, paths, 1), 1);
    if (!verdict.complete)
        printf("\n%s", verdict.why);
    if (verdict.complete)
        trace_items_read(&scene->got, scene->out);
    return verdict.complete;
}

static void test_twin(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene);
    folder_make(scene->folder);
    for (uint64_t seed = 1; seed <= MERGES; seed++) {
        const uint64_t later = seed % 3 == 0 ? OFFSET : 0;
        make_scene(scene, seed);
        bool same = merge_fast(scene, later);
        merge_slowly(scene, later);
        trace_items_join(&scene->got);
        trace_items_join(&scene->wanted);
        same = same && trace_items_equal(&scene->got, &scene->wanted);
        CU_ASSERT_TRUE(same);
        if (!same)
            printf("\nseed %" PRIu64 "\n", seed);
    }
    folder_remove(scene->folder);
    free(scene);
}

/* --- clocks ---------------------------------------------------------------------------------- */

static struct capture_info info_of(uint8_t id, uint64_t clock_hz, int64_t started_ns)
{
    struct capture_info info = {.clock_hz = clock_hz, .started_ns = started_ns};
    info.id[0] = id;
    strcpy(info.board, id % 2 ? "odd" : "even");
    return info;
}

static int join(struct merge_clock *clock, struct merge_input inputs[2],
                const struct capture_info infos[2])
{
    for (int i = 0; i < 2; i++) {
        inputs[i].name = i ? "b" : "a";
        inputs[i].info = &infos[i];
    }
    struct bt_error error;
    return merge_clock_join(clock, inputs, 2, &error);
}

static void test_same_clock(void)
{
    const struct capture_info same[] = {info_of(1, 100, 7), info_of(3, 100, 7)};
    const struct capture_info parts[] = {info_of(1, 0, 0), info_of(1, 0, 0)};
    const struct capture_info boards[] = {info_of(1, 100, 7), info_of(2, 100, 7)};
    const struct capture_info starts[] = {info_of(1, 100, 7), info_of(3, 100, 8)};
    const struct capture_info unknown[] = {info_of(0, 0, 0), info_of(0, 0, 0)};
    struct merge_clock clock = {.clock_hz = 0};
    struct merge_input inputs[2] = {{.later = 9}};
    CU_ASSERT_EQUAL(join(&clock, inputs, same), 0);
    CU_ASSERT_EQUAL(clock.clock_hz, 100);
    CU_ASSERT_EQUAL(clock.started_ns, 7);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[1], 12), 12);
    clock = (struct merge_clock){.clock_hz = 0};
    CU_ASSERT_EQUAL(join(&clock, inputs, parts), 0);
    CU_ASSERT_EQUAL(join(&clock, inputs, boards), BT_USAGE);
    CU_ASSERT_EQUAL(join(&clock, inputs, starts), BT_USAGE);
    CU_ASSERT_EQUAL(join(&clock, inputs, unknown), BT_USAGE);
}

static void test_offsets(void)
{
    const struct capture_info infos[] = {info_of(1, 1000, 5000000), info_of(2, 1000, 9000000)};
    struct merge_clock clock = {.clock_hz = 0};
    struct merge_input inputs[2] = {{.later = 0}};
    CU_ASSERT_EQUAL(merge_offset_parse(&inputs[1].offset, "3ms", NULL), 0);
    CU_ASSERT_EQUAL(join(&clock, inputs, infos), 0);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], 10), 10);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[1], 10), 13);
    CU_ASSERT_EQUAL(clock.started_ns, 5000000);
    /* below 0: the other one is later, and tick 0 is earlier */
    CU_ASSERT_EQUAL(merge_offset_parse(&inputs[1].offset, "-4ticks", NULL), 0);
    CU_ASSERT_EQUAL(join(&clock, inputs, infos), 0);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], 10), 14);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[1], 10), 10);
    CU_ASSERT_EQUAL(clock.started_ns, 1000000);
    /* by the start times, 4 ms apart */
    clock = (struct merge_clock){.by_start = true};
    inputs[1].offset = (struct merge_offset){.given = false};
    CU_ASSERT_EQUAL(join(&clock, inputs, infos), 0);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], 10), 10);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[1], 10), 14);
    static const char *const wrong[] = {"", "x", "ticks", "5parsec", "99999999999999999999ticks"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(merge_offset_parse(&inputs[1].offset, wrong[i], NULL), BT_USAGE);
}

static void test_frequencies(void)
{
    const struct capture_info infos[] = {info_of(1, 1000, 0), info_of(2, 3000, 0)};
    const struct capture_info half[] = {info_of(1, 0, 0), info_of(2, 3000, 0)};
    struct merge_clock clock = {.clock_hz = 0};
    struct merge_input inputs[2] = {{.later = 0}};
    inputs[1].offset = (struct merge_offset){.given = true, .is_ticks = true, .value = 2};
    CU_ASSERT_EQUAL(join(&clock, inputs, infos), BT_USAGE);
    clock = (struct merge_clock){.clock_hz = 6000};
    CU_ASSERT_EQUAL(join(&clock, inputs, infos), 0);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], 10), 60);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[1], 10), 22);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], UINT64_MAX / 2), UINT64_MAX);
    /* a trace of an unknown clock needs an offset */
    clock = (struct merge_clock){.clock_hz = 0};
    CU_ASSERT_EQUAL(join(&clock, inputs, half), BT_USAGE);
    inputs[0].offset = (struct merge_offset){.given = true, .is_ticks = true};
    CU_ASSERT_EQUAL(join(&clock, inputs, half), 0);
    CU_ASSERT_EQUAL(clock.clock_hz, 3000);
    CU_ASSERT_EQUAL(merge_clock_tick(&clock, &inputs[0], 10), 10);
}

static const struct test_case cases[] = {{"random captures, sorted", test_twin},
                                         {"clocks that are the same", test_same_clock},
                                         {"offsets", test_offsets},
                                         {"frequencies", test_frequencies},
                                         {NULL, NULL}};
TEST_SUITE(merge, cases)
