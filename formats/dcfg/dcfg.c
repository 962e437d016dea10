#include "formats/dcfg/dcfg.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS_STRIDE  8u  /* edges from one offset into the packed counts to the next */
#define NUMBER_BYTES   10u /* of 64 bits, packed */
#define SPECIAL_MAX    256u
#define EDGE_TYPES_MAX 4096u
#define ITEMS_MAX      (DCFG_NONE - 1)
#define TEXT_BYTES_MAX UINT32_MAX

/* Capacity of each array, in rows. */
struct dcfg_room {
    size_t file_names, edge_types, special_nodes, processes, text, bus_blocks;
    size_t images, symbols, lines, blocks, routines, nodes, loops, ids;
    size_t edge_ids, edge_sources, edge_targets, edge_types_of, counts, counts_at;
    size_t edges; /* the minimum of the edges' arrays except counts */
};

struct dcfg_limits dcfg_limits_default(void)
{
    return (struct dcfg_limits){.memory_max = (uint64_t)4 << 30, .threads_max = 65536};
}

struct dcfg *dcfg_new(const struct dcfg_limits *limits, struct bt_error *error)
{
    struct dcfg *graph = calloc(1, sizeof *graph);
    if (graph)
        graph->room = calloc(1, sizeof *graph->room);
    if (!graph || !graph->room) {
        free(graph);
        bt_fail(error, BT_MEMORY, "no memory for a graph");
        return NULL;
    }
    graph->limits = limits ? *limits : dcfg_limits_default();
    graph->major_version = 1;
    graph->columns =
        (struct dcfg_columns){.process_data = 1, .image_data = 3, .nodes = 2, .loops = 3};
    return graph;
}

static void process_free(struct dcfg_process *process)
{
    struct dcfg_edges *edges = &process->edges;
    void *const arrays[] = {process->thread_instructions,
                            process->images,
                            process->symbols,
                            process->lines,
                            process->blocks,
                            process->routines,
                            process->nodes,
                            process->loops,
                            process->ids,
                            edges->ids,
                            edges->sources,
                            edges->targets,
                            edges->types,
                            edges->counts,
                            edges->counts_at,
                            process->room};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    id_index_clear(&process->block_index);
    id_index_clear(&process->edge_index);
    free(process);
}

void dcfg_free(struct dcfg *graph)
{
    if (!graph)
        return;
    for (uint32_t i = 0; i < graph->process_count; i++)
        process_free(graph->processes[i]);
    id_index_clear(&graph->file_name_index);
    if (graph->bus)
        free(graph->bus->blocks);
    free(graph->bus);
    free(graph->file_names);
    free(graph->edge_types);
    free(graph->special_nodes);
    free(graph->processes);
    free(graph->text);
    free(graph->room);
    free(graph);
}

/* --- growing -----------------------------------------------------------------------------------
 */

/* Grows the array for wanted items more than count. NULL and *error (BT_MEMORY) on failure. */
static void *grow(struct dcfg *graph, void *array, size_t *capacity, size_t count, size_t wanted,
                  size_t item_bytes, struct bt_error *error)
{
    if (wanted <= *capacity - count)
        return array;
    size_t larger = count + count / 4 + wanted + 8;
    uint64_t bytes = (uint64_t)(larger - *capacity) * item_bytes;
    if (larger > SIZE_MAX / 2 / item_bytes || bytes > graph->limits.memory_max - graph->memory) {
        bt_fail(error, BT_MEMORY, "the graph needs more than %llu MiB of memory: the limit",
                (unsigned long long)(graph->limits.memory_max >> 20));
        return NULL;
    }
    void *grown = realloc(array, larger * item_bytes);
    if (!grown) {
        bt_fail(error, BT_MEMORY, "no memory for the graph");
        return NULL;
    }
    graph->memory += bytes;
    *capacity = larger;
    return grown;
}

/* As grow; BT_USAGE if the graph is sealed. */
static void *with_room(struct dcfg *graph, void *array, size_t *capacity, size_t count,
                       size_t wanted, size_t item_bytes, struct bt_error *error)
{
    if (graph->sealed) {
        bt_fail(error, BT_USAGE, "the graph is sealed: nothing can be added to it");
        return NULL;
    }
    return grow(graph, array, capacity, count, wanted, item_bytes, error);
}

