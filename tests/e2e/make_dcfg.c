/*
 * Writes the control-flow graph of an example for tests: a program of two threads, whose main calls
 * fill, which has loops, and a recursive routine of a library, in a loop.
 *
 * usage: make_dcfg [OPTIONS] FILE
 *   --outer N       iterations of the first thread's outer loop, 10 by default
 *   --depth N       recursion of the library's routine, 3 by default
 *   --load ADDRESS  address of the library
 *   --bare          no symbols, no lines
 *   --processes N   N equal processes
 */
#include "formats/dcfg/dcfg_writer.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct options {
    uint64_t outer, depth, load;
    unsigned long processes;
    int bare;
};

/* --- the program ----------------------------------------------------------------------------- */

enum { PROGRAM, LIBRARY, IMAGES };

/* Node ids. */
enum {
    MAIN = 4,
    OUTER,
    CALL_FILL,
    CALL_POWER,
    NEXT,
    LEAVE,
    FILL,
    INNER,
    CLEAR,
    FILLED,
    POWER,
    AGAIN,
    TIMES,
    POWERED
};

static const struct block {
    unsigned image;
    struct dcfg_block block;
} blocks[] = {{PROGRAM,
               {.offset = 0x1000,
                .count = 0,
                .id = MAIN,
                .size = 12,
                .instructions = 3,
                .last_instruction = 8}},
              {PROGRAM,
               {.offset = 0x100c,
                .count = 0,
                .id = OUTER,
                .size = 9,
                .instructions = 3,
                .last_instruction = 7}},
              {PROGRAM,
               {.offset = 0x1015,
                .count = 0,
                .id = CALL_FILL,
                .size = 10,
                .instructions = 2,
                .last_instruction = 5}},
              {PROGRAM,
               {.offset = 0x101f,
                .count = 0,
                .id = CALL_POWER,
                .size = 8,
                .instructions = 2,
                .last_instruction = 5}},
              {PROGRAM,
               {.offset = 0x1027,
                .count = 0,
                .id = NEXT,
                .size = 6,
                .instructions = 2,
                .last_instruction = 4}},
              {PROGRAM,
               {.offset = 0x102d,
                .count = 0,
                .id = LEAVE,
                .size = 4,
                .instructions = 2,
                .last_instruction = 3}},
              {PROGRAM,
               {.offset = 0x1100,
                .count = 0,
                .id = FILL,
                .size = 4,
                .instructions = 2,
                .last_instruction = 2}},
              {PROGRAM,
               {.offset = 0x1104,
                .count = 0,
                .id = INNER,
                .size = 12,
                .instructions = 4,
                .last_instruction = 10}},
              {PROGRAM,
               {.offset = 0x1110,
                .count = 0,
                .id = CLEAR,
                .size = 3,
                .instructions = 1,
                .last_instruction = 0}},
              {PROGRAM,
               {.offset = 0x1113,
                .count = 0,
                .id = FILLED,
                .size = 1,
                .instructions = 1,
                .last_instruction = 0}},
              {LIBRARY,
               {.offset = 0x2000,
                .count = 0,
                .id = POWER,
                .size = 7,
                .instructions = 3,
                .last_instruction = 5}},
              {LIBRARY,
               {.offset = 0x2007,
                .count = 0,
                .id = AGAIN,
                .size = 8,
                .instructions = 2,
                .last_instruction = 3}},
              {LIBRARY,
               {.offset = 0x200f,
                .count = 0,
                .id = TIMES,
                .size = 4,
                .instructions = 1,
                .last_instruction = 0}},
              {LIBRARY,
               {.offset = 0x2013,
                .count = 0,
                .id = POWERED,
                .size = 1,
                .instructions = 1,
                .last_instruction = 0}}};

static const struct symbol {
    unsigned image;
    uint64_t offset, size;
    const char *name;
} symbols[] = {{PROGRAM, 0x1000, 0x31, "main"},
               {PROGRAM, 0x1100, 0x14, "fill"},
               {PROGRAM, 0x1110, 0, "fill_clear"}, /* a label in an assembler's routine */
               {LIBRARY, 0x2000, 0x14, "power<unsigned int>(std::vector<\"n\\m\">&, {...})"}};

