/*
 * A dynamic control-flow graph (DCFG 1.00 section 2) in memory, in compact form: rows lie in arrays
 * in the order of the file, refer to each other by number or id, and own nothing.
 *
 * The structures may be read directly, and are changed only through the functions. A graph is built
 * with dcfg_add_..., then sealed, which builds the indexes and checks that every id refers to a
 * row. Nothing can be added afterwards.
 */
#ifndef FORMATS_DCFG_DCFG_H
#define FORMATS_DCFG_DCFG_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/dcfg/dcfg_bus.h"
#include "formats/dcfg/dcfg_edge_type.h"
#include "formats/dcfg/id_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DCFG_ID_MAX        0x7fffffffu /* section 1.2.3; 0 is not an id */
#define DCFG_COUNT_UNKNOWN UINT64_MAX  /* a count that the file lacks */
#define DCFG_NONE          UINT32_MAX  /* no number */
#define DCFG_PATH_BYTES    160u

struct dcfg_limits {
    uint64_t memory_max;  /* limit of the graph, in bytes: 4 GiB */
    uint32_t threads_max; /* limit per process: 65536 */
};

struct dcfg_limits dcfg_limits_default(void);

/* Rows of one of the process's arrays. */
struct NAMED_FIELDS dcfg_range {
    uint32_t first, count;
};

/* Names are offsets in the graph's text: dcfg_text(). */
struct NAMED_FIELDS dcfg_file_name {
    uint32_t id, name;
};

struct NAMED_FIELDS dcfg_edge_type_row {
    uint32_t id, name;
    enum dcfg_edge_type type;
};

struct NAMED_FIELDS dcfg_special_node {
    uint32_t id, name;
    enum dcfg_special special;
};

/* Offsets and sizes are in bytes; offsets are relative to the image's load address. */
struct NAMED_FIELDS dcfg_symbol {
    uint64_t offset, size;
    uint32_t name;
};

struct NAMED_FIELDS dcfg_line {
    uint64_t offset;
    uint32_t size;
    uint32_t file_name_id, line;
    uint32_t instructions;
};

struct NAMED_FIELDS dcfg_block {
    uint64_t offset;
    uint64_t count; /* executions, or DCFG_COUNT_UNKNOWN */
    uint32_t id, size, instructions;
    uint32_t last_instruction; /* offset from the block's start */
};

struct NAMED_FIELDS dcfg_node {
    uint32_t id, dominator; /* dominator: the immediate one; both are block ids */
};

struct dcfg_loop {
    uint32_t head, parent;               /* block ids; parent: the outer loop's head, or 0 */
    struct dcfg_range back_edges, nodes; /* ranges in ids: sources of back edges; all blocks */
};

struct dcfg_routine {
    uint32_t entry;          /* a block id */
    struct dcfg_range exits; /* in ids */
    struct dcfg_range nodes; /* in nodes */
    struct dcfg_range loops; /* in loops */
};

struct dcfg_image {
    uint32_t id;
    uint32_t file_name_id; /* 0: none */
    uint64_t load_address, size;
    struct dcfg_range symbols, lines, blocks, routines; /* in the process's arrays */
};

/* One array a field: an edge takes about twenty bytes. */
struct dcfg_edges {
    uint32_t count;
    uint32_t *ids, *sources, *targets; /* nodes: ids of blocks and special nodes */
    uint8_t *types;                    /* enum dcfg_edge_type */
    uint8_t *counts;                   /* per thread, packed: dcfg_edge_counts() */
    uint64_t *counts_at;               /* offset of the counts of every eighth edge */
    size_t counts_size;
    uint32_t fewest_counts;      /* smallest number of counts of an added edge, with zeros, */
    uint32_t fewest_counts_edge; /* and the number of the first such edge */
};

/* Positions of columns in the file, for paths in messages. */
struct NAMED_FIELDS dcfg_columns {
    uint8_t process_data, image_data, nodes, loops;
};

