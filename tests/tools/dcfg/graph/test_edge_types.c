/* The types of edges, with images and without, and the assembled graph. */
#include "formats/dcfg/dcfg_edge_type.h"
#include "tests/suites.h"
#include "tests/support/elf_file.h"
#include "tests/support/fetches.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/x86_program.h"
#include "tools/dcfg/graph/assemble.h"
#include "tools/dcfg/graph/edge_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY  (64u << 20)
#define LONGEST 3000u

/* A program, its images, and the fetches of several walks through it. */
struct program_rig {
    struct x86_program program;
    struct images *images;
    struct flow *flow;
    struct flow_graph graph;
    struct record *records;
    size_t count;
};

static void rig_start(struct program_rig *rig, uint64_t seed)
{
    uint64_t random = random_seed(seed + 9);
    struct x86_walk walks[4] = {{0}};
    unsigned threads = 1 + (unsigned)random_below(&random, 4);
    char folder[FOLDER_PATH_BYTES];
    memset(rig, 0, sizeof *rig);
    x86_program_make(&rig->program, seed, seed % 2 ? 32 : 64);
    folder_make(folder);
    rig->images = x86_program_load(&rig->program, folder, true, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig->images);
    folder_remove(folder);
    for (unsigned t = 0; t < threads; t++) {
        walks[t].random = random_seed(seed * 4 + t);
        walks[t].interrupts = seed % 3 ? 20 : 0;
        walks[t].kernel_seen = seed % 4 != 0;
    }
    rig->count = 1 + random_below(&random, LONGEST);
    rig->records = malloc(rig->count * sizeof *rig->records);
    for (size_t i = 0; i < rig->count; i++) {
        unsigned t = (unsigned)random_below(&random, threads);
        rig->records[i] = x86_program_fetch(&rig->program,
                                            x86_program_step(&rig->program, &walks[t]), (uint8_t)t);
    }
    const struct batch batch = {.records = rig->records, .count = rig->count};
    struct image_matches matches;
    rig->flow = flow_new(MEMORY, NULL);
    CU_ASSERT_EQUAL_FATAL(flow_put(rig->flow, &batch, NULL), 0);
    edge_types_end_blocks(rig->flow, rig->images, &matches);
    CU_ASSERT_EQUAL(matches.outside, 0);
    CU_ASSERT_EQUAL(matches.different, 0);
    CU_ASSERT_EQUAL_FATAL(flow_finish(rig->flow, &rig->graph, NULL), 0);
}

static void rig_end(struct program_rig *rig)
{
    flow_free(rig->flow);
    images_free(rig->images);
    free(rig->records);
}

static int instruction_at(const struct program_rig *rig, uint32_t address)
{
    int i = 0;
    while (i < rig->program.count && rig->program.instructions[i].address != address)
        i++;
    return i;
}

static const struct x86_pair *pair_of(const struct program_rig *rig, uint32_t source,
                                      uint32_t target)
{
    const struct flow_block *from = &rig->graph.blocks[source];
    int first = instruction_at(rig, from->address + from->last_offset);
    int second = instruction_at(rig, rig->graph.blocks[target].address);
    for (int p = 0; p < rig->program.pair_count; p++)
        if (rig->program.pairs[p].source == first && rig->program.pairs[p].target == second)
            return &rig->program.pairs[p];
    return NULL;
}

/* Every edge has the type that the walk noted. */
static const char *wrong_edges(const struct program_rig *rig, const struct edge_types *types)
{
    for (size_t e = 0; e < rig->graph.edge_count; e++) {
        const struct flow_edge *edge = &rig->graph.edges[e];
        uint8_t expected = edge->source == FLOW_START ? DCFG_EDGE_ENTRY : DCFG_EDGE_EXIT;
        if (edge->source != FLOW_START && edge->target != FLOW_END) {
            const struct x86_pair *pair = pair_of(rig, edge->source, edge->target);
            if (!pair || !pair->taken)
                return "an edge that no walk took";
            expected = pair->type;
        }
        if (types->types[e] != expected)
            return dcfg_edge_type_name(expected);
    }
    return NULL;
}

/* The bypasses are those of calls that returned. Context changes may have more, because a return
 * need not match a departure. */
