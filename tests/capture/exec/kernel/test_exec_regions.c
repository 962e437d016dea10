/* Regions of a program: struct regions against a model that examines each instruction. */
#include "capture/exec/dispatch/breakpoints.h"
#include "capture/exec/dispatch/mark_of.h"
#include "capture/exec/kernel/regions.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <string.h>

#define THREADS 3u
#define STEPS   400u
#define DEPTH   12u
#define BACK    100u /* return addresses of calls are above this one */

/* Code addresses of the random programs. */
enum { NOWHERE, FROM, UNTIL, BOTH, PLACES };

/* An instruction: its thread, its address, and its stack pointer. */
struct step {
    unsigned thread;
    uint64_t address, stack, back; /* back: the value at the stack pointer */
};

/* Return addresses of a thread's calls; one may be that of the region's function. */
struct frames {
    uint64_t back[DEPTH];
    unsigned depth;
};

/* --- the twin: knows all frames, and examines each instruction -------------------------------- */

struct twin {
    struct region_rules rules;
    bool open, ended;
    unsigned inside[THREADS]; /* depth of the outermost call of the function; 0: none */
    uint64_t in_regions, captured;
};

static bool twin_gate(struct twin *twin, const struct step *step, unsigned depth)
{
    bool from = step->address == FROM || step->address == BOTH;
    bool until = step->address == UNTIL || step->address == BOTH;
    switch (twin->rules.gate) {
    case REGION_ALWAYS:
        return true;
    case REGION_MARKERS:
        twin->open = from || (twin->open && !until);
        return twin->open;
    case REGION_CALLS:
        if (twin->inside[step->thread] > depth)
            twin->inside[step->thread] = 0;
        if (twin->inside[step->thread] == 0 && from)
            twin->inside[step->thread] = depth;
        return twin->inside[step->thread] > 0;
    default:
        if (twin->rules.once && until && twin->open && twin->in_regions >= twin->rules.skip)
            twin->ended = true;
        twin->open = from || (twin->open && !(until && !twin->rules.once));
        return twin->open && !twin->ended;
    }
}

/* Whether the instruction is captured. */
static bool twin_step(struct twin *twin, const struct step *step, unsigned depth)
{
    const struct region_rules *rules = &twin->rules;
    if (twin->ended || !twin_gate(twin, step, depth))
        return false;
    uint64_t number = twin->in_regions++;
    if (number < rules->skip ||
        (rules->off > 0 && (number - rules->skip) % (rules->on + rules->off) >= rules->on))
        return false;
    twin->captured++;
    twin->ended = rules->limit && twin->captured == rules->limit;
    return true;
}

/* --- random programs ------------------------------------------------------------------------- */

static struct step make_step(struct frames *frames, unsigned thread, uint64_t *random)
{
    struct frames *own = &frames[thread];
    struct step step = {.thread = thread, .address = random_below(random, PLACES)};
    if (own->depth > 1 && random_one_in(random, 4)) {
        step.address = own->back[--own->depth]; /* returned */
    } else if (own->depth + 1 < DEPTH && random_one_in(random, 4)) {
        own->back[own->depth++] = BACK + random_below(random, 6); /* called */
    } else if (step.address == FROM || step.address == BOTH) {
        step.address = NOWHERE; /* functions begin with calls */
    }
    if (step.address >= BACK)
        return (struct step){thread, step.address, 1000 - 8 * (uint64_t)own->depth, 0};
    step.stack = 1000 - 8 * (uint64_t)own->depth;
    step.back = own->back[own->depth - 1];
    return step;
}

static struct region_rules make_rules(uint64_t *random)
{
    struct region_rules rules = {.gate = (enum region_gate)random_below(random, 4)};
    rules.once = rules.gate == REGION_ADDRESSES && random_one_in(random, 3);
    rules.open = rules.gate == REGION_ADDRESSES && random_one_in(random, 3);
    rules.skip = random_one_in(random, 2) ? random_below(random, 50) : 0;
    rules.limit = random_one_in(random, 2) ? 1 + random_below(random, 100) : 0;
    if (random_one_in(random, 2)) {
        rules.on = 1 + random_below(random, 20);
        rules.off = 1 + random_below(random, 20);
    }
    return rules;
}

/* --- struct regions, with the events of an executor: places and requested counts -------------- */

static void report_place(struct regions *regions, struct region_call *call, const struct step *step)
{
    bool from = step->address == FROM || step->address == BOTH;
    bool until = step->address == UNTIL || step->address == BOTH;
    if (regions->rules.gate == REGION_MARKERS) {
        if (from || until)
            regions_mark(regions, from);
    } else if (regions->rules.gate == REGION_CALLS) {
        regions_returned(call, step->address, step->stack);
        if (from)
            regions_called(regions, call, step->stack, step->back);
    } else if (regions->rules.gate == REGION_ADDRESSES && (from || until)) {
        regions_reach(regions, until, from);
    }
}

