/* Graphs and traces of random programs against their fetches: the expanded trace is the sequence of
 * executed edges, its counts are the graph's, and flow is conserved at every node. */
#include "formats/dcfg/dcfg_trace_reader.h"
#include "tests/suites.h"
#include "tests/support/fetches.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/x86_program.h"
#include "tests/tools/dcfg/graph/check_fixture.h"
#include "tools/dcfg/graph/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY  (64u << 20)
#define LONGEST 1500u
#define THREADS 256u

/* A stream, cut into batches with holes between some of them. */
struct build_rig {
    struct record records[LONGEST];
    size_t count;
    size_t ends[LONGEST + 1]; /* of batches */
    bool hole[LONGEST + 1];   /* before them */
    bool file[LONGEST + 1];   /* they begin a file */
    size_t batches;
    struct build_settings settings;
    struct images *images;
    struct dcfg *graph;
    struct text_writer *trace;
    struct build_counts counts;
};

static const char *fail(const char *what, uint64_t number)
{
    fprintf(stderr, "%s: %llu\n", what, (unsigned long long)number);
    return what;
}

/* --- making --- */

static void cut(struct build_rig *rig, uint64_t *random)
{
    unsigned holes = random_one_in(random, 2) ? 0 : 1 + (unsigned)random_below(random, 20);
    for (size_t end = 0; end < rig->count;) {
        end += 1 + random_below(random, 1 + rig->count / (1 + random_below(random, 8)));
        rig->hole[rig->batches] = holes > 0 && random_one_in(random, holes);
        rig->file[rig->batches] = rig->batches == 0 || random_one_in(random, 10);
        rig->ends[rig->batches++] = end < rig->count ? end : rig->count;
        end = rig->ends[rig->batches - 1];
    }
}

/* Threads of random code with jumps into the middle of blocks and instructions. */
static void fill_fetches(struct build_rig *rig, uint64_t seed, uint64_t *random)
{
    const struct fetches fetches = {.seed = seed,
                                    .base = 0x5000,
                                    .span = 20 + (uint32_t)random_below(random, 300),
                                    .threads = 1 + (unsigned)random_below(random, 4),
                                    .jumps = (unsigned)random_below(random, 9),
                                    .choices = 1 + (unsigned)random_below(random, 4),
                                    .others = random_one_in(random, 2) ? 20 : 0,
                                    .burst = (unsigned)random_below(random, 30)};
    size_t skipped = random_below(random, 20); /* the capture begins after the program */
    struct record all[LONGEST + 20];
    fetches_fill(&fetches, all, rig->count + skipped);
    memcpy(rig->records, all + skipped, rig->count * sizeof *all);
}

/* Threads of x86 code, with calls, recursion, indirect jumps, interrupts and system calls. */
static void fill_program(struct build_rig *rig, uint64_t seed, uint64_t *random, const char *folder)
{
    struct x86_program program;
    struct x86_walk walks[4] = {{0}};
    unsigned threads = 1 + (unsigned)random_below(random, 4);
    unsigned skipped = (unsigned)random_below(random, 20);
    x86_program_make(&program, seed, seed % 2 ? 32 : 64);
    for (unsigned t = 0; t < threads; t++) {
        walks[t].random = random_seed(seed * 4 + t);
        walks[t].interrupts = seed % 3 ? 20 : 0;
        walks[t].kernel_seen = seed % 5 != 0;
        for (unsigned i = 0; i < skipped; i++)
            x86_program_step(&program, &walks[t]);
    }
    for (size_t i = 0; i < rig->count; i++) {
        unsigned t = (unsigned)random_below(random, threads);
        rig->records[i] =
            x86_program_fetch(&program, x86_program_step(&program, &walks[t]), (uint8_t)t);
    }
    rig->images = x86_program_load(&program, folder, true, seed % 4 != 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig->images);
}

/* One pass over the stream. Holes are marked in all possible ways: files, gaps, losses, indexes. */
static int pass(const struct build_rig *rig, struct build *build, struct bt_error *error)
{
    struct capture_info info = {.id = {1}};
    uint64_t index = 100;
    size_t begin = 0;
    int result = 0;
    for (size_t b = 0; b < rig->batches && result == 0; begin = rig->ends[b++]) {
        struct batch batch = {.records = (struct record *)rig->records + begin,
                              .count = rig->ends[b] - begin};
        unsigned way = rig->hole[b] ? (unsigned)(b % 4) : 9;
        info.id[0] = (uint8_t)(info.id[0] + (rig->file[b] && way == 0)); /* another capture */
        if (rig->file[b])
            build_file(build, &info);
        if (way == 1)
            batch.gap.milliseconds = 20;
        else if (way == 2)
            batch.lost.count[LOSS_BUS] = 5;
        index += way == 2 ? 5 : way == 3 || (way == 0 && !rig->file[b]) ? 3 : 0;
        batch.first_index = index;
        index += batch.count;
        result = build_put(build, &batch, error);
    }
    return result;
}

