#include "tools/dcfg/graph/assemble.h"

#include "tools/dcfg/graph/long_jumps.h"
#include "tools/dcfg/graph/routines.h"
#include "tools/dcfg/graph/tail_calls.h"

#include <stdlib.h>
#include <string.h>

#define PAGE        4096u
#define FIRST_BLOCK 4u /* id of the first block, after the special nodes */

/* A range of memory that becomes an image of the DCFG: a given image, or the unknown code between
 * two of them. */
struct assembled_range {
    const struct image *image; /* NULL: no file */
    uint64_t load_address;
    uint64_t size;
    uint32_t first_block; /* in order of addresses */
    uint32_t block_count;
    struct image_names names; /* none without a file */
};

struct assembly {
    const struct flow_graph *graph;
    const struct images *images;
    const struct assemble_settings *settings;
    struct dcfg *dcfg;
    struct dcfg_process *process;
    struct edge_types types;
    struct function_starts starts;
    struct routines routines;
    struct assembled_range *ranges;
    uint32_t range_count;
    uint32_t *range_of; /* by block */
    uint32_t *sources;  /* of all edges, bypasses last, as in routines_find */
    uint32_t *targets;
    uint8_t *edge_types;
    uint64_t *nothing; /* counts of a bypass, all zero */
    uint32_t files;    /* number of file names so far, the id of the last one */
    uint32_t unknown;  /* id of the name of unknown files; 0: none yet */
};

static uint32_t block_id(const struct assembly *assembly, uint32_t block)
{
    uint32_t first = assembly->graph->first_block;
    if (block == first)
        return FIRST_BLOCK;
    return FIRST_BLOCK + block + (block < first);
}

/* Odd hardware reports fetches of 0 bytes; their address still belongs to the block. */
static uint64_t block_size(const struct flow_block *block)
{
    return block->size + (block->last_offset >= block->size);
}

/* --- ranges --- */

/* Start of a range without a file: rounded down to a page so that no block is at offset 0, which
 * readers take for none; but not inside the previous range. */
static uint64_t unknown_start(uint64_t address, uint64_t before)
{
    uint64_t start = address - address % PAGE;
    if (start == address && start >= PAGE)
        start -= PAGE;
    return start < before ? before : start;
}

static void add_range(struct assembly *assembly, const struct image *image, uint32_t block)
{
    struct assembled_range *range = &assembly->ranges[assembly->range_count];
    uint64_t before = assembly->range_count > 0 ? range[-1].load_address + range[-1].size : 0;
    *range = (struct assembled_range){.image = image, .first_block = block};
    if (image) {
        range->load_address = image->load_address;
        range->size = image->size;
    } else {
        range->load_address = unknown_start(assembly->graph->blocks[block].address, before);
    }
    assembly->range_count++;
}

/*
 * If the first block is at offset 0, the range begins up to a page lower, and may overlap the
 * previous one. Images may overlap (section 2.10), but readers take a block at offset 0 for none.
 */
static int make_room(struct assembled_range *range, const struct flow_block *block,
                     struct bt_error *error)
{
    if (block->address != range->load_address)
        return 0;
    if (block->address == 0)
        return bt_fail(error, BT_DATA,
                       "the capture has a fetch at address 0x0, and no image can begin before it, "
                       "but readers of DCFG take a block at offset 0 for none");
    uint64_t room = block->address < PAGE ? block->address : PAGE;
    range->load_address -= room;
    range->size += room;
    return 0;
}

/* Makes the images, and ranges around blocks outside of all images. Blocks are in order of
 * addresses. */