/* As with_room, for one more row of a table of at most ITEMS_MAX rows. */
static void *with_row(struct dcfg *graph, void *array, size_t *capacity, uint32_t count,
                      size_t item_bytes, struct bt_error *error)
{
    if (count >= ITEMS_MAX) {
        bt_fail(error, BT_MEMORY, "more than %u rows of a kind", ITEMS_MAX);
        return NULL;
    }
    return with_room(graph, array, capacity, count, 1, item_bytes, error);
}

/* The code of a failed with_room() or with_row(). */
static int failure(const struct dcfg *graph)
{
    return graph->sealed ? BT_USAGE : BT_MEMORY;
}

static int add_text(struct dcfg *graph, const char *text, size_t size, uint32_t *where,
                    struct bt_error *error)
{
    if (size > 0 && memchr(text, '\0', size))
        return bt_fail(error, BT_DATA, "a name with a NUL character in it");
    if (size >= TEXT_BYTES_MAX - graph->text_size)
        return bt_fail(error, BT_MEMORY, "more than 4 GiB of names");
    char *grown =
        with_room(graph, graph->text, &graph->room->text, graph->text_size, size + 1, 1, error);
    if (!grown)
        return failure(graph);
    graph->text = grown;
    *where = (uint32_t)graph->text_size;
    if (size > 0)
        memcpy(grown + graph->text_size, text, size);
    grown[graph->text_size + size] = '\0';
    graph->text_size += size + 1;
    return 0;
}

/* --- the graph's tables ------------------------------------------------------------------------
 */

int dcfg_add_file_name(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                       struct bt_error *error)
{
    struct dcfg_file_name row = {.id = id, .name = 0};
    struct dcfg_file_name *rows = with_row(graph, graph->file_names, &graph->room->file_names,
                                           graph->file_name_count, sizeof *rows, error);
    if (!rows)
        return failure(graph);
    graph->file_names = rows;
    int result = add_text(graph, name, size, &row.name, error);
    if (result == 0)
        rows[graph->file_name_count++] = row;
    return result;
}

int dcfg_add_edge_type(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                       struct bt_error *error)
{
    struct dcfg_edge_type_row row = {.id = id, .name = 0, .type = dcfg_edge_type_of(name, size)};
    for (uint32_t i = 0; i < graph->edge_type_count; i++)
        if (graph->edge_types[i].id == id)
            return bt_fail(error, BT_DATA, "duplicate edge type id %u", id);
    if (graph->edge_type_count >= EDGE_TYPES_MAX)
        return bt_fail(error, BT_DATA, "more than %u edge types", EDGE_TYPES_MAX);
    struct dcfg_edge_type_row *rows = with_row(graph, graph->edge_types, &graph->room->edge_types,
                                               graph->edge_type_count, sizeof *rows, error);
    if (!rows)
        return failure(graph);
    graph->edge_types = rows;
    int result = add_text(graph, name, size, &row.name, error);
    if (result == 0)
        rows[graph->edge_type_count++] = row;
    return result;
}

int dcfg_add_special_node(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                          struct bt_error *error)
{
    struct dcfg_special_node row = {.id = id, .name = 0, .special = dcfg_special_of(name, size)};
    if (dcfg_special(graph, id) != 0)
        return bt_fail(error, BT_DATA, "duplicate node id %u", id);
    if (row.special != DCFG_OTHER && graph->special_ids[row.special] != 0)
        return bt_fail(error, BT_DATA, "duplicate node %s", dcfg_special_name(row.special));
    if (graph->special_node_count >= SPECIAL_MAX)
        return bt_fail(error, BT_DATA, "more than %u special nodes", SPECIAL_MAX);
    struct dcfg_special_node *rows =
        with_row(graph, graph->special_nodes, &graph->room->special_nodes,
                 graph->special_node_count, sizeof *rows, error);
    if (!rows)
        return failure(graph);
    graph->special_nodes = rows;
    int result = add_text(graph, name, size, &row.name, error);
    if (result < 0)
        return result;
    rows[graph->special_node_count++] = row;
    if (row.special != DCFG_OTHER)
        graph->special_ids[row.special] = id;
    return 0;
}

