/* The engine of dependence tracing: against its slow twin, and by hand. */
#include "capture/depend/depend.h"
#include "tests/suites.h"
#include "tests/support/dependence_twin.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define ALL_KINDS ((1u << DEPEND_KINDS) - 1)

/* Memory around the border of two chunks; the stacks of two threads are its upper part. */
#define BASE        (3 * SHADOW_CHUNK - 256)
#define BYTES       768u
#define HEAP_BYTES  256u
#define STACK_BYTES 256u
#define THREADS     2u
#define PLACES      12u

struct rig {
    struct depend *depend;
    struct dependence_twin *twin;
    struct depend_site sites[THREADS][PLACES][2]; /* reads and writes */
    uint64_t random;
    uint32_t threads;       /* that refer to memory */
    uint64_t slot[THREADS]; /* stack pointer */
    uint64_t slots[THREADS][8];
    unsigned depth[THREADS];
    unsigned loops[THREADS][9]; /* of each call */
};

static struct depend *engine(unsigned kinds, bool every)
{
    struct bt_error error;
    const struct depend_settings settings = {
        .kinds = kinds, .address_bits = 32, .every = every, .memory = 0};
    struct depend *depend = depend_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(depend);
    return depend;
}

static struct depend_thread *thread_of(struct rig *rig, uint32_t number)
{
    struct depend_thread *thread = depend_thread(rig->depend, number);
    if (!thread)
        CU_FAIL_FATAL("no memory");
    return thread;
}

static void rig_init(struct rig *rig, unsigned kinds, uint64_t seed)
{
    memset(rig, 0, sizeof *rig);
    rig->random = random_seed(seed);
    const bool every = random_one_in(&rig->random, 3);
    rig->threads = random_one_in(&rig->random, 2) ? 1 : THREADS;
    rig->depend = engine(kinds, every);
    rig->twin = twin_new(BASE, BYTES, every);
    for (uint32_t t = 0; t < THREADS; t++) {
        const uint64_t begin = BASE + HEAP_BYTES + t * STACK_BYTES;
        depend_set_stack(thread_of(rig, t), begin, begin + STACK_BYTES);
        twin_set_stack(rig->twin, t, begin, begin + STACK_BYTES);
        rig->slot[t] = begin + STACK_BYTES - 64;
        for (uint32_t place = 0; place < PLACES; place++)
            for (unsigned w = 0; w < 2; w++)
                depend_site_init(&rig->sites[t][place][w], place, place % 3 == 0);
    }
}

static void rig_free(struct rig *rig)
{
    depend_free(rig->depend);
    twin_free(rig->twin);
}

/* --- random streams ----------------------------------------------------------------------------
 */

/* An address of the heap, or of the thread's stack at or above the stack pointer. */
static uint64_t random_address(struct rig *rig, uint32_t t, unsigned size)
{
    if (random_one_in(&rig->random, 2))
        return BASE + random_below(&rig->random, HEAP_BYTES - size);
    const uint64_t end = BASE + HEAP_BYTES + (t + 1) * STACK_BYTES;
    if (end - rig->slot[t] <= size)
        return BASE;
    return rig->slot[t] + random_below(&rig->random, end - rig->slot[t] - size);
}

static void random_reference(struct rig *rig, uint32_t t)
{
    static const unsigned sizes[] = {1, 2, 4, 4, 8, 8, 8, 16, 32, 64, 3, 10};
    const unsigned size = sizes[random_below(&rig->random, sizeof sizes / sizeof *sizes)];
    uint64_t address = random_address(rig, t, size);
    const uint32_t place = (uint32_t)random_below(&rig->random, PLACES);
    const bool write = random_one_in(&rig->random, 2);
    struct depend_site *site = &rig->sites[t][place][write];
    if (!random_one_in(&rig->random, 4))
        address &= ~(uint64_t)3;
    if (write)
        depend_write(rig->depend, thread_of(rig, t), site, address, size);
    else
        depend_read(rig->depend, thread_of(rig, t), site, address, size);
    twin_reference(rig->twin, t, place, place % 3 == 0, write, address, size);
}