static const char *wrong_bypasses(const struct program_rig *rig, const struct edge_types *types)
{
    size_t expected = 0;
    size_t found = 0;
    for (int p = 0; p < rig->program.pair_count; p++)
        expected += !rig->program.pairs[p].taken;
    for (size_t i = 0; i < types->bypass_count; i++) {
        const struct edge_bypass *bypass = &types->bypasses[i];
        const struct x86_pair *pair = pair_of(rig, bypass->source, bypass->target);
        if (pair && !pair->taken && pair->type == bypass->type)
            found++;
        else if (bypass->type != DCFG_EDGE_CONTEXT_CHANGE_BYPASS || pair)
            return "a bypass without a call";
    }
    return found == expected ? NULL : "a missing bypass";
}

static void test_programs(void)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct program_rig rig;
        struct edge_types types;
        rig_start(&rig, seed);
        CU_ASSERT_EQUAL_FATAL(
            edge_types_find(&types, &rig.graph, rig.images, UNKNOWN_BRANCHES_BRANCH, NULL), 0);
        const char *what = wrong_edges(&rig, &types);
        if (!what)
            what = wrong_bypasses(&rig, &types);
        edge_types_clear(&types);
        rig_end(&rig);
        if (what) {
            fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, what);
            CU_FAIL("a random program's edges have its steps' types");
            return;
        }
    }
}

/* Blocks end at every instruction that may branch, even if it never did. */
static void test_blocks_end(void)
{
    struct program_rig rig;
    rig_start(&rig, 12);
    for (size_t b = 0; b < rig.graph.block_count; b++) {
        const struct flow_block *block = &rig.graph.blocks[b];
        int last = instruction_at(&rig, block->address + block->last_offset);
        for (int i = instruction_at(&rig, block->address); i < last; i++)
            CU_ASSERT(rig.program.instructions[i].kind == X86_PLAIN ||
                      rig.program.instructions[i].kind == X86_REPEAT);
    }
    rig_end(&rig);
}

static const struct assemble_settings settings = {
    .process_id = 7, .unknown = "unknown", .memory_max = MEMORY};

/* Properties of all our DCFGs that sealing does not check. */
static void check_dcfg(const struct dcfg *dcfg, const struct flow_graph *graph)
{
    const struct dcfg_process *process = dcfg->processes[0];
    uint64_t instructions = 0;
    uint32_t nodes = 0;
    CU_ASSERT_EQUAL(process->block_count, graph->block_count);
    CU_ASSERT_EQUAL(process->threads, graph->thread_count);
    for (size_t t = 0; t < graph->thread_count; t++)
        instructions += graph->instructions[t];
    CU_ASSERT_EQUAL(process->instructions, instructions);
    uint64_t *counts = calloc(process->block_count + 1, sizeof *counts);
    dcfg_count_blocks(process, counts);
    uint64_t executed = 0;
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_image *image = &process->images[i];
        CU_ASSERT_PTR_NOT_NULL(dcfg_file_name(dcfg, image->file_name_id));
        for (uint32_t b = image->blocks.first; b < image->blocks.first + image->blocks.count; b++) {
            const struct dcfg_block *block = &process->blocks[b];
            CU_ASSERT(block->id >= 4 && block->id < 4 + process->block_count);
            CU_ASSERT(block->offset + block->size <= image->size);
            CU_ASSERT(block->offset > 0); /* readers take 0 for none */
            CU_ASSERT_EQUAL(counts[b], block->count);
            executed += block->count * block->instructions;
        }
    }
    CU_ASSERT_EQUAL(executed, instructions);
    for (uint32_t r = 0; r < process->routine_count; r++)
        nodes += process->routines[r].nodes.count;
    CU_ASSERT_EQUAL(nodes, process->block_count);
    free(counts);
}

static void test_assembled(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct program_rig rig;
        struct dcfg *dcfg;
        struct bt_error error;
        rig_start(&rig, seed + 10000);
        /* the images' files were removed, so their names cannot be read */
        int result = assemble_dcfg(&dcfg, &rig.graph, rig.images, &settings, &error);
        CU_ASSERT_EQUAL(result, BT_IO);
        result = assemble_dcfg(&dcfg, &rig.graph, NULL, &settings, &error);
        CU_ASSERT_EQUAL_FATAL(result, 0);
        check_dcfg(dcfg, &rig.graph);
        dcfg_free(dcfg);
        rig_end(&rig);
    }
}