int dcfg_add_standard_tables(struct dcfg *graph, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 1; i < DCFG_EDGE_TYPES && result == 0; i++) {
        const char *name = dcfg_edge_type_name((enum dcfg_edge_type)i);
        result = dcfg_add_edge_type(graph, i, name, strlen(name), error);
    }
    for (unsigned i = 1; i < DCFG_SPECIALS && result == 0; i++) {
        const char *name = dcfg_special_name((enum dcfg_special)i);
        result = dcfg_add_special_node(graph, i, name, strlen(name), error);
    }
    return result;
}

struct dcfg_process *dcfg_add_process(struct dcfg *graph, uint64_t id, struct bt_error *error)
{
    struct dcfg_process **rows = with_row(graph, graph->processes, &graph->room->processes,
                                          graph->process_count, sizeof *rows, error);
    if (!rows)
        return NULL;
    graph->processes = rows;
    size_t bytes = sizeof(struct dcfg_process) + sizeof(struct dcfg_room);
    struct dcfg_process *process = NULL;
    if (bytes <= graph->limits.memory_max - graph->memory)
        process = calloc(1, sizeof *process);
    if (process)
        process->room = calloc(1, sizeof *process->room);
    if (!process || !process->room) {
        free(process);
        bt_fail(error, BT_MEMORY, "no memory for another process");
        return NULL;
    }
    graph->memory += bytes;
    process->graph = graph;
    process->id = id;
    process->instructions = DCFG_COUNT_UNKNOWN;
    rows[graph->process_count++] = process;
    return process;
}

/* --- the table of a graph from a bus -----------------------------------------------------------
 */

int dcfg_set_bus(struct dcfg *graph, const struct dcfg_bus *bus, struct bt_error *error)
{
    if (!graph->bus)
        graph->bus = calloc(1, sizeof *graph->bus);
    if (!graph->bus)
        return bt_fail(error, BT_MEMORY, "no memory for a graph");
    struct dcfg_bus_block *blocks = graph->bus->blocks;
    uint32_t block_count = graph->bus->block_count;
    *graph->bus = *bus;
    graph->bus->blocks = blocks;
    graph->bus->block_count = block_count;
    return 0;
}

int dcfg_add_bus_block(struct dcfg *graph, const struct dcfg_bus_block *block,
                       struct bt_error *error)
{
    struct dcfg_bus *bus = graph->bus;
    if (bus->block_count == ITEMS_MAX)
        return bt_fail(error, BT_DATA, "more than %u rows", ITEMS_MAX);
    struct dcfg_bus_block *rows = grow(graph, bus->blocks, &graph->room->bus_blocks,
                                       bus->block_count, 1, sizeof *rows, error);
    if (!rows)
        return BT_MEMORY;
    bus->blocks = rows;
    bus->blocks[bus->block_count++] = *block;
    return 0;
}

/* --- a process's tables ------------------------------------------------------------------------
 */

/* Extends the threads that have instruction counts, known or unknown. */
static int set_threads(struct dcfg_process *process, uint32_t threads, struct bt_error *error)
{
    if (threads > process->graph->limits.threads_max)
        return bt_fail(error, BT_DATA, "more than %u threads: the limit",
                       process->graph->limits.threads_max);
    if (threads > process->threads)
        process->threads = threads;
    return 0;
}

int dcfg_set_thread_instructions(struct dcfg_process *process, const uint64_t *instructions,
                                 uint32_t threads, struct bt_error *error)
{
    if (process->graph->sealed)
        return bt_fail(error, BT_USAGE, "the graph is sealed: nothing can be added to it");
    int result = set_threads(process, threads, error);
    if (result < 0)
        return result;
    size_t bytes = ((size_t)threads + 1) * sizeof *instructions;
    if (bytes > process->graph->limits.memory_max - process->graph->memory)
        return bt_fail(error, BT_MEMORY, "the graph needs more than %llu MiB of memory: the limit",
                       (unsigned long long)(process->graph->limits.memory_max >> 20));
    uint64_t *copy = malloc(bytes);
    if (!copy)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", threads);
    if (threads > 0)
        memcpy(copy, instructions, threads * sizeof *copy);
    if (process->thread_instructions)
        process->graph->memory -= ((size_t)process->threads_counted + 1) * sizeof *copy;
    process->graph->memory += bytes;
    free(process->thread_instructions);
    process->thread_instructions = copy;
    process->threads_counted = threads;
    process->instructions = 0;
    for (uint32_t i = 0; i < threads; i++)
        process->instructions = saturating_add(process->instructions, copy[i]);
    return 0;
}

