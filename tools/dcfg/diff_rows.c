#include "tools/dcfg/diff_rows.h"

#include <inttypes.h>

enum cell {
    KIND,
    CHANGE,
    COUNT_A,
    COUNT_B,
    ONLY_IN,
    ADDRESS,
    IMAGE,
    OFFSET,
    PLACE,
    SYMBOL,
    SYMBOL_OFFSET,
    SOURCE,
    SOURCE_FILE,
    SOURCE_LINE,
    TO_IMAGE,
    TO_OFFSET,
    TO_PLACE,
    TO_SYMBOL,
    TO_SYMBOL_OFFSET,
    TYPE,
    TYPE_A,
    TYPE_B,
    NOTE,
    CELLS
};

static const char *const kind_names[GRAPH_DIFF_KINDS] = {"block", "edge", "routine"};
static const char *const list_names[GRAPH_DIFF_KINDS] = {"blocks", "edges", "routines"};

#define COUNT_COLUMNS(kind_key)                                                                    \
    [KIND] = {NULL, kind_key, TABLE_TEXT}, [CHANGE] = {"CHANGE", "change", TABLE_CHANGE},          \
    [COUNT_A] = {"A", "a", TABLE_COUNT}, [COUNT_B] = {"B", "b", TABLE_COUNT},                      \
    [ONLY_IN] = {NULL, "only_in", TABLE_TEXT}

/* Columns of the location of a block, a routine, or an edge's source, which is a name in text. */
#define PLACE_COLUMNS(address, place, source)                                                      \
    [ADDRESS] = {address, NULL, TABLE_ADDRESS}, [IMAGE] = {NULL, "image", TABLE_TEXT},             \
    [OFFSET] = {NULL, "offset", TABLE_ADDRESS}, [PLACE] = {place, NULL, TABLE_SYMBOL},             \
    [SYMBOL] = {NULL, "symbol", TABLE_TEXT},                                                       \
    [SYMBOL_OFFSET] = {NULL, "symbol_offset", TABLE_COUNT}, [SOURCE] = {source, NULL, TABLE_LINE}, \
    [SOURCE_FILE] = {NULL, "file", TABLE_TEXT}, [SOURCE_LINE] = {NULL, "line", TABLE_COUNT}

#define TARGET_COLUMNS(place, type)                                                                \
    [TO_IMAGE] = {NULL, "to_image", TABLE_TEXT}, [TO_OFFSET] = {NULL, "to_offset", TABLE_ADDRESS}, \
    [TO_PLACE] = {place, NULL, TABLE_SYMBOL}, [TO_SYMBOL] = {NULL, "to_symbol", TABLE_TEXT},       \
    [TO_SYMBOL_OFFSET] = {NULL, "to_symbol_offset", TABLE_COUNT},                                  \
    [TYPE] = {type, NULL, TABLE_TEXT}, [TYPE_A] = {NULL, "type_a", TABLE_TEXT},                    \
    [TYPE_B] = {NULL, "type_b", TABLE_TEXT}

static const struct table_column block_columns[CELLS] = {
    COUNT_COLUMNS(NULL),
    PLACE_COLUMNS("ADDRESS", "SYMBOL", "SOURCE"), [NOTE] = {"NOTE", "note", TABLE_TEXT}};

static const struct table_column edge_columns[CELLS] = {
    COUNT_COLUMNS(NULL), PLACE_COLUMNS(NULL, "FROM", NULL),
    TARGET_COLUMNS("TO", "TYPE"), [NOTE] = {"NOTE", "note", TABLE_TEXT}};

static const struct table_column all_columns[CELLS] = {
    COUNT_COLUMNS("kind"), PLACE_COLUMNS(NULL, NULL, NULL),
    TARGET_COLUMNS(NULL, NULL), [NOTE] = {NULL, "note", TABLE_TEXT}};

/* The side that supplies a row's names: the first graph that has it. */
static unsigned side_of(const struct graph_diff_row *row)
{
    return row->rows[0] == DCFG_NONE;
}

/* --- locations ---------------------------------------------------------------------------  */

/* A block: cells for programs from `symbol` on, one for text at `people`. */
static void fill_location(struct table_cell *cells, const struct code_location *location,
                          enum cell image, enum cell people, enum cell symbol, char text[120])
{
    cells[image].text = location->image;
    cells[image + 1].number = location->image_offset;
    cells[symbol].text = location->symbol;
    cells[symbol + 1] =
        (struct table_cell){.number = location->symbol_offset, .none = !location->symbol};
    cells[people] = cells[symbol];
    cells[people].number = location->symbol_offset;
    if (!location->symbol) {
        snprintf(text, 120, "0x%" PRIx64, location->address);
        cells[people] = (struct table_cell){.text = text};
    }
}

static void clear_location(struct table_cell *cells, enum cell image, enum cell people,
                           enum cell symbol, const char *text)
{
    cells[image + 1].none = cells[symbol + 1].none = true;
    cells[people].text = text;
}

/* An end of an edge: a block, or the name of a special node. */
static void fill_node(const struct view *view, uint32_t id, struct table_cell *cells,
                      enum cell image, enum cell people, enum cell symbol, char text[120])
{
    struct code_location location;
    uint32_t block = dcfg_find_block(view->process, id);
    if (block != DCFG_NONE) {
        names_of_block(view->names, block, &location);
        fill_location(cells, &location, image, people, symbol, text);
        return;
    }
    const char *name = dcfg_special_name(dcfg_special(view->graph, id));
    clear_location(cells, image, people, symbol, name ? name : "?");
    cells[symbol].text = name;
}

