#include "tools/cache/cache_report_attribution.h"

#include <stdlib.h>
#include <string.h>

/* A row, with its names. */
struct named_row {
    struct attributed counts;
    struct address_name name;
    bool unknown; /* before the first fetch */
};

struct attribution_report {
    const struct cache_report *report;
    struct named_row *rows;
    size_t count;
    uint64_t misses; /* of level 1, of all rows */
};

static int compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (b != NULL) - (a != NULL);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_symbol(const void *a, const void *b)
{
    const struct named_row *one = a, *other = b;
    const int unknown = (int)one->unknown - (int)other->unknown;
    return unknown ? unknown : compare_texts(one->name.symbol, other->name.symbol);
}

static int by_source(const void *a, const void *b)
{
    const struct named_row *one = a, *other = b;
    const int unknown = (int)one->unknown - (int)other->unknown;
    const int files = unknown ? unknown : compare_texts(one->name.file, other->name.file);
    return files ? files : compare_numbers(one->name.line, other->name.line);
}

static int by_misses(const void *a, const void *b)
{
    const struct named_row *one = a, *other = b;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        if (one->counts.misses[level] != other->counts.misses[level])
            return one->counts.misses[level] < other->counts.misses[level] ? 1 : -1;
    if (one->counts.references != other->counts.references)
        return one->counts.references < other->counts.references ? 1 : -1;
    return compare_numbers(one->counts.address, other->counts.address);
}

static void add_counts(struct attributed *sum, const struct attributed *more)
{
    sum->references += more->references;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        sum->misses[level] += more->misses[level];
    sum->address = sum->address < more->address ? sum->address : more->address;
}

/* Makes one row of all rows that compare equal; its address is the lowest. */
static void merge(struct attribution_report *made, int (*compare)(const void *, const void *))
{
    size_t kept = 0;
    qsort(made->rows, made->count, sizeof *made->rows, compare);
    for (size_t i = 0; i < made->count; i++) {
        if (kept > 0 && compare(&made->rows[kept - 1], &made->rows[i]) == 0)
            add_counts(&made->rows[kept - 1].counts, &made->rows[i].counts);
        else
            made->rows[kept++] = made->rows[i];
    }
    made->count = kept;
}

int attribution_report_new(struct attribution_report **made, const struct cache_report *report,
                           struct bt_error *error)
{
    size_t count = 0;
    *made = NULL;
    if (!report->attribution)
        return 0;
    const struct attributed *rows = attribution_rows(report->attribution, &count);
    struct attribution_report *new = calloc(1, sizeof *new);
    if (new)
        new->rows = calloc(count + 1, sizeof *new->rows);
    if (!new || !new->rows) {
        free(new);
        return bt_fail(error, BT_MEMORY, "no memory for the misses of %zu places", count);
    }
    new->report = report;
    for (size_t i = 0; i < count; i++) {
        struct named_row *row = &new->rows[new->count++];
        row->counts = rows[i];
        if (report->by != ATTRIBUTE_BY_PAGE)
            address_names_find(report->names, rows[i].address, &row->name);
    }
    const struct attributed *unknown = attribution_unknown(report->attribution);
    if (unknown->references > 0)
        new->rows[new->count++] = (struct named_row){.counts = *unknown, .unknown = true};
    if (report->by == ATTRIBUTE_BY_SYMBOL || report->by == ATTRIBUTE_BY_SOURCE)
        merge(new, report->by == ATTRIBUTE_BY_SYMBOL ? by_symbol : by_source);
    for (size_t i = 0; i < new->count; i++)
        new->misses += new->rows[i].counts.misses[0];
    qsort(new->rows, new->count, sizeof *new->rows, by_misses);
    *made = new;
    return 0;
}

void attribution_report_free(struct attribution_report *attribution)
{
    if (!attribution)
        return;
    free(attribution->rows);
    free(attribution);
}

/* The cells that name a row: as many as name_columns. Text says "?" for what is not known, CSV and
 * JSON nothing. */