static int find_ranges(struct assembly *assembly, struct bt_error *error)
{
    const struct flow_graph *graph = assembly->graph;
    uint32_t images = images_count(assembly->images);
    uint32_t next = 0; /* index of the next image */
    assembly->ranges = calloc((size_t)images * 2 + 1, sizeof *assembly->ranges);
    assembly->range_of = malloc((graph->block_count + 1) * sizeof(uint32_t));
    if (!assembly->ranges || !assembly->range_of)
        return bt_fail(error, BT_MEMORY, "no memory for the images of the graph");
    for (uint32_t b = 0; b < graph->block_count; b++) {
        const struct flow_block *block = &graph->blocks[b];
        uint32_t found = images_find(assembly->images, block->address);
        while (next < images && images_get(assembly->images, next)->load_address <= block->address)
            add_range(assembly, images_get(assembly->images, next++), b);
        bool unknown =
            assembly->range_count > 0 && !assembly->ranges[assembly->range_count - 1].image;
        if (found == IMAGE_NONE && !unknown)
            add_range(assembly, NULL, b);
        struct assembled_range *range = &assembly->ranges[assembly->range_count - 1];
        int result = make_room(range, block, error);
        if (result != 0)
            return result;
        uint64_t end = block->address + block_size(block) - range->load_address;
        if (!range->image && end > range->size)
            range->size = end;
        range->block_count++;
        assembly->range_of[b] = assembly->range_count - 1;
    }
    while (next < images)
        add_range(assembly, images_get(assembly->images, next++), (uint32_t)graph->block_count);
    return 0;
}

static int read_names(struct assembly *assembly, struct bt_error *error)
{
    int result = 0;
    for (uint32_t i = 0; i < assembly->range_count && result == 0; i++) {
        struct assembled_range *range = &assembly->ranges[i];
        if (range->image)
            result = image_names_read(&range->names, range->image, error);
        if (result == 0 && range->image &&
            function_starts_add(&assembly->starts, i, &range->names) != 0)
            result = bt_fail(error, BT_MEMORY, "no memory for the functions of the images");
    }
    return result;
}

/* --- edges and routines --- */

static int list_edges(struct assembly *assembly, struct bt_error *error)
{
    const struct flow_graph *graph = assembly->graph;
    const struct edge_types *types = &assembly->types;
    size_t count = graph->edge_count + types->bypass_count;
    assembly->sources = malloc((count + 1) * sizeof(uint32_t));
    assembly->targets = malloc((count + 1) * sizeof(uint32_t));
    assembly->edge_types = malloc(count + 1);
    if (!assembly->sources || !assembly->targets || !assembly->edge_types)
        return bt_fail(error, BT_MEMORY, "no memory for %zu edges", count);
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct flow_edge *edge = &graph->edges[e];
        assembly->sources[e] = edge->source == FLOW_START ? ROUTINES_OUTSIDE : edge->source;
        assembly->targets[e] = edge->target == FLOW_END ? ROUTINES_OUTSIDE : edge->target;
        assembly->edge_types[e] = types->types[e];
    }
    for (size_t i = 0; i < types->bypass_count; i++) {
        assembly->sources[graph->edge_count + i] = types->bypasses[i].source;
        assembly->targets[graph->edge_count + i] = types->bypasses[i].target;
        assembly->edge_types[graph->edge_count + i] = types->bypasses[i].type;
    }
    return 0;
}

static int find_routines(struct assembly *assembly, struct bt_error *error)
{
    struct routines_graph graph = {
        .nodes = (uint32_t)assembly->graph->block_count,
        .edges = assembly->graph->edge_count + assembly->types.bypass_count,
        .sources = assembly->sources,
        .targets = assembly->targets,
        .types = assembly->edge_types,
        .images = assembly->range_of,
    };
    bool *entered = calloc(assembly->graph->block_count + 1, sizeof *entered);
    int result =
        entered ? long_jumps_find(assembly->edge_types, &assembly->starts, &graph, assembly->graph)
                : BT_MEMORY;
    if (result == 0)
        result = tail_calls_find(entered, &assembly->starts, &graph, assembly->graph);
    graph.entered = entered;
    if (result == 0)
        result = routines_find(&assembly->routines, &graph, error);
    else
        bt_fail(error, BT_MEMORY, "no memory for the routines of %u blocks", graph.nodes);
    free(entered);
    return result;
}

static int add_edges(struct assembly *assembly, struct bt_error *error)
{
    const struct flow_graph *graph = assembly->graph;
    uint32_t threads = (uint32_t)graph->thread_count;
    size_t count = graph->edge_count + assembly->types.bypass_count;
    int result = 0;
    if (count >= DCFG_ID_MAX)
        return bt_fail(error, BT_DATA, "the graph has more edges than there are ids");
    for (size_t e = 0; e < count && result == 0; e++) {
        uint32_t source = assembly->sources[e];
        uint32_t target = assembly->targets[e];
        const uint64_t *counts =
            e < graph->edge_count ? graph->counts + e * threads : assembly->nothing;
        result =
            dcfg_add_edge(assembly->process, assemble_edge_id((uint32_t)e),
                          source == ROUTINES_OUTSIDE ? DCFG_START : block_id(assembly, source),
                          target == ROUTINES_OUTSIDE ? DCFG_END : block_id(assembly, target),
                          (enum dcfg_edge_type)assembly->edge_types[e], counts, threads, error);
    }
    return result;
}

