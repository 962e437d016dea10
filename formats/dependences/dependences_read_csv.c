#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_judge_internal.h"
#include "formats/dependences/dependences_read.h"
#include "formats/text/json_scan.h"
#include "formats/text/text_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST ((size_t)3 * ROLES * 2 * DEPENDENCES_NAME_BYTES + 4096) /* bytes of a line */

struct csv_rows {
    struct dependences_judge judge;
    char where[DEPENDENCES_WHERE_BYTES]; /* the current line */
    const char *fields[DEPENDENCES_COLUMNS];
    char copy[LONGEST + 1];
};

static void fail(struct csv_rows *csv, const char *what, const char *problem)
{
    dependences_failures_add(csv->judge.failures, DEPENDENCES_RULE_FORMAT, csv->where, "%s %s",
                             what, problem);
}

/* --- fields ------------------------------------------------------------------------------------
 */

/* Ends the field at *at, which is in quotes or not, and moves *at to the next one, NULL at the end.
 * NULL: the quotes are wrong. */
static const char *take_field(char **at)
{
    char *text = *at, *to = *at, *end;
    if (*text != '"') {
        end = text + strcspn(text, ",\"");
        if (*end == '"')
            return NULL;
        *at = *end ? end + 1 : NULL;
        *end = 0;
        return text;
    }
    bool is_closed = false;
    for (end = text + 1; *end; end++) {
        is_closed = *end == '"' && *++end != '"';
        if (is_closed)
            break;
        *to++ = *end;
    }
    if (!is_closed || (*end && *end != ','))
        return NULL;
    *at = *end ? end + 1 : NULL;
    *to = 0;
    return text;
}

/* Splits the line. False, and a failure, if it does not have all fields. */
static bool split(struct csv_rows *csv, const struct text_line *line)
{
    size_t size = line->size;
    unsigned count = 0;
    if (line->is_cut || memchr(line->text, 0, size)) {
        fail(csv, "the line", line->is_cut ? "is too long" : "has a NUL character");
        return false;
    }
    memcpy(csv->copy, line->text, size + 1);
    if (size > 0 && csv->copy[size - 1] == '\r')
        csv->copy[size - 1] = 0;
    for (char *at = csv->copy; at && count < DEPENDENCES_COLUMNS + 1; count++) {
        const char *field = take_field(&at);
        if (!field) {
            fail(csv, "a field", "has quotes within, or does not end");
            return false;
        }
        if (count < DEPENDENCES_COLUMNS)
            csv->fields[count] = field;
    }
    if (count != DEPENDENCES_COLUMNS)
        fail(csv, "the line",
             count < DEPENDENCES_COLUMNS ? "has too few fields" : "has too many fields");
    return count == DEPENDENCES_COLUMNS;
}

/* --- values ------------------------------------------------------------------------------------
 */

/* A decimal number up to maximum; `empty` for an empty field. */
static bool take_number(struct csv_rows *csv, unsigned column, uint64_t maximum, uint64_t empty,
                        uint64_t *number)
{
    const char *text = csv->fields[column];
    *number = empty;
    if (*text == 0 && empty != DEPENDENCES_UNKNOWN)
        return true;
    if (json_scan_decimal(text, strlen(text), number) && *text && *number <= maximum)
        return true;
    fail(csv, dependences_columns[column].key, "is not a valid number");
    return false;
}

/* 0x and hexadecimal digits, or empty. */
static bool take_address(struct csv_rows *csv, unsigned column, uint64_t *address)
{
    const char *text = csv->fields[column];
    *address = DEPENDENCES_UNKNOWN;
    if (*text == 0 ||
        (strncmp(text, "0x", 2) == 0 && json_scan_c_integer(text, strlen(text), address)))
        return true;
    fail(csv, dependences_columns[column].key, "is not a number with 0x");
    return false;
}

/* A place of the row; DEPENDENCES_NONE if its columns are empty. */
static int take_place(struct csv_rows *csv, enum dependences_role role, uint32_t *number,
                      struct bt_error *error)
{
    const unsigned first = COLUMN_PLACES + role * PARTS;
    const char *const *fields = csv->fields + first;
    uint64_t line;
    struct dependence_place place = {.file = fields[PART_FILE],
                                     .function = fields[PART_FUNCTION],
                                     .module = fields[PART_MODULE]};
    *number = DEPENDENCES_NONE;
    if (!take_number(csv, first + PART_LINE, UINT32_MAX, 0, &line) ||
        !take_address(csv, first + PART_OFFSET, &place.offset) ||
        !take_address(csv, first + PART_ADDRESS, &place.address))
        return BT_DATA;
    place.line = (uint32_t)line;
    dependences_judge_place(&csv->judge, csv->where, &place);
    int result = dependences_add_place(csv->judge.dependences, &place, number, error);
    if (result < 0)
        return result;
    if (role >= ROLE_TOP_SINK &&
        dependence_place_is_unknown(&csv->judge.dependences->places[*number]))
        *number = DEPENDENCES_NONE;
    return 0;
}

static int take_places(struct csv_rows *csv, struct dependence *row, struct bt_error *error)
{
    uint32_t places[ROLES];
    int result = 0;
    for (unsigned role = 0; role < ROLES && result == 0; role++)
        result = take_place(csv, (enum dependences_role)role, &places[role], error);
    if (result < 0)
        return result;
    row->sink = places[ROLE_SINK];
    row->source = places[ROLE_SOURCE];
    row->top_sink = places[ROLE_TOP_SINK];
    row->top_source = places[ROLE_TOP_SOURCE];
    row->loop = DEPENDENCES_NONE;
    if (places[ROLE_LOOP] == DEPENDENCES_NONE)
        return 0;
    const struct dependence_loop loop = {.place = places[ROLE_LOOP]};
    return dependences_add_loop(csv->judge.dependences, &loop, &row->loop, error);
}

