#include "tools/dcfg/annotate_html.h"

#include "formats/base/printable.h"
#include "formats/text/json_members.h"
#include "formats/text/text_writer.h"
#include "tools/common/words.h"
#include "tools/dcfg/bus_report.h"
#include "tools/dcfg/dot_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_MAX 12u /* targets of an indirect branch that are listed */

/* Lines, each with its newline; made from files of these names by the Makefile. */
static const char *const style[] = {
#include "tools/dcfg/annotate_page.css.h"
};
static const char *const script[] = {
#include "tools/dcfg/annotate_page.js.h"
};

struct page {
    struct annotation *annotation;
    const struct annotate_graph *graph;
    struct text_writer *writer;
    struct bt_error *error;
    int result;        /* of the first failure */
    uint32_t *place;   /* by function: its number on the page; DCFG_NONE: not there */
    uint32_t *loop_at; /* by loop of the process: its number in the function */
    uint32_t *file_at; /* by file name: its number in the function */
    uint32_t *loops;   /* of the function: loops of the process */
    uint32_t *files;   /* of the function: indexes of graph->file_names */
    uint32_t loop_count, file_count;
};

/* --- text of the page ------------------------------------------------------------------------ */

static void put(struct page *page, const char *text, size_t size)
{
    if (page->result == 0)
        page->result = text_writer_put(page->writer, text, size, page->error);
}

static void put_text(struct page *page, const char *text)
{
    put(page, text, strlen(text));
}

static void put_lines(struct page *page, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_text(page, lines[i]);
}

__attribute__((format(printf, 2, 3))) static void put_format(struct page *page, const char *format,
                                                             ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(page, text);
}

/* A number with a comma before every three digits. */
static void put_number(struct page *page, uint64_t number)
{
    char digits[24];
    const int count = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            put_text(page, ",");
        put(page, &digits[i], 1);
    }
}

/* Text between tags and in quoted attributes. */
static void put_escaped(struct page *page, const char *text)
{
    text = PRINTABLE(text);
    while (*text) {
        const size_t plain = strcspn(text, "&<>\"'");
        put(page, text, plain);
        text += plain;
        if (*text)
            put_format(page, "&#%d;", *text++);
    }
}

/* JSON, in which "<" occurs in strings only, so that no text ends the script element. */
static void put_json(struct page *page, struct json_put *json)
{
    char *text = json_put_take(json, NULL);
    if (!text) {
        if (page->result == 0)
            page->result = bt_fail(page->error, BT_MEMORY, "no memory for the page");
        return;
    }
    for (const char *at = text; *at; at += *at == '<') {
        const size_t plain = strcspn(at, "<");
        put(page, at, plain);
        at += plain;
        if (*at)
            put_text(page, "\\u003c");
    }
    free(text);
}

/* --- a function's rows ----------------------------------------------------------------------- */

/* The number of a file in the function's list. */
static uint32_t number_file(struct page *page, uint32_t file)
{
    const uint32_t number = page->file_at[file];
    if (number < page->file_count && page->files[number] == file)
        return number;
    page->files[page->file_count] = file;
    return page->file_at[file] = page->file_count++;
}

/* The number of a loop in the function's list; DCFG_NONE: its head is elsewhere. */
static uint32_t number_of_loop(const struct page *page, uint32_t loop)
{
    if (loop == DCFG_NONE)
        return DCFG_NONE;
    const uint32_t number = page->loop_at[loop];
    return number < page->loop_count && page->loops[number] == loop ? number : DCFG_NONE;
}

static void find_loops(struct page *page)
{
    const struct annotation *annotation = page->annotation;
    page->loop_count = 0;
    for (uint32_t i = 0; i < annotation->row_count; i++) {
        const struct annotation_row *row = &annotation->rows[i];
        const uint32_t loop = row->begins ? page->graph->loop_at[row->block] : DCFG_NONE;
        if (loop == DCFG_NONE)
            continue;
        page->loop_at[loop] = page->loop_count;
        page->loops[page->loop_count++] = loop;
    }
}

