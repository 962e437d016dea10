#include "tools/dcfg/annotate_text.h"

#include "formats/base/digits.h"
#include "formats/base/printable.h"
#include "tools/common/words.h"
#include "tools/dcfg/annotation_lanes.h"
#include "tools/dcfg/bus_report.h"
#include "tools/dcfg/dot_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES       65536u
#define INSTRUCTION_MAX  52u /* widest column of instructions; longer ones push the source aside */
#define SHARE_WIDTH      8u
#define CONFIDENCE_WIDTH 13u
#define EDGES_MAX        6u /* targets of an indirect branch that are listed */
#define HEADING_BYTES    24u
#define COUNTS_BYTES     ((THREADS_CHOSEN_MAX + 3) * 32u)

struct annotate_text {
    FILE *out;
    size_t width;     /* columns of a line; 0: any */
    uint64_t printed; /* functions */
    uint8_t *cells;   /* arrows of the function */
    size_t cell_count;
    size_t executions, taken, address, instruction; /* columns' widths */
    struct printable_room room;
    size_t counts_size;
    char counts[COUNTS_BYTES]; /* the columns of the last block's counts */
    size_t used;
    char line[LINE_BYTES + 32];
};

struct annotate_text *annotate_text_new(FILE *out, size_t width, struct bt_error *error)
{
    struct annotate_text *text = malloc(sizeof *text);
    if (!text) {
        bt_fail(error, BT_MEMORY, "no memory for text");
        return NULL;
    }
    text->out = out;
    text->width = width;
    text->printed = 0;
    text->cells = NULL;
    text->cell_count = 0;
    text->used = 0;
    return text;
}

void annotate_text_free(struct annotate_text *text)
{
    if (text)
        free(text->cells);
    free(text);
}

/* --- a line ---------------------------------------------------------------------------------- */

/* Adds size bytes of printable text, cut off at the end of the line's room. */
static void put_bytes(struct annotate_text *text, const char *words, size_t size)
{
    if (size > LINE_BYTES - text->used)
        size = LINE_BYTES - text->used;
    memcpy(text->line + text->used, words, size);
    text->used += size;
}

static void put(struct annotate_text *text, const char *words)
{
    put_bytes(text, words, strlen(words));
}

static void put_name(struct annotate_text *text, const char *name)
{
    put(text, printable_in(&text->room, name));
}

static void pad(struct annotate_text *text, size_t count)
{
    if (count > LINE_BYTES - text->used)
        count = LINE_BYTES - text->used;
    memset(text->line + text->used, ' ', count);
    text->used += count;
}

static void put_number(struct annotate_text *text, uint64_t number, size_t width)
{
    char digits[DIGITS_DECIMAL_MAX + 9];
    const size_t size = (size_t)(digits_put_decimal(digits, number) - digits);
    pad(text, width > size ? width - size : 0);
    put_bytes(text, digits, size);
}

/* "12.34 %" */
static void put_share(struct annotate_text *text, uint64_t part, uint64_t whole)
{
    const double share = 10000 * graph_profile_share(part, whole) + 0.5;
    const unsigned hundredths = share < 10000 ? (unsigned)share : 10000;
    const char rest[] = {
        '.', (char)('0' + hundredths / 10 % 10), (char)('0' + hundredths % 10), ' ', '%', '\0'};
    put_number(text, hundredths / 100, SHARE_WIDTH - 5);
    put(text, rest);
}

static void put_address(struct annotate_text *text, uint64_t address, size_t width)
{
    char digits[20];
    size_t zeros = 0;
    digits_put_hexadecimal(digits_put_hexadecimal(digits, (uint32_t)(address >> 32)),
                           (uint32_t)address);
    while (zeros < 15 && digits[zeros] == '0')
        zeros++;
    pad(text, width > 18 - zeros ? width - 18 + zeros : 0);
    put_bytes(text, "0x", 2);
    put_bytes(text, digits + zeros, 16 - zeros);
}

static void put_symbol(struct annotate_text *text, const struct code_location *location)
{
    char offset[24];
    put_name(text, location->symbol);
    snprintf(offset, sizeof offset, "+0x%" PRIx64, location->symbol_offset);
    if (location->symbol_offset > 0)
        put(text, offset);
}

/* Where a line is cut to have `width` columns. */
static size_t cut(const char *line, size_t size, size_t width)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80 && columns++ == width)
            return i;
    return size;
}