static const char *const file_names[] = {"/opt/example/example", "/opt/example/libpower.so",
                                         "src/main.c", "src/fill.c", "src/power.cc"};

static const struct {
    unsigned image;
    struct dcfg_line line;
} lines[] = {
    {PROGRAM, {.offset = 0x1000, .size = 12, .file_name_id = 3, .line = 20, .instructions = 3}},
    {PROGRAM, {.offset = 0x100c, .size = 9, .file_name_id = 3, .line = 22, .instructions = 3}},
    {PROGRAM, {.offset = 0x1015, .size = 10, .file_name_id = 3, .line = 23, .instructions = 2}},
    {PROGRAM, {.offset = 0x101f, .size = 8, .file_name_id = 3, .line = 24, .instructions = 2}},
    {PROGRAM, {.offset = 0x1027, .size = 6, .file_name_id = 3, .line = 22, .instructions = 2}},
    {PROGRAM, {.offset = 0x102d, .size = 4, .file_name_id = 3, .line = 26, .instructions = 2}},
    {PROGRAM, {.offset = 0x1100, .size = 4, .file_name_id = 4, .line = 7, .instructions = 2}},
    {PROGRAM, {.offset = 0x1104, .size = 12, .file_name_id = 4, .line = 9, .instructions = 4}},
    {PROGRAM, {.offset = 0x1110, .size = 3, .file_name_id = 4, .line = 12, .instructions = 1}},
    {PROGRAM, {.offset = 0x1113, .size = 1, .file_name_id = 4, .line = 13, .instructions = 1}},
    {LIBRARY, {.offset = 0x2000, .size = 7, .file_name_id = 5, .line = 31, .instructions = 3}},
    {LIBRARY, {.offset = 0x2007, .size = 12, .file_name_id = 5, .line = 33, .instructions = 3}},
    {LIBRARY, {.offset = 0x2013, .size = 1, .file_name_id = 5, .line = 34, .instructions = 1}}};

static const struct routine {
    unsigned image;
    uint32_t exits[4];
    struct dcfg_node nodes[8];
} routines[] = {{PROGRAM,
                 {CALL_FILL, CALL_POWER, LEAVE},
                 {{.id = MAIN, .dominator = MAIN},
                  {.id = OUTER, .dominator = MAIN},
                  {.id = CALL_FILL, .dominator = OUTER},
                  {.id = CALL_POWER, .dominator = CALL_FILL},
                  {.id = NEXT, .dominator = CALL_POWER},
                  {.id = LEAVE, .dominator = OUTER}}},
                {PROGRAM,
                 {FILLED},
                 {{.id = FILL, .dominator = FILL},
                  {.id = INNER, .dominator = FILL},
                  {.id = CLEAR, .dominator = INNER},
                  {.id = FILLED, .dominator = CLEAR}}},
                {LIBRARY,
                 {POWERED},
                 {{.id = POWER, .dominator = POWER},
                  {.id = AGAIN, .dominator = POWER},
                  {.id = TIMES, .dominator = AGAIN},
                  {.id = POWERED, .dominator = POWER}}}};

static const struct loop {
    uint32_t entry; /* of the routine */
    uint32_t head, back, nodes[6];
} loops[] = {{MAIN, OUTER, NEXT, {OUTER, CALL_FILL, CALL_POWER, NEXT}},
             {FILL, INNER, INNER, {INNER}},
             {FILL, CLEAR, CLEAR, {CLEAR}}};

/* --- the execution ---------------------------------------------------------------------------- */

struct edge {
    uint32_t source, target;
    enum dcfg_edge_type type;
    uint64_t counts[2];
};

/* Edges of the recursion, absent at depth 0. */
static bool is_deeper(uint32_t node)
{
    return node == AGAIN || node == TIMES;
}