static void put_loops(const struct page *page, struct json_put *json)
{
    const struct annotate_graph *graph = page->graph;
    json_array(json, "loops");
    for (uint32_t i = 0; i < page->loop_count; i++) {
        const struct loop_count *count = &graph->loops[page->loops[i]];
        const uint32_t up = number_of_loop(page, count->parent);
        const uint32_t head = graph->view->process->loops[page->loops[i]].head;
        json_put_object(json);
        json_count(json, "h",
                   page->annotation->first_row[dcfg_find_block(graph->view->process, head)]);
        json_put_key(json, "up");
        json_put_number(json, "%" PRId64, up == DCFG_NONE ? -1 : (int64_t)up);
        json_count(json, "d", count->depth);
        json_count(json, "n", count->entries);
        json_count(json, "i", loop_count_iterations(count));
        json_put_key(json, "p");
        json_put_number(json, "%.4g",
                        graph_profile_share(count->instructions, graph->view->profile.total));
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static void put_jumps(const struct page *page, struct json_put *json)
{
    const struct annotation *annotation = page->annotation;
    const struct dcfg_process *process = page->graph->view->process;
    json_array(json, "jumps");
    for (uint32_t i = 0; i < annotation->jump_count; i++) {
        const struct annotation_jump *jump = &annotation->jumps[i];
        if (jump->lane == ANNOTATION_LANES)
            continue;
        json_put_array(json);
        json_put_integer(json, jump->from);
        json_put_integer(json, jump->to);
        json_put_integer(json, jump->count);
        json_put_integer(json, jump->lane);
        json_string(json, dot_edge_word(process->edges.types[jump->edge]));
        json_put_array_end(json);
    }
    json_put_array_end(json);
}

/* "name+0x10", and the number on the page of the function that has the block. */
static void put_place(const struct page *page, struct json_put *json,
                      const struct code_location *location, uint32_t block)
{
    char text[1200];
    const uint32_t place =
        block == DCFG_NONE ? DCFG_NONE : page->place[page->graph->calls.function_of[block]];
    if (location->symbol && location->symbol_offset > 0)
        snprintf(text, sizeof text, "%.1000s+0x%" PRIx64, location->symbol,
                 location->symbol_offset);
    else if (location->symbol)
        snprintf(text, sizeof text, "%.1000s", location->symbol);
    else
        snprintf(text, sizeof text, "0x%" PRIx64, location->address);
    json_string(json, text);
    if (place == DCFG_NONE)
        json_put_null(json);
    else
        json_put_integer(json, place);
}

/* [count, target, function, type] of each edge that the instruction does not show. */
static void put_edges(const struct page *page, const struct annotation_row *row,
                      struct json_put *json)
{
    const struct view *view = page->graph->view;
    uint32_t edges[EDGES_MAX], all;
    const uint32_t count = annotation_edges(page->annotation, row, edges, EDGES_MAX, &all);
    if (count == 0)
        return;
    json_array(json, "e");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t target =
            dcfg_find_block(view->process, view->process->edges.targets[edges[i]]);
        struct code_location location = {.symbol = "outside"};
        if (target != DCFG_NONE)
            names_of_block(view->names, target, &location);
        json_put_array(json);
        json_put_integer(json, dcfg_edge_total(view->process, edges[i]));
        put_place(page, json, &location, target);
        json_string(json, dot_edge_word(view->process->edges.types[edges[i]]));
        json_put_array_end(json);
    }
    if (all > count) {
        char text[40];
        snprintf(text, sizeof text, "%" PRIu32 " other targets", all - count);
        json_put_array(json);
        json_put_null(json);
        json_string(json, text);
        json_put_array_end(json);
    }
    json_put_array_end(json);
}

/* The target of a direct branch into another function. */
static void put_target(const struct page *page, const struct annotation_row *row,
                       struct json_put *json)
{
    const struct annotate_graph *graph = page->graph;
    const struct dcfg_process *process = graph->view->process;
    struct code_location location;
    char text[1200];
    if (!annotation_target(page->annotation, row, &location))
        return;
    snprintf(text, sizeof text, "%.1000s", location.symbol);
    if (location.symbol_offset > 0)
        snprintf(text, sizeof text, "%.1000s+0x%" PRIx64, location.symbol, location.symbol_offset);
    json_text(json, "g", text);
    for (uint32_t i = graph->first_edge[row->block];
         row->ends && i < graph->first_edge[row->block + 1]; i++) {
        const uint32_t target = dcfg_find_block(process, process->edges.targets[graph->edges[i]]);
        if (target != DCFG_NONE && dcfg_block_address(process, target) == row->target &&
            page->place[graph->calls.function_of[target]] != DCFG_NONE) {
            json_count(json, "f", page->place[graph->calls.function_of[target]]);
            return;
        }
    }
}

static void put_source(struct page *page, const struct annotation_row *row, struct json_put *json)
{
    if (!row->new_line)
        return;
    const char *text = source_text_line(page->graph->sources, row->file, row->line);
    json_array(json, "s");
    json_put_integer(json, number_file(page, row->file));
    json_put_integer(json, row->line);
    if (text)
        json_string(json, text);
    json_put_array_end(json);
}

static void put_counts(const struct page *page, const struct annotation_row *row,
                       struct json_put *json)
{
    const struct annotate_graph *graph = page->graph;
    const uint32_t threads = graph->threads.threads.count;
    const uint32_t loop = number_of_loop(page, graph->loop_of[row->block]);
    json_put_key(json, "p");
    json_put_number(json, "%.4g",
                    graph_profile_share(row->instructions, page->annotation->instructions));
    json_count(json, "n", row->executions);
    if (threads > 0) {
        json_array(json, "t");
        for (uint32_t t = 0; t < threads; t++)
            json_put_integer(json, thread_counts_of(&graph->threads, row->block, t));
        json_put_array_end(json);
    }
    if (graph->uncertain)
        json_count(json, "c", graph_profile_confidence(&graph->view->profile, row->block));
    if (row->begins)
        json_count(json, "h", 1);
    if (row->ends && row->taken > 0)
        json_count(json, "j", row->taken);
    if (loop != DCFG_NONE)
        json_count(json, "l", loop);
}

static void put_row(struct page *page, const struct annotation_row *row, struct json_put *json)
{
    char address[24];
    json_put_object(json);
    snprintf(address, sizeof address, "0x%" PRIx64, row->address);
    json_text(json, "a", address);
    if (row->kind != ANNOTATION_INSTRUCTION)
        json_count(json, "k", row->kind);
    if (row->kind == ANNOTATION_BLOCK)
        json_count(json, "b", page->graph->view->process->blocks[row->block].instructions);
    if (row->kind == ANNOTATION_BLOCK || row->kind == ANNOTATION_GAP)
        json_count(json, "z", row->size);
    else
        json_text(json, "x", page->annotation->texts + row->text);
    if (row->block != DCFG_NONE) {
        put_counts(page, row, json);
        put_target(page, row, json);
        put_edges(page, row, json);
    }
    put_source(page, row, json);
    json_put_object_end(json);
}

static void put_data(struct page *page)
{
    const struct dcfg *graph = page->graph->view->graph;
    struct json_put *json = json_put_new_memory();
    if (!json) {
        page->result = bt_fail(page->error, BT_MEMORY, "no memory for the page");
        return;
    }
    find_loops(page);
    page->file_count = 0;
    json_put_object(json);
    json_count(json, "lanes", page->annotation->lanes);
    put_loops(page, json);
    put_jumps(page, json);
    json_array(json, "rows");
    for (uint32_t i = 0; i < page->annotation->row_count; i++)
        put_row(page, &page->annotation->rows[i], json);
    json_put_array_end(json);
    json_array(json, "files");
    for (uint32_t i = 0; i < page->file_count; i++)
        json_string(json, PRINTABLE(dcfg_text(graph, graph->file_names[page->files[i]].name)));
    json_put_array_end(json);
    json_put_object_end(json);
    put_json(page, json);
}

/* --- functions ------------------------------------------------------------------------------- */

static void put_function(struct page *page, uint32_t function)
{
    const struct annotate_graph *graph = page->graph;
    const uint64_t self = graph->calls.functions[function].self;
    const double share = 100 * graph_profile_share(self, graph->view->profile.total);
    struct code_location entry;
    names_of_block(graph->view->names, graph->calls.functions[function].entry, &entry);
    put_format(page, "<details id=\"f%" PRIu32 "\"><summary>", page->place[function]);
    put_format(page, "<span class=\"share\" style=\"--part:%.2f%%\">%.2f %%</span>", share, share);
    put_text(page, "<span class=\"number\">");
    put_number(page, self);
    put_text(page, "</span><span class=\"number\">");
    put_number(page, graph->calls.functions[function].entered);
    put_text(page, "</span><span class=\"name\" title=\"");
    if (entry.symbol)
        put_escaped(page, entry.symbol);
    put_text(page, "\">");
    if (entry.symbol)
        put_escaped(page, entry.symbol);
    else
        put_format(page, "0x%" PRIx64, entry.address);
    put_text(page, "</span><span class=\"place\" title=\"");
    put_escaped(page, entry.image ? entry.image : "");
    put_text(page, "\"><bdi>");
    put_escaped(page, entry.file ? entry.file : entry.image ? entry.image : "");
    put_text(page, "</bdi></span></summary>\n<script type=\"application/json\">");
    put_data(page);
    put_text(page, "</script></details>\n");
}

static void put_functions(struct page *page)
{
    const struct annotate_graph *graph = page->graph;
    for (uint32_t i = 0; i < graph->order_count && page->result == 0; i++) {
        page->result = annotation_of(page->annotation, graph->order[i], page->error);
        if (page->result == 0)
            put_function(page, graph->order[i]);
    }
}

/* --- the page -------------------------------------------------------------------------------- */

static void put_settings(struct page *page)
{
    const struct thread_choice *threads = &page->graph->threads.threads;
    put_text(page, "<script type=\"application/json\" id=\"settings\">{\"threads\":[");
    for (uint32_t t = 0; t < threads->count; t++)
        put_format(page, "%s%" PRIu32, t > 0 ? "," : "", threads->numbers[t]);
    put_format(page, "],\"uncertain\":%s,\"unit\":\"%s\"}</script>\n",
               page->graph->uncertain ? "true" : "false", view_unit(page->graph->view, 1));
}

static void put_head(struct page *page)
{
    const struct view *view = page->graph->view;
    put_text(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    put_escaped(page, words_file_name(view->path));
    put_text(page, ", annotated</title>\n<style>\n");
    put_lines(page, style, sizeof style / sizeof *style);
    put_text(page, "</style></head><body>\n<header><h1>");
    put_escaped(page, words_file_name(view->path));
    put_format(page, "</h1><p>process %" PRIu64 ": ", view->process->id);
    put_number(page, view->profile.total);
    put_format(page, " %s, %" PRIu32 " %s", view_executed(view, view->profile.total),
               view->process->threads, view->process->threads == 1 ? "thread" : "threads");
    if (page->graph->order_count < page->graph->calls.function_count)
        put_format(page, "; %" PRIu32 " of %" PRIu32 " functions", page->graph->order_count,
                   page->graph->calls.function_count);
    else
        put_format(page, "; %" PRIu32 " %s", page->graph->order_count,
                   page->graph->order_count == 1 ? "function" : "functions");
    if (view->graph->bus) {
        char bus[BUS_REPORT_BYTES];
        bus_report_model(bus, view->graph->bus);
        put_text(page, "</p><p>");
        put_escaped(page, bus);
    }
    put_text(page,
             "</p><form><span id=\"found\" role=\"status\"></span>"
             "<input type=\"search\" aria-label=\"search\" placeholder=\"function, instruction, "
             "address, source: /\">"
             "<button>next</button><button name=\"back\">previous</button>"
             "<button type=\"button\" id=\"close\">close all</button></form></header>\n<main>"
             "<noscript><p class=\"note\">The functions' code needs JavaScript.</p></noscript>"
             "<div class=\"columns\"><span>share</span><span>executed</span>"
             "<span>entries</span><span>function</span><span></span></div>\n");
}

static int make_indexes(struct page *page)
{
    const struct view *view = page->graph->view;
    const size_t functions = (size_t)page->graph->calls.function_count + 1;
    const size_t loops = (size_t)view->process->loop_count + 1;
    const size_t files = (size_t)view->graph->file_name_count + 1;
    page->place = malloc(functions * sizeof *page->place);
    page->loop_at = calloc(loops, sizeof *page->loop_at);
    page->loops = calloc(loops, sizeof *page->loops);
    page->file_at = calloc(files, sizeof *page->file_at);
    page->files = calloc(files, sizeof *page->files);
    if (!page->place || !page->loop_at || !page->loops || !page->file_at || !page->files)
        return bt_fail(page->error, BT_MEMORY, "no memory for the page");
    memset(page->place, 0xff, functions * sizeof *page->place);
    for (uint32_t i = 0; i < page->graph->order_count; i++)
        page->place[page->graph->order[i]] = i;
    return 0;
}

int annotate_html_write(struct annotation *annotation, const char *path, struct bt_error *error)
{
    struct page page = {.annotation = annotation, .graph = annotation->graph, .error = error};
    page.writer = text_writer_new(path, error);
    page.result = page.writer ? make_indexes(&page) : error->code;
    if (page.result == 0) {
        put_head(&page);
        put_functions(&page);
        put_text(&page, "</main>\n");
        put_settings(&page);
        put_text(&page, "<script>\n");
        put_lines(&page, script, sizeof script / sizeof *script);
        put_text(&page, "</script></body></html>\n");
    }
    if (page.result == 0)
        page.result = text_writer_finish(page.writer, error);
    text_writer_free(page.writer);
    free(page.place);
    free(page.loop_at);
    free(page.loops);
    free(page.file_at);
    free(page.files);
    return page.result;
}