static const char *make(struct build_rig *rig)
{
    struct bt_error error = {.message = ""};
    struct build *build = build_new(&rig->settings, &error);
    rig->trace = text_writer_new_memory(&error);
    int result = pass(rig, build, &error);
    if (result == 0)
        result = build_graph(build, &rig->graph, &error);
    if (result == 0)
        result = build_trace_begin(build, rig->trace, &error);
    if (result == 0)
        result = pass(rig, build, &error);
    if (result == 0)
        result = build_trace_end(build, &error);
    rig->counts = build_counts(build);
    build_free(build);
    if (result != 0)
        fprintf(stderr, "%s\n", error.message);
    return result == 0 ? NULL : "no graph or no trace";
}

static void rig_end(struct build_rig *rig)
{
    dcfg_free(rig->graph);
    text_writer_free(rig->trace);
    images_free(rig->images);
}

/* --- the twin: the edges of one thread, from its fetches and the blocks of the graph --- */

struct thread_walk {
    uint32_t edges[LONGEST + 2];
    size_t count;
    uint64_t fetches;
    size_t losses; /* after its first fetch */
};

static uint64_t block_address(const struct dcfg_process *process, uint32_t block)
{
    return process->images[dcfg_image_of_block(process, block)].load_address +
           process->blocks[block].offset;
}

static uint32_t block_at(const struct dcfg_process *process, uint32_t address)
{
    for (uint32_t b = 0; b < process->block_count; b++)
        if (block_address(process, b) == address)
            return b;
    return DCFG_NONE;
}

static uint32_t edge_between(const struct dcfg_process *process, uint32_t source, uint32_t target)
{
    for (uint32_t e = 0; e < process->edges.count; e++)
        if (process->edges.sources[e] == source && process->edges.targets[e] == target)
            return process->edges.ids[e];
    return 0;
}

/* Follows a thread through the graph. False: its blocks differ from the fetches. */
static bool walk(const struct build_rig *rig, uint8_t processor, struct thread_walk *walk)
{
    const struct dcfg_process *process = rig->graph->processes[0];
    uint32_t node = DCFG_START;
    uint32_t left = 0;
    bool lost = false;
    size_t batch = 0;
    memset(walk, 0, sizeof *walk);
    for (size_t i = 0; i < rig->count; i++) {
        if (i == rig->ends[batch])
            lost |= rig->hole[++batch];
        const struct record *record = &rig->records[i];
        if (record->type != REQUEST_FETCH || record->processor != processor)
            continue;
        walk->losses += lost && walk->fetches > 0;
        lost = false;
        walk->fetches++;
        if (left-- > 0)
            continue;
        uint32_t block = block_at(process, record->address);
        if (block == DCFG_NONE)
            return false;
        uint32_t id = process->blocks[block].id;
        walk->edges[walk->count++] = edge_between(process, node, id);
        node = id;
        left = process->blocks[block].instructions - 1;
    }
    walk->losses += lost;
    walk->edges[walk->count++] = edge_between(process, node, DCFG_END);
    return left == 0;
}

/* --- checks --- */

/* Flow is conserved at each node, for each thread. */
static const char *check_flow(const struct dcfg_process *process)
{
    const struct dcfg_edges *edges = &process->edges;
    uint32_t nodes = process->block_count + DCFG_SPECIALS + 2;
    int64_t *balance = calloc((size_t)nodes * process->threads, sizeof *balance);
    const char *what = NULL;
    for (uint32_t e = 0; e < edges->count; e++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, e);
        while (dcfg_counts_next(&counts)) {
            balance[edges->sources[e] * process->threads + counts.thread] -= (int64_t)counts.count;
            balance[edges->targets[e] * process->threads + counts.thread] += (int64_t)counts.count;
        }
    }
    for (size_t i = 0; i < (size_t)nodes * process->threads; i++) {
        uint32_t node = (uint32_t)(i / process->threads);
        int64_t wanted = node == DCFG_START ? -1 : node == DCFG_END ? 1 : 0;
        if (balance[i] != wanted)
            what = fail("flow is not conserved at node", node);
    }
    free(balance);
    return what;
}

