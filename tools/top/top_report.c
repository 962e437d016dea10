#include "tools/top/top_report.h"

#include "formats/text/table.h"
#include "tools/common/json_report.h"

#include <inttypes.h>

#define PROCESSORS_BYTES 200u
#define TYPE_BYTES       8u

/* Columns that follow those of the key. */
enum column {
    COUNT,
    ERROR,
    RATE,
    SHARE,
    CUMULATIVE,
    READS,
    WRITES,
    FETCHES,
    OTHERS,
    PROCESSORS,
    FIRST,
    LAST,
    NAME,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COUNT] = {"COUNT", "count", TABLE_COUNT},
    [ERROR] = {"ERROR", "error", TABLE_COUNT},
    [SHARE] = {"SHARE", "share", TABLE_SHARE},
    [CUMULATIVE] = {"CUMULATIVE", "cumulative", TABLE_SHARE},
    [RATE] = {"PER SECOND", "per_second", TABLE_COUNT},
    [READS] = {"READS", "reads", TABLE_COUNT},
    [WRITES] = {"WRITES", "writes", TABLE_COUNT},
    [FETCHES] = {"FETCHES", "fetches", TABLE_COUNT},
    [OTHERS] = {"OTHERS", "others", TABLE_COUNT},
    [PROCESSORS] = {"PROCESSORS", "processors", TABLE_TEXT},
    [FIRST] = {"FIRST", "first_tick", TABLE_COUNT},
    [LAST] = {"LAST", "last_tick", TABLE_COUNT},
    [NAME] = {"SYMBOL", "name", TABLE_SYMBOL}};

static const struct table_column fields[TOP_FIELDS] = {
    [TOP_ADDRESS] = {"ADDRESS", "address", TABLE_ADDRESS},
    [TOP_LINE] = {"LINE", "line", TABLE_ADDRESS},
    [TOP_PAGE] = {"PAGE", "page", TABLE_ADDRESS},
    [TOP_INSTRUCTION] = {"INSTRUCTION", "instruction", TABLE_ADDRESS},
    [TOP_PROCESSOR] = {"PROCESSOR", "processor", TABLE_COUNT},
    [TOP_TYPE] = {"TYPE", "type", TABLE_TEXT},
    [TOP_SYMBOL] = {"SYMBOL", "symbol", TABLE_TEXT},
    [TOP_FUNCTION] = {"FUNCTION", "function", TABLE_TEXT},
    [TOP_SOURCE] = {"SOURCE", "source", TABLE_LINE}};

/* The rows and columns of a table. */
struct look {
    const struct top_report *report;
    struct table_column columns[TOP_FIELDS + COLUMNS];
    enum column shown[COLUMNS]; /* after the key's columns */
    size_t count;               /* of shown */
    size_t row;                 /* the row for which sum is up to date, plus 1 */
    uint64_t sum;               /* of the counts up to that row */
    char processors[PROCESSORS_BYTES], types[TOP_FIELDS][TYPE_BYTES];
};

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* "0,2-5": the set's numbers. */
static char *put_processors(char text[PROCESSORS_BYTES], uint64_t set)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned first = 0; first <= FREQUENT_PROCESSOR_LAST; first++) {
        unsigned last = first;
        if (!(set >> first & 1))
            continue;
        while (last < FREQUENT_PROCESSOR_LAST && set >> (last + 1) & 1)
            last++;
        used +=
            (size_t)snprintf(text + used, PROCESSORS_BYTES - used, "%s%u", used ? "," : "", first);
        if (last > first)
            used += (size_t)snprintf(text + used, PROCESSORS_BYTES - used, "-%u", last);
        if (last == FREQUENT_PROCESSOR_LAST)
            snprintf(text + used, PROCESSORS_BYTES - used, "+");
        first = last;
    }
    return text;
}

/* --- cells --- */

static void fill_field(struct look *look, unsigned i, const struct top_row *row,
                       struct table_cell *cell)
{
    const struct top_key *key = look->report->key;
    const uint32_t value = top_key_value(key, row->number, i);
    uint32_t line = 0;
    switch (key->fields[i]) {
    case TOP_TYPE:
        cell->text = request_type_name((uint8_t)value);
        if (!cell->text) {
            snprintf(look->types[i], TYPE_BYTES, "0x%02x", value & 0xff);
            cell->text = look->types[i];
        }
        break;
    case TOP_SYMBOL:
    case TOP_FUNCTION:
        cell->text = places_symbol(key->places, value);
        cell->none = !cell->text;
        break;
    case TOP_SOURCE:
        cell->text = places_source(key->places, value, &line);
        cell->number = line;
        cell->none = !cell->text;
        break;
    default:
        cell->number = value;
    }
}