struct dcfg_process {
    struct dcfg *graph;
    uint64_t id;                   /* the operating system's process id */
    uint64_t instructions;         /* of all threads, or DCFG_COUNT_UNKNOWN */
    bool instructions_missing;     /* the file lacks them: they are the sum over the threads */
    uint32_t threads;              /* number of threads with counts of any kind */
    uint32_t threads_counted;      /* number of threads whose instruction count is in the file */
    uint64_t *thread_instructions; /* those; once sealed, for all threads, the others 0 */
    struct dcfg_image *images;
    struct dcfg_symbol *symbols;
    struct dcfg_line *lines;
    struct dcfg_block *blocks;
    struct dcfg_routine *routines;
    struct dcfg_node *nodes;
    struct dcfg_loop *loops;
    uint32_t *ids;
    uint32_t image_count, symbol_count, line_count, block_count, routine_count;
    uint32_t node_count, loop_count, id_count;
    struct dcfg_edges edges;
    struct id_index block_index, edge_index;
    struct dcfg_room *room; /* capacities of the arrays */
};

struct dcfg {
    uint32_t major_version, minor_version; /* of the file; 1.00 in a new graph */
    bool minor_missing;                    /* the file lacks it */
    struct dcfg_file_name *file_names;
    struct dcfg_edge_type_row *edge_types;
    struct dcfg_special_node *special_nodes;
    struct dcfg_process **processes;
    uint32_t file_name_count, edge_type_count, special_node_count, process_count;
    uint32_t special_ids[DCFG_SPECIALS]; /* by enum dcfg_special; 0: none */
    struct dcfg_bus *bus;                /* NULL: the graph is not from a bus */
    char *text;
    size_t text_size;
    uint64_t memory; /* bytes held */
    bool sealed;
    struct id_index file_name_index;
    struct dcfg_limits limits;
    struct dcfg_columns columns;
    struct dcfg_room *room;
};

/* An empty graph; limits may be NULL. NULL and *error without memory. */
struct dcfg *dcfg_new(const struct dcfg_limits *limits, struct bt_error *error);
void dcfg_free(struct dcfg *graph);

/* --- building: 0, BT_MEMORY (none, or the limit), BT_USAGE (sealed) or BT_DATA (not allowed) ---
 */

int dcfg_add_file_name(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                       struct bt_error *error);
int dcfg_add_edge_type(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                       struct bt_error *error);
int dcfg_add_special_node(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                          struct bt_error *error);

/* Adds all edge types and special nodes, with the customary ids: the values of their enums. */
int dcfg_add_standard_tables(struct dcfg *graph, struct bt_error *error);

/* A process, which the graph owns; NULL on failure. */
struct dcfg_process *dcfg_add_process(struct dcfg *graph, uint64_t id, struct bt_error *error);

/* Instructions of each thread; their sum goes to process->instructions. */
int dcfg_set_thread_instructions(struct dcfg_process *process, const uint64_t *instructions,
                                 uint32_t threads, struct bt_error *error);

/* Begins an image: symbols, lines, blocks and routines added next belong to it. The ranges in
 * *image are ignored. */
int dcfg_add_image(struct dcfg_process *process, const struct dcfg_image *image,
                   struct bt_error *error);
int dcfg_add_symbol(struct dcfg_process *process, uint64_t offset, uint64_t size, const char *name,
                    size_t name_size, struct bt_error *error);
int dcfg_add_line(struct dcfg_process *process, const struct dcfg_line *line,
                  struct bt_error *error);
int dcfg_add_block(struct dcfg_process *process, const struct dcfg_block *block,
                   struct bt_error *error);

/* Adds to a range of a routine or loop, which is {0, 0} at first. Ranges in the same array must be
 * filled one after the other. */
int dcfg_add_id(struct dcfg_process *process, struct dcfg_range *range, uint32_t id,
                struct bt_error *error);
int dcfg_add_node(struct dcfg_process *process, struct dcfg_range *range,
                  const struct dcfg_node *node, struct bt_error *error);
int dcfg_add_loop(struct dcfg_process *process, struct dcfg_range *range,
                  const struct dcfg_loop *loop, struct bt_error *error);

