#include "tools/dcfg/dot_graph.h"

#include "formats/base/saturating.h"
#include "tools/common/words.h"
#include "tools/dcfg/dot_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * Maximum length of a routine's and a block's name in the picture; the tooltip has the whole name.
 */
#define NAME_WIDTH  48u
#define BLOCK_WIDTH 28u

/* Edges from other routines into a block, drawn as one edge. */
struct callers {
    uint64_t count;
    uint32_t sites;
    uint32_t routine; /* of the first edge */
    uint8_t type;     /* of the first edge */
    bool several;     /* from more than one routine */
};

struct drawing {
    const struct view *view;
    const struct dcfg_process *process;
    FILE *out;
    uint32_t routine;        /* the routine to draw; DCFG_NONE: all */
    uint64_t minimum;        /* smallest count to draw */
    uint64_t most;           /* highest count of an edge */
    struct callers *callers; /* by block */
    bool *drawn;             /* by routine: its node is drawn */
    bool *left_out;          /* by block: not among the hottest; NULL: none is left out */
};

/* --- selection ------------------------------------------------------------------------------- */

static bool has_block(const struct drawing *drawing, uint32_t block)
{
    return block != DCFG_NONE &&
           (drawing->routine == DCFG_NONE ||
            drawing->view->profile.routine_of[block] == drawing->routine) &&
           drawing->view->profile.executions[block] >= drawing->minimum &&
           !(drawing->left_out && drawing->left_out[block]);
}

/* Relation of an edge to the routine that is drawn. */
enum side { SIDE_NONE, SIDE_WITHIN, SIDE_IN, SIDE_OUT };

static enum side side_of(const struct drawing *drawing, uint32_t edge)
{
    const struct dcfg_edges *edges = &drawing->process->edges;
    enum dcfg_edge_type type = edges->types[edge];
    uint32_t source = edges->sources[edge];
    uint32_t target = edges->targets[edge];
    bool from = has_block(drawing, dcfg_find_block(drawing->process, source));
    bool to = has_block(drawing, dcfg_find_block(drawing->process, target));
    bool special = dcfg_special(drawing->view->graph, from ? target : source) != 0;
    if (!dcfg_edge_type_is_bypass(type) &&
        dcfg_edge_total(drawing->process, edge) < drawing->minimum)
        return SIDE_NONE;
    if ((from && to) || ((from || to) && special))
        return SIDE_WITHIN;
    /* the return address of a bypass is in the calling routine */
    if (drawing->routine == DCFG_NONE || (!from && !to) || dcfg_edge_type_is_return(type))
        return SIDE_NONE;
    return from ? SIDE_OUT : SIDE_IN;
}

static uint32_t routine_of_node(const struct drawing *drawing, uint32_t id)
{
    uint32_t block = dcfg_find_block(drawing->process, id);
    return block == DCFG_NONE ? DCFG_NONE : drawing->view->profile.routine_of[block];
}

static void add_caller(struct drawing *drawing, uint32_t edge)
{
    const struct dcfg_edges *edges = &drawing->process->edges;
    uint32_t routine = routine_of_node(drawing, edges->sources[edge]);
    uint32_t target = dcfg_find_block(drawing->process, edges->targets[edge]);
    struct callers *callers = &drawing->callers[target];
    if (callers->sites++ == 0) {
        callers->routine = routine;
        callers->type = edges->types[edge];
    }
    callers->several = callers->several || callers->routine != routine;
    callers->count = saturating_add(callers->count, dcfg_edge_total(drawing->process, edge));
    if (callers->count > drawing->most)
        drawing->most = callers->count;
}

struct hot_block {
    uint64_t instructions;
    uint32_t block;
};

/* Most instructions first. */
static int compare_hot(const void *left, const void *right)
{
    const struct hot_block *a = left;
    const struct hot_block *b = right;
    if (a->instructions != b->instructions)
        return a->instructions > b->instructions ? -1 : 1;
    return a->block < b->block ? -1 : 1;
}