static const char *check_chunks(struct dcfg_trace_reader *reader, const struct thread_walk *walk,
                                uint64_t *taken, uint32_t chunk_max)
{
    const char *what = NULL;
    struct dcfg_trace_chunk chunk;
    uint64_t instructions = 0;
    size_t at = 0;
    size_t chunks = 0;
    long got;
    int more;
    while ((more = dcfg_trace_reader_chunk(reader, &chunk)) > 0) {
        uint32_t edges[7];
        if (chunk.preceding != instructions || (chunk_max > 0 && chunk.edges > chunk_max))
            what = fail("chunk", chunks);
        instructions += chunk.instructions;
        chunks++;
        while ((got = dcfg_trace_reader_edges(reader, edges, 7)) > 0)
            for (long i = 0; i < got; i++, at++) {
                if (at >= walk->count || walk->edges[at] != edges[i])
                    return fail("wrong edge at index", at);
                taken[edges[i]]++;
            }
        if (got < 0)
            return fail("edges", chunks);
    }
    if (more < 0 || at != walk->count || instructions != walk->fetches)
        return fail("the trace ends too early", at);
    /* at most one more chunk for each loss that an edge spans */
    if (chunk_max == 0 && chunks > walk->losses + 1)
        return fail("chunks without a loss", chunks);
    return what;
}

static bool counts_agree(const struct dcfg_process *process, uint32_t thread, const uint64_t *taken)
{
    for (uint32_t e = 0; e < process->edges.count; e++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, e);
        uint64_t count = 0;
        while (dcfg_counts_next(&counts))
            if (counts.thread == thread)
                count = counts.count;
        if (count != taken[process->edges.ids[e]])
            return false;
    }
    return true;
}

static const char *check_threads(const struct build_rig *rig, struct dcfg_trace_reader *reader)
{
    const struct dcfg_process *process = rig->graph->processes[0];
    uint8_t processors[THREADS];
    bool fetches[THREADS] = {false};
    uint32_t threads = 0;
    uint32_t thread;
    uint32_t seen = 0;
    for (size_t i = 0; i < rig->count; i++)
        fetches[rig->records[i].processor] |= rig->records[i].type == REQUEST_FETCH;
    for (unsigned p = 0; p < THREADS; p++)
        if (fetches[p])
            processors[threads++] = (uint8_t)p;
    if (threads != process->threads)
        return fail("threads", process->threads);
    const char *what = NULL;
    while (!what && dcfg_trace_reader_thread(reader, &thread) > 0) {
        static struct thread_walk walked;
        uint64_t *taken = calloc(process->edges.count + 2, sizeof *taken);
        if (!walk(rig, processors[thread], &walked))
            what = fail("blocks differ from the fetches of thread", thread);
        else
            what = check_chunks(reader, &walked, taken, rig->settings.chunk_edges);
        if (!what && !counts_agree(process, thread, taken))
            what = fail("counts differ from the trace of thread", thread);
        if (!what && process->thread_instructions[thread] != walked.fetches)
            what = fail("instructions of thread", thread);
        seen++;
        free(taken);
    }
    return what || seen == threads ? what : fail("threads in the trace", seen);
}

static const char *check(const struct build_rig *rig)
{
    struct bt_error error;
    size_t size;
    uint64_t process_id;
    const char *text = text_writer_memory(rig->trace, &size);
    struct text_reader *memory = text_reader_from_memory(text, size, "trace", &error);
    struct dcfg_trace_reader *reader = dcfg_trace_reader_new(memory, NULL, &error);
    const char *what = check_flow(rig->graph->processes[0]);
    if (!what && dcfg_trace_reader_process(reader, &process_id) != 1)
        what = error.message;
    if (!what && process_id != rig->graph->processes[0]->id)
        what = fail("process", process_id);
    if (!what)
        what = check_threads(rig, reader);
    if (!what && dcfg_trace_reader_process(reader, &process_id) != 0)
        what = error.message;
    dcfg_trace_reader_free(reader);
    text_reader_close(memory);
    if (!what && !check_fixture_good(rig->graph, rig->trace))
        what = "broken rules";
    return what ? "see above" : NULL;
}

static bool run(uint64_t seed, const char *folder)
{
    static struct build_rig rig;
    uint64_t random = random_seed(seed + 31);
    const char *what = NULL;
    memset(&rig, 0, sizeof rig);
    rig.count = 1 + random_below(&random, LONGEST);
    if (folder)
        fill_program(&rig, seed, &random, folder);
    else
        fill_fetches(&rig, seed, &random);
    cut(&rig, &random);
    rig.settings = (struct build_settings){
        .fetch = FETCH_INSTR,
        .images = rig.images,
        .memory_max = MEMORY,
        .chunk_edges = random_one_in(&random, 3) ? 1 + (uint32_t)random_below(&random, 50) : 0};
    what = make(&rig);
    if (!what)
        what = check(&rig);
    else if (rig.counts.fetches == 0 && rig.counts.records == rig.count)
        what = NULL; /* no fetches, no graph */
    if (what)
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, what);
    rig_end(&rig);
    return !what;
}

