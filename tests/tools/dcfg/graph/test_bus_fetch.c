/* Random programs on a bus: the instructions reported as certain were executed. */
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/x86_program.h"
#include "tools/dcfg/graph/bus_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXECUTED 2000u
#define FETCHED  20000u
#define DEPTH    2000

struct bus_step {
    uint32_t address;
    uint32_t time; /* of the fetch of its last byte's chunk */
    uint8_t processor;
    bool assumed;
};

/* A processor that fetches chunks and executes their instructions. */
struct fetch_processor {
    uint8_t number;
    int at; /* the instruction; -1: not started */
    int stack[DEPTH];
    int depth;
    uint64_t run_start, run_end; /* addresses fetched since the last branch */
    uint32_t run_time;           /* of the first of these fetches; each later one adds 1 */
};

struct bus_rig {
    struct sink sink;
    struct x86_program program;
    struct images *images;
    uint64_t random;
    uint32_t chunk;
    unsigned prefetch;
    struct fetch_processor processors[3];
    struct record fetches[FETCHED];
    size_t fetch_count;
    uint32_t times[3]; /* of the next fetch, by processor */
    struct bus_step truth[EXECUTED];
    size_t executed;
    struct bus_step found[4 * FETCHED];
    size_t found_count;
    unsigned holes;
};

/* --- the processor --- */

static void fetch(struct bus_rig *rig, struct fetch_processor *processor)
{
    rig->fetches[rig->fetch_count++] = (struct record){.address = (uint32_t)processor->run_end,
                                                       .size = (uint8_t)rig->chunk,
                                                       .processor = processor->number,
                                                       .time = rig->times[processor->number]++};
    processor->run_end += rig->chunk;
}

static void start_run(struct bus_rig *rig, struct fetch_processor *processor)
{
    uint32_t address = rig->program.instructions[processor->at].address;
    processor->run_start = processor->run_end = address / rig->chunk * rig->chunk;
    processor->run_time = rig->times[processor->number];
}

static int anywhere(struct bus_rig *rig)
{
    return (int)random_below(&rig->random, (uint64_t)rig->program.user_count);
}

/* The number of the next instruction; *taken unless it is the following one. */
static int follow(struct bus_rig *rig, struct fetch_processor *processor, bool *taken)
{
    const struct x86_instruction *instruction = &rig->program.instructions[processor->at];
    int next = processor->at + 1;
    *taken = instruction->kind != X86_PLAIN && instruction->kind != X86_REPEAT &&
             instruction->kind != X86_SYSTEM_CALL;
    switch (instruction->kind) {
    case X86_CONDITIONAL:
        *taken = random_one_in(&rig->random, 2);
        return *taken ? instruction->target : next;
    case X86_CALL:
    case X86_INDIRECT_CALL:
        if (processor->depth < DEPTH)
            processor->stack[processor->depth++] = next;
        return instruction->kind == X86_CALL ? instruction->target : anywhere(rig);
    case X86_JUMP:
        return instruction->target;
    case X86_INDIRECT_JUMP:
        return anywhere(rig);
    case X86_RETURN:
        return processor->depth > 0 ? processor->stack[--processor->depth] : anywhere(rig);
    default:
        return next;
    }
}

static void execute(struct bus_rig *rig, struct fetch_processor *processor)
{
    const struct x86_instruction *instruction = &rig->program.instructions[processor->at];
    while (processor->run_end < instruction->address + instruction->size)
        fetch(rig, processor);
    uint32_t offset = instruction->address + instruction->size - 1 - (uint32_t)processor->run_start;
    rig->truth[rig->executed++] =
        (struct bus_step){.address = instruction->address,
                          .time = processor->run_time + offset / rig->chunk,
                          .processor = processor->number};
    bool taken;
    processor->at = follow(rig, processor, &taken);
    if (!taken)
        return;
    for (uint64_t more = random_below(&rig->random, rig->prefetch + 1u); more > 0; more--)
        fetch(rig, processor);
    start_run(rig, processor);
}

/* --- the rig --- */

static int take(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct bus_rig *rig = (struct bus_rig *)sink;
    (void)error;
    rig->holes += batch_has_loss_or_gap(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        if (rig->found_count == 4 * FETCHED)
            return BT_MEMORY;
        rig->found[rig->found_count++] =
            (struct bus_step){.address = record->address,
                              .time = record->time,
                              .processor = record->processor,
                              .assumed = record->attribute & BUS_FETCH_ASSUMED};
    }
    return 0;
}