static void random_range(struct rig *rig, uint32_t t)
{
    const unsigned size = 1u << random_below(&rig->random, 4);
    const uint64_t count = random_below(&rig->random, 60 / size + 1);
    const uint64_t from = random_address(rig, t, 64), to = random_address(rig, t, 64);
    const uint32_t place = (uint32_t)random_below(&rig->random, PLACES);
    const unsigned what = (unsigned)random_below(&rig->random, 3);
    struct depend_site *sites = rig->sites[t][place];
    struct depend_thread *thread = thread_of(rig, t);
    const bool down = random_one_in(&rig->random, 2);
    if (what == 0)
        depend_read_range(rig->depend, thread, &sites[0], from, size, count);
    else if (what == 1)
        depend_write_range(rig->depend, thread, &sites[1], to, size, count);
    else
        depend_copy(rig->depend, thread, &sites[0], &sites[1], from, to, size, count, down);
    twin_range(rig->twin, t, place, place % 3 == 0, what == 1 ? 0 : from, what == 0 ? 0 : to, size,
               count, down);
}

static void random_call(struct rig *rig, uint32_t t)
{
    unsigned *depth = &rig->depth[t];
    const uint64_t begin = BASE + HEAP_BYTES + t * STACK_BYTES;
    struct depend_thread *thread = thread_of(rig, t);
    if (random_one_in(&rig->random, 2) && *depth < 8 && rig->slot[t] > begin + 32) {
        rig->slots[t][(*depth)++] = rig->slot[t] -= 8 + 8 * random_below(&rig->random, 3);
        rig->loops[t][*depth] = 0;
        depend_call(rig->depend, thread, rig->slot[t]);
        twin_call(rig->twin, t, rig->slot[t]);
    } else if (*depth > 0) { /* one or several, as longjmp and a return do */
        *depth -= 1 + (unsigned)random_below(&rig->random, *depth);
        const uint64_t slot = rig->slots[t][*depth];
        rig->slot[t] = slot + 8;
        depend_return(rig->depend, thread, slot);
        twin_return(rig->twin, t, slot);
    }
}

static void random_loop(struct rig *rig, uint32_t t)
{
    unsigned *loops = &rig->loops[t][rig->depth[t]];
    struct depend_thread *thread = thread_of(rig, t);
    const uint64_t what = random_below(&rig->random, 8);
    if (depend_loops(thread) != *loops)
        CU_FAIL("the number of loops differs");
    if (what == 0 && *loops < 4) {
        const uint32_t loop = (uint32_t)random_below(&rig->random, 5);
        ++*loops;
        depend_loop_begin(rig->depend, thread, loop, 0);
        twin_loop_begin(rig->twin, t, loop);
    } else if (what == 1 && *loops > 0) {
        --*loops;
        depend_loop_end(rig->depend, thread);
        twin_loop_end(rig->twin, t);
    } else if (*loops > 0) {
        depend_loop_iterate(rig->depend, thread);
        twin_loop_iterate(rig->twin, t);
    }
}

/* Between the halves of the heap. */
static void random_move(struct rig *rig)
{
    const uint64_t half = HEAP_BYTES / 2, size = 4 * (1 + random_below(&rig->random, 16));
    uint64_t from = BASE + 4 * random_below(&rig->random, (half - size) / 4);
    uint64_t to = BASE + half + 4 * random_below(&rig->random, (half - size) / 4);
    if (random_one_in(&rig->random, 2)) {
        const uint64_t other = from;
        from = to;
        to = other;
    }
    depend_move(rig->depend, from, to, size);
    twin_move(rig->twin, from, to, size);
}

static void random_step(struct rig *rig)
{
    const uint32_t t = (uint32_t)random_below(&rig->random, rig->threads);
    const uint64_t what = random_below(&rig->random, 40);
    if (what < 2)
        random_range(rig, t);
    else if (what < 5)
        random_call(rig, t);
    else if (what < 12)
        random_loop(rig, t);
    else if (what == 12) {
        const uint64_t size = random_below(&rig->random, 32);
        const uint64_t address = BASE + random_below(&rig->random, HEAP_BYTES - size);
        depend_forget(rig->depend, address, size);
        twin_forget(rig->twin, address, size);
    } else if (what == 13)
        random_move(rig);
    else
        random_reference(rig, t);
}

