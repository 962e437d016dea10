/*
 * A large control-flow graph as JSON: read value by value with json_pull, skipped, read into a
 * graph, and written; and the memory size of the graph.
 */
#include "formats/dcfg/dcfg_reader.h"
#include "formats/dcfg/dcfg_writer.h"
#include "formats/text/json_pull.h"
#include "tests/support/measure.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS         600000u
#define ROUTINE_BLOCKS 20u
#define ROUNDS         3

static void must(int result, const struct bt_error *error)
{
    if (result >= 0)
        return;
    fprintf(stderr, "json: %s\n", error->message);
    exit(3);
}

/* --- the graph --- */

static void add_routine(struct dcfg_process *process, uint32_t first, struct bt_error *error)
{
    struct dcfg_routine routine = {.entry = first};
    struct dcfg_loop loop = {.head = first + 3};
    must(dcfg_add_id(process, &routine.exits, first + ROUTINE_BLOCKS - 1, error), error);
    for (uint32_t i = 0; i < ROUTINE_BLOCKS; i++) {
        struct dcfg_node node = {.id = first + i, .dominator = first + (i > 0 ? i - 1 : 0)};
        must(dcfg_add_node(process, &routine.nodes, &node, error), error);
    }
    must(dcfg_add_id(process, &loop.back_edges, first + 9, error), error);
    for (uint32_t i = 3; i < 10; i++)
        must(dcfg_add_id(process, &loop.nodes, first + i, error), error);
    must(dcfg_add_loop(process, &routine.loops, &loop, error), error);
    must(dcfg_add_routine(process, &routine, error), error);
}

static void add_symbol(struct dcfg_process *process, uint32_t number, struct bt_error *error)
{
    char name[64];
    int size = snprintf(name, sizeof name, "_ZN5bench7routineILj%uEE3runEPKcm", number);
    must(dcfg_add_symbol(process, 0x1000 + number * 16, 240, name, (size_t)size, error), error);
}

static struct dcfg *make_graph(struct bt_error *error)
{
    uint64_t state = random_seed(1);
    struct dcfg *graph = dcfg_new(NULL, error);
    struct dcfg_image image = {
        .id = 1, .load_address = 0x400000, .size = 64u << 20, .file_name_id = 1};
    must(dcfg_add_standard_tables(graph, error), error);
    must(dcfg_add_file_name(graph, 1, "/usr/bin/bench", 14, error), error);
    struct dcfg_process *process = dcfg_add_process(graph, 4711, error);
    must(dcfg_add_image(process, &image, error), error);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct dcfg_block block = {.id = 4 + i,
                                   .offset = 0x1000 + i * 16,
                                   .size = 1 + (uint32_t)random_below(&state, 16),
                                   .instructions = 1 + (uint32_t)random_below(&state, 5),
                                   .count = random_next(&state) >> (40 + random_below(&state, 24))};
        must(dcfg_add_block(process, &block, error), error);
        if (i % ROUTINE_BLOCKS == 0)
            add_routine(process, 4 + i, error);
        if (i % ROUTINE_BLOCKS == 0)
            add_symbol(process, i, error);
    }
    for (uint32_t i = 0; i < BLOCKS * 3 / 2; i++) {
        uint64_t counts[2] = {random_next(&state) >> (40 + random_below(&state, 24)),
                              random_below(&state, 2)};
        uint32_t source = 4 + (uint32_t)random_below(&state, BLOCKS);
        uint32_t target = 4 + (uint32_t)random_below(&state, BLOCKS);
        must(dcfg_add_edge(process, i + 1, source, target, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH,
                           counts, 2, error),
             error);
    }
    must(dcfg_seal(graph, error), error);
    return graph;
}

/* --- measured functions: each processes the whole text --- */

