#include "tools/dcfg/annotate_table.h"

#include "tools/common/json_report.h"
#include "tools/dcfg/bus_report.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS   (sizeof columns / sizeof columns[0])
#define KEY_BYTES 24u

static const struct table_column columns[] = {
    {NULL, "function", TABLE_TEXT},    {NULL, "address", TABLE_ADDRESS},
    {NULL, "size", TABLE_COUNT},       {NULL, "instruction", TABLE_TEXT},
    {NULL, "executions", TABLE_COUNT}, {NULL, "instructions", TABLE_COUNT},
    {NULL, "share", TABLE_SHARE},      {NULL, "confidence", TABLE_TEXT},
    {NULL, "certain", TABLE_COUNT},    {NULL, "taken", TABLE_COUNT},
    {NULL, "node_id", TABLE_COUNT},    {NULL, "loop", TABLE_ADDRESS},
    {NULL, "depth", TABLE_COUNT},      {NULL, "image", TABLE_TEXT},
    {NULL, "file", TABLE_TEXT},        {NULL, "line", TABLE_COUNT},
    {NULL, "source", TABLE_TEXT}};

_Static_assert(COLUMNS + THREADS_CHOSEN_MAX <= TABLE_COLUMNS_MAX, "a table has all columns");

/* The table of a function's rows. */
struct listing {
    struct annotation *annotation;
    struct code_location entry;
    char function[24]; /* its address, if it has no name */
    struct table_column columns[TABLE_COLUMNS_MAX];
    char keys[THREADS_CHOSEN_MAX][KEY_BYTES];
    struct table table;
};

static void fill_loop(const struct annotate_graph *graph, uint32_t block, struct table_cell *head,
                      struct table_cell *depth)
{
    const struct dcfg_process *process = graph->view->process;
    const uint32_t loop = block == DCFG_NONE ? DCFG_NONE : graph->loop_of[block];
    head->none = depth->none = loop == DCFG_NONE;
    if (loop == DCFG_NONE)
        return;
    head->number = dcfg_block_address(process, dcfg_find_block(process, process->loops[loop].head));
    depth->number = graph->loops[loop].depth;
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct listing *listing = argument;
    const struct annotation *annotation = listing->annotation;
    const struct annotate_graph *graph = annotation->graph;
    const struct view *view = graph->view;
    const struct annotation_row *row = &annotation->rows[number];
    const bool executed = row->block != DCFG_NONE;
    const uint32_t threads = graph->threads.threads.count;
    cells[0].text = listing->entry.symbol ? listing->entry.symbol : listing->function;
    cells[1].number = row->address;
    cells[2].number = row->size;
    cells[3] = (struct table_cell){.text = annotation->texts + row->text, .none = row->text == 0};
    cells[4].number = row->executions;
    cells[5].number = row->instructions;
    cells[6].real = graph_profile_share(row->instructions, view->profile.total);
    if (executed) {
        cells[7].text = graph_confidence_name(graph_profile_confidence(&view->profile, row->block));
        cells[8].number = graph_profile_certain(&view->profile, row->block);
    }
    cells[9] = (struct table_cell){.number = row->taken, .none = !row->ends};
    cells[10] = (struct table_cell){.number = executed ? view->process->blocks[row->block].id : 0,
                                    .none = !executed};
    fill_loop(graph, row->block, &cells[11], &cells[12]);
    cells[13].text = listing->entry.image;
    cells[15].none = row->file == DCFG_NONE;
    if (row->file != DCFG_NONE) {
        cells[14].text = dcfg_text(view->graph, view->graph->file_names[row->file].name);
        cells[15].number = row->line;
        cells[16].text = source_text_line(graph->sources, row->file, row->line);
    }
    for (uint32_t t = 0; t < threads; t++)
        if (executed)
            cells[COLUMNS + t].number = thread_counts_of(&graph->threads, row->block, t);
}

static void make_columns(struct listing *listing)
{
    const struct thread_choice *threads = &listing->annotation->graph->threads.threads;
    memcpy(listing->columns, columns, sizeof columns);
    listing->columns[5].key = view_unit(listing->annotation->graph->view, 0);
    for (uint32_t t = 0; t < threads->count; t++) {
        snprintf(listing->keys[t], KEY_BYTES, VIEW_THREAD_KEY, threads->numbers[t]);
        listing->columns[COLUMNS + t] = (struct table_column){NULL, listing->keys[t], TABLE_COUNT};
    }
    listing->table = (struct table){.columns = listing->columns,
                                    .column_count = COLUMNS + threads->count,
                                    .row = fill_row,
                                    .argument = listing};
}