/* The name of the row's first address. */
static void fill_name(const struct look *look, const struct top_row *row, struct table_cell *cell)
{
    const struct top_key *key = look->report->key;
    struct address_name name = {.symbol = NULL};
    for (unsigned i = 0; i < key->count && !name.symbol; i++) {
        const enum top_field field = key->fields[i];
        if (field <= TOP_INSTRUCTION)
            places_name(look->report->places, top_key_value(key, row->number, i),
                        field == TOP_LINE   ? UINT64_C(1) << key->line_shift
                        : field == TOP_PAGE ? UINT64_C(1) << key->page_shift
                                            : 1,
                        &name);
    }
    cell->text = name.symbol;
    cell->number = name.symbol_offset;
    cell->none = !name.symbol;
}

static void fill_cell(struct look *look, enum column column, const struct top_row *row,
                      struct table_cell *cell)
{
    const struct top_report *report = look->report;
    const uint64_t all = report->snapshot->totals.touched;
    const uint64_t numbers[COLUMNS] = {[COUNT] = row->count,
                                       [ERROR] = row->error,
                                       [READS] = row->kinds[REFERENCE_READ],
                                       [WRITES] = row->kinds[REFERENCE_WRITE],
                                       [FETCHES] = row->kinds[REFERENCE_FETCH],
                                       [OTHERS] = row->kinds[REFERENCE_NONE],
                                       [FIRST] = row->first_tick,
                                       [LAST] = row->last_tick};
    cell->number = numbers[column];
    if (column == SHARE)
        cell->real = share(row->count, all);
    else if (column == CUMULATIVE)
        cell->real = share(look->sum < all ? look->sum : all, all);
    else if (column == RATE)
        cell->number = (uint64_t)((double)row->recent / report->seconds + 0.5);
    else if (column == PROCESSORS)
        cell->text = put_processors(look->processors, row->processors);
    else if (column == NAME)
        fill_name(look, row, cell);
}

/* Sums the counts up to a row; rows are asked for in order, perhaps more than once. */
static void sum_up_to(struct look *look, size_t row)
{
    if (row + 1 < look->row || row == 0)
        look->row = look->sum = 0;
    while (look->row <= row)
        look->sum += look->report->snapshot->rows[look->row++].count;
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    struct look *look = argument;
    const struct top_row *row = &look->report->snapshot->rows[number];
    const unsigned keys = look->report->key->count;
    sum_up_to(look, number);
    for (unsigned i = 0; i < keys; i++)
        fill_field(look, i, row, &cells[i]);
    for (size_t i = 0; i < look->count; i++)
        fill_cell(look, look->shown[i], row, &cells[keys + i]);
}

/* --- the table --- */

/* Whether a column says something. CSV and JSON have all columns that the options imply. */
static bool is_shown(const struct top_report *report, enum column column, bool text)
{
    const struct top_key *key = report->key;
    switch (column) {
    case ERROR:
        return report->entries > 0;
    case RATE:
        return report->seconds > 0;
    case FIRST:
    case LAST:
        return !text;
    case OTHERS:
        return !text || (!top_key_is_place(key) && !top_key_has(key, TOP_TYPE));
    case PROCESSORS:
        return !text || !top_key_has(key, TOP_PROCESSOR);
    case READS:
    case WRITES:
    case FETCHES:
        return !text || !top_key_has(key, TOP_TYPE);
    case NAME:
        return report->places && (top_key_has(key, TOP_ADDRESS) || top_key_has(key, TOP_LINE) ||
                                  top_key_has(key, TOP_PAGE) || top_key_has(key, TOP_INSTRUCTION));
    default:
        return true;
    }
}

static struct table look_at(struct look *look, const struct top_report *report, bool text)
{
    const unsigned keys = report->key->count;
    *look = (struct look){.report = report};
    for (unsigned i = 0; i < keys; i++)
        look->columns[i] = fields[report->key->fields[i]];
    for (enum column column = COUNT; column < COLUMNS; column++) {
        if (!is_shown(report, column, text))
            continue;
        look->columns[keys + look->count] = columns[column];
        if (column == NAME && top_key_has(report->key, TOP_SYMBOL))
            look->columns[keys + look->count].heading = "SYMBOL OF ADDRESS";
        look->shown[look->count++] = column;
    }
    return (struct table){.columns = look->columns,
                          .column_count = keys + look->count,
                          .rows = report->snapshot->count,
                          .row = fill_row,
                          .argument = look};
}