static void end_line(struct annotate_text *text)
{
    if (text->width > 0)
        text->used = cut(text->line, text->used, text->width);
    while (text->used > 0 && text->line[text->used - 1] == ' ')
        text->used--;
    text->line[text->used++] = '\n';
    fwrite(text->line, 1, text->used, text->out);
    text->used = 0;
}

/* --- a row ----------------------------------------------------------------------------------- */

/* The columns up to the arrows, of a line without an instruction. */
static void skip_counts(struct annotate_text *text, const struct annotate_graph *graph)
{
    pad(text, SHARE_WIDTH + 2 + text->executions);
    pad(text, graph->threads.threads.count * (2 + text->executions));
    if (graph->uncertain)
        pad(text, 2 + CONFIDENCE_WIDTH);
}

/* The same for all instructions of a block. */
static void put_counts(struct annotate_text *text, const struct annotation *annotation,
                       const struct annotation_row *row)
{
    if (!row->begins && row->block != DCFG_NONE) {
        put_bytes(text, text->counts, text->counts_size);
        return;
    }
    const struct annotate_graph *graph = annotation->graph;
    const uint32_t threads = graph->threads.threads.count;
    if (row->block == DCFG_NONE) {
        skip_counts(text, graph);
        return;
    }
    put_share(text, row->instructions, annotation->instructions);
    put_number(text, row->executions, 2 + text->executions);
    for (uint32_t t = 0; t < threads; t++)
        put_number(text, thread_counts_of(&graph->threads, row->block, t), 2 + text->executions);
    if (graph->uncertain) {
        const char *name =
            graph_confidence_name(graph_profile_confidence(&graph->view->profile, row->block));
        pad(text, 2);
        put(text, name);
        pad(text, CONFIDENCE_WIDTH - strlen(name));
    }
    text->counts_size = text->used;
    memcpy(text->counts, text->line, text->used);
}

/* The arrows of a row; of a line between rows, where `only` says in which direction lines continue.
 */
static void put_arrows(struct annotate_text *text, const struct annotation *annotation,
                       uint32_t row, uint8_t only)
{
    const uint32_t width = annotation_arrow_width(annotation);
    const uint8_t *cells = text->cells + (size_t)row * width;
    pad(text, 2);
    for (uint32_t i = 0; i < width && text->used < LINE_BYTES; i++)
        text->line[text->used++] =
            only ? (cells[i] & only ? '|' : ' ') : annotation_arrow(cells[i]);
    pad(text, width > 0);
}

static void put_instruction(struct annotate_text *text, const struct annotation *annotation,
                            const struct annotation_row *row)
{
    struct code_location target;
    const size_t before = text->used;
    char words[80] = "";
    const struct dcfg_process *process = annotation->graph->view->process;
    const uint32_t instructions =
        row->block == DCFG_NONE ? 0 : process->blocks[row->block].instructions;
    const char *bytes = row->size == 1 ? "byte" : "bytes";
    if (row->kind == ANNOTATION_BLOCK)
        snprintf(words, sizeof words, "(%" PRIu32 " %s, %" PRIu64 " %s)", instructions,
                 view_unit(annotation->graph->view, instructions), row->size, bytes);
    else if (row->kind == ANNOTATION_GAP && row->size > 0)
        snprintf(words, sizeof words, "(%" PRIu64 " %s not executed)", row->size, bytes);
    else if (row->kind == ANNOTATION_GAP)
        snprintf(words, sizeof words, "(continues elsewhere)");
    put(text, words);
    put_bytes(text, annotation->texts + row->text, row->text_size);
    if (annotation_target(annotation, row, &target)) {
        put(text, " <");
        put_symbol(text, &target);
        put(text, ">");
    }
    const size_t size = text->used - before;
    pad(text, text->instruction > size ? text->instruction - size : 0);
}

static void put_source(struct annotate_text *text, const struct annotation *annotation,
                       const struct annotation_row *row)
{
    const struct dcfg *graph = annotation->graph->view->graph;
    if (!row->new_line)
        return;
    const char *words = source_text_line(annotation->graph->sources, row->file, row->line);
    pad(text, 2);
    put_name(text, words_file_name(dcfg_text(graph, graph->file_names[row->file].name)));
    put(text, ":");
    put_number(text, row->line, 0);
    if (words) {
        pad(text, 2);
        put(text, words);
    }
}