/* The engine's pairs in the twin's form, sorted. */
static struct twin_row *rows_of(const struct depend *depend, size_t *count)
{
    *count = depend_pair_count(depend);
    struct twin_row *rows = calloc(*count + 1, sizeof *rows);
    for (size_t i = 0; i < *count; i++) {
        const struct depend_pair *pair = depend_pair(depend, i);
        const struct depend_context *sink = depend_context(depend, pair->sink);
        const struct depend_context *source = depend_context(depend, pair->source);
        rows[i] = (struct twin_row){.kind = pair->kind,
                                    .sink = sink->place,
                                    .sink_top = sink->top,
                                    .sink_thread = sink->thread,
                                    .source = source->place,
                                    .source_top = source->top,
                                    .source_thread = source->thread,
                                    .loop = pair->loop,
                                    .carried = pair->carried,
                                    .count = pair->count,
                                    .least = pair->least,
                                    .greatest = pair->greatest,
                                    .sum = pair->sum};
    }
    qsort(rows, *count, sizeof *rows, twin_compare);
    return rows;
}

/* Number of differences; only kinds that the engine was asked for are compared. */
static unsigned compare(struct rig *rig, unsigned kinds)
{
    size_t count, twin_count, at = 0;
    unsigned different = 0;
    struct twin_row *rows = rows_of(rig->depend, &count);
    const struct twin_row *expected = twin_rows(rig->twin, &twin_count);
    for (size_t i = 0; i < twin_count; i++) {
        if (!(kinds >> expected[i].kind & 1))
            continue;
        different += at >= count || twin_compare(&rows[at], &expected[i]) != 0 ||
                     rows[at].count != expected[i].count || rows[at].least != expected[i].least ||
                     rows[at].greatest != expected[i].greatest || rows[at].sum != expected[i].sum;
        at++;
    }
    free(rows);
    return different + (at != count);
}

static void run_streams(unsigned kinds, uint64_t first, unsigned streams, unsigned steps)
{
    unsigned different = 0;
    for (uint64_t seed = first; seed < first + streams; seed++) {
        struct rig rig;
        rig_init(&rig, kinds, seed);
        for (unsigned i = 0; i < steps; i++)
            random_step(&rig);
        CU_ASSERT_EQUAL(depend_time(rig.depend), twin_time(rig.twin));
        different += compare(&rig, kinds) != 0;
        rig_free(&rig);
    }
    CU_ASSERT_EQUAL(different, 0);
}

static void test_streams_of_all_kinds(void)
{
    run_streams(ALL_KINDS, 1, 5000, 150);
    run_streams(ALL_KINDS, 5001, 5, 5000);
}

static void test_streams_of_reads_after_writes(void)
{
    run_streams(1u << DEPEND_RAW, 10001, 5000, 150);
    run_streams(1u << DEPEND_WAW, 15001, 500, 150);
}

/* --- by hand -----------------------------------------------------------------------------------
 */

static void test_regular_iterations_need_no_memory(void)
{
    struct depend *depend = engine(1u << DEPEND_RAW, true);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site writer, reader;
    depend_site_init(&writer, 1, true);
    depend_site_init(&reader, 2, true);
    depend_loop_begin(depend, thread, 0, 0);
    for (unsigned i = 0; i < 1000; i++) {
        if (i > 0)
            depend_loop_iterate(depend, thread);
        depend_write(depend, thread, &writer, 0x1000 + 4 * i, 4);
        if (i >= 7)
            depend_read(depend, thread, &reader, 0x1000 + 4 * (i - 7), 4);
    }
    CU_ASSERT_EQUAL(depend_pair_count(depend), 1);
    const struct depend_pair *pair = depend_pair(depend, 0);
    CU_ASSERT_EQUAL(pair->count, 993);
    CU_ASSERT_EQUAL(pair->least, 7);
    CU_ASSERT_EQUAL(pair->greatest, 7);
    CU_ASSERT(pair->carried && !pair->at_least);
    CU_ASSERT(thread->active[0].history.count <= 3);
    depend_settle(depend);
    CU_ASSERT_EQUAL(depend_loop(depend, 0).iterations, 1000);
    CU_ASSERT_EQUAL(depend_loop(depend, 0).invocations, 1);
    depend_free(depend);
}

