/* Losses at the borders of what --skip, -n and --time select, against a list of all records and
 * losses. */
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/members.h"
#include "tests/support/random.h"
#include "tools/input/record_input.h"

#include <stdlib.h>

#define MEMBERS     30u
#define RECORDS_MAX 8u /* of a member */
#define ITEMS_MAX   (MEMBERS * (RECORDS_MAX + 1))

/* A record, or a loss. */
struct item {
    uint64_t lost; /* 0: a record */
    uint64_t first_tick, last_tick;
    uint64_t index;  /* of a record */
    uint64_t before; /* number of records before it */
};

struct listed {
    struct item items[ITEMS_MAX];
    size_t count, records;
};

static void add(struct listed *listed, const struct item *item)
{
    listed->items[listed->count] = *item;
    listed->items[listed->count++].before = listed->records;
    listed->records += item->lost == 0;
}

/* Appends a member with random records, perhaps none, and perhaps a loss before them. */
static void append_member(struct members *file, struct listed *all, struct batch *last,
                          uint64_t *random)
{
    struct record records[RECORDS_MAX];
    struct batch batch = {.records = records, .first_tick = last->last_tick};
    uint64_t tick = last->last_tick;
    batch.first_index = last->first_index + last->count;
    if (random_one_in(random, 2)) {
        batch.lost = (struct loss){.count = {1 + random_below(random, 5)},
                                   .first_tick = tick + random_below(random, 30)};
        tick = batch.lost.last_tick = batch.lost.first_tick + random_below(random, 50);
        batch.first_index += batch.lost.count[0];
        add(all, &(struct item){.lost = batch.lost.count[0],
                                .first_tick = batch.lost.first_tick,
                                .last_tick = batch.lost.last_tick});
    }
    batch.count = (size_t)random_below(random, RECORDS_MAX + 1);
    for (size_t i = 0; i < batch.count; i++) {
        const uint64_t time = random_below(random, 20);
        tick += time;
        records[i] = (struct record){.type = REQUEST_FETCH,
                                     .time = (uint32_t)(i ? time : tick - batch.first_tick)};
        if (i == 0)
            batch.first_tick = tick;
        add(all,
            &(struct item){.first_tick = tick, .last_tick = tick, .index = batch.first_index + i});
    }
    batch.last_tick = batch.count ? tick : last->last_tick;
    if (batch.count > 0 || batch.lost.count[0] > 0)
        members_append_data(file, RECORD_ENGINE_BEST, &batch);
    *last = batch;
}

static struct test_path *make_file(struct listed *all, uint64_t *random, bool pipe)
{
    const struct capture_info info = {.id = {1}, .file_number = 1};
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE, .final = true};
    struct members file = {0};
    struct batch last = {.count = 0};
    members_append_header(&file, &info);
    for (unsigned i = 0; i < MEMBERS; i++)
        append_member(&file, all, &last, random);
    totals.file_records = totals.capture_records = all->records;
    totals.end_index = last.first_index + last.count;
    totals.last_tick = last.last_tick;
    for (size_t i = 0; i < all->count; i++)
        totals.file_lost[0] += all->items[i].lost;
    totals.capture_lost[0] = totals.file_lost[0];
    members_append_closing(&file, &totals);
    struct test_path *path =
        pipe ? test_path_pipe(file.bytes, file.size) : test_path_file(file.bytes, file.size);
    free(file.bytes);
    return path;
}

/* What the settings select of all. */
static void select_listed(struct listed *chosen, const struct listed *all,
                          const struct record_input_settings *settings)
{
    const uint64_t first = settings->time.from.length;
    const uint64_t last = settings->time.given ? settings->time.to.length : UINT64_MAX;
    uint64_t passed = 0; /* records before those of the time */
    for (size_t i = 0; i < all->count; i++) {
        const struct item *item = &all->items[i];
        const bool within = item->first_tick <= last && item->last_tick >= first;
        if (item->lost == 0 && item->first_tick < first)
            passed++;
        if (!within || item->before < passed + settings->first ||
            chosen->records >= settings->count)
            continue;
        add(chosen, item);
    }
}

static void take(struct listed *taken, const struct test_path *file,
                 const struct record_input_settings *settings)
{
    char *path = (char *)test_path_name(file);
    struct record_input *input;
    const struct batch *batch;
    struct bt_error error;
    int result;
    CU_ASSERT_EQUAL_FATAL(record_input_open(&input, 1, &path, settings, &error), 0);
    while ((result = record_input_next(input, &batch, &error)) == 1) {
        uint64_t tick = batch->first_tick;
        if (loss_total(&batch->lost) > 0)
            add(taken, &(struct item){.lost = loss_total(&batch->lost),
                                      .first_tick = batch->lost.first_tick,
                                      .last_tick = batch->lost.last_tick});
        for (size_t i = 0; i < batch->count; i++) {
            tick += i ? batch->records[i].time : 0;
            add(taken, &(struct item){
                           .first_tick = tick, .last_tick = tick, .index = batch->first_index + i});
        }
        CU_ASSERT(batch->count == 0 || batch->last_tick == tick);
    }
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(record_input_close(input), 0);
}

static void check(const struct listed *all, const struct test_path *file,
                  const struct record_input_settings *settings)
{
    struct listed chosen = {.count = 0}, taken = {.count = 0};
    select_listed(&chosen, all, settings);
    take(&taken, file, settings);
    CU_ASSERT_EQUAL_FATAL(taken.count, chosen.count);
    for (size_t i = 0; i < taken.count; i++) {
        const struct item *is = &taken.items[i], *wanted = &chosen.items[i];
        CU_ASSERT(is->lost == wanted->lost && is->index == wanted->index &&
                  is->first_tick == wanted->first_tick && is->last_tick == wanted->last_tick);
    }
}

static void check_random(uint64_t seed)
{
    uint64_t random = random_seed(seed), again = random;
    struct listed all = {.count = 0};
    struct test_path *file = make_file(&all, &random, false);
    for (unsigned i = 0; i < 40; i++) {
        struct record_input_settings settings = {.count = UINT64_MAX};
        if (random_one_in(&random, 2)) {
            const uint64_t end = all.items[all.count - 1].last_tick;
            const uint64_t from = random_below(&random, end + 1);
            const uint64_t to = from + random_below(&random, 1 + end / 3);
            settings.time = (struct time_range){
                .given = true, .from = {EXTENT_TICKS, from}, .to = {EXTENT_TICKS, to}};
        }
        if (!settings.time.given || random_one_in(&random, 3))
            settings.first = random_below(&random, all.records + 1);
        settings.keep_ticks = random_one_in(&random, 3);
        if (random_one_in(&random, 3))
            settings.count = 1 + random_below(&random, all.records);
        check(&all, file, &settings);
        if (i % 8 == 0) {
            struct listed same = {.count = 0};
            uint64_t repeated = again;
            struct test_path *pipe = make_file(&same, &repeated, true);
            check(&same, pipe, &settings);
            test_path_free(pipe);
        }
    }
    test_path_free(file);
}

static void test_twin(void)
{
    for (uint64_t seed = 1; seed <= 25; seed++)
        check_random(seed);
}

static const struct test_case cases[] = {{"against a list", test_twin}, {NULL, NULL}};
TEST_SUITE(record_input_borders, cases)