static void test_assembled_with_images(void)
{
    char folder[FOLDER_PATH_BYTES];
    folder_make(folder);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct program_rig rig;
        struct dcfg *dcfg;
        struct bt_error error;
        rig_start(&rig, seed + 20000);
        struct images *images =
            x86_program_load(&rig.program, folder, seed % 2 != 0, seed % 2 == 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(images);
        CU_ASSERT_EQUAL_FATAL(assemble_dcfg(&dcfg, &rig.graph, images, &settings, &error), 0);
        check_dcfg(dcfg, &rig.graph);
        dcfg_free(dcfg);
        images_free(images);
        rig_end(&rig);
    }
    folder_remove(folder);
}

/* Unknown code directly before and after an image is in separate images. */
static void test_neighbours(void)
{
    struct program_rig rig;
    struct dcfg *dcfg;
    char folder[FOLDER_PATH_BYTES];
    rig_start(&rig, 3);
    folder_make(folder);
    struct images *images = x86_program_load(&rig.program, folder, true, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(images);
    const struct image *image = images_get(images, 0);
    uint32_t load = (uint32_t)image->load_address;
    struct record records[] = {{.address = load - 8, .size = 8},
                               x86_program_fetch(&rig.program, 0, 0),
                               {.address = load + (uint32_t)image->size, .size = 2},
                               {.address = load + (uint32_t)image->size + 2, .size = 2},
                               {.address = 0xffff0000, .size = 2}};
    const struct batch batch = {.records = records, .count = 5};
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    struct image_matches matches;
    CU_ASSERT_EQUAL(flow_put(flow, &batch, NULL), 0);
    edge_types_end_blocks(flow, images, &matches);
    CU_ASSERT_EQUAL(matches.instructions, 5);
    CU_ASSERT_EQUAL(matches.outside, 4);
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(assemble_dcfg(&dcfg, &graph, images, &settings, NULL), 0);
    check_dcfg(dcfg, &graph);
    CU_ASSERT_EQUAL(dcfg->processes[0]->image_count, 3);
    dcfg_free(dcfg);
    flow_free(flow);
    images_free(images);
    folder_remove(folder);
    rig_end(&rig);
}

/* Random fetches, also at the ends of memory. */
static void test_assembled_anything(void)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        const struct fetches fetches = {.seed = seed,
                                        .base = seed % 3 == 0   ? 0
                                                : seed % 3 == 1 ? 0xffffff00u
                                                                : 0x5000,
                                        .span = 200,
                                        .threads = 3,
                                        .jumps = 3,
                                        .choices = 3,
                                        .overlaps = seed % 2 ? 20 : 0};
        static struct record records[2000];
        const struct batch batch = {.records = records, .count = 10 * seed};
        struct flow *flow = flow_new(MEMORY, NULL);
        struct flow_graph graph;
        struct dcfg *dcfg;
        fetches_fill(&fetches, records, batch.count);
        CU_ASSERT_EQUAL(flow_put(flow, &batch, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
        bool at_zero = graph.block_count > 0 && graph.blocks[0].address == 0;
        int result = assemble_dcfg(&dcfg, &graph, NULL, &settings, NULL);
        CU_ASSERT_EQUAL(result, at_zero ? BT_DATA : 0);
        if (result < 0) {
            flow_free(flow);
            continue;
        }
        check_dcfg(dcfg, &graph);
        if (graph.block_count > 0) {
            uint32_t first = dcfg_find_block(dcfg->processes[0], 4);
            CU_ASSERT_EQUAL(dcfg->processes[0]->images[0].load_address +
                                dcfg->processes[0]->blocks[first].offset,
                            records[0].address);
        }
        dcfg_free(dcfg);
        flow_free(flow);
    }
}

/* The graph of the fetches of a few instructions, and their image. */
struct signal_rig {
    struct images *images;
    struct flow *flow;
    struct flow_graph graph;
    struct edge_types types;
};

#define SMALL_RIG_AT (0x8048000u + ELF_FILE_OFFSET)

static void signal_rig_start(struct signal_rig *rig, struct record *records, size_t count)
{
    static const uint8_t code[] = {0x90, 0x0f, 0x05, 0x90, 0xc3, /* a system call */
                                   0x90, 0xc3,                   /* a handler */
                                   0x0f, 0x05};                  /* the return from it */
    const struct elf_file file = {
        .bits = 64, .load_address = 0x8048000, .code = code, .code_size = sizeof code};
    const struct batch batch = {.records = records, .count = count};
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 32];
    struct image_matches matches;
    folder_make(folder);
    snprintf(path, sizeof path, "%s/program", folder);
    elf_file_write(&file, path);
    rig->images = images_new(NULL);
    CU_ASSERT_EQUAL_FATAL(images_add(rig->images, path, NULL), 0);
    folder_remove(folder);
    rig->flow = flow_new(MEMORY, NULL);
    CU_ASSERT_EQUAL(flow_put(rig->flow, &batch, NULL), 0);
    edge_types_end_blocks(rig->flow, rig->images, &matches);
    CU_ASSERT_EQUAL(matches.different, 0);
    CU_ASSERT_EQUAL_FATAL(flow_finish(rig->flow, &rig->graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(
        edge_types_find(&rig->types, &rig->graph, rig->images, UNKNOWN_BRANCHES_BRANCH, NULL), 0);
}

static int count_type(const struct signal_rig *rig, enum dcfg_edge_type type)
{
    int count = 0;
    for (size_t e = 0; e < rig->graph.edge_count; e++)
        count += rig->types.types[e] == type;
    return count;
}

static void signal_rig_end(struct signal_rig *rig)
{
    edge_types_clear(&rig->types);
    flow_free(rig->flow);
    images_free(rig->images);
}

/*
 * A signal that a program sends itself, in user code only: the handler begins after the system
 * call. The handler's system call returns to the instruction after the first one, or to the first
 * one if that is restarted.
 */
static void test_signal_in_system_call(void)
{
    const uint32_t at = SMALL_RIG_AT;
    struct record after[] = {{.address = at, .size = 1},     {.address = at + 1, .size = 2},
                             {.address = at + 5, .size = 1}, {.address = at + 6, .size = 1},
                             {.address = at + 7, .size = 2}, {.address = at + 3, .size = 1}};
    struct record again[] = {after[0], after[1], after[2], after[3], after[4], after[1], after[5]};
    struct signal_rig rig;
    signal_rig_start(&rig, after, 6);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_CALL), 1);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_RETURN), 1);
    CU_ASSERT_EQUAL(rig.types.bypass_count, 1);
    if (rig.types.bypass_count > 0)
        CU_ASSERT_EQUAL(rig.types.bypasses[0].type, DCFG_EDGE_SYSTEM_CALL_BYPASS);
    signal_rig_end(&rig);
    signal_rig_start(&rig, again, 7);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_CALL), 1);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_RETURN), 1);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_CALL_BYPASS), 1);
    CU_ASSERT_EQUAL(rig.types.bypass_count, 0); /* the bypass is an edge of the graph */
    signal_rig_end(&rig);
}

/* A restarted system call without a handler: the kernel is not captured, so only bypasses. */
static void test_system_call_again(void)
{
    const uint32_t at = SMALL_RIG_AT;
    struct record records[] = {{.address = at, .size = 1},
                               {.address = at + 1, .size = 2},
                               {.address = at + 1, .size = 2},
                               {.address = at + 3, .size = 1}};
    struct signal_rig rig;
    signal_rig_start(&rig, records, 4);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_CALL_BYPASS), 2);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_CALL), 0);
    CU_ASSERT_EQUAL(count_type(&rig, DCFG_EDGE_SYSTEM_RETURN), 0);
    signal_rig_end(&rig);
}

static const struct test_case cases[] = {
    {"random programs", test_programs},
    {"a signal in a system call", test_signal_in_system_call},
    {"a restarted system call", test_system_call_again},
    {"blocks end after branches", test_blocks_end},
    {"graphs without images", test_assembled},
    {"graphs with one image of two", test_assembled_with_images},
    {"code beside images", test_neighbours},
    {"graphs of random fetches", test_assembled_anything},
    {NULL, NULL}};
TEST_SUITE(edge_types, cases)
