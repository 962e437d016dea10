#include "formats/dcfg/dcfg_writer.h"

#include "formats/base/saturating.h"
#include "formats/text/json_put.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_ID ((uint32_t)DCFG_SPECIALS)

/* A process being written. */
struct writing {
    const struct dcfg *graph;
    const struct dcfg_process *process;
    struct json_put *put;
    uint32_t unnamed;  /* id of the file name for images without one */
    bool same;         /* node ids are kept */
    bool renumber;     /* blocks get new ids: their number plus FIRST_BLOCK_ID, */
    uint32_t first;    /* except that the block with this number and block 0 are swapped */
    uint64_t *counts;  /* of blocks, if the graph lacks some */
    uint64_t *threads; /* instructions of each thread */
    uint32_t *order;   /* numbers of an image's blocks by address, if they are not sorted */
};

/* --- ids ---------------------------------------------------------------------------------------
 */

static uint32_t block_id(const struct writing *writing, uint32_t block)
{
    if (!writing->renumber)
        return writing->process->blocks[block].id;
    if (block == writing->first)
        return FIRST_BLOCK_ID;
    if (block == 0)
        return FIRST_BLOCK_ID + writing->first;
    return FIRST_BLOCK_ID + block;
}

static uint32_t node_id(const struct writing *writing, uint32_t id)
{
    if (writing->same)
        return id;
    uint32_t block = dcfg_find_block(writing->process, id);
    if (block != DCFG_NONE)
        return writing->renumber ? block_id(writing, block) : id;
    enum dcfg_special special = dcfg_special(writing->graph, id);
    return special == DCFG_OTHER ? DCFG_UNKNOWN : special;
}

/* The number of the first block executed by the first thread that entered it; DCFG_NONE if there is
 * no entry. */
static uint32_t first_executed(const struct dcfg_process *process)
{
    uint32_t first = DCFG_NONE;
    uint32_t first_thread = DCFG_NONE;
    for (uint32_t i = 0; i < process->edges.count; i++) {
        if (process->edges.types[i] != DCFG_EDGE_ENTRY)
            continue;
        struct dcfg_counts counts = dcfg_edge_counts(process, i);
        uint32_t thread = dcfg_counts_next(&counts) ? counts.thread : DCFG_NONE;
        uint32_t block = dcfg_find_block(process, process->edges.targets[i]);
        if (block != DCFG_NONE && (first == DCFG_NONE || thread < first_thread)) {
            first = block;
            first_thread = thread;
        }
    }
    return first;
}

static void choose_ids(struct writing *writing)
{
    const struct dcfg_process *process = writing->process;
    uint32_t first = first_executed(process);
    writing->renumber = first != DCFG_NONE && process->blocks[first].id != FIRST_BLOCK_ID;
    writing->first = first == DCFG_NONE ? 0 : first;
    for (uint32_t i = 0; i < process->block_count && !writing->renumber; i++)
        writing->renumber = process->blocks[i].id < FIRST_BLOCK_ID;
    writing->same = !writing->renumber;
    for (uint32_t i = 0; i < writing->graph->special_node_count && writing->same; i++) {
        const struct dcfg_special_node *node = &writing->graph->special_nodes[i];
        writing->same = node->special != DCFG_OTHER && node->id == (uint32_t)node->special;
    }
}

/* --- counts that the graph lacks ----------------------------------------------------------------
 */

static int complete_counts(struct writing *writing, struct bt_error *error)
{
    const struct dcfg_process *process = writing->process;
    writing->threads = calloc((size_t)process->threads + 1, sizeof *writing->threads);
    if (!writing->threads)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", process->threads);
    if (process->threads_counted > 0)
        memcpy(writing->threads, process->thread_instructions,
               process->threads * sizeof *writing->threads);
    else
        dcfg_count_instructions(process, writing->threads);
    bool known = true;
    for (uint32_t i = 0; i < process->block_count && known; i++)
        known = process->blocks[i].count != DCFG_COUNT_UNKNOWN;
    if (known)
        return 0;
    writing->counts = malloc(process->block_count * sizeof *writing->counts);
    if (!writing->counts)
        return bt_fail(error, BT_MEMORY, "no memory for the counts of %u blocks",
                       process->block_count);
    dcfg_count_blocks(process, writing->counts);
    return 0;
}