static bool take_kind(struct csv_rows *csv, enum dependence_kind *kind)
{
    for (unsigned i = 0; i < DEPENDENCE_KINDS; i++)
        if (strcmp(csv->fields[COLUMN_KIND], dependence_kind_names[i]) == 0) {
            *kind = (enum dependence_kind)i;
            return true;
        }
    dependences_failures_add(csv->judge.failures, DEPENDENCES_RULE_KIND, csv->where,
                             "kind %s is not RAW, WAR or WAW", csv->fields[COLUMN_KIND]);
    return false;
}

static bool take_mean(struct csv_rows *csv, double *mean)
{
    const char *text = csv->fields[COLUMN_MEAN];
    char *end;
    *mean = strtod(text, &end);
    if (strspn(text, "0123456789.e+-") == strlen(text) && *end == 0)
        return true;
    fail(csv, dependences_columns[COLUMN_MEAN].key, "is not a valid number");
    return false;
}

static bool take_counts(struct csv_rows *csv, struct dependences_read_row *read)
{
    struct dependence *row = &read->row;
    uint64_t carried, at_least, sink_thread, source_thread;
    if (!take_kind(csv, &row->kind) ||
        !take_number(csv, COLUMN_COUNT, UINT64_MAX, DEPENDENCES_UNKNOWN, &row->count) ||
        !take_number(csv, COLUMN_CARRIED, 1, DEPENDENCES_UNKNOWN, &carried) ||
        !take_number(csv, COLUMN_LEAST, UINT64_MAX, 0, &row->least) ||
        !take_number(csv, COLUMN_GREATEST, UINT64_MAX, 0, &row->greatest) ||
        !take_number(csv, COLUMN_SUM, UINT64_MAX, 0, &row->sum) ||
        !take_number(csv, COLUMN_AT_LEAST, 1, 0, &at_least) ||
        !take_number(csv, COLUMN_SINK_THREAD, UINT32_MAX, DEPENDENCES_UNKNOWN, &sink_thread) ||
        !take_number(csv, COLUMN_SOURCE_THREAD, UINT32_MAX, DEPENDENCES_UNKNOWN, &source_thread) ||
        !take_mean(csv, &read->mean))
        return false;
    for (unsigned column = COLUMN_LEAST; column <= COLUMN_AT_LEAST; column++)
        read->distances += csv->fields[column][0] != 0;
    row->carried = carried;
    row->at_least = at_least;
    row->sink_thread = (uint32_t)sink_thread;
    row->source_thread = (uint32_t)source_thread;
    return true;
}

/* --- lines -------------------------------------------------------------------------------------
 */

/* 0, also for a line that is none; BT_MEMORY. */
static int take_row(struct csv_rows *csv, const struct text_line *line, struct bt_error *error)
{
    struct dependences_read_row read = {.distances = 0};
    if (!line->has_newline)
        fail(csv, "the line", "has no end");
    if (!split(csv, line) || !take_counts(csv, &read))
        return 0;
    int result = take_places(csv, &read.row, error);
    if (result == 0)
        result = dependences_judge_row(&csv->judge, csv->where, &read, error);
    return result == BT_DATA ? 0 : result;
}

static bool take_heading(struct csv_rows *csv, const struct text_line *line)
{
    if (!split(csv, line))
        return false;
    for (unsigned i = 0; i < DEPENDENCES_COLUMNS; i++)
        if (strcmp(csv->fields[i], dependences_columns[i].key) != 0) {
            fail(csv, dependences_columns[i].key, "is not in its place in the heading");
            return false;
        }
    return true;
}

static int take_lines(struct csv_rows *csv, struct text_lines *lines, struct bt_error *error)
{
    struct text_line line;
    int result;
    bool headed = false;
    while ((result = text_lines_next(lines, &line, error)) > 0) {
        snprintf(csv->where, sizeof csv->where, "line %" PRIu64, line.number);
        if (headed)
            result = take_row(csv, &line, error);
        else if (!(headed = take_heading(csv, &line)))
            return 0;
        if (result < 0)
            return result;
    }
    if (result == BT_DATA) /* the compressed data is damaged */
        dependences_failures_add(csv->judge.failures, DEPENDENCES_RULE_FORMAT, "", "%s",
                                 error->message);
    else if (!headed && result == 0)
        fail(csv, "the heading", "is missing");
    return result == BT_DATA ? 0 : result;
}

struct dependences *dependences_read_csv(struct text_reader *reader,
                                         struct dependences_failures *failures,
                                         struct bt_error *error)
{
    struct text_lines *lines = text_lines_new(reader, LONGEST, error);
    struct csv_rows *csv = lines ? malloc(sizeof *csv) : NULL;
    struct dependences *dependences = csv ? dependences_new(error) : NULL;
    int result = BT_MEMORY;
    if (dependences) {
        csv->judge = (struct dependences_judge){.dependences = dependences,
                                                .failures = failures,
                                                .kinds = (1u << DEPENDENCE_KINDS) - 1,
                                                .last_count = UINT64_MAX};
        csv->where[0] = 0;
        dependences->totals.kinds = csv->judge.kinds;
        result = take_lines(csv, lines, error);
        dependences_sum_up(dependences);
    } else {
        bt_fail(error, BT_MEMORY, "no memory to read dependences");
    }
    text_lines_free(lines);
    free(csv);
    if (result == 0)
        return dependences;
    dependences_free(dependences);
    return NULL;
}
