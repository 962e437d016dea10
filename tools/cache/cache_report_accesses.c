#include "tools/cache/cache_report_accesses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Accesses of one processor to the same bytes by the same source line. */
struct access_row {
    struct line_access counts; /* instruction: the one with the lowest address */
    struct address_name data;
    struct address_name code;
};

struct accesses_report {
    struct access_row *rows;
    size_t count;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_line(const void *key, const void *row)
{
    return compare_numbers(*(const uint32_t *)key, ((const struct line_access *)row)->line);
}

/* Instructions of one source line are alike; one without a source line is only like itself. */
static int compare_places(const struct access_row *one, const struct access_row *other)
{
    if (!one->code.file || !other->code.file)
        return one->code.file || other->code.file
                   ? compare_numbers(one->code.file != NULL, other->code.file != NULL)
                   : compare_numbers(one->counts.instruction, other->counts.instruction);
    const int files = strcmp(one->code.file, other->code.file);
    return files ? files : compare_numbers(one->code.line, other->code.line);
}

static int by_place(const void *a, const void *b)
{
    const struct access_row *one = a, *other = b;
    const uint32_t left[] = {one->counts.offset, one->counts.bytes, one->counts.processor,
                             one->counts.known};
    const uint32_t right[] = {other->counts.offset, other->counts.bytes, other->counts.processor,
                              other->counts.known};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return compare_numbers(left[i], right[i]);
    return compare_places(one, other);
}

static int busiest_first(const void *a, const void *b)
{
    const struct line_access *one = &((const struct access_row *)a)->counts;
    const struct line_access *other = &((const struct access_row *)b)->counts;
    const int traffic = compare_numbers(other->traffic, one->traffic);
    const int references = traffic ? traffic
                                   : compare_numbers(reference_kinds_sum(other->references),
                                                     reference_kinds_sum(one->references));
    return references ? references : line_access_compare(one, other);
}

static void add_counts(struct line_access *sum, const struct line_access *more)
{
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
        sum->references[kind] += more->references[kind];
    sum->traffic += more->traffic;
    sum->true_sharing += more->true_sharing;
    sum->false_sharing += more->false_sharing;
    if (more->instruction < sum->instruction)
        sum->instruction = more->instruction;
}

/* Makes one row of all that have the same place; returns how many are left. */
static size_t merge(struct access_row *rows, size_t count)
{
    size_t kept = 0;
    qsort(rows, count, sizeof *rows, by_place);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_place(&rows[kept - 1], &rows[i]) == 0)
            add_counts(&rows[kept - 1].counts, &rows[i].counts);
        else
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Appends the rows of one line. 0 or BT_MEMORY. */
static int add_line(struct accesses_report *accesses, const struct cache_report *report,
                    uint32_t line, struct bt_error *error)
{
    const struct cache_results *results = report->results;
    const struct line_access *end = results->accesses + results->access_count;
    const struct line_access *first = bsearch(&line, results->accesses, results->access_count,
                                              sizeof *results->accesses, by_line);
    if (!first)
        return 0;
    while (first > results->accesses && first[-1].line == line)
        first--;
    size_t count = 0;
    while (first + count < end && first[count].line == line)
        count++;
    struct access_row *rows =
        realloc(accesses->rows, (accesses->count + count) * sizeof *accesses->rows);
    if (!rows)
        return bt_fail(error, BT_MEMORY, "no memory for the accesses of lines");
    accesses->rows = rows;
    rows += accesses->count;
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct access_row){.counts = first[i]};
        address_names_find(report->names, line + first[i].offset, &rows[i].data);
        if (first[i].known)
            address_names_find(report->names, first[i].instruction, &rows[i].code);
    }
    count = merge(rows, count);
    qsort(rows, count, sizeof *rows, busiest_first);
    accesses->count += count < report->accesses ? count : report->accesses;
    return 0;
}

int accesses_report_new(struct accesses_report **made, const struct cache_report_tables *tables,
                        struct bt_error *error)
{
    const struct cache_report *report = tables->report;
    const size_t lines =
        report->lines < report->results->line_count ? report->lines : report->results->line_count;
    *made = NULL;
    if (!report->results->settings.accesses)
        return 0;
    struct accesses_report *new = calloc(1, sizeof *new);
    if (!new)
        return bt_fail(error, BT_MEMORY, "no memory for the accesses of lines");
    int result = 0;
    for (size_t i = 0; i < lines && result == 0 && report->results->access_count > 0; i++)
        result = add_line(new, report, tables->lines[i].address, error);
    if (result == 0)
        *made = new;
    else
        accesses_report_free(new);
    return result;
}

void accesses_report_free(struct accesses_report *accesses)
{
    if (!accesses)
        return;
    free(accesses->rows);
    free(accesses);
}

enum access_column {
    COLUMN_LINE,
    COLUMN_PROCESSOR,
    COLUMN_OFFSET,
    COLUMN_BYTES,
    COLUMN_DATA,
    COLUMN_DATA_SYMBOL,
    COLUMN_DATA_OFFSET,
    COLUMN_FETCHES,
    COLUMN_READS,
    COLUMN_WRITES,
    COLUMN_TRAFFIC,
    COLUMN_TRUE_SHARING,
    COLUMN_FALSE_SHARING,
    COLUMN_INSTRUCTION,
    COLUMN_FUNCTION,
    COLUMN_SYMBOL,
    COLUMN_SOURCE,
    COLUMN_FILE,
    COLUMN_FILE_LINE,
    COLUMNS
};

