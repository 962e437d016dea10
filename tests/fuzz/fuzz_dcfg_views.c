/*
 * All views of a graph that commands print: names, loops, calls, a picture, and differences. A
 * graph has none from itself; the others are from the file's last process. All of it ends,
 * whatever the graph claims.
 */
#include "formats/base/saturating.h"
#include "formats/dcfg/dcfg_reader.h"
#include "tests/fuzz/read_graph.h"
#include "tools/dcfg/diff_rows.h"
#include "tools/dcfg/dot_graph.h"
#include "tools/dcfg/graph/call_graph.h"
#include "tools/dcfg/graph/find_routine.h"
#include "tools/dcfg/graph/hot_paths.h"
#include "tools/dcfg/graph/loop_counts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
    if (!good)
        abort();
}

static void count_up(const struct view *view)
{
    struct bt_error error;
    struct call_graph calls;
    struct irreducible_loops irreducible;
    expect(irreducible_find(&irreducible, &view->profile, &error) == 0);
    struct loop_count *loops = loop_counts_make(&view->profile, &irreducible, &error);
    const uint32_t count = view->process->loop_count + irreducible.count;
    expect(loops);
    for (uint32_t i = 0; i < count; i++)
        expect(loops[i].depth >= 1 && loops[i].depth <= count);
    free(loops);
    irreducible_clear(&irreducible);
    struct hot_paths paths;
    expect(hot_paths_find(&paths, &view->profile, 3, &error) == 0);
    for (size_t p = 0; p < paths.path_count; p++)
        expect(paths.paths[p].at_least <= paths.paths[p].at_most && paths.paths[p].length > 0);
    hot_paths_clear(&paths);
    expect(call_graph_make(&calls, &view->profile, view->names, &error) == 0);
    uint64_t self = 0;
    for (uint32_t f = 0; f < calls.function_count; f++)
        self = saturating_add(self, calls.functions[f].self);
    expect(self == view->profile.total);
    for (uint32_t c = 0; c < calls.call_count; c++)
        expect(calls.calls[c].cost <= calls.functions[calls.calls[c].callee].inclusive);
    call_graph_clear(&calls);
}

static void draw(const struct view *view, FILE *out)
{
    struct bt_error error;
    uint32_t routine = DCFG_NONE;
    struct code_location place;
    struct dot_choice choice = {DCFG_NONE, 0, UINT32_MAX};
    struct dot_part part;
    expect(dot_graph(view, &choice, &part, out, &error) == 0);
    choice.most = 2;
    expect(dot_graph(view, &choice, &part, out, &error) == 0);
    if (view->process->routine_count == 0)
        return;
    names_of_routine(view->names, view->process->routine_count - 1, &place);
    if (find_routine(&routine, view->process, view->names, place.symbol ? place.symbol : "x",
                     &error) == 0) {
        choice = (struct dot_choice){routine, 2, UINT32_MAX};
        expect(dot_graph(view, &choice, &part, out, &error) == 0);
    }
}

static void compare(const struct view views[2], bool same, FILE *out)
{
    struct bt_error error;
    struct graph_diff diff;
    const struct graph_profile *const profiles[2] = {&views[0].profile, &views[1].profile};
    const struct names *const names[2] = {views[0].names, views[1].names};
    expect(graph_diff_make(&diff, profiles, names, &error) == 0);
    expect(!same || !diff.differ);
    graph_diff_clear(&diff);
    expect(graph_diff_make(&diff, profiles, NULL, &error) == 0);
    expect(!same || !diff.differ);
    struct diff_rows rows = {.views = views, .diff = &diff};
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++)
        rows.shown[kind] = diff.lists[kind].count;
    struct table table = diff_rows_all(&rows);
    table_print_csv(&table, out);
    table = diff_rows_table(&rows, GRAPH_DIFF_EDGES);
    table_print(&table, out);
    graph_diff_clear(&diff);
}

static void show(struct dcfg *graph)
{
    struct bt_error error;
    struct view views[2];
    FILE *out = fopen("/dev/null", "w");
    expect(out);
    for (unsigned i = 0; i < 2; i++) {
        struct dcfg_process *process = graph->processes[i == 0 ? 0 : graph->process_count - 1];
        views[i] = (struct view){.path = "x", .graph = graph, .process = process};
        expect(graph_profile_make(&views[i].profile, process, &error) == 0);
        views[i].names = names_new(process, &error);
        expect(views[i].names);
    }
    count_up(&views[0]);
    draw(&views[0], out);
    compare(views, graph->process_count == 1, out);
    for (unsigned i = 0; i < 2; i++) {
        graph_profile_clear(&views[i].profile);
        names_free(views[i].names);
    }
    fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dcfg *graph = read_graph(data, size, false, 64);
    if (!graph)
        return 0;
    if (graph->process_count > 0)
        show(graph);
    dcfg_free(graph);
    return 0;
}