void top_report_table(const struct top_report *report, size_t rows, FILE *out)
{
    struct look look;
    struct table table = look_at(&look, report, true);
    if (table.rows > rows)
        table.rows = rows;
    table_print(&table, out);
}

void top_report_csv(const struct top_report *report, FILE *out)
{
    struct look look;
    const struct table table = look_at(&look, report, false);
    table_print_csv(&table, out);
}

/* --- the whole --- */

/* "lines of 64 bytes", "addresses", "combinations of line and processor". */
static void put_keys(const struct top_report *report, FILE *out)
{
    static const char *const plural[TOP_FIELDS] = {"addresses",    "lines",      "pages",
                                                   "instructions", "processors", "types",
                                                   "symbols",      "functions",  "source lines"};
    const struct top_key *key = report->key;
    for (unsigned i = 0; i < key->count; i++) {
        fputs(i == 0 ? "" : i + 1 < key->count ? ", " : " and ", out);
        fputs(key->count == 1 ? plural[key->fields[i]] : top_field_name(key->fields[i]), out);
        if (key->fields[i] == TOP_LINE)
            fprintf(out, " of %" PRIu64 " bytes", UINT64_C(1) << key->line_shift);
        else if (key->fields[i] == TOP_PAGE)
            fprintf(out, " of %" PRIu64 " bytes", UINT64_C(1) << key->page_shift);
    }
}

void top_report_text(const struct top_report *report, FILE *out)
{
    const struct top_totals *totals = &report->snapshot->totals;
    char only[RECORD_INPUT_ONLY_BYTES];
    fprintf(out, "%" PRIu64 " requests%s", totals->records, record_input_only(only, report->input));
    if (totals->dropped > 0)
        fprintf(out, ", %" PRIu64 " of them no references to memory", totals->dropped);
    if (totals->lost > 0)
        fprintf(out, "; %" PRIu64 " more were lost in the capture", totals->lost);
    if (totals->gaps > 0)
        fprintf(out, "; %" PRIu64 " %s, chosen", totals->gaps, totals->gaps == 1 ? "gap" : "gaps");
    fprintf(out, "\n%zu of %s%" PRIu64 " ", report->snapshot->count,
            totals->threshold > 0 ? "more than " : "", totals->held);
    if (report->key->count > 1)
        fputs("combinations of ", out);
    put_keys(report, out);
    if (totals->threshold > 0)
        fprintf(out, "; counts are at most ERROR too high, others are at most %" PRIu64,
                totals->threshold);
    fputs("\n\n", out);
    top_report_table(report, report->snapshot->count, out);
}

int top_report_json(const struct top_report *report, FILE *out, struct bt_error *error)
{
    const struct top_totals *totals = &report->snapshot->totals;
    const struct top_key *key = report->key;
    struct look look;
    const struct table table = look_at(&look, report, false);
    struct json_put *json = json_report_begin(out);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    record_input_json(json, report->input);
    json_count(json, "requests", totals->records);
    json_count(json, "no_references", totals->dropped);
    json_count(json, "lost", totals->lost);
    json_count(json, "chosen_gaps", totals->gaps);
    json_count(json, "first_tick", totals->first_tick);
    json_count(json, "last_tick", totals->last_tick);
    json_array(json, "by");
    for (unsigned i = 0; i < key->count; i++)
        json_string(json, top_field_name(key->fields[i]));
    json_put_array_end(json);
    json_count(json, "line_bytes", UINT64_C(1) << key->line_shift);
    json_count(json, "page_bytes", UINT64_C(1) << key->page_shift);
    json_count(json, "total", totals->touched);
    json_count(json, "keys", totals->held);
    json_bool(json, "exact", totals->threshold == 0);
    json_count(json, "entries", report->entries);
    json_count(json, "error_max", totals->threshold);
    if (report->seconds > 0)
        json_real(json, "per_second", (double)report->snapshot->recent / report->seconds);
    table_json(&table, "rows", json);
    json_report_end(json);
    return 0;
}