static const struct sink_operations operations = {take, NULL};

static void rig_start(struct bus_rig *rig, uint64_t seed, const char *folder)
{
    memset(rig, 0, sizeof *rig);
    rig->sink.operations = &operations;
    rig->random = random_seed(seed + 3);
    rig->chunk = 8u << seed % 3;
    rig->prefetch = seed % 5 == 0 ? 3 : seed % 2 ? 1 : 0;
    x86_program_make(&rig->program, seed, seed % 7 ? 32 : 64);
    rig->images = x86_program_load(&rig->program, folder, true, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig->images);
    unsigned processors = 1 + (unsigned)random_below(&rig->random, 3);
    for (unsigned p = 0; p < processors; p++) {
        rig->processors[p] = (struct fetch_processor){.number = (uint8_t)p};
        start_run(rig, &rig->processors[p]);
    }
    size_t wanted = 1 + random_below(&rig->random, EXECUTED);
    while (rig->executed < wanted)
        execute(rig, &rig->processors[random_below(&rig->random, processors)]);
}

static void reconstruct(struct bus_rig *rig, struct bus_fetch_counts *counts)
{
    struct bus_code *code = bus_code_new(rig->images, NULL);
    const struct bus_model model = {.chunk = rig->chunk, .ahead = (uint8_t)rig->prefetch};
    struct bus_fetch *bus = bus_fetch_new(&model, code, NULL, &rig->sink, NULL);
    for (size_t at = 0; at < rig->fetch_count;) {
        size_t count = 1 + random_below(&rig->random, 300);
        count = count < rig->fetch_count - at ? count : rig->fetch_count - at;
        const struct batch batch = {.records = rig->fetches + at, .count = count};
        CU_ASSERT_EQUAL(bus_fetch_put(bus, &batch, NULL), 0);
        at += count;
    }
    CU_ASSERT_EQUAL(bus_fetch_end(bus, NULL), 0);
    *counts = bus_fetch_counts(bus);
    CU_ASSERT_EQUAL(counts->instructions, rig->found_count);
    CU_ASSERT_EQUAL(counts->chunks, rig->fetch_count);
    bus_fetch_free(bus);
    bus_code_free(code);
}

/* The next step of a processor, or the count. */
static size_t next_step(const struct bus_step *steps, size_t count, size_t at, unsigned processor)
{
    while (at < count && steps[at].processor != processor)
        at++;
    return at;
}

/* The index of a step among those executed, starting at `at`; the count if it is missing. */
static size_t find(const struct bus_rig *rig, size_t at, const struct bus_step *step)
{
    while (at < rig->executed &&
           (rig->truth[at].processor != step->processor || rig->truth[at].time != step->time ||
            rig->truth[at].address != step->address))
        at++;
    return at;
}

/* Certain steps were executed, in this order; within a chunk, without others between them. all: no
 * other steps were executed. */
static bool check(const struct bus_rig *rig, unsigned processor, bool all, uint64_t *certain)
{
    const struct bus_step *last = NULL;
    size_t truth = 0; /* after the last certain step */
    size_t f = 0;
    for (; (f = next_step(rig->found, rig->found_count, f, processor)) < rig->found_count; f++) {
        const struct bus_step *found = &rig->found[f];
        if (!found->assumed) {
            size_t next = next_step(rig->truth, rig->executed, truth, processor);
            truth = find(rig, truth, found);
            bool follows = all || (last && !last->assumed && last->time == found->time);
            if (truth == rig->executed || (follows && truth != next)) {
                fprintf(stderr, "0x%x of fetch %u was not executed here\n", found->address,
                        found->time);
                return false;
            }
            truth++;
            ++*certain;
        }
        last = found;
    }
    return true;
}

