/* Lines of expanded traces, against lines that printf makes one by one. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_dcfg.h"
#include "tools/dcfg/edge_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDS 3000u

static const char *type_of(const struct dcfg_process *process, uint32_t edge)
{
    const char *type = dcfg_edge_type_name((enum dcfg_edge_type)process->edges.types[edge]);
    return type ? type : "OTHER";
}

static void print_text(FILE *out, const char *type, uint32_t thread, uint64_t index,
                       const uint32_t ids[3], const struct code_location *location)
{
    char line[8000];
    int size = sprintf(line, "%6u %12llu %8u %8u %8u  %-29s", thread, (unsigned long long)index,
                       ids[0], ids[1], ids[2], type);
    if (location)
        size += sprintf(line + size, " 0x%08llx", (unsigned long long)location->address);
    if (location && location->symbol) {
        size += sprintf(line + size, "  ");
        for (const char *c = location->symbol; *c; c++)
            line[size++] = (char)((unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
        if (location->symbol_offset > 0)
            size += sprintf(line + size, "+0x%llx", (unsigned long long)location->symbol_offset);
    }
    while (line[size - 1] == ' ')
        size--;
    fprintf(out, "%.*s\n", size, line);
}

static void print_csv(FILE *out, const char *type, uint32_t thread, uint64_t index,
                      const uint32_t ids[3], const struct code_location *location)
{
    fprintf(out, "%u,%llu,%u,%u,%u,%s,", thread, (unsigned long long)index, ids[0], ids[1], ids[2],
            type);
    if (location)
        fprintf(out, "0x%llx", (unsigned long long)location->address);
    fputc(',', out);
    if (location && location->symbol) {
        fputc('"', out);
        for (const char *c = location->symbol; *c; c++)
            fprintf(out, "%s%c", *c == '"' ? "\"" : "", *c);
        fprintf(out, "\",%llu\n", (unsigned long long)location->symbol_offset);
    } else {
        fprintf(out, ",\n");
    }
}

static void print_json(FILE *out, const char *type, uint32_t thread, uint64_t index,
                       const uint32_t ids[3], const struct code_location *location)
{
    fprintf(out,
            "{\"thread\":%u,\"index\":%llu,\"edge\":%u,\"source\":%u,\"target\":%u,"
            "\"type\":\"%s\"",
            thread, (unsigned long long)index, ids[0], ids[1], ids[2], type);
    if (location)
        fprintf(out, ",\"address\":\"0x%llx\"", (unsigned long long)location->address);
    if (location && location->symbol) {
        fprintf(out, ",\"symbol\":\"");
        for (const char *c = location->symbol; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                fprintf(out, "\\u%04x", (unsigned)*c);
            else
                fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        fprintf(out, "\",\"symbol_offset\":%llu", (unsigned long long)location->symbol_offset);
    }
    fprintf(out, "}\n");
}

static void print_slowly(FILE *out, const struct view *view, enum view_form form, uint32_t thread,
                         uint64_t index, uint32_t edge)
{
    const struct dcfg_edges *edges = &view->process->edges;
    const uint32_t ids[3] = {edges->ids[edge], edges->sources[edge], edges->targets[edge]};
    struct code_location at;
    uint32_t block = dcfg_find_block(view->process, ids[2]);
    if (block != DCFG_NONE)
        names_of_block(view->names, block, &at);
    const struct code_location *location = block != DCFG_NONE ? &at : NULL;
    const char *type = type_of(view->process, edge);
    if (form == VIEW_JSON)
        print_json(out, type, thread, index, ids, location);
    else if (form == VIEW_CSV)
        print_csv(out, type, thread, index, ids, location);
    else
        print_text(out, type, thread, index, ids, location);
}

/* The contents of a file, ended by a 0; free it. */
static char *contents(FILE *file)
{
    long size = (fflush(file), fseek(file, 0, SEEK_END), ftell(file));
    char *text = calloc(1, (size_t)size + 1);
    rewind(file);
    CU_ASSERT_EQUAL(fread(text, 1, (size_t)size, file), (size_t)size);
    return text;
}