static void access_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct accesses_report *accesses = argument;
    const struct access_row *row = &accesses->rows[number];
    const struct line_access *counts = &row->counts;
    const bool placed = row->code.file != NULL;
    cells[COLUMN_LINE].number = counts->line;
    cells[COLUMN_PROCESSOR].number = counts->processor;
    cells[COLUMN_OFFSET].number = counts->offset;
    cells[COLUMN_BYTES].number = counts->bytes;
    cells[COLUMN_DATA] =
        (struct table_cell){.text = row->data.symbol, .number = row->data.symbol_offset};
    cells[COLUMN_DATA_SYMBOL] = cells[COLUMN_DATA];
    cells[COLUMN_DATA_OFFSET] =
        (struct table_cell){.number = row->data.symbol_offset, .none = !row->data.symbol};
    cells[COLUMN_FETCHES].number = counts->references[REFERENCE_FETCH];
    cells[COLUMN_READS].number = counts->references[REFERENCE_READ];
    cells[COLUMN_WRITES].number = counts->references[REFERENCE_WRITE];
    cells[COLUMN_TRAFFIC].number = counts->traffic;
    cells[COLUMN_TRUE_SHARING].number = counts->true_sharing;
    cells[COLUMN_FALSE_SHARING].number = counts->false_sharing;
    cells[COLUMN_INSTRUCTION] =
        (struct table_cell){.number = counts->instruction, .none = !counts->known};
    /* a row with a source line may have several instructions */
    cells[COLUMN_FUNCTION] = (struct table_cell){.text = row->code.symbol,
                                                 .number = placed ? 0 : row->code.symbol_offset};
    cells[COLUMN_SYMBOL] = cells[COLUMN_FUNCTION];
    cells[COLUMN_SOURCE] = (struct table_cell){.text = row->code.file, .number = row->code.line};
    cells[COLUMN_FILE] = cells[COLUMN_SOURCE];
    cells[COLUMN_FILE_LINE] = (struct table_cell){.number = row->code.line, .none = !placed};
}

bool accesses_report_table(struct cache_report_table *made, const struct accesses_report *accesses)
{
    static const struct table_column columns[COLUMNS] = {
        [COLUMN_LINE] = {"LINE", "line_address", TABLE_ADDRESS},
        [COLUMN_PROCESSOR] = {"PROCESSOR", "processor", TABLE_COUNT},
        [COLUMN_OFFSET] = {"OFFSET", "offset", TABLE_COUNT},
        [COLUMN_BYTES] = {"BYTES", "bytes", TABLE_COUNT},
        [COLUMN_DATA] = {"DATA", NULL, TABLE_SYMBOL},
        [COLUMN_DATA_SYMBOL] = {NULL, "data", TABLE_TEXT},
        [COLUMN_DATA_OFFSET] = {NULL, "data_offset", TABLE_COUNT},
        [COLUMN_FETCHES] = {"FETCHES", "fetches", TABLE_COUNT},
        [COLUMN_READS] = {"READS", "reads", TABLE_COUNT},
        [COLUMN_WRITES] = {"WRITES", "writes", TABLE_COUNT},
        [COLUMN_TRAFFIC] = {"TRAFFIC", "traffic", TABLE_COUNT},
        [COLUMN_TRUE_SHARING] = {"TRUE SHARING", "true_sharing", TABLE_COUNT},
        [COLUMN_FALSE_SHARING] = {"FALSE SHARING", "false_sharing", TABLE_COUNT},
        [COLUMN_INSTRUCTION] = {"INSTRUCTION", "instruction", TABLE_ADDRESS},
        [COLUMN_FUNCTION] = {"SYMBOL", NULL, TABLE_SYMBOL},
        [COLUMN_SYMBOL] = {NULL, "symbol", TABLE_TEXT},
        [COLUMN_SOURCE] = {"SOURCE", NULL, TABLE_LINE},
        [COLUMN_FILE] = {NULL, "file", TABLE_TEXT},
        [COLUMN_FILE_LINE] = {NULL, "line", TABLE_COUNT}};
    _Static_assert(COLUMNS <= TABLE_COLUMNS_MAX, "too many columns");
    if (!accesses)
        return false;
    memcpy(made->columns, columns, sizeof columns);
    made->table = (struct table){.columns = made->columns,
                                 .column_count = COLUMNS,
                                 .rows = accesses->count,
                                 .row = access_row,
                                 .argument = (void *)(uintptr_t)accesses};
    return true;
}

void accesses_report_hide_empty(struct cache_report_table *made)
{
    cache_report_table_hide_zeros(made, COLUMN_BYTES);
}

void accesses_report_note(const struct cache_report *report, FILE *out)
{
    const uint64_t least = report->results->accesses_least;
    if (least > 1)
        fprintf(out,
                "bustap: there are more than %u kinds of accesses: those of a line are counted "
                "only once its traffic has reached %" PRIu64 "; -f or --time select less\n",
                LINE_ACCESSES_MAX, least);
}