/* Irregular iterations: beyond LOOP_HISTORY_RUNS the distance is a lower bound, and says so. */
static void test_forgotten_iterations(void)
{
    struct depend *depend = engine(1u << DEPEND_RAW, true);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site writer, reader, other;
    uint64_t random = random_seed(1);
    depend_site_init(&writer, 1, true);
    depend_site_init(&reader, 2, true);
    depend_site_init(&other, 3, true);
    depend_loop_begin(depend, thread, 0, 0);
    depend_write(depend, thread, &writer, 0x1000, 4);
    const unsigned iterations = 3 * LOOP_HISTORY_RUNS;
    for (unsigned i = 0; i < iterations; i++) {
        depend_loop_iterate(depend, thread);
        for (uint64_t n = 1 + random_below(&random, 9); n > 0; n--)
            depend_read(depend, thread, &other, 0x8000, 4);
    }
    depend_read(depend, thread, &reader, 0x1000, 4);
    const struct depend_pair *pair = depend_pair(depend, 0);
    CU_ASSERT(pair->at_least);
    CU_ASSERT(pair->least <= iterations && pair->least >= LOOP_HISTORY_RUNS / 2);
    depend_free(depend);
}

static void test_memory_limit(void)
{
    struct bt_error error;
    const struct depend_settings settings = {
        .kinds = 1u << DEPEND_RAW | 1u << DEPEND_WAW, .address_bits = 32, .memory = 1 << 20};
    struct depend *depend = depend_new(&settings, &error);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site writer, reader;
    depend_site_init(&writer, 1, true);
    depend_site_init(&reader, 2, true);
    depend_write(depend, thread, &writer, 0x1000, 4);
    depend_read(depend, thread, &reader, 0x1000, 4);
    for (uint64_t i = 0; i < 64; i++)
        depend_write(depend, thread, &writer, (i + 1) << 20, 4);
    CU_ASSERT_EQUAL(depend_end(depend), DEPEND_COUNTS);
    CU_ASSERT_PTR_EQUAL(depend_thread(depend, 0), thread);
    CU_ASSERT_EQUAL(depend_end(depend), DEPEND_MEMORY);
    depend_read(depend, thread, &reader, 0x1000, 4);
    depend_write_range(depend, thread, &writer, 0x1000, 8, 8);
    depend_loop_begin(depend, thread, 0, 0);
    depend_loop_iterate(depend, thread);
    depend_loop_end(depend, thread);
    depend_call(depend, thread, 0x2000);
    depend_return(depend, thread, 0x2000);
    CU_ASSERT_EQUAL(depend_pair_count(depend), 1);
    CU_ASSERT_EQUAL(depend_pair(depend, 0)->count, 1);
    depend_free(depend);
}

struct heard {
    unsigned count;
    struct depend_found last;
    uint32_t source, sink;
};

static void hear(void *context, const struct depend_found *found)
{
    struct heard *heard = context;
    heard->count++;
    heard->last = *found;
    heard->source = found->source->place;
    heard->sink = found->sink->place;
}

/* SKETCH functions: a dependence within one time of a DETAIL function is not reported; times are
 * those of the specification. */
static void test_frozen_times(void)
{
    struct bt_error error;
    struct heard heard = {.count = 0};
    const struct depend_settings settings = {
        .kinds = ALL_KINDS, .address_bits = 32, .memory = 0, .found = hear, .context = &heard};
    struct depend *depend = depend_new(&settings, &error);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site detail, write, read;
    depend_site_init(&detail, 1, true);
    depend_site_init(&write, 2, false);
    depend_site_init(&read, 3, false);
    depend_read(depend, thread, &detail, 0x100, 4); /* time 1, frozen 1 */
    depend_write(depend, thread, &write, 0x200, 8); /* 2 */
    depend_read(depend, thread, &read, 0x204, 4);   /* 3: frozen 1 as its source */
    CU_ASSERT_EQUAL(heard.count, 0);
    depend_read(depend, thread, &detail, 0x104, 4); /* 4, frozen 2 */
    depend_read(depend, thread, &read, 0x200, 1);   /* 5 */
    CU_ASSERT_EQUAL(heard.count, 1);
    CU_ASSERT_EQUAL(heard.sink, 3);
    CU_ASSERT_EQUAL(heard.source, 2);
    CU_ASSERT_EQUAL(heard.last.sink_time, 5);
    CU_ASSERT_EQUAL(heard.last.source_time, 2);
    CU_ASSERT_EQUAL(heard.last.sink_frozen, 2);
    CU_ASSERT_EQUAL(heard.last.source_frozen, 1);
    CU_ASSERT_EQUAL(depend_context(depend, depend_pair(depend, 0)->sink)->top, 1);
    depend_write(depend, thread, &detail, 0x200, 1); /* 6, frozen 3 */
    CU_ASSERT_EQUAL(depend_pair_count(depend), 3);   /* write after read, write after write */
    CU_ASSERT_EQUAL(heard.count, 1);                 /* only reads after writes are heard */
    CU_ASSERT_EQUAL(depend_time(depend), 6);
    CU_ASSERT_EQUAL(depend_writes(depend), 2);
    depend_free(depend);
}