static int compare_offsets(const struct dcfg_block *a, const struct dcfg_block *b)
{
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool is_sorted(const struct dcfg_process *process, struct dcfg_range range)
{
    for (uint32_t i = 1; i < range.count; i++) {
        const struct dcfg_block *block = &process->blocks[range.first + i];
        if (compare_offsets(block - 1, block) > 0)
            return false;
    }
    return true;
}

/* Merges two sorted runs of numbers, from[begin..middle) and from[middle..end), into to. */
static void merge(const struct dcfg_block *blocks, const uint32_t *from, uint32_t *to,
                  uint32_t begin, uint32_t middle, uint32_t end)
{
    uint32_t left = begin;
    uint32_t right = middle;
    for (uint32_t i = begin; i < end; i++) {
        bool take_left =
            left < middle &&
            (right >= end || compare_offsets(&blocks[from[left]], &blocks[from[right]]) <= 0);
        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* Sorts the numbers of an image's blocks by address into writing->order. A merge sort, because
 * qsort() passes no argument. */
static int sort_blocks(struct writing *writing, struct dcfg_range range, struct bt_error *error)
{
    const struct dcfg_block *blocks = writing->process->blocks;
    uint32_t *numbers = malloc(range.count * sizeof *numbers);
    uint32_t *other = malloc(range.count * sizeof *other);
    free(writing->order);
    writing->order = numbers;
    if (!numbers || !other) {
        free(other);
        return bt_fail(error, BT_MEMORY, "no memory to sort %u blocks", range.count);
    }
    for (uint32_t i = 0; i < range.count; i++)
        numbers[i] = range.first + i;
    for (uint64_t run = 1; run < range.count; run *= 2) {
        for (uint64_t begin = 0; begin < range.count; begin += 2 * run) {
            uint64_t middle = begin + run < range.count ? begin + run : range.count;
            uint64_t end = begin + 2 * run < range.count ? begin + 2 * run : range.count;
            merge(blocks, numbers, other, (uint32_t)begin, (uint32_t)middle, (uint32_t)end);
        }
        uint32_t *swap = numbers;
        numbers = other;
        other = swap;
    }
    writing->order = numbers;
    free(other);
    return 0;
}

/* --- tables ------------------------------------------------------------------------------------
 */

/* Begins a table and writes its header; the names end with NULL. */
static void table(struct json_put *put, const char *const *names)
{
    json_put_array(put);
    json_put_array(put);
    for (; *names; names++)
        json_put_string(put, *names, strlen(*names));
    json_put_array_end(put);
}

static void row(struct json_put *put)
{
    json_put_line(put);
    json_put_array(put);
}

static void named_row(struct json_put *put, uint32_t id, const char *name)
{
    row(put);
    json_put_integer(put, id);
    json_put_string(put, name, strlen(name));
    json_put_array_end(put);
}

static void key(struct json_put *put, const char *name)
{
    json_put_line(put);
    json_put_key(put, name);
}

static bool lacks_file_name(const struct dcfg_process *process)
{
    for (uint32_t i = 0; i < process->image_count; i++)
        if (process->images[i].file_name_id == 0)
            return true;
    for (uint32_t i = 0; i < process->line_count; i++)
        if (process->lines[i].file_name_id == 0)
            return true;
    return false;
}

/* A free id for images and lines without a file name; 0 if none needs it. */
static uint32_t unnamed_id(const struct dcfg *graph)
{
    bool needed = false;
    for (uint32_t i = 0; i < graph->process_count && !needed; i++)
        needed = lacks_file_name(graph->processes[i]);
    if (!needed)
        return 0;
    uint32_t id = 1;
    while (dcfg_file_name(graph, id))
        id++;
    return id;
}

static void put_file_name_id(const struct writing *writing, uint32_t id)
{
    json_put_integer(writing->put, id != 0 ? id : writing->unnamed);
}

static void write_names(const struct writing *writing)
{
    static const char *const file_names[] = {"FILE_NAME_ID", "FILE_NAME", NULL};
    static const char *const edge_types[] = {"EDGE_TYPE_ID", "EDGE_TYPE", NULL};
    static const char *const special_nodes[] = {"NODE_ID", "NODE_NAME", NULL};
    const struct dcfg *graph = writing->graph;
    struct json_put *put = writing->put;
    key(put, "FILE_NAMES");
    table(put, file_names);
    for (uint32_t i = 0; i < graph->file_name_count; i++)
        named_row(put, graph->file_names[i].id, dcfg_text(graph, graph->file_names[i].name));
    if (writing->unnamed != 0)
        named_row(put, writing->unnamed, "unknown");
    json_put_array_end(put);
    key(put, "EDGE_TYPES");
    table(put, edge_types);
    for (uint32_t i = 1; i < DCFG_EDGE_TYPES; i++)
        named_row(put, i, dcfg_edge_type_name((enum dcfg_edge_type)i));
    json_put_array_end(put);
    key(put, "SPECIAL_NODES");
    table(put, special_nodes);
    for (uint32_t i = 1; i < DCFG_SPECIALS; i++)
        named_row(put, i, dcfg_special_name((enum dcfg_special)i));
    json_put_array_end(put);
}

static void write_symbols(const struct writing *writing, struct dcfg_range range)
{
    static const char *const names[] = {"NAME", "ADDR_OFFSET", "SIZE", NULL};
    struct json_put *put = writing->put;
    key(put, "SYMBOLS");
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_symbol *symbol = &writing->process->symbols[range.first + i];
        const char *name = dcfg_text(writing->graph, symbol->name);
        row(put);
        json_put_string(put, name, strlen(name));
        json_put_hex(put, symbol->offset);
        json_put_integer(put, symbol->size);
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

static void write_lines(const struct writing *writing, struct dcfg_range range)
{
    static const char *const names[] = {"FILE_NAME_ID", "LINE_NUM",   "ADDR_OFFSET",
                                        "SIZE",         "NUM_INSTRS", NULL};
    struct json_put *put = writing->put;
    key(put, "SOURCE_DATA");
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_line *line = &writing->process->lines[range.first + i];
        row(put);
        put_file_name_id(writing, line->file_name_id);
        json_put_integer(put, line->line);
        json_put_hex(put, line->offset);
        json_put_integer(put, line->size);
        json_put_integer(put, line->instructions);
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

static int write_blocks(struct writing *writing, struct dcfg_range range, struct bt_error *error)
{
    static const char *const names[] = {"NODE_ID",           "ADDR_OFFSET", "SIZE", "NUM_INSTRS",
                                        "LAST_INSTR_OFFSET", "COUNT",       NULL};
    struct json_put *put = writing->put;
    const struct dcfg_block *blocks = writing->process->blocks;
    bool sorted = is_sorted(writing->process, range);
    int result = sorted ? 0 : sort_blocks(writing, range, error);
    if (result < 0)
        return result;
    key(put, "BASIC_BLOCKS");
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t number = sorted ? range.first + i : writing->order[i];
        const struct dcfg_block *block = &blocks[number];
        if (block->offset == 0)
            return bt_fail(
                error, BT_USAGE,
                "the basic block %u begins at its image's load address, and readers of DCFG "
                "treat offset 0 as missing: give the image a lower load address",
                block->id);
        row(put);
        json_put_integer(put, block_id(writing, number));
        json_put_hex(put, block->offset);
        json_put_integer(put, block->size);
        json_put_integer(put, block->instructions);
        json_put_integer(put, block->last_instruction);
        json_put_integer(put, block->count != DCFG_COUNT_UNKNOWN ? block->count
                                                                 : writing->counts[number]);
        json_put_array_end(put);
    }
    json_put_array_end(put);
    return 0;
}

static void write_ids(const struct writing *writing, struct dcfg_range range)
{
    json_put_array(writing->put);
    for (uint32_t i = 0; i < range.count; i++)
        json_put_integer(writing->put, node_id(writing, writing->process->ids[range.first + i]));
    json_put_array_end(writing->put);
}

static void write_nodes(const struct writing *writing, struct dcfg_range range)
{
    static const char *const names[] = {"NODE_ID", "IDOM_NODE_ID", NULL};
    struct json_put *put = writing->put;
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_node *node = &writing->process->nodes[range.first + i];
        json_put_array(put);
        json_put_integer(put, node_id(writing, node->id));
        json_put_integer(put, node_id(writing, node->dominator));
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

static void write_loops(const struct writing *writing, struct dcfg_range range)
{
    static const char *const names[] = {"LOOP_HEAD_NODE_ID", "LOOP_BACK_EDGE_SOURCE_NODE_IDS",
                                        "LOOP_NODE_IDS", "PARENT_LOOP_HEAD_NODE_ID", NULL};
    struct json_put *put = writing->put;
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_loop *loop = &writing->process->loops[range.first + i];
        row(put);
        json_put_integer(put, node_id(writing, loop->head));
        write_ids(writing, loop->back_edges);
        write_ids(writing, loop->nodes);
        json_put_integer(put, loop->parent == 0 ? 0 : node_id(writing, loop->parent));
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

static void write_routines(const struct writing *writing, struct dcfg_range range)
{
    static const char *const names[] = {"ENTRY_NODE_ID", "EXIT_NODE_IDS", "NODES", "LOOPS", NULL};
    struct json_put *put = writing->put;
    key(put, "ROUTINES");
    table(put, names);
    for (uint32_t i = 0; i < range.count; i++) {
        const struct dcfg_routine *routine = &writing->process->routines[range.first + i];
        row(put);
        json_put_integer(put, node_id(writing, routine->entry));
        write_ids(writing, routine->exits);
        json_put_line(put);
        write_nodes(writing, routine->nodes);
        json_put_line(put);
        write_loops(writing, routine->loops);
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

static int write_images(struct writing *writing, struct bt_error *error)
{
    static const char *const names[] = {"IMAGE_ID", "LOAD_ADDR", "SIZE", "IMAGE_DATA", NULL};
    struct json_put *put = writing->put;
    key(put, "IMAGES");
    table(put, names);
    for (uint32_t i = 0; i < writing->process->image_count; i++) {
        const struct dcfg_image *image = &writing->process->images[i];
        row(put);
        json_put_integer(put, image->id);
        json_put_hex(put, image->load_address);
        json_put_integer(put, image->size);
        json_put_line(put);
        json_put_object(put);
        json_put_key(put, "FILE_NAME_ID");
        put_file_name_id(writing, image->file_name_id);
        write_symbols(writing, image->symbols);
        write_lines(writing, image->lines);
        int result = write_blocks(writing, image->blocks, error);
        if (result < 0)
            return result;
        write_routines(writing, image->routines);
        json_put_object_end(put);
        json_put_array_end(put);
    }
    json_put_array_end(put);
    return 0;
}

static void write_edges(const struct writing *writing)
{
    static const char *const names[] = {"EDGE_ID",      "SOURCE_NODE_ID",   "TARGET_NODE_ID",
                                        "EDGE_TYPE_ID", "COUNT_PER_THREAD", NULL};
    struct json_put *put = writing->put;
    const struct dcfg_edges *edges = &writing->process->edges;
    key(put, "EDGES");
    table(put, names);
    for (uint32_t i = 0; i < edges->count; i++) {
        unsigned type = edges->types[i];
        row(put);
        json_put_integer(put, edges->ids[i]);
        json_put_integer(put, node_id(writing, edges->sources[i]));
        json_put_integer(put, node_id(writing, edges->targets[i]));
        json_put_integer(put, type < DCFG_EDGE_TYPES ? type : DCFG_EDGE_UNKNOWN);
        json_put_array(put);
        struct dcfg_counts counts = dcfg_edge_counts(writing->process, i);
        bool more = dcfg_counts_next(&counts);
        for (uint32_t thread = 0; thread < writing->process->threads; thread++) {
            bool here = more && counts.thread == thread;
            json_put_integer(put, here ? counts.count : 0);
            if (here)
                more = dcfg_counts_next(&counts);
        }
        json_put_array_end(put);
        json_put_array_end(put);
    }
    json_put_array_end(put);
}

/* --- the document ------------------------------------------------------------------------------
 */

static int write_process(struct writing *writing, struct bt_error *error)
{
    struct json_put *put = writing->put;
    const struct dcfg_process *process = writing->process;
    choose_ids(writing);
    int result = complete_counts(writing, error);
    if (result < 0)
        return result;
    uint64_t sum = 0;
    row(put);
    json_put_integer(put, process->id);
    json_put_object(put);
    json_put_key(put, "INSTR_COUNT_PER_THREAD");
    json_put_array(put);
    for (uint32_t i = 0; i < process->threads; i++) {
        json_put_integer(put, writing->threads[i]);
        sum = saturating_add(sum, writing->threads[i]);
    }
    json_put_array_end(put);
    key(put, "INSTR_COUNT");
    json_put_integer(put,
                     process->instructions != DCFG_COUNT_UNKNOWN ? process->instructions : sum);
    result = write_images(writing, error);
    if (result < 0)
        return result;
    write_edges(writing);
    json_put_object_end(put);
    json_put_array_end(put);
    return 0;
}

static int write_processes(const struct writing *document, struct bt_error *error)
{
    static const char *const names[] = {"PROCESS_ID", "PROCESS_DATA", NULL};
    struct json_put *put = document->put;
    int result = 0;
    key(put, "PROCESSES");
    table(put, names);
    for (uint32_t i = 0; i < document->graph->process_count && result == 0; i++) {
        struct writing writing = *document;
        writing.process = document->graph->processes[i];
        result = write_process(&writing, error);
        free(writing.counts);
        free(writing.threads);
        free(writing.order);
    }
    json_put_array_end(put);
    return result;
}

static uint32_t new_id(const void *context, uint32_t id)
{
    return node_id(context, id);
}

/* The bus's table refers to blocks of the first process. */
static void write_bus(const struct writing *document)
{
    if (!document->graph->bus || document->graph->process_count == 0)
        return;
    struct writing writing = *document;
    writing.process = document->graph->processes[0];
    choose_ids(&writing);
    key(writing.put, DCFG_BUS_TAG);
    dcfg_bus_write(writing.graph->bus, writing.put, new_id, &writing);
}

int dcfg_write_text(const struct dcfg *graph, struct text_writer *writer,
                    const struct dcfg_writer_settings *settings, struct bt_error *error)
{
    if (!graph->sealed)
        return bt_fail(error, BT_USAGE, "a graph that is not sealed cannot be written");
    if (graph->process_count > 1 && !(settings && settings->several_processes))
        return bt_fail(error, BT_USAGE,
                       "%u processes; readers of DCFG expect one: write each to a file",
                       graph->process_count);
    struct writing document = {.graph = graph, .unnamed = unnamed_id(graph)};
    struct json_put *put = document.put = json_put_new(writer, error);
    if (!put)
        return BT_MEMORY;
    json_put_object(put);
    json_put_key(put, "MAJOR_VERSION");
    json_put_integer(put, 1);
    key(put, "MINOR_VERSION");
    json_put_integer(put, 0);
    write_names(&document);
    int result = write_processes(&document, error);
    if (result == 0) {
        write_bus(&document);
        json_put_object_end(put);
        result = json_put_finish(put, error);
    }
    json_put_free(put);
    if (result == 0)
        result = text_writer_put(writer, "\n", 1, error);
    return result;
}

int dcfg_write(const struct dcfg *graph, const char *path,
               const struct dcfg_writer_settings *settings, struct bt_error *error)
{
    struct text_writer *writer = text_writer_new(path, error);
    if (!writer)
        return error ? error->code : BT_IO;
    int result = dcfg_write_text(graph, writer, settings, error);
    if (result == 0)
        result = text_writer_finish(writer, error);
    text_writer_free(writer);
    return result;
}