static void put_row(struct annotate_text *text, const struct annotation *annotation,
                    uint32_t number)
{
    const struct annotation_row *row = &annotation->rows[number];
    put_counts(text, annotation, row);
    if (row->ends && row->taken > 0)
        put_number(text, row->taken, 2 + text->taken);
    else
        pad(text, 2 + text->taken);
    pad(text, 2);
    if (row->kind == ANNOTATION_GAP)
        pad(text, text->address);
    else
        put_address(text, row->address, text->address);
    put_arrows(text, annotation, number, 0);
    put_instruction(text, annotation, row);
    put_source(text, annotation, row);
    end_line(text);
}

/* --- lines between rows ---------------------------------------------------------------------- */

static void put_loop(struct annotate_text *text, const struct annotation *annotation,
                     uint32_t number)
{
    const struct annotate_graph *graph = annotation->graph;
    const uint32_t loop = graph->loop_at[annotation->rows[number].block];
    char words[160];
    if (loop == DCFG_NONE)
        return;
    const struct loop_count *count = &graph->loops[loop];
    const uint64_t iterations = loop_count_iterations(count);
    skip_counts(text, graph);
    pad(text, 4 + text->taken + text->address);
    put_arrows(text, annotation, number, ARROW_UP);
    snprintf(words, sizeof words, "; loop at depth %" PRIu32 ": %" PRIu64 " %s, %" PRIu64 " %s",
             count->depth, count->entries, count->entries == 1 ? "entry" : "entries", iterations,
             iterations == 1 ? "iteration" : "iterations");
    put(text, words);
    if (count->entries > 0) {
        snprintf(words, sizeof words, ", %.1f per entry",
                 graph_profile_share(iterations, count->entries));
        put(text, words);
    }
    end_line(text);
}

static void put_edge(struct annotate_text *text, const struct annotation *annotation,
                     uint32_t number, uint32_t edge)
{
    const struct view *view = annotation->graph->view;
    const struct dcfg_process *process = view->process;
    const uint32_t target = dcfg_find_block(process, process->edges.targets[edge]);
    struct code_location location;
    skip_counts(text, annotation->graph);
    put_number(text, dcfg_edge_total(process, edge), 2 + text->taken);
    pad(text, 2 + text->address);
    put_arrows(text, annotation, number, ARROW_DOWN);
    put(text, "  -> ");
    if (target == DCFG_NONE) {
        const char *name =
            dcfg_special_name(dcfg_special(view->graph, process->edges.targets[edge]));
        put(text, name ? name : "?");
    } else {
        names_of_block(view->names, target, &location);
        put_address(text, location.address, 0);
        if (location.symbol) {
            put(text, " ");
            put_symbol(text, &location);
        }
    }
    put(text, ", ");
    put(text, dot_edge_word(process->edges.types[edge]));
    end_line(text);
}

static void put_edges(struct annotate_text *text, const struct annotation *annotation,
                      uint32_t number)
{
    uint32_t edges[EDGES_MAX], all;
    const uint32_t count =
        annotation_edges(annotation, &annotation->rows[number], edges, EDGES_MAX, &all);
    for (uint32_t i = 0; i < count; i++)
        put_edge(text, annotation, number, edges[i]);
    if (all > count) {
        skip_counts(text, annotation->graph);
        pad(text, 4 + text->taken + text->address);
        put_arrows(text, annotation, number, ARROW_DOWN);
        put(text, "  -> ");
        put_number(text, all - count, 0);
        put(text, " other targets");
        end_line(text);
    }
}

/* --- a function ------------------------------------------------------------------------------ */

