#include "tools/wet/slice/slice_print.h"

#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/common/source_file.h"
#include "tools/wet/slice/slice_words.h"

#include <inttypes.h>
#include <string.h>

#define PLACE_BYTES 400u

/* --- places ------------------------------------------------------------------------------------
 */

static const struct wet_instruction *instruction_of(const struct wet_trace *trace, uint32_t id)
{
    return &trace->file.code.instructions[id];
}

static const char *function_of(const struct wet_trace *trace, uint32_t id)
{
    return trace->file.code.functions[instruction_of(trace, id)->function].name;
}

/* "foo1.c:8"; without a line the function, or "?". */
static const char *line_text(const struct wet_trace *trace, uint32_t id, char text[PLACE_BYTES])
{
    const struct wet_instruction *instruction = instruction_of(trace, id);
    const char *file = slice_base_name(&trace->file.code, instruction->file);
    const char *function = function_of(trace, id);
    if (file && instruction->line)
        snprintf(text, PLACE_BYTES, "%.256s:%" PRIu32, file, instruction->line);
    else
        snprintf(text, PLACE_BYTES, "%.256s%s", function ? function : "?", function ? "()" : "");
    return printable_make(text);
}

/* "401136 main foo1.c:8" */
static const char *instruction_text(const struct wet_trace *trace, uint32_t id,
                                    char text[PLACE_BYTES])
{
    const struct wet_instruction *instruction = instruction_of(trace, id);
    const char *file = slice_base_name(&trace->file.code, instruction->file);
    const char *function = function_of(trace, id);
    int used = snprintf(text, PLACE_BYTES, "%" PRIx64 " %.160s", instruction->address,
                        function ? function : "?");
    if (file && instruction->line)
        snprintf(text + used, PLACE_BYTES - (size_t)used, " %.160s:%" PRIu32, file,
                 instruction->line);
    return printable_make(text);
}

static const char *row_text(const struct slice_report *report, const struct slice_row *row,
                            char text[PLACE_BYTES])
{
    const struct wet_code *code = &report->trace->file.code;
    if (row->is_library) {
        snprintf(text, PLACE_BYTES, "%.256s",
                 slice_module_name(code, slice_module_of(code, row->id)));
        return printable_make(text);
    }
    return report->by_instruction ? instruction_text(report->trace, row->id, text)
                                  : line_text(report->trace, row->id, text);
}

/* --- text --------------------------------------------------------------------------------------
 */

/* The widths of the columns. */
struct columns {
    int count, place, value;
};

static void widen(int *width, size_t size)
{
    if ((int)size > *width)
        *width = (int)size;
}

static struct columns measure(const struct slice_report *report)
{
    struct columns columns = {.count = 5, .place = 5, .value = 5};
    char place[PLACE_BYTES], digits[SLICE_DIGITS_BYTES], count[24];
    for (size_t i = 0; i < report->rows->count; i++) {
        const struct slice_row *row = &report->rows->rows[i];
        widen(&columns.place, strlen(row_text(report, row, place)));
        widen(&columns.count, (size_t)snprintf(count, sizeof count, "%" PRIu64, row->count));
        widen(
            &columns.value,
            strlen(slice_value_text(
                slice_row_value(report->rows, row, report->result->last, report->values), digits)));
    }
    if (columns.place > 60)
        columns.place = 60;
    return columns;
}

static void put_summary(const struct slice_report *report, FILE *out)
{
    char depth[48] = "";
    if (report->depth != SLICE_DEPTH_ALL)
        snprintf(depth, sizeof depth, ", at most %" PRIu32 " dependence%s away", report->depth,
                 report->depth == 1 ? "" : "s");
    printable_put(report->where, out);
    fprintf(out, ": %s %" PRIu64 " instance%s of %zu instruction%s%s%s\n",
            report->forward ? "on it depend" : "it depends on", report->result->instances,
            report->result->instances == 1 ? "" : "s", report->rows->id_count,
            report->rows->id_count == 1 ? "" : "s", report->data ? ", control left out" : "",
            depth);
}