static size_t make_edges(struct edge *edges, const struct options *options)
{
    uint64_t a = options->outer;
    uint64_t b = 5;
    uint64_t d = options->depth;
    const struct edge all[] = {
        {DCFG_START, MAIN, DCFG_EDGE_ENTRY, {1, 1}},
        {MAIN, OUTER, DCFG_EDGE_FALL_THROUGH, {1, 1}},
        {OUTER, LEAVE, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, {1, 1}},
        {OUTER, CALL_FILL, DCFG_EDGE_FALL_THROUGH, {a, b}},
        {CALL_FILL, FILL, DCFG_EDGE_DIRECT_CALL, {a, b}},
        {CALL_FILL, CALL_POWER, DCFG_EDGE_CALL_BYPASS, {0, 0}},
        {FILLED, CALL_POWER, DCFG_EDGE_RETURN, {a, b}},
        {CALL_POWER, POWER, DCFG_EDGE_INDIRECT_CALL, {a, b}},
        {CALL_POWER, NEXT, DCFG_EDGE_CALL_BYPASS, {0, 0}},
        {POWERED, NEXT, DCFG_EDGE_RETURN, {a, b}},
        {NEXT, OUTER, DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH, {a, b}},
        {LEAVE, DCFG_END, DCFG_EDGE_EXIT, {1, 1}},
        {FILL, INNER, DCFG_EDGE_FALL_THROUGH, {a, b}},
        {INNER, INNER, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, {99 * a, 99 * b}},
        {INNER, CLEAR, DCFG_EDGE_FALL_THROUGH, {a, b}},
        {CLEAR, CLEAR, DCFG_EDGE_REP, {15 * a, 15 * b}},
        {CLEAR, FILLED, DCFG_EDGE_FALL_THROUGH, {a, b}},
        {POWER, POWERED, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, {a, b}},
        {POWER, AGAIN, DCFG_EDGE_FALL_THROUGH, {d * a, d * b}},
        {AGAIN, POWER, DCFG_EDGE_DIRECT_CALL, {d * a, d * b}},
        {AGAIN, TIMES, DCFG_EDGE_CALL_BYPASS, {0, 0}},
        {POWERED, TIMES, DCFG_EDGE_RETURN, {d * a, d * b}},
        {TIMES, POWERED, DCFG_EDGE_FALL_THROUGH, {d * a, d * b}},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT(all); i++)
        if (d > 0 || (!is_deeper(all[i].source) && !is_deeper(all[i].target)))
            edges[count++] = all[i];
    return count;
}

struct walked {
    struct edge edges[32];
    size_t edge_count;
    uint64_t executions[POWERED + 1];
    uint64_t instructions[2]; /* by thread */
};

static void walk(struct walked *walked, const struct options *options)
{
    memset(walked, 0, sizeof *walked);
    walked->edge_count = make_edges(walked->edges, options);
    for (size_t i = 0; i < walked->edge_count; i++)
        for (size_t b = 0; b < COUNT(blocks); b++)
            if (blocks[b].block.id == walked->edges[i].target)
                for (unsigned thread = 0; thread < 2; thread++) {
                    uint64_t count = walked->edges[i].counts[thread];
                    walked->executions[blocks[b].block.id] += count;
                    walked->instructions[thread] += count * blocks[b].block.instructions;
                }
}

/* --- the graph ------------------------------------------------------------------------------- */

static void expect(int result, const struct bt_error *error)
{
    if (result >= 0)
        return;
    fprintf(stderr, "make_dcfg: %s\n", error->message);
    exit(3);
}

static void add_routine(struct dcfg_process *process, const struct routine *routine,
                        const struct walked *walked)
{
    struct bt_error error = {0};
    struct dcfg_routine row = {.entry = routine->nodes[0].id};
    for (unsigned i = 0; i < COUNT(routine->exits) && routine->exits[i]; i++)
        expect(dcfg_add_id(process, &row.exits, routine->exits[i], &error), &error);
    for (unsigned i = 0; i < COUNT(routine->nodes) && routine->nodes[i].id; i++)
        if (walked->executions[routine->nodes[i].id] > 0)
            expect(dcfg_add_node(process, &row.nodes, &routine->nodes[i], &error), &error);
    for (size_t i = 0; i < COUNT(loops); i++) {
        struct dcfg_loop loop = {.head = loops[i].head};
        if (loops[i].entry != row.entry)
            continue;
        expect(dcfg_add_id(process, &loop.back_edges, loops[i].back, &error), &error);
        for (unsigned n = 0; n < COUNT(loops[i].nodes) && loops[i].nodes[n]; n++)
            expect(dcfg_add_id(process, &loop.nodes, loops[i].nodes[n], &error), &error);
        expect(dcfg_add_loop(process, &row.loops, &loop, &error), &error);
    }
    expect(dcfg_add_routine(process, &row, &error), &error);
}