static size_t name_cells(const struct attribution_report *attribution, const struct named_row *row,
                         struct table_cell *cells)
{
    const char *unknown = row->unknown ? "before the first fetch" : "?";
    const bool named = row->name.symbol != NULL;
    const bool placed = row->name.file != NULL;
    const struct table_cell symbol = {.text = named ? row->name.symbol : unknown,
                                      .number = named ? row->name.symbol_offset : 0};
    const struct table_cell source = {.text = placed ? row->name.file : unknown,
                                      .number = placed ? row->name.line : 0};
    switch (attribution->report->by) {
    case ATTRIBUTE_BY_SYMBOL:
        cells[0].text = symbol.text;
        cells[1].text = row->name.symbol;
        return 2;
    case ATTRIBUTE_BY_SOURCE:
        cells[0] = source;
        cells[1].text = row->name.file;
        cells[2] = (struct table_cell){.number = source.number, .none = !placed};
        /* code without known lines is one row, of many functions */
        cells[3].text = placed ? row->name.symbol : NULL;
        return 4;
    case ATTRIBUTE_BY_INSTRUCTION:
        cells[0] = (struct table_cell){.number = row->counts.address, .none = row->unknown};
        cells[1] = symbol;
        cells[2].text = row->name.symbol;
        cells[3] = source;
        cells[4].text = row->name.file;
        cells[5] = (struct table_cell){.number = source.number, .none = !placed};
        return 6;
    default:
        cells[0].number = row->counts.address;
        return 1;
    }
}

static size_t name_columns(enum attribution_by by, struct table_column *columns)
{
    static const struct table_column symbol[] = {{"SYMBOL", NULL, TABLE_TEXT},
                                                 {NULL, "symbol", TABLE_TEXT}};
    static const struct table_column source[] = {{"SOURCE", NULL, TABLE_LINE},
                                                 {NULL, "file", TABLE_TEXT},
                                                 {NULL, "line", TABLE_COUNT},
                                                 {"SYMBOL", "symbol", TABLE_TEXT}};
    static const struct table_column instruction[] = {{"INSTRUCTION", "address", TABLE_ADDRESS},
                                                      {"SYMBOL", NULL, TABLE_SYMBOL},
                                                      {NULL, "symbol", TABLE_TEXT},
                                                      {"SOURCE", NULL, TABLE_LINE},
                                                      {NULL, "file", TABLE_TEXT},
                                                      {NULL, "line", TABLE_COUNT}};
    static const struct table_column page[] = {{"PAGE", "address", TABLE_ADDRESS}};
    const struct table_column *from = by == ATTRIBUTE_BY_SYMBOL        ? symbol
                                      : by == ATTRIBUTE_BY_SOURCE      ? source
                                      : by == ATTRIBUTE_BY_INSTRUCTION ? instruction
                                                                       : page;
    const size_t count = by == ATTRIBUTE_BY_SYMBOL        ? 2
                         : by == ATTRIBUTE_BY_SOURCE      ? 4
                         : by == ATTRIBUTE_BY_INSTRUCTION ? 6
                                                          : 1;
    memcpy(columns, from, count * sizeof *columns);
    return count;
}

static void attribution_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct attribution_report *attribution = argument;
    const struct named_row *row = &attribution->rows[number];
    const struct hierarchy_settings *settings = &attribution->report->results->settings;
    size_t at = name_cells(attribution, row, cells);
    cells[at++].number = row->counts.references;
    for (unsigned level = 0; level < settings->level_count; level++)
        cells[at++].number = row->counts.misses[level];
    cells[at].none = attribution->misses == 0;
    cells[at].real =
        attribution->misses ? (double)row->counts.misses[0] / (double)attribution->misses : 0;
}

bool attribution_report_table(struct cache_report_table *made,
                              const struct attribution_report *attribution)
{
    static const struct table_column levels[] = {{"L1 MISSES", "l1_misses", TABLE_COUNT},
                                                 {"L2 MISSES", "l2_misses", TABLE_COUNT},
                                                 {"L3 MISSES", "l3_misses", TABLE_COUNT},
                                                 {"L4 MISSES", "l4_misses", TABLE_COUNT}};
    _Static_assert(sizeof levels / sizeof *levels >= CACHE_LEVELS, "a level has no name");
    if (!attribution)
        return false;
    const struct cache_report *report = attribution->report;
    struct table_column *columns = made->columns;
    size_t at = name_columns(report->by, columns);
    columns[at++] = (struct table_column){"REFERENCES", "references", TABLE_COUNT};
    for (unsigned level = 0; level < report->results->settings.level_count; level++)
        columns[at++] = levels[level];
    columns[at++] = (struct table_column){"SHARE", "l1_share", TABLE_SHARE};
    made->table = (struct table){.columns = columns,
                                 .column_count = at,
                                 .rows = report->rows && attribution->count > report->rows
                                             ? report->rows
                                             : attribution->count,
                                 .row = attribution_row,
                                 .argument = (void *)(uintptr_t)attribution};
    return true;
}
