/* Builds a graph's indexes, and checks its references. */
#include "formats/dcfg/dcfg.h"

#include <stdlib.h>
#include <string.h>

/* Builds an index of count ids; *duplicate as id_index_build(). */
static int build_index(struct dcfg *graph, struct id_index *index, const uint32_t *ids,
                       size_t stride, uint32_t count, uint32_t *duplicate, struct bt_error *error)
{
    if (id_index_build(index, ids, stride, count, duplicate) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for an index of %u ids", count);
    graph->memory += id_index_bytes(index);
    return 0;
}

static int index_file_names(struct dcfg *graph, struct bt_error *error)
{
    uint32_t duplicate;
    const struct dcfg_file_name *names = graph->file_names;
    int result = build_index(graph, &graph->file_name_index, names ? &names->id : NULL,
                             sizeof *names, graph->file_name_count, &duplicate, error);
    if (result == 0 && duplicate != ID_INDEX_NONE)
        return bt_fail(error, BT_DATA, "FILE_NAMES[%u]: duplicate id %u", duplicate + 1,
                       names[duplicate].id);
    return result;
}

static int index_blocks(struct dcfg_process *process, struct bt_error *error)
{
    uint32_t duplicate;
    const struct dcfg_block *blocks = process->blocks;
    int result = build_index(process->graph, &process->block_index, blocks ? &blocks->id : NULL,
                             sizeof *blocks, process->block_count, &duplicate, error);
    if (result < 0)
        return result;
    if (duplicate != ID_INDEX_NONE)
        return bt_fail(error, BT_DATA, "%s: duplicate node id %u",
                       dcfg_path_block(process, duplicate).text, blocks[duplicate].id);
    for (uint32_t i = 0; i < process->graph->special_node_count; i++) {
        const struct dcfg_special_node *node = &process->graph->special_nodes[i];
        uint32_t block = dcfg_find_block(process, node->id);
        if (block != DCFG_NONE)
            return bt_fail(error, BT_DATA, "%s: the node id %u is the special node %s's",
                           dcfg_path_block(process, block).text, node->id,
                           dcfg_text(process->graph, node->name));
    }
    return 0;
}

static int index_edges(struct dcfg_process *process, struct bt_error *error)
{
    uint32_t duplicate;
    const struct dcfg_edges *edges = &process->edges;
    int result = build_index(process->graph, &process->edge_index, edges->ids, sizeof *edges->ids,
                             edges->count, &duplicate, error);
    if (result == 0 && duplicate != ID_INDEX_NONE)
        return bt_fail(error, BT_DATA, "%s: duplicate edge id %u",
                       dcfg_path_in_process(process, "EDGES", duplicate).text,
                       edges->ids[duplicate]);
    return result;
}

static bool is_node(const struct dcfg_process *process, uint32_t id)
{
    return dcfg_find_block(process, id) != DCFG_NONE || dcfg_special(process->graph, id) != 0;
}

static int check_edges(const struct dcfg_process *process, struct bt_error *error)
{
    const struct dcfg_edges *edges = &process->edges;
    for (uint32_t i = 0; i < edges->count; i++) {
        bool from = is_node(process, edges->sources[i]);
        if (from && is_node(process, edges->targets[i]))
            continue;
        return bt_fail(error, BT_DATA, "%s: edge %u %s node %u, which does not exist",
                       dcfg_path_in_process(process, "EDGES", i).text, edges->ids[i],
                       from ? "leads to" : "comes from",
                       from ? edges->targets[i] : edges->sources[i]);
    }
    return 0;
}

static int no_file_name(const struct dcfg_path *path, uint32_t id, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "%s: there is no file name with the id %u", path->text, id);
}

static int check_file_names(const struct dcfg_process *process, struct bt_error *error)
{
    for (uint32_t i = 0; i < process->image_count; i++) {
        uint32_t id = process->images[i].file_name_id;
        if (id != 0 && !dcfg_file_name(process->graph, id)) {
            struct dcfg_path path = dcfg_path_in_process(process, "IMAGES", i);
            return no_file_name(&path, id, error);
        }
    }
    for (uint32_t i = 0; i < process->line_count; i++) {
        uint32_t id = process->lines[i].file_name_id;
        if (id != 0 && !dcfg_file_name(process->graph, id)) {
            struct dcfg_path path = dcfg_path_line(process, i);
            return no_file_name(&path, id, error);
        }
    }
    return 0;
}

static bool is_block(const struct dcfg_process *process, uint32_t id)
{
    return dcfg_find_block(process, id) != DCFG_NONE;
}