/* Each iteration reads what it and its successor write, as a[i] = a[i] + a[i + 1] does: the latest
 * read is the iteration's own. */
static void test_reads_of_earlier_iterations(void)
{
    struct depend *depend = engine(ALL_KINDS, true);
    struct depend_thread *thread = depend_thread(depend, 0);
    struct depend_site own, next, write;
    depend_site_init(&own, 1, true);
    depend_site_init(&next, 2, true);
    depend_site_init(&write, 3, true);
    for (uint64_t i = 0; i < 100; i++) {
        if (i == 0)
            depend_loop_begin(depend, thread, 0, 0);
        else
            depend_loop_iterate(depend, thread);
        depend_read(depend, thread, &own, 0x1000 + 8 * i, 8);
        depend_read(depend, thread, &next, 0x1008 + 8 * i, 8);
        depend_write(depend, thread, &write, 0x1000 + 8 * i, 8);
    }
    CU_ASSERT_EQUAL_FATAL(depend_pair_count(depend), 2);
    const struct depend_pair *same = depend_pair(depend, 0), *carried = depend_pair(depend, 1);
    CU_ASSERT_EQUAL(depend_context(depend, same->source)->place, 1);
    CU_ASSERT_FALSE(same->carried);
    CU_ASSERT_EQUAL(same->count, 100);
    CU_ASSERT_EQUAL(carried->kind, DEPEND_WAR);
    CU_ASSERT_EQUAL(depend_context(depend, carried->source)->place, 2);
    CU_ASSERT_TRUE(carried->carried);
    CU_ASSERT_EQUAL(carried->count, 99);
    CU_ASSERT_EQUAL(carried->greatest, 1);
    depend_free(depend);
}

static void test_instructions_of_loops(void)
{
    struct depend *depend = engine(1u << DEPEND_RAW, false);
    struct depend_thread *thread = depend_thread(depend, 0);
    depend_set_stack(thread, 0x1000, 0x2000);
    depend_execute(thread, 10);
    depend_loop_begin(depend, thread, 1, 0);
    depend_execute(thread, 5);
    depend_call(depend, thread, 0x1f00);
    CU_ASSERT_EQUAL(depend_loops(thread), 0);
    depend_loop_begin(depend, thread, 1,
                      0); /* recursion: its instructions are the outer one's too */
    depend_loop_begin(depend, thread, 2, 0);
    CU_ASSERT_EQUAL(depend_loop_at(thread, 1), 2);
    depend_execute(thread, 100);
    depend_return(depend, thread, 0x1f00);
    CU_ASSERT_EQUAL(depend_loops(thread), 1);
    depend_execute(thread, 5);
    depend_settle(depend);
    CU_ASSERT_EQUAL(depend_loop(depend, 1).instructions, 110);
    CU_ASSERT_EQUAL(depend_loop(depend, 1).invocations, 2);
    CU_ASSERT_EQUAL(depend_loop(depend, 2).instructions, 100);
    CU_ASSERT_EQUAL(depend_loop(depend, 7).invocations, 0);
    depend_free(depend);
}

static const struct test_case cases[] = {
    {"streams of all kinds", test_streams_of_all_kinds},
    {"streams of reads after writes", test_streams_of_reads_after_writes},
    {"regular iterations need no memory", test_regular_iterations_need_no_memory},
    {"forgotten iterations", test_forgotten_iterations},
    {"memory limit", test_memory_limit},
    {"frozen times", test_frozen_times},
    {"reads of earlier iterations", test_reads_of_earlier_iterations},
    {"instructions of loops", test_instructions_of_loops},
    {NULL, NULL}};

TEST_SUITE(depend, cases)