int dcfg_add_image(struct dcfg_process *process, const struct dcfg_image *image,
                   struct bt_error *error)
{
    struct dcfg_image *rows = with_row(process->graph, process->images, &process->room->images,
                                       process->image_count, sizeof *rows, error);
    if (!rows)
        return failure(process->graph);
    process->images = rows;
    struct dcfg_image *row = &rows[process->image_count++];
    *row = *image;
    row->symbols = (struct dcfg_range){.first = process->symbol_count, .count = 0};
    row->lines = (struct dcfg_range){.first = process->line_count, .count = 0};
    row->blocks = (struct dcfg_range){.first = process->block_count, .count = 0};
    row->routines = (struct dcfg_range){.first = process->routine_count, .count = 0};
    return 0;
}

/* As with_row, for a row of the last image. */
static void *with_image_row(struct dcfg_process *process, void *array, size_t *capacity,
                            uint32_t count, size_t item_bytes, struct bt_error *error)
{
    if (process->image_count == 0) {
        bt_fail(error, BT_USAGE, "a row of an image without an image");
        return NULL;
    }
    return with_row(process->graph, array, capacity, count, item_bytes, error);
}

static int image_failure(const struct dcfg_process *process)
{
    return process->image_count == 0 ? BT_USAGE : failure(process->graph);
}

static struct dcfg_image *last_image(struct dcfg_process *process)
{
    return &process->images[process->image_count - 1];
}

int dcfg_add_symbol(struct dcfg_process *process, uint64_t offset, uint64_t size, const char *name,
                    size_t name_size, struct bt_error *error)
{
    struct dcfg_symbol row = {.offset = offset, .size = size, .name = 0};
    struct dcfg_symbol *rows = with_image_row(process, process->symbols, &process->room->symbols,
                                              process->symbol_count, sizeof *rows, error);
    if (!rows)
        return image_failure(process);
    process->symbols = rows;
    int result = add_text(process->graph, name, name_size, &row.name, error);
    if (result < 0)
        return result;
    rows[process->symbol_count++] = row;
    last_image(process)->symbols.count++;
    return 0;
}

int dcfg_add_line(struct dcfg_process *process, const struct dcfg_line *line,
                  struct bt_error *error)
{
    struct dcfg_line *rows = with_image_row(process, process->lines, &process->room->lines,
                                            process->line_count, sizeof *rows, error);
    if (!rows)
        return image_failure(process);
    process->lines = rows;
    rows[process->line_count++] = *line;
    last_image(process)->lines.count++;
    return 0;
}

int dcfg_add_block(struct dcfg_process *process, const struct dcfg_block *block,
                   struct bt_error *error)
{
    struct dcfg_block *rows = with_image_row(process, process->blocks, &process->room->blocks,
                                             process->block_count, sizeof *rows, error);
    if (!rows)
        return image_failure(process);
    process->blocks = rows;
    rows[process->block_count++] = *block;
    last_image(process)->blocks.count++;
    return 0;
}

/* Appends the array's next row to the range. */
static int extend(struct dcfg_range *range, uint32_t count, struct bt_error *error)
{
    if (range->count == 0)
        range->first = count;
    else if (range->first + range->count != count)
        return bt_fail(error, BT_USAGE, "ranges must be filled one at a time");
    range->count++;
    return 0;
}

int dcfg_add_id(struct dcfg_process *process, struct dcfg_range *range, uint32_t id,
                struct bt_error *error)
{
    uint32_t *rows = with_row(process->graph, process->ids, &process->room->ids, process->id_count,
                              sizeof *rows, error);
    if (!rows)
        return failure(process->graph);
    process->ids = rows;
    int result = extend(range, process->id_count, error);
    if (result == 0)
        rows[process->id_count++] = id;
    return result;
}

int dcfg_add_node(struct dcfg_process *process, struct dcfg_range *range,
                  const struct dcfg_node *node, struct bt_error *error)
{
    struct dcfg_node *rows = with_row(process->graph, process->nodes, &process->room->nodes,
                                      process->node_count, sizeof *rows, error);
    if (!rows)
        return failure(process->graph);
    process->nodes = rows;
    int result = extend(range, process->node_count, error);
    if (result == 0)
        rows[process->node_count++] = *node;
    return result;
}