static void test_fetches(void)
{
    for (uint64_t seed = 0; seed < 2000; seed++)
        if (!run(seed, NULL)) {
            CU_FAIL("the trace of random fetches equals its fetches");
            return;
        }
}

static void test_programs(void)
{
    char folder[FOLDER_PATH_BYTES];
    bool good = true;
    folder_make(folder);
    for (uint64_t seed = 0; seed < 1000 && good; seed++)
        good = run(seed + 5000, folder);
    CU_ASSERT(good);
    folder_remove(folder);
}

/* --- the kind of a stream --- */

static void test_detect(void)
{
    struct record records[100];
    for (unsigned size = 8; size <= 32; size *= 2) {
        for (unsigned i = 0; i < 100; i++)
            records[i] = (struct record){.address = i * 7 % 50 * size, .size = (uint8_t)size};
        CU_ASSERT_EQUAL(fetch_stream_detect(records, 100, 8), FETCH_BUS);
        for (unsigned i = 0; i < 100; i += 3)
            records[i].size = 4;
        CU_ASSERT_EQUAL(fetch_stream_detect(records, 100, 8), FETCH_BUS);
    }
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct fetches fetches = {
            .seed = seed, .base = 0x5000, .span = 500, .threads = 2, .jumps = 5, .choices = 3};
        fetches_fill(&fetches, records, 100);
        CU_ASSERT_EQUAL(fetch_stream_detect(records, 100, 8), FETCH_INSTR);
    }
    CU_ASSERT_EQUAL(fetch_stream_detect(records, 0, 8), FETCH_INSTR);
}

/* Different records in the second pass are an error. */
static void test_other_records(void)
{
    struct record records[] = {{.address = 0x1000, .size = 2}, {.address = 0x1002, .size = 2}};
    struct record others[] = {{.address = 0x1000, .size = 2}, {.address = 0x1004, .size = 2}};
    const struct build_settings settings = {.memory_max = MEMORY};
    struct batch batch = {.records = records, .count = 2};
    struct bt_error error;
    struct dcfg *graph;
    for (int turn = 0; turn < 2; turn++) {
        struct build *build = build_new(&settings, &error);
        struct text_writer *writer = text_writer_new_memory(&error);
        build_file(build, NULL);
        batch.records = records;
        batch.count = 2;
        CU_ASSERT_EQUAL(build_put(build, &batch, &error), 0);
        CU_ASSERT_EQUAL_FATAL(build_graph(build, &graph, &error), 0);
        CU_ASSERT_EQUAL_FATAL(build_trace_begin(build, writer, &error), 0);
        batch.records = turn == 0 ? others : records;
        batch.count = turn == 0 ? 2 : 1; /* changed, or shorter */
        int result = build_put(build, &batch, &error);
        if (result == 0)
            result = build_trace_end(build, &error);
        CU_ASSERT_EQUAL(result, BT_DATA);
        dcfg_free(graph);
        text_writer_free(writer);
        build_free(build);
    }
}

/* Holes of batches with these first indices and numbers of records. */
static uint64_t count_holes(const uint64_t (*batches)[2], size_t count)
{
    struct record records[] = {{.address = 0x1000, .size = 2}, {.address = 0x1002, .size = 2}};
    const struct build_settings settings = {.fetch = FETCH_INSTR, .memory_max = MEMORY};
    struct bt_error error;
    struct dcfg *graph;
    struct build *build = build_new(&settings, &error);
    build_file(build, NULL);
    for (size_t i = 0; i < count; i++) {
        struct batch batch = {
            .records = records, .first_index = batches[i][0], .count = batches[i][1]};
        CU_ASSERT_EQUAL(build_put(build, &batch, &error), 0);
    }
    CU_ASSERT_EQUAL_FATAL(build_graph(build, &graph, &error), 0);
    const uint64_t holes = build_counts(build).holes;
    dcfg_free(graph);
    build_free(build);
    return holes;
}

/* Records left out before the first one selected are no hole; those after it are. */
static void test_selected(void)
{
    const uint64_t before[][2] = {{100, 0}, {150, 2}, {152, 2}};
    const uint64_t after[][2] = {{150, 2}, {152, 0}, {160, 2}};
    CU_ASSERT_EQUAL(count_holes(before, 3), 0);
    CU_ASSERT_EQUAL(count_holes(after, 3), 1);
}

static const struct test_case cases[] = {{"random fetches", test_fetches},
                                         {"random programs", test_programs},
                                         {"the kind of fetches", test_detect},
                                         {"other records in the second pass", test_other_records},
                                         {"records before a selection", test_selected},
                                         {NULL, NULL}};
TEST_SUITE(build, cases)