/* Reads the file of a row, unless it is that of the row before. */
static const char *source_of(const struct slice_report *report, const struct slice_row *row,
                             struct source_file *source, uint32_t *read)
{
    const struct wet_instruction *instruction = instruction_of(report->trace, row->id);
    if (report->by_instruction || row->is_library || instruction->file == 0)
        return NULL;
    if (instruction->file != *read) {
        source_file_clear(source);
        source_file_read(source, report->trace->file.code.files[instruction->file]);
        *read = instruction->file;
    }
    return source_file_line(source, instruction->line);
}

int slice_print_text(const struct slice_report *report, FILE *out)
{
    const struct columns columns = measure(report);
    struct source_file source = {.text = NULL};
    uint32_t read = 0;
    char place[PLACE_BYTES], digits[SLICE_DIGITS_BYTES];
    put_summary(report, out);
    for (size_t i = 0; i < report->rows->count && !ferror(out); i++) {
        const struct slice_row *row = &report->rows->rows[i];
        const char *text = source_of(report, row, &source, &read);
        const bool ends = !text && !report->values;
        fprintf(out, "%*" PRIu64 "  %-*s", columns.count, row->count, ends ? 0 : columns.place,
                row_text(report, row, place));
        if (report->values)
            fprintf(out, "  %*s", columns.value,
                    slice_value_text(
                        slice_row_value(report->rows, row, report->result->last, report->values),
                        digits));
        if (text)
            fprintf(out, "  %s", text);
        putc('\n', out);
    }
    source_file_clear(&source);
    return 0;
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static void put_place(struct json_put *json, const struct wet_trace *trace, uint32_t id,
                      bool is_instruction)
{
    const struct wet_code *code = &trace->file.code;
    const uint32_t module = slice_module_of(code, id);
    const struct wet_instruction *instruction = instruction_of(trace, id);
    if (is_instruction) {
        json_count(json, "id", id);
        json_put_key(json, "address");
        json_put_hex(json, instruction->address);
    }
    json_text_or_null(json, "function", function_of(trace, id) ? function_of(trace, id) : "");
    json_text_or_null(json, "file",
                      instruction->file ? trace->file.code.files[instruction->file] : "");
    if (instruction->file && instruction->line)
        json_count(json, "line", instruction->line);
    else
        json_null(json, "line");
    json_text_or_null(json, "module",
                      module == SLICE_MODULE_NONE ? "" : code->modules[module].path);
}

static void put_value(struct json_put *json, const struct slice_value *value)
{
    char digits[SLICE_DIGITS_BYTES];
    json_text_or_null(json, "value", slice_value_text(value, digits));
}

int slice_print_json(const struct slice_report *report, FILE *out)
{
    struct json_put *json = json_report_begin(out);
    if (!json)
        return BT_MEMORY;
    json_text(json, "where", report->where);
    json_text(json, "direction", report->forward ? "forward" : "backward");
    json_bool(json, "control", !report->data);
    if (report->depth == SLICE_DEPTH_ALL)
        json_null(json, "depth");
    else
        json_count(json, "depth", report->depth);
    json_count(json, "instances", report->result->instances);
    json_array(json, report->by_instruction ? "instructions" : "lines");
    for (size_t i = 0; i < report->rows->count; i++) {
        const struct slice_row *row = &report->rows->rows[i];
        json_put_object(json);
        put_place(json, report->trace, row->id, report->by_instruction);
        json_count(json, "count", row->count);
        if (report->values)
            put_value(json,
                      slice_row_value(report->rows, row, report->result->last, report->values));
        json_put_object_end(json);
    }
    json_put_array_end(json);
    json_report_end(json);
    return 0;
}

/* --- graphs ------------------------------------------------------------------------------------
 */

static void put_quoted(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
}

static void put_node(const struct slice_report *report, size_t number, FILE *out)
{
    const struct slice_row *row = &report->rows->rows[number];
    char place[PLACE_BYTES], digits[SLICE_DIGITS_BYTES];
    fprintf(out, "  n%zu [label=\"", number);
    put_quoted(row_text(report, row, place), out);
    fprintf(out, "\\n%" PRIu64, row->count);
    const struct slice_value *value =
        slice_row_value(report->rows, row, report->result->last, report->values);
    if (value)
        fprintf(out, "\\n%s", slice_value_text(value, digits));
    fputs("\"];\n", out);
}

void slice_print_dot(const struct slice_report *report, FILE *out)
{
    static const char *const styles[] = {[SLICE_CRITERION] = "solid",
                                         [SLICE_CONTROL] = "dashed",
                                         [SLICE_REGISTER] = "solid",
                                         [SLICE_MEMORY] = "bold"};
    fputs("digraph slice {\n  node [shape=box];\n", out);
    for (size_t i = 0; i < report->rows->count && !ferror(out); i++)
        put_node(report, i, out);
    for (size_t i = 0; i < report->edges->count && !ferror(out); i++) {
        const struct slice_edge *edge = &report->edges->edges[i];
        fprintf(out, "  n%" PRIu32 " -> n%" PRIu32 " [style=%s, label=\"%" PRIu64 "\"];\n",
                edge->from, edge->to, styles[edge->kind], edge->count);
    }
    fputs("}\n", out);
}

/* --- chains ------------------------------------------------------------------------------------
 */

/* The links are printed from the criterion on: the last one first. */

static const struct slice_value *value_of(const struct slice_chain *chain, size_t link)
{
    return chain->values ? slice_values_find(chain->values, chain->links[link].instance) : NULL;
}

/* How many links, from one on towards the end of the chain, are steps in the same library. 0: it is
 * none in a library. */
static size_t count_folded(const struct slice_chain *chain, size_t link)
{
    const struct wet_code *code = &chain->trace->file.code;
    const uint32_t id = chain->links[link].instance.id;
    size_t count = 0;
    if (!chain->folds || slice_module_is_own(code, id))
        return 0;
    while (count <= link && slice_module_of(code, chain->links[link - count].instance.id) ==
                                slice_module_of(code, id))
        count++;
    return count;
}

static void put_folded(const struct slice_chain *chain, size_t link, size_t count, FILE *out)
{
    const struct wet_code *code = &chain->trace->file.code;
    char name[SLICE_REGISTER_BYTES];
    fprintf(out, "%-8s  %zu steps in ", slice_link_name(chain->trace, &chain->links[link], name),
            count);
    printable_put(slice_module_name(code, slice_module_of(code, chain->links[link].instance.id)),
                  out);
    putc('\n', out);
}

static void put_link(const struct slice_chain *chain, size_t number, FILE *out)
{
    char place[PLACE_BYTES], digits[SLICE_DIGITS_BYTES], name[SLICE_REGISTER_BYTES];
    const struct slice_link *link = &chain->links[number];
    const char *value = slice_value_text(value_of(chain, number), digits);
    fprintf(out, "%-8s  #%" PRIu64 " of %s%s%s\n", slice_link_name(chain->trace, link, name),
            link->instance.instance, instruction_text(chain->trace, link->instance.id, place),
            *value ? " = " : "", value);
}

int slice_print_chain(const struct slice_chain *chain, FILE *out)
{
    printable_put(chain->from, out);
    fputs(" depends on ", out);
    printable_put(chain->to, out);
    const uint32_t steps = chain->count > 0 ? chain->links[0].distance : 0;
    fprintf(out, " by %" PRIu32 " dependence%s\n", steps, steps == 1 ? "" : "s");
    for (size_t i = chain->count; i-- > 0;) {
        const size_t folded = count_folded(chain, i);
        if (folded < 2) {
            put_link(chain, i, out);
        } else {
            put_folded(chain, i, folded, out);
            i -= folded - 1;
        }
    }
    return 0;
}

int slice_print_chain_json(const struct slice_chain *chain, FILE *out)
{
    char name[SLICE_REGISTER_BYTES];
    struct json_put *json = json_report_begin(out);
    if (!json)
        return BT_MEMORY;
    json_text(json, "where", chain->from);
    json_text(json, "why", chain->to);
    json_count(json, "dependences", chain->count > 0 ? chain->links[0].distance : 0);
    json_array(json, "chain");
    for (size_t i = chain->count; i-- > 0;) {
        const struct slice_link *link = &chain->links[i];
        json_put_object(json);
        json_text_or_null(json, "dependence", slice_link_name(chain->trace, link, name));
        put_place(json, chain->trace, link->instance.id, true);
        json_count(json, "instance", link->instance.instance);
        if (chain->values)
            put_value(json, value_of(chain, i));
        json_put_object_end(json);
    }
    json_put_array_end(json);
    json_report_end(json);
    return 0;
}
