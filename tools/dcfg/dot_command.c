#include "tools/common/commands.h"

#include "tools/dcfg/dot_graph.h"
#include "tools/dcfg/graph/find_routine.h"

#include <inttypes.h>

#define BLOCKS 400u /* dot(1) lays them out in about a quarter of a second */

struct dot_settings {
    const char *routine;
    const char *process;
    uint64_t minimum;
    uint32_t most;
    bool all;
};

static const struct option_row dot_options[] = {
    {OPTION_TEXT, 0, "routine", "NAME", "draw only this routine: its symbol or its address",
     offsetof(struct dot_settings, routine), NULL},
    {OPTION_COUNT, 0, "min-count", "N", "leave out blocks and edges executed less than N times",
     offsetof(struct dot_settings, minimum), NULL},
    {OPTION_NUMBER, 0, "top", "N", "draw the N hottest blocks (default: 400)",
     offsetof(struct dot_settings, most), NULL},
    {OPTION_FLAG, 'a', "all", NULL, "draw all blocks", offsetof(struct dot_settings, all), NULL},
    {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP, offsetof(struct dot_settings, process),
     NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static int draw(const struct view *view, const void *given, struct bt_error *error)
{
    const struct dot_settings *settings = given;
    uint32_t routine = DCFG_NONE;
    if (settings->routine &&
        find_routine(&routine, view->process, view->names, settings->routine, error) < 0)
        return bt_fail_within(error, "%s", view->path);
    const struct dot_choice choice = {routine, settings->minimum,
                                      settings->all ? UINT32_MAX : settings->most};
    struct dot_part part;
    if (dot_graph(view, &choice, &part, stdout, error) < 0)
        return error->code;
    if (part.drawn < part.blocks)
        fprintf(stderr,
                "bustap: drawn are the %" PRIu32 " hottest of %" PRIu32
                " blocks, with %.2f %% of what was executed; --all draws all\n",
                part.drawn, part.blocks, 100 * part.share);
    return 0;
}

static int dot_main(struct invocation *call)
{
    struct dot_settings settings = {.most = BLOCKS};
    return view_one_main(call, &settings, &settings.process, draw);
}

const struct command dcfg_dot_command = {
    .name = "dot",
    .operands = "FILE",
    .summary = "print a graph in the language of Graphviz",
    .details = "Prints a graph in the language of Graphviz: a cluster for each routine, blocks "
               "with address, symbol, source line and executions, edges with their types and "
               "counts. dot -Tsvg draws it.",
    .options = dot_options,
    .run = dot_main,
    .group = NULL};