static void add_image(struct dcfg_process *process, unsigned image, const struct options *options,
                      const struct walked *walked)
{
    struct bt_error error = {0};
    const struct dcfg_image row = {.id = image + 1,
                                   .file_name_id = image + 1,
                                   .load_address = image == LIBRARY ? options->load : 0x400000,
                                   .size = 0x4000};
    expect(dcfg_add_image(process, &row, &error), &error);
    for (size_t i = 0; i < COUNT(symbols) && !options->bare; i++)
        if (symbols[i].image == image)
            expect(dcfg_add_symbol(process, symbols[i].offset, symbols[i].size, symbols[i].name,
                                   strlen(symbols[i].name), &error),
                   &error);
    for (size_t i = 0; i < COUNT(lines) && !options->bare; i++)
        if (lines[i].image == image)
            expect(dcfg_add_line(process, &lines[i].line, &error), &error);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        struct dcfg_block block = blocks[i].block;
        block.count = walked->executions[block.id];
        if (blocks[i].image == image && block.count > 0)
            expect(dcfg_add_block(process, &block, &error), &error);
    }
    for (size_t i = 0; i < COUNT(routines); i++)
        if (routines[i].image == image)
            add_routine(process, &routines[i], walked);
}

static void add_process(struct dcfg *graph, uint64_t id, const struct options *options)
{
    struct bt_error error = {0};
    struct walked walked;
    walk(&walked, options);
    struct dcfg_process *process = dcfg_add_process(graph, id, &error);
    expect(process ? 0 : -1, &error);
    expect(dcfg_set_thread_instructions(process, walked.instructions, 2, &error), &error);
    for (unsigned image = 0; image < IMAGES; image++)
        add_image(process, image, options, &walked);
    for (size_t i = 0; i < walked.edge_count; i++) {
        const struct edge *edge = &walked.edges[i];
        expect(dcfg_add_edge(process, (uint32_t)i + 1, edge->source, edge->target, edge->type,
                             edge->counts, 2, &error),
               &error);
    }
}

static int usage(void)
{
    fputs(
        "usage: make_dcfg [--outer N] [--depth N] [--load ADDRESS] [--bare] [--processes N] FILE\n",
        stderr);
    return 2;
}

int main(int count, char **arguments)
{
    static const struct option names[] = {
        {"outer", required_argument, NULL, 'o'},     {"depth", required_argument, NULL, 'd'},
        {"load", required_argument, NULL, 'l'},      {"bare", no_argument, NULL, 'b'},
        {"processes", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    struct options options = {.outer = 10, .depth = 3, .load = 0x7f0000400000, .processes = 1};
    int option;
    while ((option = getopt_long(count, arguments, "", names, NULL)) != -1) {
        if (option == 'o')
            options.outer = strtoull(optarg, NULL, 0);
        else if (option == 'd')
            options.depth = strtoull(optarg, NULL, 0);
        else if (option == 'l')
            options.load = strtoull(optarg, NULL, 0);
        else if (option == 'b')
            options.bare = 1;
        else if (option == 'p')
            options.processes = strtoul(optarg, NULL, 0);
        else
            return usage();
    }
    if (optind != count - 1)
        return usage();
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    expect(graph ? 0 : -1, &error);
    expect(dcfg_add_standard_tables(graph, &error), &error);
    for (uint32_t i = 0; i < COUNT(file_names); i++)
        expect(dcfg_add_file_name(graph, i + 1, file_names[i], strlen(file_names[i]), &error),
               &error);
    for (unsigned long i = 0; i < options.processes; i++)
        add_process(graph, 4711 + i, &options);
    expect(dcfg_seal(graph, &error), &error);
    const struct dcfg_writer_settings settings = {.several_processes = options.processes > 1};
    expect(dcfg_write(graph, arguments[optind], &settings, &error), &error);
    dcfg_free(graph);
    return 0;
}