/* The number of executed steps that were found, certain or assumed. */
static uint64_t count_right(const struct bus_rig *rig)
{
    uint64_t right = 0;
    for (unsigned p = 0; p < 3; p++) {
        size_t f = 0;
        for (size_t t = 0; (t = next_step(rig->truth, rig->executed, t, p)) < rig->executed; t++) {
            size_t at = f; /* found is in order of fetches, then of addresses */
            while ((at = next_step(rig->found, rig->found_count, at, p)) < rig->found_count &&
                   rig->found[at].time < rig->truth[t].time)
                at++;
            f = at;
            for (; at < rig->found_count &&
                   (rig->found[at].processor != p || rig->found[at].time == rig->truth[t].time);
                 at++)
                if (rig->found[at].processor == p &&
                    rig->found[at].address == rig->truth[t].address) {
                    right++;
                    break;
                }
        }
    }
    return right;
}

static void test_programs(void)
{
    char folder[FOLDER_PATH_BYTES];
    static struct bus_rig rig;
    uint64_t executed = 0;
    uint64_t certain = 0;
    uint64_t right = 0;
    bool good = true;
    folder_make(folder);
    for (uint64_t seed = 0; seed < 3000 && good; seed++) {
        struct bus_fetch_counts counts;
        rig_start(&rig, seed, folder);
        reconstruct(&rig, &counts);
        for (unsigned p = 0; p < 3; p++)
            good &= check(&rig, p, counts.assumed == 0, &certain);
        executed += rig.executed;
        right += count_right(&rig);
        if (counts.unexplained > 0 || counts.outside > 0)
            good = false;
        if (!good)
            fprintf(stderr, "seed %llu: %llu unexplained, %llu outside\n", (unsigned long long)seed,
                    (unsigned long long)counts.unexplained, (unsigned long long)counts.outside);
        images_free(rig.images);
    }
    folder_remove(folder);
    CU_ASSERT(good);
    /* low figures: random programs branch often, and most returns have no call */
    CU_ASSERT(certain > executed / 5);
    CU_ASSERT(right > executed / 2);
}

/* Random chunks of all sizes, not from a program; also long runs. */
static void test_anything(void)
{
    char folder[FOLDER_PATH_BYTES];
    static struct bus_rig rig;
    folder_make(folder);
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct bus_fetch_counts counts;
        rig_start(&rig, seed, folder);
        uint64_t random = random_seed(seed);
        uint32_t address = X86_PROGRAM_USER;
        rig.fetch_count = 1000;
        for (size_t i = 0; i < rig.fetch_count; i++) {
            uint8_t size = (uint8_t)(8u << random_below(&random, seed % 3 + 1));
            if (random_one_in(&random, 20))
                size = (uint8_t)random_below(&random, 70);
            if (random_one_in(&random, 1 + seed))
                address = X86_PROGRAM_USER - 64 + (uint32_t)random_below(&random, 700);
            if (size > 0 && !random_one_in(&random, 20))
                address -= address % size;
            rig.fetches[i] = (struct record){.address = address, .size = size};
            address += size;
        }
        reconstruct(&rig, &counts);
        CU_ASSERT(counts.assumed <= counts.instructions);
        CU_ASSERT(counts.prefetched + counts.unexplained + counts.outside <= counts.chunks);
        images_free(rig.images);
    }
    folder_remove(folder);
}

/* A hole is passed on. */
static void test_holes(void)
{
    char folder[FOLDER_PATH_BYTES];
    static struct bus_rig rig;
    folder_make(folder);
    rig_start(&rig, 4, folder);
    struct bus_code *code = bus_code_new(rig.images, NULL);
    const struct bus_model model = {.chunk = rig.chunk};
    struct bus_fetch *bus = bus_fetch_new(&model, code, NULL, &rig.sink, NULL);
    struct batch batch = {.records = rig.fetches, .count = rig.fetch_count / 2};
    CU_ASSERT_EQUAL(bus_fetch_put(bus, &batch, NULL), 0);
    CU_ASSERT_EQUAL(rig.holes, 0);
    batch.records += batch.count;
    batch.lost.count[LOSS_BUS] = 1;
    CU_ASSERT_EQUAL(bus_fetch_put(bus, &batch, NULL), 0);
    CU_ASSERT_EQUAL(bus_fetch_end(bus, NULL), 0);
    CU_ASSERT_EQUAL(rig.holes, 1);
    bus_fetch_free(bus);
    bus_code_free(code);
    images_free(rig.images);
    folder_remove(folder);
}

static const struct test_case cases[] = {{"random programs", test_programs},
                                         {"random chunks", test_anything},
                                         {"holes", test_holes},
                                         {NULL, NULL}};
TEST_SUITE(bus_fetch, cases)
