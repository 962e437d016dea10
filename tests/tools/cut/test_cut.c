/* Parts of random captures against a twin that decides record by record. */
#include "tools/cut/cut.h"

#include "formats/record/expression.h"
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

#define CAPTURES 300

/* What is cut. */
struct part {
    uint64_t first_tick, last_tick;
    uint64_t skip, count;
    const char *filter; /* NULL: none */
};

/* A capture on disk, what it holds, and room for what becomes of it. */
struct scene {
    char folder[FOLDER_PATH_BYTES];
    char names[RANDOM_CAPTURE_FILES][FOLDER_PATH_BYTES + 32];
    char *paths[RANDOM_CAPTURE_FILES];
    char out[FOLDER_PATH_BYTES + 8];
    int files;
    struct trace_items all, wanted, got;
};

static bool within(const struct part *part, uint64_t tick)
{
    return tick >= part->first_tick && tick <= part->last_tick;
}

static struct trace_item hole_of(const struct trace_item *item)
{
    struct trace_item hole = *item;
    hole.is_record = false;
    hole.gap = (struct gap){.milliseconds = 0};
    return hole;
}

/* The twin: doc/bustap-cut.1, "Losses and gaps". */
static void cut_slowly(struct trace_items *out, const struct trace_items *all, struct part *part,
                       const struct expression *expression)
{
    uint64_t skip = part->skip, left = part->count, removed = 0;
    bool past = false;
    out->count = 0;
    for (size_t i = 0; i < all->count && left > 0 && !past; i++) {
        struct trace_item item = all->items[i];
        const bool lost = loss_total(&item.lost) > 0;
        if (!item.is_record) {
            const uint64_t tick = lost ? item.lost.last_tick : item.tick;
            if (skip == 0 && within(part, tick))
                out->items[out->count++] = item;
            past = tick > part->last_tick;
            if (out->count > 0) /* all that follows belongs to the part */
                part->first_tick = 0;
            continue;
        }
        past = item.tick > part->last_tick;
        if (past && skip == 0 && lost && within(part, item.lost.last_tick))
            out->items[out->count++] = hole_of(&item);
        if (past || item.tick < part->first_tick)
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        left--;
        if (lost && item.lost.last_tick < part->first_tick)
            item.lost = (struct loss){.first_tick = 0};
        const bool matches =
            !expression || expression_match(expression, &item.record, item.index, item.tick);
        item.index -= removed;
        removed += !matches;
        part->first_tick = 0;
        item.is_record = matches;
        out->items[out->count++] = item;
    }
    out->after = (struct loss){.first_tick = 0};
    if (left > 0 && skip == 0 && !past && part->last_tick == UINT64_MAX &&
        all->after.last_tick >= part->first_tick)
        out->after = all->after;
}