/* --- images --- */

static int add_file(struct assembly *assembly, const char *name, uint32_t *id,
                    struct bt_error *error)
{
    *id = ++assembly->files;
    return dcfg_add_file_name(assembly->dcfg, *id, name, strlen(name), error);
}

static int add_names(struct assembly *assembly, const struct assembled_range *range,
                     struct bt_error *error)
{
    const struct image_names *names = &range->names;
    int result = 0;
    uint32_t first_file = assembly->files + 1;
    uint32_t id;
    for (size_t i = 0; i < names->file_count && result == 0; i++)
        result = add_file(assembly, names->files[i], &id, error);
    for (size_t i = 0; i < names->symbol_count && result == 0; i++)
        result = dcfg_add_symbol(assembly->process, names->symbols[i].address - range->load_address,
                                 names->symbols[i].size, names->symbols[i].name,
                                 strlen(names->symbols[i].name), error);
    for (size_t i = 0; i < names->line_count && result == 0; i++) {
        const struct image_line *line = &names->lines[i];
        const struct dcfg_line row = {
            .offset = line->address - range->load_address,
            .size = line->size,
            .file_name_id = first_file + line->file,
            .line = line->line,
            .instructions = images_count_instructions(assembly->images, line->address, line->size),
        };
        result = dcfg_add_line(assembly->process, &row, error);
    }
    return result;
}

static int add_blocks(struct assembly *assembly, const struct assembled_range *range,
                      struct bt_error *error)
{
    int result = 0;
    for (uint32_t i = 0; i < range->block_count && result == 0; i++) {
        uint32_t b = range->first_block + i;
        const struct flow_block *block = &assembly->graph->blocks[b];
        const struct dcfg_block row = {
            .offset = block->address - range->load_address,
            .count = block->count,
            .id = block_id(assembly, b),
            .size = (uint32_t)block_size(block),
            .instructions = block->instructions,
            .last_instruction = block->last_offset,
        };
        if (block_size(block) > UINT32_MAX)
            return bt_fail(error, BT_DATA, "the block at 0x%x has all of memory", block->address);
        result = dcfg_add_block(assembly->process, &row, error);
    }
    return result;
}

static int add_ids(struct assembly *assembly, struct dcfg_range *range, const uint32_t *blocks,
                   uint32_t count, struct bt_error *error)
{
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = dcfg_add_id(assembly->process, range, block_id(assembly, blocks[i]), error);
    return result;
}

/* Adds a routine's loops, outer ones first. */
static int add_loops(struct assembly *assembly, const struct routine *routine,
                     struct dcfg_range *range, struct bt_error *error)
{
    const struct loops *loops = &assembly->routines.loops;
    int result = 0;
    for (uint32_t i = routine->loop_count; i-- > 0 && result == 0;) {
        const struct loop *loop = &loops->loops[routine->first_loop + i];
        struct dcfg_loop row = {.head = block_id(assembly, loop->head)};
        if (loop->parent != LOOPS_NONE)
            row.parent = block_id(assembly, loops->loops[loop->parent].head);
        result = add_ids(assembly, &row.back_edges, loops->back_edges + loop->first_back_edge,
                         loop->back_edge_count, error);
        if (result == 0)
            result = add_ids(assembly, &row.nodes, loops->nodes + loop->first_node,
                             loop->node_count, error);
        if (result == 0)
            result = dcfg_add_loop(assembly->process, range, &row, error);
    }
    return result;
}

static int add_routine(struct assembly *assembly, const struct routine *routine,
                       struct bt_error *error)
{
    const struct routines *routines = &assembly->routines;
    struct dcfg_routine row = {.entry = block_id(assembly, routine->entry)};
    int result = add_ids(assembly, &row.exits, routines->exits + routine->first_exit,
                         routine->exit_count, error);
    for (uint32_t i = 0; i < routine->node_count && result == 0; i++) {
        uint32_t node = routines->nodes[routine->first_node + i];
        const struct dcfg_node pair = {.id = block_id(assembly, node),
                                       .dominator = block_id(assembly, routines->dominator[node])};
        result = dcfg_add_node(assembly->process, &row.nodes, &pair, error);
    }
    if (result == 0)
        result = add_loops(assembly, routine, &row.loops, error);
    return result == 0 ? dcfg_add_routine(assembly->process, &row, error) : result;
}