static uint64_t walk_value(struct json_pull *pull, const struct bt_error *error)
{
    struct json_pull_text text;
    uint64_t sum = 0;
    int result = json_pull_kind(pull);
    if (result == JSON_PULL_ARRAY) {
        must(json_pull_array(pull), error);
        while ((result = json_pull_element(pull)) > 0)
            sum += walk_value(pull, error);
    } else if (result == JSON_PULL_OBJECT) {
        must(json_pull_object(pull), error);
        while ((result = json_pull_key(pull, &text)) > 0)
            sum += walk_value(pull, error);
    } else if (result == JSON_PULL_STRING) {
        result = json_pull_string(pull, &text);
        sum = text.size;
    } else {
        result = json_pull_integer(pull, &sum);
    }
    must(result, error);
    return sum;
}

static uint64_t run_walk(const char *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "text", &error);
    struct json_pull *pull = json_pull_new(reader, NULL, &error);
    uint64_t sum = walk_value(pull, &error);
    json_pull_free(pull);
    text_reader_close(reader);
    return sum;
}

static uint64_t run_skip(const char *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "text", &error);
    struct json_pull *pull = json_pull_new(reader, NULL, &error);
    must(json_pull_skip(pull), &error);
    json_pull_free(pull);
    text_reader_close(reader);
    return 0;
}

/* Memory of a graph with its indexes, measured in a new process. */
static int measure_memory(const char *path, size_t size)
{
    struct bt_error error;
    size_t before = measure_resident_bytes();
    struct text_reader *reader = text_reader_open(path, &error);
    must(reader ? 0 : -1, &error);
    struct dcfg *graph = dcfg_read(reader, NULL, &error);
    text_reader_close(reader);
    size_t after = measure_resident_bytes();
    must(graph ? 0 : -1, &error);
    printf("%-42s %6.1f MB, %.2f a byte of text\n", "the graph in memory",
           (double)(after - before) / 1e6, (double)(after - before) / (double)size);
    dcfg_free(graph);
    return 0;
}

#define GRAPH_FILE "graph.json"

static void run_memory(const char *program, const char *text, size_t size)
{
    char command[4200];
    FILE *file = fopen(GRAPH_FILE, "w");
    if (!file || fwrite(text, 1, size, file) != size || fclose(file) != 0)
        exit(3);
    snprintf(command, sizeof command, "'%s' %zu", program, size);
    fflush(stdout);
    if (system(command) != 0)
        exit(3);
    remove(GRAPH_FILE);
}

static uint64_t run_read(const char *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "text", &error);
    struct dcfg *graph = dcfg_read(reader, NULL, &error);
    must(graph ? 0 : -1, &error);
    uint64_t edges = graph->processes[0]->edges.count;
    dcfg_free(graph);
    text_reader_close(reader);
    return edges;
}

static void measure_run(const char *name, uint64_t (*run)(const char *text, size_t size),
                        const char *text, size_t size)
{
    double best = 1e9;
    uint64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct measure measure;
        measure_begin(&measure);
        sum = run(text, size);
        measure_end(&measure);
        if (measure.cpu < best)
            best = measure.cpu;
    }
    printf("%-42s %6.0f MB/s  (sum %llx)\n", name, (double)size / best / 1e6,
           (unsigned long long)sum);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return measure_memory(GRAPH_FILE, strtoull(argv[1], NULL, 10));
    struct bt_error error;
    size_t size;
    struct measure measure;
    struct dcfg *graph = make_graph(&error);
    struct text_writer *writer = text_writer_new_memory(&error);
    measure_begin(&measure);
    must(dcfg_write_text(graph, writer, NULL, &error), &error);
    measure_end(&measure);
    const char *text = text_writer_memory(writer, &size);
    printf("%.1f MB of DCFG: %u blocks, %u edges\n", (double)size / 1e6,
           graph->processes[0]->block_count, graph->processes[0]->edges.count);
    printf("%-42s %6.0f MB/s\n", "dcfg_writer", (double)size / measure.cpu / 1e6);
    dcfg_free(graph);
    run_memory(argv[0], text, size);
    measure_run("dcfg_reader", run_read, text, size);
    measure_run("json_pull, every value", run_walk, text, size);
    measure_run("json_pull, skipped", run_skip, text, size);
    text_writer_free(writer);
    return 0;
}
