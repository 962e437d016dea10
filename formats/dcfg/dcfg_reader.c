#include "formats/dcfg/dcfg_reader.h"

#include "formats/dcfg/dcfg_table.h"

#include <stdlib.h>
#include <string.h>

#define USED_TYPES_MAX 255u /* limit of different edge types in use */
#define MAJOR_KNOWN    1u
#define NUMBERS_MAX    6u /* integers in a row of any table */
#define IDS_AT_ONCE    32u

struct graph_reader {
    struct json_pull *pull;
    struct dcfg *graph;
    struct dcfg_process *process; /* the process being read */
    struct bt_error error;        /* of the graph's functions, without the position */
    bool any_version, major_reported;
    char *name; /* of the symbol being read */
    size_t name_size, name_capacity;
    uint64_t *counts; /* per thread */
    uint32_t counts_capacity;
    /* Edges may precede or follow the table of their types: until the end their types are indices
     * of this array. */
    uint32_t used_types[USED_TYPES_MAX]; /* ids */
    uint32_t used_type_count;
    uint8_t last_type;
};

struct dcfg_reader_settings dcfg_reader_settings_default(void)
{
    return (struct dcfg_reader_settings){
        .json = json_pull_settings_default(), .graph = dcfg_limits_default(), .any_version = false};
}

/* Fails with reader->error, at the current position. */
static int fail_here(struct graph_reader *reader, int code)
{
    return json_pull_fail(reader->pull, code, "%s", reader->error.message);
}

/* --- integers ----------------------------------------------------------------------------------
 */

static const struct json_pull_bounds id_bounds = {.minimum = 1, .maximum = DCFG_ID_MAX};
static const struct json_pull_bounds id_or_none_bounds = {.minimum = 0, .maximum = DCFG_ID_MAX};
static const struct json_pull_bounds size_bounds = {.minimum = 0, .maximum = UINT32_MAX};
static const struct json_pull_bounds wide_bounds = {.minimum = 0, .maximum = UINT64_MAX};
static const struct json_pull_bounds count_bounds = {.minimum = 0,
                                                     .maximum = DCFG_COUNT_UNKNOWN - 1};

static int read_id(struct graph_reader *reader, uint32_t *id)
{
    uint64_t value = 0;
    int result = json_pull_integer_within(reader->pull, &id_bounds, &value);
    *id = (uint32_t)value;
    return result;
}

/* The next cell that is not an integer: its column plus 1, 0 at the end of the row, or negative.
 * The integers before it are in values. */
static int read_integers(struct dcfg_table *table, const struct json_pull_bounds *const *bounds,
                         uint64_t *values)
{
    for (;;) {
        dcfg_table_integers(table, bounds, values);
        int column = dcfg_table_cell(table);
        if (column <= 0 || !bounds[column - 1])
            return column;
        int result = json_pull_integer_within(table->pull, bounds[column - 1], &values[column - 1]);
        if (result < 0)
            return result;
    }
}

/* An array of ids into a range of the process. */
static int read_ids(struct graph_reader *reader, struct dcfg_range *range)
{
    uint64_t ids[IDS_AT_ONCE];
    int result = json_pull_array(reader->pull);
    while (result >= 0) {
        size_t count = json_pull_integers(reader->pull, &id_bounds, true, ids, IDS_AT_ONCE);
        if (count == 0) {
            uint32_t id = 0;
            result = json_pull_element(reader->pull);
            if (result > 0)
                result = read_id(reader, &id);
            else
                break;
            ids[0] = id;
            count = 1;
        }
        for (size_t i = 0; i < count && result >= 0; i++) {
            result = dcfg_add_id(reader->process, range, (uint32_t)ids[i], &reader->error);
            if (result < 0)
                return fail_here(reader, result);
        }
    }
    return result;
}

/* --- names -------------------------------------------------------------------------------------
 */

/* A string, valid until the next one. */
static int read_name(struct graph_reader *reader)
{
    struct json_pull_text text;
    int result = json_pull_string(reader->pull, &text);
    if (result < 0)
        return result;
    if (text.size >= reader->name_capacity) {
        size_t capacity = 2 * text.size + 64;
        char *grown = realloc(reader->name, capacity);
        if (!grown)
            return json_pull_fail(reader->pull, BT_MEMORY, "no memory for a name");
        reader->name = grown;
        reader->name_capacity = capacity;
    }
    memcpy(reader->name, text.text, text.size);
    reader->name_size = text.size;
    return 0;
}