/* A routine of the last image, with its ranges filled. */
int dcfg_add_routine(struct dcfg_process *process, const struct dcfg_routine *routine,
                     struct bt_error *error);

/* An edge, with its count for each thread, from thread 0 on. */
int dcfg_add_edge(struct dcfg_process *process, uint32_t id, uint32_t source, uint32_t target,
                  enum dcfg_edge_type type, const uint64_t *counts, uint32_t threads,
                  struct bt_error *error);

/* Gives every edge of type t the type types[t]. */
void dcfg_map_edge_types(struct dcfg *graph, const uint8_t types[256]);

/*
 * Builds the indexes. BT_DATA, with the path in the file, for a duplicate id or one that refers to
 * no row: file names, edges' nodes, routines' and loops' blocks.
 */
int dcfg_seal(struct dcfg *graph, struct bt_error *error);

/* --- asking --- */

static inline const char *dcfg_text(const struct dcfg *graph, uint32_t name)
{
    return graph->text + name;
}

/* The functions below require a sealed graph. A file's name, NULL for an unknown id. */
const char *dcfg_file_name(const struct dcfg *graph, uint32_t id);

/* The special node with the id, 0 if none. */
enum dcfg_special dcfg_special(const struct dcfg *graph, uint32_t id);

/* Numbers in process->blocks and process->edges, or DCFG_NONE. */
uint32_t dcfg_find_block(const struct dcfg_process *process, uint32_t id);
uint32_t dcfg_find_edge(const struct dcfg_process *process, uint32_t id);

/* The number of the image that has this block. */
uint32_t dcfg_image_of_block(const struct dcfg_process *process, uint32_t block);

/* A block's address in memory. */
static inline uint64_t dcfg_block_address(const struct dcfg_process *process, uint32_t block)
{
    return process->images[dcfg_image_of_block(process, block)].load_address +
           process->blocks[block].offset;
}

/*
 * Iterates over the counts of an edge above 0, by thread:
 *
 *     struct dcfg_counts counts = dcfg_edge_counts(process, edge);
 *     while (dcfg_counts_next(&counts)) use(counts.thread, counts.count);
 */
struct dcfg_counts {
    uint32_t thread;
    uint64_t count;
    uint32_t left;
    bool sparse;
    const uint8_t *at;
};
struct dcfg_counts dcfg_edge_counts(const struct dcfg_process *process, uint32_t edge);
bool dcfg_counts_next(struct dcfg_counts *counts);

/* Sum over all threads; at most UINT64_MAX. */
uint64_t dcfg_edge_total(const struct dcfg_process *process, uint32_t edge);

/* Executions of each block, from the counts of the edges into it (section 2.13), for block_count
 * blocks. */
void dcfg_count_blocks(const struct dcfg_process *process, uint64_t *counts);

/* Instructions executed by each thread, from the counts of the edges, for process->threads
 * threads. */
void dcfg_count_instructions(const struct dcfg_process *process, uint64_t *instructions);

/* --- places in the file, for messages: "PROCESSES[1][1].IMAGES[2][3].BASIC_BLOCKS[7]" --- */

struct dcfg_path {
    char text[DCFG_PATH_BYTES];
};

/* A table of the process ("EDGES", "IMAGES") and a row's number in it, from 0. */
struct dcfg_path dcfg_path_in_process(const struct dcfg_process *process, const char *table,
                                      uint32_t row);

/* A table of an image ("SYMBOLS", ...), and the row's number in the process's array. */
struct dcfg_path dcfg_path_symbol(const struct dcfg_process *process, uint32_t symbol);
struct dcfg_path dcfg_path_line(const struct dcfg_process *process, uint32_t line);
struct dcfg_path dcfg_path_block(const struct dcfg_process *process, uint32_t block);
struct dcfg_path dcfg_path_routine(const struct dcfg_process *process, uint32_t routine);

/* A routine's node or loop, by its number in the process's arrays. */
struct dcfg_path dcfg_path_node(const struct dcfg_process *process, uint32_t routine,
                                uint32_t node);
struct dcfg_path dcfg_path_loop(const struct dcfg_process *process, uint32_t routine,
                                uint32_t loop);

#endif