/* Cuts the capture, and checks the result with the rules of `bustap verify`. */
static bool cut_fast(struct scene *scene, const struct part *part)
{
    struct input_report report;
    struct derived_counts counts;
    struct trace_verdict verdict;
    struct bt_error error;
    char text[80];
    char *paths[] = {scene->out};
    struct cut_settings settings = {.report = &report,
                                    .input.first = part->skip,
                                    .input.count = part->count,
                                    .input.filter = part->filter};
    if (part->first_tick > 0 || part->last_tick < UINT64_MAX) {
        int size = snprintf(text, sizeof text, "%" PRIu64 "ticks..", part->first_tick);
        if (part->last_tick < UINT64_MAX)
            snprintf(text + size, sizeof text - (size_t)size, "%" PRIu64 "ticks", part->last_tick);
        CU_ASSERT_EQUAL_FATAL(time_range_parse(&settings.input.time, text, &error), 0);
    }
    const int file = open(scene->out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    input_report_begin(&report, false);
    CU_ASSERT_EQUAL_FATAL(
        cut_run(&counts, file, "out", scene->files, scene->paths, &settings, &error), 0);
    CU_ASSERT_EQUAL(report.status, 0);
    close(file);
    CU_ASSERT_EQUAL(trace_judge(&verdict, paths, 1), 1);
    if (!verdict.complete)
        printf("\n%s", verdict.why);
    if (!verdict.complete)
        return false;
    trace_items_read(&scene->got, scene->out);
    CU_ASSERT_EQUAL(counts.end_index - counts.first_index,
                    counts.records + loss_total(&counts.lost));
    return true;
}

static bool check_part(struct scene *scene, const struct part *part)
{
    struct expression *expression = NULL;
    if (part->filter)
        CU_ASSERT_EQUAL_FATAL(expression_parse(&expression, part->filter, NULL, NULL), 0);
    if (expression)
        CU_ASSERT_EQUAL_FATAL(expression_clock(expression, 66000000, NULL), 0);
    const bool valid = cut_fast(scene, part);
    struct part rest = *part;
    cut_slowly(&scene->wanted, &scene->all, &rest, expression);
    expression_free(expression);
    if (!valid)
        return false;
    trace_items_join(&scene->got);
    trace_items_join(&scene->wanted);
    return trace_items_equal(&scene->got, &scene->wanted);
}

static struct part random_part(const struct trace_items *all, uint64_t *random)
{
    static const char *const filters[] = {
        NULL,    NULL, "type=FETCH", "processor=0-1 and index>20", "not size=4 or time<300ticks",
        "size=9"};
    struct part part = {.last_tick = UINT64_MAX, .count = UINT64_MAX};
    const uint64_t ticks = all->count > 0 ? all->items[all->count - 1].tick + 50 : 50;
    if (random_one_in(random, 2))
        part.first_tick = random_below(random, ticks);
    if (random_one_in(random, 2))
        part.last_tick = part.first_tick + random_below(random, ticks);
    if (random_one_in(random, 2) && all->count > 0) { /* the ticks of a record, exactly */
        part.first_tick = all->items[random_below(random, all->count)].tick;
        part.last_tick = part.last_tick < part.first_tick ? part.first_tick : part.last_tick;
    }
    if (random_one_in(random, 3))
        part.skip = random_below(random, all->count + 5);
    if (random_one_in(random, 3))
        part.count = random_below(random, all->count + 5);
    part.filter = filters[random_below(random, sizeof filters / sizeof *filters)];
    return part;
}

static void make_scene(struct scene *scene, uint64_t seed)
{
    char prefix[FOLDER_PATH_BYTES + 8];
    snprintf(prefix, sizeof prefix, "%s/p", scene->folder);
    snprintf(scene->out, sizeof scene->out, "%s/out", scene->folder);
    scene->files = random_capture_write(&scene->all, prefix, seed, seed % 2 == 0);
    for (int i = 0; i < scene->files; i++) { /* in any order */
        const int place = (i + (int)(seed % 3)) % scene->files;
        snprintf(scene->names[place], sizeof scene->names[place], "%s_%d.byu.gz", prefix, i + 1);
        scene->paths[place] = scene->names[place];
    }
}

static void test_twin(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    uint64_t random = random_seed(3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(scene);
    folder_make(scene->folder);
    for (uint64_t seed = 1; seed <= CAPTURES; seed++) {
        make_scene(scene, seed);
        const struct part whole = {.last_tick = UINT64_MAX, .count = UINT64_MAX};
        CU_ASSERT_TRUE(check_part(scene, &whole));
        for (int i = 0; i < 6; i++) {
            const struct part part = random_part(&scene->all, &random);
            const bool same = check_part(scene, &part);
            CU_ASSERT_TRUE(same);
            if (!same)
                printf("\nseed %" PRIu64 ": ticks %" PRIu64 " to %" PRIu64 ", skip %" PRIu64
                       ", count %" PRIu64 ", filter %s\n",
                       seed, part.first_tick, part.last_tick, part.skip, part.count,
                       part.filter ? part.filter : "none");
        }
    }
    folder_remove(scene->folder);
    free(scene);
}

static const struct test_case cases[] = {{"random parts, record by record", test_twin},
                                         {NULL, NULL}};
TEST_SUITE(cut, cases)