static int add_image(struct assembly *assembly, uint32_t number, uint32_t *routine,
                     struct bt_error *error)
{
    const struct assembled_range *range = &assembly->ranges[number];
    struct dcfg_image image = {
        .id = number + 1, .load_address = range->load_address, .size = range->size};
    if (range->image) /* blocks have the addresses that the images were moved to */
        image.load_address -= range->image->load_address - range->image->memory_address;
    int result = 0;
    if (range->image)
        result = add_file(assembly,
                          range->image->full_path ? range->image->full_path : range->image->path,
                          &image.file_name_id, error);
    else if (assembly->unknown == 0)
        result = add_file(assembly, assembly->settings->unknown, &assembly->unknown, error);
    if (!range->image)
        image.file_name_id = assembly->unknown;
    if (result == 0)
        result = dcfg_add_image(assembly->process, &image, error);
    if (result == 0)
        result = add_names(assembly, range, error);
    if (result == 0)
        result = add_blocks(assembly, range, error);
    /* routines are in order of entries, and so grouped by images */
    const struct routines *routines = &assembly->routines;
    while (result == 0 && *routine < routines->count &&
           assembly->range_of[routines->routines[*routine].entry] == number)
        result = add_routine(assembly, &routines->routines[(*routine)++], error);
    return result;
}

static int add_process(struct assembly *assembly, struct bt_error *error)
{
    uint32_t routine = 0;
    int result = dcfg_add_standard_tables(assembly->dcfg, error);
    if (result != 0)
        return result;
    assembly->process = dcfg_add_process(assembly->dcfg, assembly->settings->process_id, error);
    if (!assembly->process)
        return BT_MEMORY;
    result = dcfg_set_thread_instructions(assembly->process, assembly->graph->instructions,
                                          (uint32_t)assembly->graph->thread_count, error);
    for (uint32_t i = 0; i < assembly->range_count && result == 0; i++)
        result = add_image(assembly, i, &routine, error);
    if (result == 0)
        result = add_edges(assembly, error);
    return result == 0 ? dcfg_seal(assembly->dcfg, error) : result;
}

static void assembly_clear(struct assembly *assembly)
{
    edge_types_clear(&assembly->types);
    routines_clear(&assembly->routines);
    for (uint32_t i = 0; i < assembly->range_count; i++)
        image_names_clear(&assembly->ranges[i].names);
    function_starts_clear(&assembly->starts);
    free(assembly->ranges);
    free(assembly->range_of);
    free(assembly->sources);
    free(assembly->targets);
    free(assembly->edge_types);
    free(assembly->nothing);
}

int assemble_dcfg(struct dcfg **dcfg, const struct flow_graph *graph, const struct images *images,
                  const struct assemble_settings *settings, struct bt_error *error)
{
    struct dcfg_limits limits = dcfg_limits_default();
    struct assembly assembly = {.graph = graph, .images = images, .settings = settings};
    limits.memory_max = settings->memory_max;
    assembly.dcfg = dcfg_new(&limits, error);
    assembly.nothing = calloc(graph->thread_count + 1, sizeof(uint64_t));
    int result = BT_MEMORY;
    if (assembly.dcfg && !assembly.nothing)
        bt_fail(error, BT_MEMORY, "no memory for the graph");
    else if (assembly.dcfg)
        result = find_ranges(&assembly, error);
    if (result == 0)
        result = read_names(&assembly, error);
    if (result == 0)
        result = edge_types_find(&assembly.types, graph, images, settings->unknown_branches, error);
    if (result == 0)
        result = list_edges(&assembly, error);
    if (result == 0)
        result = find_routines(&assembly, error);
    if (result == 0)
        result = add_process(&assembly, error);
    if (result != 0)
        dcfg_free(assembly.dcfg);
    else
        *dcfg = assembly.dcfg;
    assembly_clear(&assembly);
    return result;
}