/* Leaves out all but the `most` blocks with the most instructions. 0 or BT_MEMORY. */
static int choose_hottest(struct drawing *drawing, uint32_t most, struct dot_part *part)
{
    const uint32_t count = drawing->process->block_count;
    struct hot_block *hot = malloc(((size_t)count + 1) * sizeof *hot);
    uint64_t instructions = 0;
    *part = (struct dot_part){.share = 1};
    for (uint32_t b = 0; hot && b < count; b++)
        if (has_block(drawing, b)) {
            hot[part->blocks++] = (struct hot_block){drawing->view->profile.instructions[b], b};
            instructions = saturating_add(instructions, hot[part->blocks - 1].instructions);
        }
    part->drawn = part->blocks;
    if (hot && part->blocks > most) {
        uint64_t kept = 0;
        drawing->left_out = calloc((size_t)count + 1, sizeof *drawing->left_out);
        qsort(hot, part->blocks, sizeof *hot, compare_hot);
        for (uint32_t i = 0; i < part->blocks && drawing->left_out; i++) {
            drawing->left_out[hot[i].block] = i >= most;
            kept = saturating_add(kept, i < most ? hot[i].instructions : 0);
        }
        part->drawn = most;
        part->share = graph_profile_share(kept, instructions);
    }
    const bool good = hot && (part->drawn == part->blocks || drawing->left_out);
    free(hot);
    return good ? 0 : BT_MEMORY;
}