/* Whether both agree on one program. */
static bool agree(uint64_t seed)
{
    uint64_t random = random_seed(seed), counted = 0, pieces = 0;
    struct frames frames[THREADS] = {{.depth = 0}};
    struct region_call calls[THREADS] = {{.inside = false}};
    struct twin twin = {.rules = make_rules(&random)};
    struct regions regions;
    bool missed = false, same = true;
    twin.open = twin.rules.open;
    regions_begin(&regions, &twin.rules);
    for (unsigned i = 0; i < THREADS; i++)
        frames[i].back[frames[i].depth++] = BACK;
    for (unsigned i = 0; i < STEPS && same; i++) {
        uint64_t until;
        const struct step step =
            make_step(frames, (unsigned)random_below(&random, THREADS), &random);
        struct region_call *call = &calls[step.thread];
        regions_state(&regions, call, &until);
        if (until == counted && counted > 0)
            regions_count(&regions, counted);
        report_place(&regions, call, &step);
        bool captured = regions_state(&regions, call, &until) == REGION_CAPTURED;
        bool expected = twin_step(&twin, &step, frames[step.thread].depth);
        if (captured)
            pieces += regions_begin_piece(&regions, call);
        counted = twin.in_regions;
        regions_count(&regions, counted);
        same = captured == expected && regions_captured(&regions) == twin.captured &&
               (until == 0 || until >= counted);
        missed = missed || !expected;
    }
    if (twin.rules.gate == REGION_ALWAYS && twin.rules.off == 0)
        same = same && pieces == 0;
    return same && pieces + (twin.captured > 0) == regions.regions && (missed || pieces == 0);
}

static void test_twin(void)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        bool same = agree(seed);
        CU_ASSERT_TRUE(same);
        if (!same) {
            fprintf(stderr, "seed %d\n", (int)seed);
            return;
        }
    }
}

/* Gaps are reported only if instructions were left out after captured ones. */
static void test_gaps(void)
{
    struct regions regions;
    struct region_call call = {.inside = false};
    const struct region_rules pair = {.gate = REGION_ADDRESSES};
    regions_begin(&regions, &pair);
    regions_reach(&regions, false, true);
    CU_ASSERT_FALSE(regions_begin_piece(&regions, &call)); /* the first */
    CU_ASSERT_FALSE(regions_begin_piece(&regions, &call)); /* still the same */
    regions_count(&regions, 10);
    regions_reach(&regions, true, true); /* ends and begins at once: nothing is left out */
    CU_ASSERT_FALSE(regions_begin_piece(&regions, &call));
    regions_reach(&regions, true, false);
    regions_reach(&regions, false, true);
    CU_ASSERT_TRUE(regions_begin_piece(&regions, &call));
    CU_ASSERT_EQUAL(regions.regions, 2);
}

/* A call left by longjmp() ends when the function is called from further up the stack. */
static void test_left_call(void)
{
    struct regions regions;
    struct region_call call = {.inside = false};
    const struct region_rules rules = {.gate = REGION_CALLS};
    regions_begin(&regions, &rules);
    regions_called(&regions, &call, 500, 7);
    regions_called(&regions, &call, 400, 8); /* recursion */
    regions_returned(&call, 7, 404);         /* the same address, deeper */
    CU_ASSERT_TRUE(call.inside);
    regions_called(&regions, &call, 600, 10);
    regions_called(&regions, &call, 600, 9); /* from elsewhere in the same function */
    regions_returned(&call, 7, 508);
    CU_ASSERT_TRUE(call.inside);
    regions_returned(&call, 9, 608);
    CU_ASSERT_FALSE(call.inside);
}

static void test_stops(void)
{
    struct breakpoints breakpoints = {.addresses = NULL};
    uint64_t random = random_seed(3);
    CU_ASSERT_FALSE(breakpoints_has(&breakpoints, 5));
    for (uint64_t i = 1; i < 1000; i++) {
        CU_ASSERT_EQUAL(breakpoints_has(&breakpoints, 3 * i), false);
        CU_ASSERT_TRUE(breakpoints_add(&breakpoints, 3 * i));
        CU_ASSERT_FALSE(breakpoints_add(&breakpoints, 3 * (1 + random_below(&random, i))));
        CU_ASSERT_FALSE(breakpoints_has(&breakpoints, 3 * i + 1));
    }
    CU_ASSERT_EQUAL(breakpoints.count, 999);
    breakpoints_clear(&breakpoints);
    CU_ASSERT_FALSE(breakpoints_has(&breakpoints, 3));
}

static void test_marks(void)
{
    const uint8_t begin[] = {0x0f, 0x1f, 0x84, 0, 'b', 't', 'B', '1'};
    uint8_t bytes[8];
    memcpy(bytes, begin, 8);
    CU_ASSERT_EQUAL(mark_of(bytes, 8), MARK_BEGIN);
    CU_ASSERT_EQUAL(mark_of(bytes, 7), MARK_NONE);
    bytes[6] = 'E';
    CU_ASSERT_EQUAL(mark_of(bytes, 8), MARK_END);
    memset(bytes + 4, 0, 4); /* what assemblers pad code with */
    CU_ASSERT_EQUAL(mark_of(bytes, 8), MARK_NONE);
}

static const struct test_case cases[] = {{"the regions and its twin", test_twin},
                                         {"gaps", test_gaps},
                                         {"a call that was left", test_left_call},
                                         {"addresses to stop at", test_stops},
                                         {"markers", test_marks},
                                         {NULL, NULL}};
TEST_SUITE(exec_regions, cases)