/* The first id of the range that is not a block's, or 0. */
static uint32_t stray_id(const struct dcfg_process *process, struct dcfg_range range)
{
    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t id = process->ids[range.first + i];
        if (!is_block(process, id))
            return id;
    }
    return 0;
}

static int no_block(const struct dcfg_path *path, uint32_t id, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "%s: there is no basic block with the id %u", path->text, id);
}

static int check_loop(const struct dcfg_process *process, uint32_t routine, uint32_t number,
                      struct bt_error *error)
{
    const struct dcfg_loop *loop = &process->loops[number];
    uint32_t stray = stray_id(process, loop->back_edges);
    bool good = stray == 0 && (stray = stray_id(process, loop->nodes)) == 0;
    if (good && !is_block(process, loop->head)) {
        stray = loop->head;
        good = false;
    } else if (good && loop->parent != 0 && !is_block(process, loop->parent)) {
        stray = loop->parent;
        good = false;
    }
    if (good)
        return 0;
    struct dcfg_path path = dcfg_path_loop(process, routine, number);
    return no_block(&path, stray, error);
}

static int check_routine(const struct dcfg_process *process, uint32_t number,
                         struct bt_error *error)
{
    const struct dcfg_routine *routine = &process->routines[number];
    uint32_t stray = stray_id(process, routine->exits);
    if (!is_block(process, routine->entry) || stray != 0) {
        struct dcfg_path path = dcfg_path_routine(process, number);
        return no_block(&path, stray != 0 ? stray : routine->entry, error);
    }
    for (uint32_t i = 0; i < routine->nodes.count; i++) {
        const struct dcfg_node *node = &process->nodes[routine->nodes.first + i];
        bool known = is_block(process, node->id);
        if (known && is_block(process, node->dominator))
            continue;
        struct dcfg_path path = dcfg_path_node(process, number, routine->nodes.first + i);
        return no_block(&path, known ? node->dominator : node->id, error);
    }
    int result = 0;
    for (uint32_t i = 0; i < routine->loops.count && result == 0; i++)
        result = check_loop(process, number, routine->loops.first + i, error);
    return result;
}

/* Completes the instruction counts to all threads. */
static int complete_threads(struct dcfg_process *process, struct bt_error *error)
{
    size_t bytes = ((size_t)process->threads + 1) * sizeof *process->thread_instructions;
    if (process->thread_instructions)
        process->graph->memory -=
            ((size_t)process->threads_counted + 1) * sizeof *process->thread_instructions;
    uint64_t *instructions = realloc(process->thread_instructions, bytes);
    if (!instructions)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", process->threads);
    for (uint32_t i = process->threads_counted; i < process->threads; i++)
        instructions[i] = 0;
    process->thread_instructions = instructions;
    process->graph->memory += bytes;
    return 0;
}

static int seal_process(struct dcfg_process *process, struct bt_error *error)
{
    int result = complete_threads(process, error);
    if (result == 0)
        result = index_blocks(process, error);
    if (result == 0)
        result = index_edges(process, error);
    if (result == 0)
        result = check_edges(process, error);
    if (result == 0)
        result = check_file_names(process, error);
    for (uint32_t i = 0; i < process->routine_count && result == 0; i++)
        result = check_routine(process, i, error);
    return result;
}

int dcfg_seal(struct dcfg *graph, struct bt_error *error)
{
    if (graph->sealed)
        return 0;
    graph->sealed = true;
    int result = index_file_names(graph, error);
    for (uint32_t i = 0; i < graph->process_count && result == 0; i++)
        result = seal_process(graph->processes[i], error);
    return result;
}

const char *dcfg_file_name(const struct dcfg *graph, uint32_t id)
{
    uint32_t number = id_index_find(&graph->file_name_index, id);
    return number == ID_INDEX_NONE ? NULL : dcfg_text(graph, graph->file_names[number].name);
}

enum dcfg_special dcfg_special(const struct dcfg *graph, uint32_t id)
{
    for (uint32_t i = 0; i < graph->special_node_count; i++)
        if (graph->special_nodes[i].id == id)
            return graph->special_nodes[i].special;
    return (enum dcfg_special)0;
}

uint32_t dcfg_find_block(const struct dcfg_process *process, uint32_t id)
{
    return id_index_find(&process->block_index, id);
}

uint32_t dcfg_find_edge(const struct dcfg_process *process, uint32_t id)
{
    return id_index_find(&process->edge_index, id);
}