/* FILE_NAMES, EDGE_TYPES and SPECIAL_NODES: ids with names. */
static int read_named_ids(struct graph_reader *reader, const struct dcfg_column *columns,
                          int (*add)(struct dcfg *graph, uint32_t id, const char *name, size_t size,
                                     struct bt_error *error))
{
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint32_t id = 0;
        while (result >= 0 && (result = dcfg_table_cell(&table)) > 0)
            result = result == 1 ? read_id(reader, &id) : read_name(reader);
        if (result < 0)
            break;
        result = add(reader->graph, id, reader->name, reader->name_size, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

/* --- images ------------------------------------------------------------------------------------
 */

static int read_symbols(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {
        {"NAME", false}, {"ADDR_OFFSET", false}, {"SIZE", false}, {NULL, false}};
    static const struct json_pull_bounds *const bounds[] = {NULL, &wide_bounds, &wide_bounds};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint64_t values[3] = {0};
        while (result >= 0 && (result = read_integers(&table, bounds, values)) > 0)
            result = read_name(reader);
        if (result < 0)
            break;
        result = dcfg_add_symbol(reader->process, values[1], values[2], reader->name,
                                 reader->name_size, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

static int read_source_data(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {{"FILE_NAME_ID", false}, {"LINE_NUM", false},
                                                 {"ADDR_OFFSET", false},  {"SIZE", false},
                                                 {"NUM_INSTRS", false},   {NULL, false}};
    static const struct json_pull_bounds *const bounds[] = {&id_bounds, &size_bounds, &wide_bounds,
                                                            &size_bounds, &size_bounds};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint64_t values[NUMBERS_MAX] = {0};
        result = read_integers(&table, bounds, values);
        if (result < 0)
            break;
        struct dcfg_line line = {.file_name_id = (uint32_t)values[0],
                                 .line = (uint32_t)values[1],
                                 .offset = values[2],
                                 .size = (uint32_t)values[3],
                                 .instructions = (uint32_t)values[4]};
        result = dcfg_add_line(reader->process, &line, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

static int read_basic_blocks(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {
        {"NODE_ID", false},    {"ADDR_OFFSET", false},       {"SIZE", false},
        {"NUM_INSTRS", false}, {"LAST_INSTR_OFFSET", false}, {"COUNT", true},
        {NULL, false}};
    static const struct json_pull_bounds *const bounds[] = {
        &id_bounds, &wide_bounds, &size_bounds, &size_bounds, &size_bounds, &count_bounds};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint64_t values[NUMBERS_MAX] = {0, 0, 0, 0, 0, DCFG_COUNT_UNKNOWN};
        result = read_integers(&table, bounds, values);
        if (result < 0)
            break;
        struct dcfg_block block = {.id = (uint32_t)values[0],
                                   .offset = values[1],
                                   .size = (uint32_t)values[2],
                                   .instructions = (uint32_t)values[3],
                                   .last_instruction = (uint32_t)values[4],
                                   .count = values[5]};
        result = dcfg_add_block(reader->process, &block, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

static int read_nodes(struct graph_reader *reader, struct dcfg_range *nodes)
{
    static const struct dcfg_column columns[] = {
        {"NODE_ID", false}, {"IDOM_NODE_ID", false}, {NULL, false}};
    static const struct json_pull_bounds *const bounds[] = {&id_bounds, &id_bounds};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        uint64_t values[NUMBERS_MAX] = {0};
        result = read_integers(&table, bounds, values);
        if (result < 0)
            break;
        struct dcfg_node node = {.id = (uint32_t)values[0], .dominator = (uint32_t)values[1]};
        result = dcfg_add_node(reader->process, nodes, &node, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

/* One loop's row. */
static int read_loop(struct graph_reader *reader, struct dcfg_table *table, struct dcfg_loop *loop)
{
    uint64_t parent = 0;
    int column;
    *loop = (struct dcfg_loop){0};
    while ((column = dcfg_table_cell(table)) > 0) {
        int result = column == 1   ? read_id(reader, &loop->head)
                     : column == 2 ? read_ids(reader, &loop->back_edges)
                     : column == 3
                         ? read_ids(reader, &loop->nodes)
                         : json_pull_integer_within(reader->pull, &id_or_none_bounds, &parent);
        if (result < 0)
            return result;
    }
    loop->parent = (uint32_t)parent;
    return column;
}

static int read_loops(struct graph_reader *reader, struct dcfg_range *loops)
{
    static const struct dcfg_column columns[] = {{"LOOP_HEAD_NODE_ID", false},
                                                 {"LOOP_BACK_EDGE_SOURCE_NODE_IDS", false},
                                                 {"LOOP_NODE_IDS", false},
                                                 {"PARENT_LOOP_HEAD_NODE_ID", true},
                                                 {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        struct dcfg_loop loop;
        result = read_loop(reader, &table, &loop);
        if (result < 0)
            break;
        result = dcfg_add_loop(reader->process, loops, &loop, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

static int read_routine_cell(struct graph_reader *reader, int column, struct dcfg_routine *routine)
{
    switch (column) {
    case 1:
        return read_id(reader, &routine->entry);
    case 2:
        return read_ids(reader, &routine->exits);
    case 3:
        return read_nodes(reader, &routine->nodes);
    default:
        return read_loops(reader, &routine->loops);
    }
}

static int read_routines(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {{"ENTRY_NODE_ID", false},
                                                 {"EXIT_NODE_IDS", false},
                                                 {"NODES", false},
                                                 {"LOOPS", true},
                                                 {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    reader->graph->columns.nodes = (uint8_t)dcfg_table_position(&table, 2);
    reader->graph->columns.loops = (uint8_t)dcfg_table_position(&table, 3);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        struct dcfg_routine routine = {0};
        while (result >= 0 && (result = dcfg_table_cell(&table)) > 0)
            result = read_routine_cell(reader, result, &routine);
        if (result < 0)
            break;
        result = dcfg_add_routine(reader->process, &routine, &reader->error);
        if (result < 0)
            return fail_here(reader, result);
    }
    return result;
}

static int read_image_data(struct graph_reader *reader)
{
    static const char *const tags[] = {"FILE_NAME_ID", "SYMBOLS",  "SOURCE_DATA",
                                       "BASIC_BLOCKS", "ROUTINES", NULL};
    struct dcfg_process *process = reader->process;
    uint32_t seen = 0;
    int tag = json_pull_object(reader->pull);
    while (tag >= 0 && (tag = dcfg_object_next(reader->pull, tags, &seen)) > 0) {
        if (tag == 1)
            tag = read_id(reader, &process->images[process->image_count - 1].file_name_id);
        else
            tag = tag == 2   ? read_symbols(reader)
                  : tag == 3 ? read_source_data(reader)
                  : tag == 4 ? read_basic_blocks(reader)
                             : read_routines(reader);
    }
    return tag;
}

static int read_image(struct graph_reader *reader, struct dcfg_table *table)
{
    static const struct json_pull_bounds *const bounds[] = {&id_or_none_bounds, &wide_bounds,
                                                            &wide_bounds};
    const struct dcfg_image none = {0};
    uint64_t values[3] = {0};
    int column = dcfg_add_image(reader->process, &none, &reader->error);
    if (column < 0)
        return fail_here(reader, column);
    while ((column = dcfg_table_cell(table)) > 0) {
        int result = column == 4 ? read_image_data(reader)
                                 : json_pull_integer_within(reader->pull, bounds[column - 1],
                                                            &values[column - 1]);
        if (result < 0)
            return result;
    }
    struct dcfg_image *image = &reader->process->images[reader->process->image_count - 1];
    image->id = (uint32_t)values[0];
    image->load_address = values[1];
    image->size = values[2];
    return column;
}

static int read_images(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {{"IMAGE_ID", false},
                                                 {"LOAD_ADDR", false},
                                                 {"SIZE", false},
                                                 {"IMAGE_DATA", true},
                                                 {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    reader->graph->columns.image_data = (uint8_t)dcfg_table_position(&table, 3);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0)
        result = read_image(reader, &table);
    return result;
}

/* --- counts and edges --------------------------------------------------------------------------
 */

static int more_counts(struct graph_reader *reader)
{
    uint32_t maximum = reader->graph->limits.threads_max;
    if (reader->counts_capacity >= maximum)
        return json_pull_fail(reader->pull, BT_DATA, "more than %u threads: the limit", maximum);
    uint32_t capacity = 2 * reader->counts_capacity + 64;
    if (capacity > maximum)
        capacity = maximum;
    uint64_t *grown = realloc(reader->counts, capacity * sizeof *grown);
    if (!grown)
        return json_pull_fail(reader->pull, BT_MEMORY, "no memory for %u threads", capacity);
    reader->counts = grown;
    reader->counts_capacity = capacity;
    return 0;
}

/* An array of counts, one a thread, into reader->counts. */
static int read_counts(struct graph_reader *reader, uint32_t *threads)
{
    *threads = 0;
    int result = json_pull_array(reader->pull);
    while (result >= 0) {
        if (*threads < reader->counts_capacity)
            *threads += (uint32_t)json_pull_integers(reader->pull, &wide_bounds, true,
                                                     reader->counts + *threads,
                                                     reader->counts_capacity - *threads);
        result = json_pull_element(reader->pull);
        if (result <= 0)
            break;
        if (*threads == reader->counts_capacity)
            result = more_counts(reader);
        if (result >= 0)
            result = json_pull_integer(reader->pull, &reader->counts[(*threads)++]);
    }
    return result;
}

/* The index in reader->used_types of an edge type's id. */
static int use_type(struct graph_reader *reader, uint32_t id, uint8_t *number)
{
    uint8_t i = reader->last_type;
    if (i >= reader->used_type_count || reader->used_types[i] != id) {
        for (i = 0; i < reader->used_type_count && reader->used_types[i] != id; i++)
            ;
        if (i == USED_TYPES_MAX)
            return json_pull_fail(reader->pull, BT_DATA, "more than %u different edge types",
                                  USED_TYPES_MAX);
        if (i == reader->used_type_count)
            reader->used_types[reader->used_type_count++] = id;
        reader->last_type = i;
    }
    *number = i;
    return 0;
}

static int read_edge(struct graph_reader *reader, struct dcfg_table *table)
{
    static const struct json_pull_bounds *const bounds[] = {&id_bounds, &id_bounds, &id_bounds,
                                                            &id_bounds, NULL};
    uint64_t values[4] = {0};
    uint32_t threads = 0;
    uint8_t type = 0;
    int result;
    while ((result = read_integers(table, bounds, values)) > 0) {
        result = read_counts(reader, &threads);
        if (result < 0)
            return result;
    }
    if (result == 0)
        result = use_type(reader, (uint32_t)values[3], &type);
    if (result < 0)
        return result;
    result = dcfg_add_edge(reader->process, (uint32_t)values[0], (uint32_t)values[1],
                           (uint32_t)values[2], (enum dcfg_edge_type)type, reader->counts, threads,
                           &reader->error);
    return result < 0 ? fail_here(reader, result) : 0;
}

static int read_edges(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {
        {"EDGE_ID", false},      {"SOURCE_NODE_ID", false},   {"TARGET_NODE_ID", false},
        {"EDGE_TYPE_ID", false}, {"COUNT_PER_THREAD", false}, {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0)
        result = read_edge(reader, &table);
    return result;
}

/* Converts indices of used_types to types, once all are known. */
static int resolve_types(struct graph_reader *reader, struct bt_error *error)
{
    const struct dcfg *graph = reader->graph;
    uint8_t types[256] = {0};
    for (uint32_t i = 0; i < reader->used_type_count; i++)
        for (uint32_t k = 0; k < graph->edge_type_count && types[i] == 0; k++)
            if (graph->edge_types[k].id == reader->used_types[i])
                types[i] = (uint8_t)graph->edge_types[k].type;
    for (uint32_t i = 0; i < graph->process_count; i++) {
        const struct dcfg_edges *edges = &graph->processes[i]->edges;
        for (uint32_t edge = 0; edge < edges->count; edge++)
            if (types[edges->types[edge]] == 0)
                return bt_fail(error, BT_DATA, "%s: there is no edge type with the id %u",
                               dcfg_path_in_process(graph->processes[i], "EDGES", edge).text,
                               reader->used_types[edges->types[edge]]);
    }
    dcfg_map_edge_types(reader->graph, types);
    return 0;
}

/* --- processes ---------------------------------------------------------------------------------
 */

static int read_thread_instructions(struct graph_reader *reader)
{
    uint32_t threads = 0;
    int result = read_counts(reader, &threads);
    if (result < 0)
        return result;
    result = dcfg_set_thread_instructions(reader->process, reader->counts, threads, &reader->error);
    return result < 0 ? fail_here(reader, result) : 0;
}

static int read_process_data(struct graph_reader *reader)
{
    static const char *const tags[] = {"INSTR_COUNT", "INSTR_COUNT_PER_THREAD", "IMAGES", "EDGES",
                                       NULL};
    uint64_t instructions = DCFG_COUNT_UNKNOWN;
    uint32_t seen = 0;
    int tag = json_pull_object(reader->pull);
    while (tag >= 0 && (tag = dcfg_object_next(reader->pull, tags, &seen)) > 0) {
        tag = tag == 1   ? json_pull_integer_within(reader->pull, &count_bounds, &instructions)
              : tag == 2 ? read_thread_instructions(reader)
              : tag == 3 ? read_images(reader)
                         : read_edges(reader);
    }
    reader->process->instructions_missing = instructions == DCFG_COUNT_UNKNOWN;
    if (instructions != DCFG_COUNT_UNKNOWN)
        reader->process->instructions = instructions;
    return tag;
}

static int read_processes(struct graph_reader *reader)
{
    static const struct dcfg_column columns[] = {
        {"PROCESS_ID", false}, {"PROCESS_DATA", false}, {NULL, false}};
    struct dcfg_table table;
    int result = dcfg_table_begin(&table, reader->pull, columns);
    reader->graph->columns.process_data = (uint8_t)dcfg_table_position(&table, 1);
    while (result >= 0 && (result = dcfg_table_row(&table)) > 0) {
        reader->process = dcfg_add_process(reader->graph, 0, &reader->error);
        if (!reader->process)
            return fail_here(reader, BT_MEMORY);
        while (result >= 0 && (result = dcfg_table_cell(&table)) > 0)
            result = result == 1 ? json_pull_integer(reader->pull, &reader->process->id)
                                 : read_process_data(reader);
    }
    return result;
}

/* --- the document ------------------------------------------------------------------------------
 */

enum {
    TAG_MAJOR = 1,
    TAG_MINOR,
    TAG_FILE_NAMES,
    TAG_EDGE_TYPES,
    TAG_SPECIAL_NODES,
    TAG_PROCESSES,
    TAG_BUS
};

static int read_version(struct graph_reader *reader, int tag)
{
    uint64_t value = 0;
    int result = json_pull_integer_within(reader->pull, &size_bounds, &value);
    if (result < 0)
        return result;
    if (tag == TAG_MINOR) {
        reader->graph->minor_version = (uint32_t)value;
        return 0;
    }
    reader->graph->major_version = (uint32_t)value;
    reader->major_reported = true;
    if (value > MAJOR_KNOWN && !reader->any_version)
        return json_pull_fail(reader->pull, BT_DATA,
                              "major version %llu of the format; only 0 and 1 are known",
                              (unsigned long long)value);
    return 0;
}

static int read_section(struct graph_reader *reader, int tag)
{
    static const struct dcfg_column file_names[] = {
        {"FILE_NAME_ID", false}, {"FILE_NAME", false}, {NULL, false}};
    static const struct dcfg_column edge_types[] = {
        {"EDGE_TYPE_ID", false}, {"EDGE_TYPE", false}, {NULL, false}};
    static const struct dcfg_column special_nodes[] = {
        {"NODE_ID", false}, {"NODE_NAME", false}, {NULL, false}};
    switch (tag) {
    case TAG_FILE_NAMES:
        return read_named_ids(reader, file_names, dcfg_add_file_name);
    case TAG_EDGE_TYPES:
        return read_named_ids(reader, edge_types, dcfg_add_edge_type);
    case TAG_SPECIAL_NODES:
        return read_named_ids(reader, special_nodes, dcfg_add_special_node);
    case TAG_PROCESSES:
        return read_processes(reader);
    case TAG_BUS:
        return dcfg_bus_read(reader->graph, reader->pull);
    default:
        return read_version(reader, tag);
    }
}

static int read_document(struct graph_reader *reader)
{
    static const char *const tags[] = {"MAJOR_VERSION", "MINOR_VERSION", "FILE_NAMES", "EDGE_TYPES",
                                       "SPECIAL_NODES", "PROCESSES",     DCFG_BUS_TAG, NULL};
    uint32_t seen = 0;
    int result = json_pull_object(reader->pull);
    while (result >= 0 && (result = dcfg_object_next(reader->pull, tags, &seen)) > 0)
        result = read_section(reader, result);
    reader->graph->minor_missing = !(seen & 1u << (TAG_MINOR - 1));
    if (result == 0)
        result = json_pull_end(reader->pull);
    if (result == 0 && !reader->major_reported)
        return json_pull_fail(reader->pull, BT_DATA,
                              "MAJOR_VERSION is missing: this is not a DCFG");
    return result;
}

struct dcfg *dcfg_read(struct text_reader *text, const struct dcfg_reader_settings *settings,
                       struct bt_error *error)
{
    struct dcfg_reader_settings standard = dcfg_reader_settings_default();
    if (!settings)
        settings = &standard;
    struct graph_reader reader = {.any_version = settings->any_version};
    int result = BT_MEMORY;
    reader.graph = dcfg_new(&settings->graph, error);
    if (reader.graph)
        reader.pull = json_pull_new(text, &settings->json, error);
    if (reader.pull)
        result = read_document(&reader);
    if (result == 0) {
        result = resolve_types(&reader, error);
        if (result == 0)
            result = dcfg_seal(reader.graph, error);
        if (result < 0)
            bt_fail_within(error, "%s", text_reader_name(text));
    }
    json_pull_free(reader.pull);
    free(reader.name);
    free(reader.counts);
    if (result < 0) {
        dcfg_free(reader.graph);
        return NULL;
    }
    return reader.graph;
}
