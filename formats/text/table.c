#include "formats/text/table.h"

#include "formats/base/printable.h"
#include "formats/base/utf8.h"
#include "formats/text/json_members.h"

#include <inttypes.h>
#include <string.h>

/* --- aligned text ---------------------------------------------------------------------------- */

/* The text of a cell, followed by tail. */
static const char *cell_look(enum table_kind kind, const struct table_cell *cell, char tail[32])
{
    const char *text = cell->text ? cell->text : "";
    tail[0] = 0;
    if (cell->none)
        return "";
    switch (kind) {
    case TABLE_TEXT:
        break;
    case TABLE_COUNT:
        snprintf(tail, 32, "%" PRIu64, cell->number);
        break;
    case TABLE_CHANGE:
        snprintf(tail, 32, "%+" PRId64, (int64_t)cell->number);
        break;
    case TABLE_ADDRESS:
        snprintf(tail, 32, "0x%" PRIx64, cell->number);
        break;
    case TABLE_SHARE:
        if (!*text)
            snprintf(tail, 32, "%.2f %%", 100 * cell->real);
        break;
    case TABLE_REAL:
        snprintf(tail, 32, "%.2f", cell->real);
        break;
    case TABLE_SYMBOL:
        if (*text && cell->number > 0)
            snprintf(tail, 32, "+0x%" PRIx64, cell->number);
        break;
    case TABLE_LINE:
        if (*text && cell->number > 0)
            snprintf(tail, 32, ":%" PRIu64, cell->number);
        break;
    }
    return text;
}

static bool is_left(enum table_kind kind)
{
    return kind == TABLE_TEXT || kind == TABLE_SYMBOL || kind == TABLE_LINE;
}

/* Clears the cells, then has the table's owner fill them. */
static void get_row(const struct table *table, size_t row, struct table_cell *cells)
{
    memset(cells, 0, table->column_count * sizeof *cells);
    table->row(table->argument, row, cells);
}

static void measure(const struct table *table, size_t widths[TABLE_COLUMNS_MAX])
{
    struct table_cell cells[TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = table->columns[c].heading ? utf8_count(table->columns[c].heading) : 0;
    for (size_t row = 0; row < table->rows; row++) {
        get_row(table, row, cells);
        for (size_t c = 0; c < table->column_count; c++) {
            char tail[32];
            size_t width = utf8_count(cell_look(table->columns[c].kind, &cells[c], tail));
            width += strlen(tail);
            if (table->columns[c].heading && width > widths[c])
                widths[c] = width;
        }
    }
}

static void put_spaces(size_t count, FILE *out)
{
    fprintf(out, "%*s", (int)count, "");
}

/* Puts a cell into its column. *owed is the number of spaces to print before the next text: no line
 * ends with spaces. */
static void put_cell(const char *text, const char *tail, bool left, size_t width, size_t *owed,
                     FILE *out)
{
    size_t length = utf8_count(text) + strlen(tail);
    size_t padding = width > length ? width - length : 0;
    if (length > 0) {
        put_spaces(*owed + (left ? 0 : padding), out);
        printable_put(text, out);
        fputs(tail, out);
        *owed = left ? padding : 0;
    } else {
        *owed += width;
    }
    *owed += 2;
}

void table_print(const struct table *table, FILE *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, widths);
    size_t owed = 0;
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].heading)
            put_cell(table->columns[c].heading, "", is_left(table->columns[c].kind), widths[c],
                     &owed, out);
    putc('\n', out);
    for (size_t row = 0; row < table->rows && !ferror(out); row++) {
        struct table_cell cells[TABLE_COLUMNS_MAX];
        get_row(table, row, cells);
        owed = 0;
        for (size_t c = 0; c < table->column_count; c++) {
            enum table_kind kind = table->columns[c].kind;
            char tail[32];
            if (table->columns[c].heading) {
                const char *text = cell_look(kind, &cells[c], tail);
                put_cell(text, tail, is_left(kind), widths[c], &owed, out);
            }
        }
        putc('\n', out);
    }
}

/* --- comma separated values ------------------------------------------------------------------ */

/* One field: text, and a tail that needs no quotes. Control characters become '?': terminals show
 * CSV files, too. */
static void put_field(const char *text, const char *tail, FILE *out)
{
    text = PRINTABLE(text);
    if (!strpbrk(text, ",\"")) {
        fprintf(out, "%s%s", text, tail);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    fprintf(out, "%s\"", tail);
}

static void put_csv_cell(enum table_kind kind, const struct table_cell *cell, FILE *out)
{
    char tail[32];
    if (cell->none)
        return;
    if (kind == TABLE_CHANGE)
        fprintf(out, "%" PRId64, (int64_t)cell->number);
    else if (kind == TABLE_SHARE || kind == TABLE_REAL)
        fprintf(out, "%.6g", cell->real);
    else {
        const char *text = cell_look(kind, cell, tail);
        put_field(text, tail, out);
    }
}

void table_print_csv_heading(const struct table *table, FILE *out)
{
    const char *comma = "";
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].key) {
            fputs(comma, out);
            put_field(table->columns[c].key, "", out);
            comma = ",";
        }
    putc('\n', out);
}

void table_print_csv_rows(const struct table *table, FILE *out)
{
    for (size_t row = 0; row < table->rows && !ferror(out); row++) {
        struct table_cell cells[TABLE_COLUMNS_MAX];
        const char *comma = "";
        get_row(table, row, cells);
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].key) {
                fputs(comma, out);
                put_csv_cell(table->columns[c].kind, &cells[c], out);
                comma = ",";
            }
        putc('\n', out);
    }
}

void table_print_csv(const struct table *table, FILE *out)
{
    table_print_csv_heading(table, out);
    table_print_csv_rows(table, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void json_cell(struct json_put *json, const struct table_column *column,
                      const struct table_cell *cell)
{
    char tail[32];
    enum table_kind kind = column->kind;
    const char *text = cell_look(kind, cell, tail);
    json_put_key(json, column->key);
    if (cell->none || (kind == TABLE_TEXT && !cell->text))
        json_put_null(json);
    else if (kind == TABLE_COUNT)
        json_put_integer(json, cell->number);
    else if (kind == TABLE_CHANGE)
        json_put_number(json, "%" PRId64, (int64_t)cell->number);
    else if (kind == TABLE_SHARE || kind == TABLE_REAL)
        json_put_number(json, "%.6g", cell->real);
    else
        json_put_joined(json, text, strlen(text), tail, strlen(tail));
}

void table_json(const struct table *table, const char *key, struct json_put *json)
{
    json_array(json, key);
    for (size_t row = 0; row < table->rows && !json_put_failed(json); row++) {
        struct table_cell cells[TABLE_COLUMNS_MAX];
        get_row(table, row, cells);
        json_put_object(json);
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].key)
                json_cell(json, &table->columns[c], &cells[c]);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}