/* Prints the edges with these ids, in pieces, by both ways. */
static void compare(const struct view *view, enum view_form form, uint32_t thread, uint64_t index,
                    const uint32_t *edges, size_t memory)
{
    FILE *quick = tmpfile();
    FILE *slow = tmpfile();
    struct bt_error error;
    struct output *output = output_new(fileno(quick), "a test", &error);
    struct edge_lines *lines = edge_lines_new(view, form, memory, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
    uint32_t ids[IDS];
    for (unsigned i = 0; i < IDS; i++) {
        ids[i] = view->process->edges.ids[edges[i]];
        print_slowly(slow, view, form, thread, index + i, edges[i]);
    }
    for (unsigned at = 0, piece; at < IDS; at += piece) {
        piece = IDS - at < 700 ? IDS - at : 700;
        CU_ASSERT_EQUAL(
            edge_lines_print(lines, thread, index + at, ids + at, piece, output, &error),
            (long)piece);
    }
    CU_ASSERT_EQUAL(output_flush(output, &error), 0);
    char *one = contents(quick);
    char *other = contents(slow);
    CU_ASSERT_STRING_EQUAL(one, other);
    free(one);
    free(other);
    edge_lines_free(lines);
    output_free(output);
    fclose(quick);
    fclose(slow);
}

static uint64_t random_number(uint64_t *state)
{
    return random_next(state) >> random_below(state, 64);
}

static void test_random(void)
{
    static const size_t memories[] = {0, 20000, (size_t)64 << 20};
    unsigned compared = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint64_t state = random_seed(seed);
        struct dcfg *graph = random_dcfg(&state, RANDOM_DCFG_ANY, 200);
        CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
        for (uint32_t i = 0; i < graph->process_count; i++) {
            struct bt_error error;
            struct view view = {.graph = graph, .process = graph->processes[i]};
            uint32_t edges[IDS];
            if (view.process->edges.count == 0)
                continue;
            view.names = names_new(view.process, &error);
            for (unsigned k = 0; k < IDS; k++)
                edges[k] = (uint32_t)random_below(&state, view.process->edges.count);
            compare(&view, (enum view_form)(compared % 3), (uint32_t)random_number(&state),
                    random_number(&state), edges, memories[compared / 3 % 3]);
            names_free(view.names);
            compared++;
        }
        dcfg_free(graph);
    }
    CU_ASSERT(compared > 30);
}

/* A graph of one block, entered by one edge; the symbol there is longer than what is shown. */
static struct dcfg *long_symbol(char symbol[1503])
{
    struct dcfg *graph = dcfg_new(NULL, NULL);
    struct dcfg_image image = {.load_address = 0x400000, .size = 0x1000};
    struct dcfg_block block = {.id = 10, .instructions = 1, .count = DCFG_COUNT_UNKNOWN};
    uint64_t count = 1;
    memset(symbol, 'x', 999);
    for (unsigned i = 999; i < 1500; i += 2)
        memcpy(symbol + i, "\xc3\xa4", 2); /* the limit of 1000 is within this character */
    symbol[1501] = '\0';
    CU_ASSERT_EQUAL(dcfg_add_standard_tables(graph, NULL), 0);
    struct dcfg_process *process = dcfg_add_process(graph, 1, NULL);
    CU_ASSERT_EQUAL(dcfg_add_image(process, &image, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_add_symbol(process, 0, 16, symbol, 1501, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_add_block(process, &block, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_add_edge(process, 5, 10, 10, DCFG_EDGE_BRANCH, &count, 1, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_seal(graph, NULL), 0);
    return graph;
}

static void test_long_symbol(void)
{
    char symbol[1503];
    struct bt_error error;
    struct dcfg *graph = long_symbol(symbol);
    struct view view = {.graph = graph, .process = graph->processes[0]};
    const uint32_t ids[] = {5, 5, 6, 5};
    FILE *file = tmpfile();
    view.names = names_new(view.process, &error);
    struct output *output = output_new(fileno(file), "a test", &error);
    struct edge_lines *lines = edge_lines_new(&view, VIEW_CSV, 0, &error);
    CU_ASSERT_EQUAL(edge_lines_print(lines, 1, 99999999, ids, 4, output, &error), 2);
    CU_ASSERT_EQUAL(output_flush(output, &error), 0);
    char *text = contents(file);
    char wanted[2500];
    snprintf(wanted, sizeof wanted,
             "1,99999999,5,10,10,BRANCH,0x400000,\"%.999s\",0\n"
             "1,100000000,5,10,10,BRANCH,0x400000,\"%.999s\",0\n",
             symbol, symbol);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
    fclose(file);
    edge_lines_free(lines);
    output_free(output);
    names_free(view.names);
    dcfg_free(graph);
}

static const struct test_case cases[] = {{"random graphs against printf", test_random},
                                         {"long symbols and unknown edges", test_long_symbol},
                                         {NULL, NULL}};
TEST_SUITE(edge_lines, cases)