int dcfg_add_loop(struct dcfg_process *process, struct dcfg_range *range,
                  const struct dcfg_loop *loop, struct bt_error *error)
{
    struct dcfg_loop *rows = with_row(process->graph, process->loops, &process->room->loops,
                                      process->loop_count, sizeof *rows, error);
    if (!rows)
        return failure(process->graph);
    process->loops = rows;
    int result = extend(range, process->loop_count, error);
    if (result == 0)
        rows[process->loop_count++] = *loop;
    return result;
}

int dcfg_add_routine(struct dcfg_process *process, const struct dcfg_routine *routine,
                     struct bt_error *error)
{
    struct dcfg_routine *rows = with_image_row(process, process->routines, &process->room->routines,
                                               process->routine_count, sizeof *rows, error);
    if (!rows)
        return image_failure(process);
    process->routines = rows;
    rows[process->routine_count++] = *routine;
    last_image(process)->routines.count++;
    return 0;
}

/* --- edges and their counts --------------------------------------------------------------------
 */

/* Counts are packed: the number of counts above 0; for each, the number of threads skipped before
 * it, and the count; all as numbers of 7 bits an octet, the lowest first, with the high bit set on
 * all octets but the last. */
static uint8_t *put_number(uint8_t *to, uint64_t number)
{
    while (number >= 0x80) {
        *to++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static inline uint64_t get_number(const uint8_t **from)
{
    uint64_t number = *(*from)++;
    if (number < 0x80)
        return number;
    number &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        uint8_t octet = *(*from)++;
        number |= (uint64_t)(octet & 0x7f) << shift;
        if (octet < 0x80)
            return number;
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Makes room for another edge in all arrays, and for this number of bytes of counts. */
static int more_edges(struct dcfg_process *process, size_t bytes, struct bt_error *error)
{
    struct dcfg *graph = process->graph;
    struct dcfg_edges *edges = &process->edges;
    struct dcfg_room *room = process->room;
    uint32_t *ids = with_row(graph, edges->ids, &room->edge_ids, edges->count, sizeof *ids, error);
    if (!ids)
        return failure(graph);
    edges->ids = ids;
    uint32_t *sources =
        with_row(graph, edges->sources, &room->edge_sources, edges->count, sizeof *sources, error);
    if (!sources)
        return failure(graph);
    edges->sources = sources;
    uint32_t *targets =
        with_row(graph, edges->targets, &room->edge_targets, edges->count, sizeof *targets, error);
    if (!targets)
        return failure(graph);
    edges->targets = targets;
    uint8_t *types = with_row(graph, edges->types, &room->edge_types_of, edges->count, 1, error);
    if (!types)
        return failure(graph);
    edges->types = types;
    uint64_t *counts_at = with_row(graph, edges->counts_at, &room->counts_at,
                                   edges->count / COUNTS_STRIDE, sizeof *counts_at, error);
    if (!counts_at)
        return failure(graph);
    edges->counts_at = counts_at;
    uint8_t *packed =
        with_room(graph, edges->counts, &room->counts, edges->counts_size, bytes, 1, error);
    if (!packed)
        return failure(graph);
    edges->counts = packed;
    room->edges = least(least(room->edge_ids, room->edge_sources),
                        least(room->edge_targets, room->edge_types_of));
    room->edges = least(room->edges, room->counts_at * COUNTS_STRIDE);
    return 0;
}

static inline int edge_room(struct dcfg_process *process, size_t counts, struct bt_error *error)
{
    const struct dcfg_room *room = process->room;
    size_t bytes = (2 * counts + 1) * NUMBER_BYTES;
    if (process->edges.count < room->edges && bytes <= room->counts - process->edges.counts_size &&
        !process->graph->sealed)
        return 0;
    return more_edges(process, bytes, error);
}

int dcfg_add_edge(struct dcfg_process *process, uint32_t id, uint32_t source, uint32_t target,
                  enum dcfg_edge_type type, const uint64_t *counts, uint32_t threads,
                  struct bt_error *error)
{
    struct dcfg_edges *edges = &process->edges;
    uint32_t some = 0; /* number of counts above 0 */
    uint32_t last = 0; /* number of threads up to the last of them */
    for (uint32_t i = 0; i < threads; i++) {
        if (counts[i] == 0)
            continue;
        some++;
        last = i + 1;
    }
    bool sparse = some < last;
    int result = set_threads(process, threads, error);
    if (result == 0)
        result = edge_room(process, some, error);
    if (result < 0)
        return result;
    if (edges->count % COUNTS_STRIDE == 0)
        edges->counts_at[edges->count / COUNTS_STRIDE] = edges->counts_size;
    edges->ids[edges->count] = id;
    edges->sources[edges->count] = source;
    edges->targets[edges->count] = target;
    edges->types[edges->count] = (uint8_t)type;
    uint8_t *at = put_number(edges->counts + edges->counts_size, (uint64_t)some * 2 + sparse);
    uint32_t next = 0;
    for (uint32_t i = 0; i < threads; i++) {
        if (counts[i] == 0)
            continue;
        if (sparse)
            at = put_number(at, i - next);
        at = put_number(at, counts[i]);
        next = i + 1;
    }
    edges->counts_size = (size_t)(at - edges->counts);
    if (edges->count == 0 || threads < edges->fewest_counts) {
        edges->fewest_counts = threads;
        edges->fewest_counts_edge = edges->count;
    }
    edges->count++;
    return 0;
}

struct dcfg_counts dcfg_edge_counts(const struct dcfg_process *process, uint32_t edge)
{
    const struct dcfg_edges *edges = &process->edges;
    const uint8_t *at = edges->counts + edges->counts_at[edge / COUNTS_STRIDE];
    for (uint32_t i = edge % COUNTS_STRIDE; i > 0; i--) {
        uint64_t header = get_number(&at);
        for (uint64_t left = (header / 2) << (header % 2); left > 0; left--)
            get_number(&at);
    }
    uint64_t header = get_number(&at);
    return (struct dcfg_counts){
        .thread = DCFG_NONE, .left = (uint32_t)(header / 2), .sparse = header % 2, .at = at};
}

bool dcfg_counts_next(struct dcfg_counts *counts)
{
    if (counts->left == 0)
        return false;
    counts->left--;
    uint32_t skipped = counts->sparse ? (uint32_t)get_number(&counts->at) : 0;
    counts->thread += skipped + 1; /* DCFG_NONE + 1 is 0 */
    counts->count = get_number(&counts->at);
    return true;
}

uint64_t dcfg_edge_total(const struct dcfg_process *process, uint32_t edge)
{
    uint64_t total = 0;
    struct dcfg_counts counts = dcfg_edge_counts(process, edge);
    while (dcfg_counts_next(&counts))
        total = saturating_add(total, counts.count);
    return total;
}

void dcfg_count_blocks(const struct dcfg_process *process, uint64_t *counts)
{
    memset(counts, 0, process->block_count * sizeof *counts);
    for (uint32_t edge = 0; edge < process->edges.count; edge++) {
        uint32_t block = dcfg_find_block(process, process->edges.targets[edge]);
        if (block != DCFG_NONE)
            counts[block] = saturating_add(counts[block], dcfg_edge_total(process, edge));
    }
}

void dcfg_count_instructions(const struct dcfg_process *process, uint64_t *instructions)
{
    memset(instructions, 0, process->threads * sizeof *instructions);
    for (uint32_t edge = 0; edge < process->edges.count; edge++) {
        uint32_t block = dcfg_find_block(process, process->edges.targets[edge]);
        if (block == DCFG_NONE)
            continue;
        struct dcfg_counts counts = dcfg_edge_counts(process, edge);
        while (dcfg_counts_next(&counts)) {
            uint64_t executed =
                saturating_multiply(counts.count, process->blocks[block].instructions);
            instructions[counts.thread] = saturating_add(instructions[counts.thread], executed);
        }
    }
}

void dcfg_map_edge_types(struct dcfg *graph, const uint8_t types[256])
{
    for (uint32_t i = 0; i < graph->process_count; i++) {
        struct dcfg_edges *edges = &graph->processes[i]->edges;
        for (uint32_t edge = 0; edge < edges->count; edge++)
            edges->types[edge] = types[edges->types[edge]];
    }
}