static void fill_source(struct table_cell *cells, const struct code_location *location)
{
    cells[ADDRESS].number = location->address;
    cells[SOURCE] = (struct table_cell){.text = location->file, .number = location->line};
    cells[SOURCE_FILE].text = location->file;
    cells[SOURCE_LINE] = (struct table_cell){.number = location->line, .none = !location->file};
}

/* --- rows ------------------------------------------------------------------------------------ */

static const char *type_name(const struct diff_rows *rows, unsigned side, uint32_t edge)
{
    const char *name = NULL;
    if (edge != DCFG_NONE)
        name = dcfg_edge_type_name(rows->views[side].process->edges.types[edge]);
    return name ? name : edge == DCFG_NONE ? NULL : "other";
}

/* Other differences, for text. */
static const char *note_of(struct diff_rows *rows, enum graph_diff_kind kind,
                           const struct graph_diff_row *row)
{
    char *text = rows->texts[2];
    const struct dcfg_process *a = rows->views[0].process;
    const struct dcfg_process *b = rows->views[1].process;
    if (row->rows[1] == DCFG_NONE)
        return "only in A";
    if (row->rows[0] == DCFG_NONE)
        return "only in B";
    if (!row->other)
        return NULL;
    if (kind == GRAPH_DIFF_BLOCKS)
        snprintf(text, 120,
                 "A: %" PRIu32 " bytes, %" PRIu32 " instructions; B: %" PRIu32 ", %" PRIu32,
                 a->blocks[row->rows[0]].size, a->blocks[row->rows[0]].instructions,
                 b->blocks[row->rows[1]].size, b->blocks[row->rows[1]].instructions);
    else if (kind == GRAPH_DIFF_ROUTINES)
        snprintf(text, 120, "A: %" PRIu32 " blocks; B: %" PRIu32,
                 a->routines[row->rows[0]].nodes.count, b->routines[row->rows[1]].nodes.count);
    else if (a->edges.types[row->rows[0]] != b->edges.types[row->rows[1]])
        snprintf(text, 120, "A: %s; B: %s", type_name(rows, 0, row->rows[0]),
                 type_name(rows, 1, row->rows[1]));
    else
        return row->change == 0 ? "by other threads" : NULL;
    return text;
}

static void fill_counts(struct table_cell *cells, const struct graph_diff_row *row)
{
    uint64_t change = row->change > INT64_MAX ? INT64_MAX : row->change;
    cells[CHANGE].number = row->counts[0] > row->counts[1] ? 0 - change : change;
    cells[COUNT_A] =
        (struct table_cell){.number = row->counts[0], .none = row->rows[0] == DCFG_NONE};
    cells[COUNT_B] =
        (struct table_cell){.number = row->counts[1], .none = row->rows[1] == DCFG_NONE};
    cells[ONLY_IN].text = row->rows[1] == DCFG_NONE ? "A" : row->rows[0] == DCFG_NONE ? "B" : NULL;
}

static void fill_row(struct diff_rows *rows, enum graph_diff_kind kind, size_t number,
                     struct table_cell *cells)
{
    const struct graph_diff_row *row = &rows->diff->lists[kind].rows[number];
    unsigned side = side_of(row);
    const struct view *view = &rows->views[side];
    cells[KIND].text = kind_names[kind];
    cells[NOTE].text = note_of(rows, kind, row);
    fill_counts(cells, row);
    if (kind == GRAPH_DIFF_EDGES) {
        const struct dcfg_edges *edges = &view->process->edges;
        fill_node(view, edges->sources[row->rows[side]], cells, IMAGE, PLACE, SYMBOL,
                  rows->texts[0]);
        fill_node(view, edges->targets[row->rows[side]], cells, TO_IMAGE, TO_PLACE, TO_SYMBOL,
                  rows->texts[1]);
        cells[SOURCE_LINE].none = true;
        cells[TYPE].text = type_name(rows, side, row->rows[side]);
        cells[TYPE_A].text = type_name(rows, 0, row->rows[0]);
        cells[TYPE_B].text = type_name(rows, 1, row->rows[1]);
        return;
    }
    struct code_location location;
    if (kind == GRAPH_DIFF_BLOCKS)
        names_of_block(view->names, row->rows[side], &location);
    else
        names_of_routine(view->names, row->rows[side], &location);
    fill_location(cells, &location, IMAGE, PLACE, SYMBOL, rows->texts[0]);
    fill_source(cells, &location);
    clear_location(cells, TO_IMAGE, TO_PLACE, TO_SYMBOL, NULL);
}

/* --- tables ---------------------------------------------------------------------------------- */

static void fill_one_kind(void *argument, size_t number, struct table_cell *cells)
{
    struct diff_rows *rows = argument;
    fill_row(rows, rows->kind, number, cells);
}

static void fill_any_kind(void *argument, size_t number, struct table_cell *cells)
{
    struct diff_rows *rows = argument;
    int kind = 0;
    while (number >= rows->shown[kind])
        number -= rows->shown[kind++];
    fill_row(rows, (enum graph_diff_kind)kind, number, cells);
}

struct table diff_rows_table(struct diff_rows *rows, enum graph_diff_kind kind)
{
    rows->kind = kind;
    return (struct table){.columns = kind == GRAPH_DIFF_EDGES ? edge_columns : block_columns,
                          .column_count = CELLS,
                          .rows = rows->shown[kind],
                          .row = fill_one_kind,
                          .argument = rows};
}

struct table diff_rows_all(struct diff_rows *rows)
{
    size_t all = 0;
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++)
        all += rows->shown[kind];
    return (struct table){.columns = all_columns,
                          .column_count = CELLS,
                          .rows = all,
                          .row = fill_any_kind,
                          .argument = rows};
}

const char *diff_rows_name(enum graph_diff_kind kind)
{
    return list_names[kind];
}