static void survey(struct drawing *drawing)
{
    for (uint32_t e = 0; e < drawing->process->edges.count; e++) {
        enum side side = side_of(drawing, e);
        uint64_t count = dcfg_edge_total(drawing->process, e);
        if (side != SIDE_NONE && count > drawing->most)
            drawing->most = count;
        if (side == SIDE_IN)
            add_caller(drawing, e);
    }
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void put_name(FILE *out, const struct code_location *location, size_t width)
{
    if (!location->symbol) {
        fprintf(out, "0x%" PRIx64, location->address);
        return;
    }
    dot_text_short(out, location->symbol, width);
    if (location->symbol_offset > 0)
        fprintf(out, "+0x%" PRIx64, location->symbol_offset);
}

/* "0x401104  fill+0x4 / fill.c:9 / 1500 executions, 88.09 %". */
static void put_block(const struct drawing *drawing, uint32_t block)
{
    const struct graph_profile *profile = &drawing->view->profile;
    double share = graph_profile_share(profile->instructions[block], profile->total);
    FILE *out = drawing->out;
    struct code_location location;
    names_of_block(drawing->view->names, block, &location);
    fprintf(out, "    n%" PRIu32 " [label=\"0x%" PRIx64, drawing->process->blocks[block].id,
            location.address);
    if (location.symbol) {
        fputs("  ", out);
        put_name(out, &location, BLOCK_WIDTH);
    }
    fputs("\\l", out);
    if (location.file) {
        dot_text_short(out, words_file_name(location.file), BLOCK_WIDTH);
        fprintf(out, ":%" PRIu32 "\\l", location.line);
    }
    enum graph_confidence confidence = graph_profile_confidence(profile, block);
    fprintf(out, "%" PRIu64 " %s, %.2f %%", profile->executions[block],
            profile->executions[block] == 1 ? "execution" : "executions", 100 * share);
    if (confidence != GRAPH_CERTAIN)
        fprintf(out, ", %s (%" PRIu64 " certain)", graph_confidence_name(confidence),
                graph_profile_certain(profile, block));
    fputs("\\l\", tooltip=\"", out);
    put_name(out, &location, SIZE_MAX);
    if (location.file) {
        fputs(", ", out);
        dot_text(out, location.file);
        fprintf(out, ":%" PRIu32, location.line);
    }
    fprintf(out, ", %s: %" PRIu32 "\"%s, fillcolor=\"", view_unit(drawing->view, 0),
            drawing->process->blocks[block].instructions,
            confidence == GRAPH_CERTAIN ? "" : ", style=\"filled,dashed\"");
    dot_heat(out, share);
    fputs("\"];\n", out);
}

static void put_routine(const struct drawing *drawing, uint32_t routine)
{
    const struct dcfg_process *process = drawing->process;
    const struct dcfg_range *nodes = &process->routines[routine].nodes;
    const struct graph_profile *profile = &drawing->view->profile;
    uint64_t instructions = 0;
    bool any = false;
    for (uint32_t i = nodes->first; i < nodes->first + nodes->count; i++) {
        uint32_t block = dcfg_find_block(process, process->nodes[i].id);
        instructions = saturating_add(instructions, profile->instructions[block]);
        any = any || has_block(drawing, block);
    }
    if (!any)
        return;
    struct code_location location;
    names_of_routine(drawing->view->names, routine, &location);
    fprintf(drawing->out, "  subgraph cluster_%" PRIu32 " {\n    label=\"", routine);
    put_name(drawing->out, &location, NAME_WIDTH);
    fprintf(drawing->out, "\\l%" PRIu64 " %s, %.2f %%\\l\"; tooltip=\"", instructions,
            view_executed(drawing->view, instructions),
            100 * graph_profile_share(instructions, profile->total));
    put_name(drawing->out, &location, SIZE_MAX);
    fputs("\";\n", drawing->out);
    for (uint32_t i = nodes->first; i < nodes->first + nodes->count; i++) {
        uint32_t block = dcfg_find_block(process, process->nodes[i].id);
        if (has_block(drawing, block) && profile->routine_of[block] == routine)
            put_block(drawing, block);
    }
    fputs("  }\n", drawing->out);
}

/* Draws a calling or called routine as one node, without its blocks. */
static void put_other(const struct drawing *drawing, const char *kind, uint32_t number,
                      uint32_t routine, const char *instead)
{
    struct code_location location;
    fprintf(drawing->out, "  %s%" PRIu32 " [shape=box, style=\"rounded,filled\", label=\"", kind,
            number);
    if (routine != DCFG_NONE) {
        names_of_routine(drawing->view->names, routine, &location);
        put_name(drawing->out, &location, NAME_WIDTH);
        fputs("\", tooltip=\"", drawing->out);
        put_name(drawing->out, &location, SIZE_MAX);
    } else {
        fputs(instead, drawing->out);
    }
    fputs("\", fillcolor=\"#eef3f9\", color=\"#1f5fa8\"];\n", drawing->out);
}

static void put_special_nodes(const struct drawing *drawing)
{
    const struct dcfg *graph = drawing->view->graph;
    for (uint32_t s = 0; s < graph->special_node_count; s++) {
        uint32_t id = graph->special_nodes[s].id;
        bool touched = false;
        for (uint32_t e = 0; e < drawing->process->edges.count && !touched; e++)
            touched = (drawing->process->edges.sources[e] == id ||
                       drawing->process->edges.targets[e] == id) &&
                      side_of(drawing, e) == SIDE_WITHIN;
        if (!touched)
            continue;
        fprintf(drawing->out, "  n%" PRIu32 " [shape=ellipse, label=\"", id);
        dot_text(drawing->out, dcfg_text(graph, graph->special_nodes[s].name));
        fputs("\", fillcolor=\"#eeeeee\"];\n", drawing->out);
    }
}

static void put_nodes(const struct drawing *drawing)
{
    const struct dcfg_process *process = drawing->process;
    for (uint32_t r = 0; r < process->routine_count; r++)
        if (drawing->routine == DCFG_NONE || drawing->routine == r)
            put_routine(drawing, r);
    for (uint32_t b = 0; b < process->block_count; b++)
        if (has_block(drawing, b) && drawing->view->profile.routine_of[b] == DCFG_NONE)
            put_block(drawing, b);
    put_special_nodes(drawing);
}

/* --- edges ----------------------------------------------------------------------------------- */

/* A label between clusters has no room of its own in the layout ("xlabel"): with it, Graphviz 2.43
 * fails to lay out some graphs. */
static void put_edge_look(const struct drawing *drawing, enum dcfg_edge_type type, uint64_t count,
                          bool between_clusters)
{
    double share = graph_profile_share(count, drawing->most);
    const char *name = dcfg_edge_type_name(type);
    /* the spaces separate the label from its line */
    fprintf(drawing->out, " [%slabel=\"  %s  \\l", between_clusters ? "x" : "",
            dot_edge_word(type));
    if (count > 0)
        fprintf(drawing->out, "  %" PRIu64 "  \\l", count);
    fprintf(drawing->out, "\", penwidth=%.2f, %s, edgetooltip=\"%s\"];\n", 0.8 + 3.2 * sqrt(share),
            dot_edge_style(type), name ? name : "");
}

static void put_edges(const struct drawing *drawing)
{
    const struct dcfg_edges *edges = &drawing->process->edges;
    for (uint32_t e = 0; e < edges->count && !ferror(drawing->out); e++) {
        enum side side = side_of(drawing, e);
        uint32_t other = routine_of_node(drawing, edges->targets[e]);
        if (side == SIDE_NONE || side == SIDE_IN)
            continue;
        if (side == SIDE_OUT && other == DCFG_NONE) {
            put_other(drawing, "to", edges->targets[e], DCFG_NONE, "no routine");
            fprintf(drawing->out, "  n%" PRIu32 " -> to%" PRIu32, edges->sources[e],
                    edges->targets[e]);
        } else if (side == SIDE_OUT) {
            if (!drawing->drawn[other])
                put_other(drawing, "r", other, other, "");
            drawing->drawn[other] = true;
            fprintf(drawing->out, "  n%" PRIu32 " -> r%" PRIu32, edges->sources[e], other);
        } else {
            fprintf(drawing->out, "  n%" PRIu32 " -> n%" PRIu32, edges->sources[e],
                    edges->targets[e]);
        }
        uint32_t own = routine_of_node(drawing, edges->sources[e]);
        put_edge_look(drawing, edges->types[e], dcfg_edge_total(drawing->process, e),
                      side == SIDE_WITHIN && own != other && own != DCFG_NONE &&
                          other != DCFG_NONE);
    }
}

static void put_callers(const struct drawing *drawing)
{
    for (uint32_t b = 0; b < drawing->process->block_count; b++) {
        const struct callers *callers = &drawing->callers[b];
        uint32_t id = drawing->process->blocks[b].id;
        char places[40];
        if (callers->sites == 0)
            continue;
        snprintf(places, sizeof places, "from %" PRIu32 " places", callers->sites);
        put_other(drawing, "from", id, callers->several ? DCFG_NONE : callers->routine, places);
        fprintf(drawing->out, "  from%" PRIu32 " -> n%" PRIu32, id, id);
        put_edge_look(drawing, callers->type, callers->count, false);
    }
}

/* --- all together ---------------------------------------------------------------------------- */

static void put_head(const struct drawing *drawing)
{
    fputs("digraph dcfg {\n"
          "  graph [fontname=\"Helvetica\", fontsize=12, style=rounded, color=\"#999999\",\n"
          "         nodesep=0.35, ranksep=0.45, labeljust=l, labelloc=b, pad=0.1];\n"
          "  node [shape=box, style=filled, fontname=\"Courier\", fontsize=10,\n"
          "        fillcolor=white, color=\"#444444\", margin=\"0.10,0.05\"];\n"
          "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n",
          drawing->out);
}

/* In the outermost graph only: clusters inherit a label set before them. */
static void put_label(const struct drawing *drawing, const struct dot_part *part)
{
    if (part->drawn < part->blocks)
        fprintf(drawing->out,
                "  label=\"the %" PRIu32 " hottest of %" PRIu32
                " blocks, %.2f %% of the %s\\l\";\n",
                part->drawn, part->blocks, 100 * part->share, view_executed(drawing->view, 0));
}

int dot_graph(const struct view *view, const struct dot_choice *choice, struct dot_part *part,
              FILE *out, struct bt_error *error)
{
    struct drawing drawing = {.view = view,
                              .process = view->process,
                              .out = out,
                              .routine = choice->routine,
                              .minimum = choice->minimum};
    drawing.callers = calloc((size_t)view->process->block_count + 1, sizeof *drawing.callers);
    drawing.drawn = calloc((size_t)view->process->routine_count + 1, sizeof *drawing.drawn);
    int result = BT_MEMORY;
    if (drawing.callers && drawing.drawn)
        result = choose_hottest(&drawing, choice->most, part);
    if (result == 0) {
        survey(&drawing);
        put_head(&drawing);
        put_nodes(&drawing);
        put_edges(&drawing);
        put_callers(&drawing);
        put_label(&drawing, part);
        fputs("}\n", out);
    }
    free(drawing.callers);
    free(drawing.drawn);
    free(drawing.left_out);
    return result < 0 ? bt_fail(error, result, "no memory to draw %" PRIu32 " blocks",
                                view->process->block_count)
                      : 0;
}