static size_t decimals(uint64_t number)
{
    size_t count = 1;
    for (; number >= 10; number /= 10)
        count++;
    return count;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void measure(struct annotate_text *text, const struct annotation *annotation)
{
    uint64_t executions = 0, taken = 0, address = 0;
    size_t instruction = strlen("INSTRUCTION");
    for (uint32_t i = 0; i < annotation->row_count; i++) {
        const struct annotation_row *row = &annotation->rows[i];
        executions = row->executions > executions ? row->executions : executions;
        taken = row->taken > taken ? row->taken : taken;
        address = row->address > address ? row->address : address;
        if (row->text_size <= INSTRUCTION_MAX)
            instruction = larger(instruction, row->text_size);
    }
    text->executions = larger(decimals(executions), strlen("EXECUTIONS"));
    text->taken = larger(decimals(taken), strlen("TAKEN"));
    text->address = 2;
    do
        text->address++;
    while (address >>= 4);
    text->address = larger(text->address, strlen("ADDRESS"));
    text->instruction = instruction;
}

static void put_right(struct annotate_text *text, const char *heading, size_t width)
{
    const size_t size = strlen(heading);
    pad(text, width > size ? width - size : 0);
    put(text, heading);
}

static void put_headings(struct annotate_text *text, const struct annotation *annotation)
{
    const struct annotate_graph *graph = annotation->graph;
    const uint32_t arrows = annotation_arrow_width(annotation);
    char thread[HEADING_BYTES];
    put_right(text, "SHARE", SHARE_WIDTH);
    put_right(text, "EXECUTIONS", 2 + text->executions);
    for (uint32_t t = 0; t < graph->threads.threads.count; t++) {
        snprintf(thread, sizeof thread, "THREAD %" PRIu32, graph->threads.threads.numbers[t]);
        put_right(text, thread, 2 + text->executions);
    }
    if (graph->uncertain) {
        put(text, "  CONFIDENCE");
        pad(text, CONFIDENCE_WIDTH - strlen("CONFIDENCE"));
    }
    put_right(text, "TAKEN", 2 + text->taken);
    put_right(text, "ADDRESS", 2 + text->address);
    pad(text, 2 + arrows + (arrows > 0));
    const char *code = view_has_chunks(graph->view) ? "CHUNKS" : "INSTRUCTION";
    put(text, code);
    pad(text, text->instruction - strlen(code));
    put(text, "  SOURCE");
    end_line(text);
}

/* The model of the bus, and an empty line. */
static void put_bus(struct annotate_text *text, const struct dcfg_bus *bus)
{
    char words[BUS_REPORT_BYTES];
    if (!bus)
        return;
    bus_report_model(words, bus);
    put(text, words);
    end_line(text);
    end_line(text);
}

/* "fill (0x401100): 6285 instructions, 92.27 % of all, 15 entries", and where it is. */
static void put_function(struct annotate_text *text, const struct annotation *annotation)
{
    const struct annotate_graph *graph = annotation->graph;
    const struct call_function *function = &graph->calls.functions[annotation->function];
    struct code_location entry;
    char words[120];
    names_of_block(graph->view->names, function->entry, &entry);
    if (text->printed == 0)
        put_bus(text, graph->view->graph->bus);
    if (text->printed++ > 0)
        end_line(text);
    if (entry.symbol) {
        put_name(text, entry.symbol);
        put(text, " ");
    }
    snprintf(words, sizeof words, "(0x%" PRIx64 "): %" PRIu64 " %s, %.2f %% of all, ",
             entry.address, function->self, view_executed(graph->view, function->self),
             100 * graph_profile_share(function->self, graph->view->profile.total));
    put(text, words);
    const uint64_t entries = graph->calls.functions[annotation->function].entered;
    snprintf(words, sizeof words, "%" PRIu64 " %s", entries, entries == 1 ? "entry" : "entries");
    put(text, words);
    end_line(text);
    if (entry.image)
        put_name(text, entry.image);
    if (entry.image && entry.file)
        put(text, ", ");
    if (entry.file)
        put_name(text, entry.file);
    if (entry.image || entry.file)
        end_line(text);
}

int annotate_text_put(struct annotate_text *text, const struct annotation *annotation,
                      struct bt_error *error)
{
    const size_t cells = (size_t)annotation->row_count * annotation_arrow_width(annotation) + 1;
    if (cells > text->cell_count) {
        free(text->cells);
        text->cells = malloc(cells);
        text->cell_count = text->cells ? cells : 0;
    }
    if (!text->cells)
        return bt_fail(error, BT_MEMORY, "no memory for arrows");
    annotation_draw_arrows(annotation, text->cells);
    measure(text, annotation);
    put_function(text, annotation);
    put_headings(text, annotation);
    for (uint32_t i = 0; i < annotation->row_count && !ferror(text->out); i++) {
        if (annotation->rows[i].begins)
            put_loop(text, annotation, i);
        put_row(text, annotation, i);
        put_edges(text, annotation, i);
    }
    return 0;
}