/* Removes the rows that only say where there are no instructions. */
static void drop_gaps(struct annotation *annotation)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < annotation->row_count; i++)
        if (annotation->rows[i].kind != ANNOTATION_GAP)
            annotation->rows[kept++] = annotation->rows[i];
    annotation->row_count = kept;
}

static int go_to(struct listing *listing, uint32_t function, struct bt_error *error)
{
    const struct annotate_graph *graph = listing->annotation->graph;
    int result = annotation_of(listing->annotation, function, error);
    drop_gaps(listing->annotation);
    names_of_block(graph->view->names, graph->calls.functions[function].entry, &listing->entry);
    snprintf(listing->function, sizeof listing->function, "0x%" PRIx64, listing->entry.address);
    listing->table.rows = listing->annotation->row_count;
    return result;
}

static int print_csv(struct listing *listing, struct bt_error *error)
{
    const struct annotate_graph *graph = listing->annotation->graph;
    int result = 0;
    table_print_csv_heading(&listing->table, stdout);
    for (uint32_t i = 0; i < graph->order_count && result == 0 && !ferror(stdout); i++) {
        result = go_to(listing, graph->order[i], error);
        if (result == 0)
            table_print_csv_rows(&listing->table, stdout);
    }
    return result;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_edges(const struct annotate_graph *graph, uint32_t block, struct json_put *json)
{
    const struct dcfg_process *process = graph->view->process;
    const uint64_t address = dcfg_block_address(process, block);
    for (uint32_t i = graph->first_edge[block]; i < graph->first_edge[block + 1]; i++) {
        const uint32_t edge = graph->edges[i];
        const uint32_t target = dcfg_find_block(process, process->edges.targets[edge]);
        const char *type = dcfg_edge_type_name(process->edges.types[edge]);
        json_put_object(json);
        json_put_key(json, "source");
        json_put_hex(json, address);
        json_put_key(json, "target");
        if (target == DCFG_NONE)
            json_put_null(json);
        else
            json_put_hex(json, dcfg_block_address(process, target));
        json_text_or_null(json, "type", type ? type : "");
        json_count(json, "count", dcfg_edge_total(process, edge));
        json_put_object_end(json);
    }
}

static int put_function(struct listing *listing, uint32_t function, struct json_put *json,
                        struct bt_error *error)
{
    const struct annotate_graph *graph = listing->annotation->graph;
    const struct call_graph *calls = &graph->calls;
    if (go_to(listing, function, error) < 0)
        return error->code;
    json_put_object(json);
    json_text_or_null(json, "function", listing->entry.symbol ? listing->entry.symbol : "");
    json_put_key(json, "address");
    json_put_hex(json, listing->entry.address);
    json_text_or_null(json, "image", listing->entry.image ? listing->entry.image : "");
    json_count(json, view_unit(graph->view, 0), calls->functions[function].self);
    json_count(json, "inclusive", calls->functions[function].inclusive);
    json_count(json, "entries", graph->calls.functions[function].entered);
    table_json(&listing->table, "rows", json);
    json_array(json, "edges");
    for (uint32_t i = calls->first_block[function]; i < calls->first_block[function + 1]; i++)
        put_edges(graph, calls->blocks[i], json);
    json_put_array_end(json);
    json_put_object_end(json);
    return 0;
}

static int print_json(struct listing *listing, struct bt_error *error)
{
    const struct annotate_graph *graph = listing->annotation->graph;
    struct json_put *json = json_report_begin(stdout);
    int result = json ? 0 : bt_fail(error, BT_MEMORY, "no memory for JSON");
    if (!json)
        return result;
    json_count(json, "process", graph->view->process->id);
    json_count(json, view_unit(graph->view, 0), graph->view->profile.total);
    bus_report_json(json, graph->view->graph->bus);
    json_count(json, "function_count", graph->calls.function_count);
    json_array(json, "functions");
    for (uint32_t i = 0; i < graph->order_count && result == 0 && !json_put_failed(json); i++)
        result = put_function(listing, graph->order[i], json, error);
    json_put_array_end(json);
    json_report_end(json);
    return result;
}

int annotate_table_print(struct annotation *annotation, enum view_form form, struct bt_error *error)
{
    struct listing listing = {.annotation = annotation};
    make_columns(&listing);
    return form == VIEW_JSON ? print_json(&listing, error) : print_csv(&listing, error);
}
