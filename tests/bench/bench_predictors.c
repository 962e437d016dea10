/*
 * Branch predictors alone: conditional branches predicted, trained and taken into histories, of a
 * stream with loops, correlation and noise over 2000 branches; and a front end of all of them, with
 * return stack and target buffer.
 *
 * usage: predictors [MILLION_BRANCHES]    (4)
 */
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tools/rondo/front_end.h"
#include "tools/rondo/predictor.h"

#include <stdio.h>
#include <stdlib.h>

#define PLACES 2000u
#define RUNS   3

static const char *const texts[] = {
    "backward",           "bimodal", "gshare",
    "gshare:entries=64K", "local",   "tournament",
    "perceptron",         "tage",    "tage:tables=12,entries=2K,history=4..640"};

static void make_stream(struct branch *branches, size_t count)
{
    uint64_t random = random_seed(1), past = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < count; i++) {
        struct branch *branch = &branches[i];
        *branch = (struct branch){.address = 0x400000 + place * 11,
                                  .next = 0x400000 + place * 11 + 2,
                                  .target = 0x400000 + (place * 7919) % (PLACES * 11),
                                  .kind = BRANCH_CONDITIONAL};
        branch->taken = place % 5 == 0   ? random_one_in(&random, 8)
                        : place % 5 == 1 ? (past >> place % 30 & 1) != 0
                                         : place % 5 < 4;
        past = past << 1 | branch->taken;
        place = branch->taken && random_one_in(&random, 20) ? (place * 31 + 7) % PLACES
                                                            : (place + 1) % PLACES;
    }
}

static int bench_predictor(const char *text, const struct branch *branches, size_t count)
{
    struct predictor_settings settings;
    struct bt_error error;
    double best = 1e9;
    uint64_t wrong = 0;
    if (predictor_settings_read(&settings, text, &error) < 0)
        return -1;
    for (int run = 0; run < RUNS; run++) {
        struct measure measure;
        struct predictor *predictor = predictor_new(&settings, &error);
        if (!predictor)
            return -1;
        wrong = 0;
        measure_begin(&measure);
        for (size_t i = 0; i < count; i++) {
            wrong += predictor_predict(predictor, &branches[i]) != branches[i].taken;
            predictor_train(predictor, &branches[i]);
            predictor_shift(predictor, &branches[i], branches[i].taken);
        }
        measure_end(&measure);
        predictor_free(predictor);
        best = measure.cpu < best ? measure.cpu : best;
    }
    printf("  %-42s %7.1f million branches/s, %5.2f %% wrong\n", text, (double)count / best / 1e6,
           100.0 * (double)wrong / (double)count);
    return 0;
}

static int bench_front_end(const struct branch *branches, size_t count)
{
    struct front_end_settings settings = {
        .targets = {.return_stack = 16, .buffer_entries = 4096, .buffer_ways = 4},
        .by_branch = true};
    struct bt_error error;
    struct measure measure;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (predictor_settings_read(&settings.predictors[settings.predictor_count++], texts[i],
                                    &error) < 0)
            return -1;
    struct front_end *front_end = front_end_new(&settings, &error);
    if (!front_end)
        return -1;
    measure_begin(&measure);
    for (size_t i = 0; i < count; i++)
        front_end_put(front_end, &branches[i]);
    measure_end(&measure);
    front_end_free(front_end);
    printf("  %-42s %7.1f million branches/s\n", "a front end of all these, by branch",
           (double)count / measure.cpu / 1e6);
    return 0;
}

int main(int argument_count, char **arguments)
{
    const size_t count =
        (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 4) * (size_t)1000000;
    struct branch *branches = malloc((count + 1) * sizeof *branches);
    int result = branches ? 0 : -1;
    if (branches)
        make_stream(branches, count);
    puts("predictors: one processor's time");
    for (size_t i = 0; result == 0 && i < sizeof texts / sizeof *texts; i++)
        result = bench_predictor(texts[i], branches, count);
    if (result == 0)
        result = bench_front_end(branches, count);
    free(branches);
    return result == 0 ? 0 : 3;
}
