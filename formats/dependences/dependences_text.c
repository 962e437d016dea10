#include "formats/dependences/dependences_look_internal.h"
#include "formats/dependences/dependences_write_internal.h"
#include "formats/text/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REASONS_BYTES 1024u
#define VERDICT_BYTES 64u

static const char *const things[DEPENDENCES_BYS] = {"instructions", "lines", "functions"};

static void print_summary(const struct dependences *dependences, FILE *out)
{
    const struct dependences_totals *totals = &dependences->totals;
    fprintf(out, "bustap depend: %s: ", totals->program ? totals->program : "(unknown program)");
    if (totals->ended)
        fprintf(out, "%s, ", totals->ended);
    if (totals->instructions != DEPENDENCES_UNKNOWN)
        fprintf(out, "%" PRIu64 " instructions, ", totals->instructions);
    fprintf(out, "%" PRIu64 " references (%" PRIu64 " writes), %" PRIu64 " dependences\n",
            totals->references, totals->writes, totals->count);
}

/* --- loops -------------------------------------------------------------------------------------
 */

enum loop_column {
    LOOP_SHARE,
    LOOP_ENTRIES,
    LOOP_ITERATIONS,
    LOOP_CARRIED,
    LOOP_VERDICT,
    LOOP_PLACE,
    LOOP_REASONS,
    LOOP_COLUMNS
};

static const struct table_column loop_columns[LOOP_COLUMNS] = {
    [LOOP_SHARE] = {"SHARE", NULL, TABLE_SHARE},
    [LOOP_ENTRIES] = {"ENTRIES", NULL, TABLE_COUNT},
    [LOOP_ITERATIONS] = {"ITERATIONS", NULL, TABLE_COUNT},
    [LOOP_CARRIED] = {"CARRIED", NULL, TABLE_TEXT},
    [LOOP_VERDICT] = {"VERDICT", NULL, TABLE_TEXT},
    [LOOP_PLACE] = {"LOOP", NULL, TABLE_TEXT},
    [LOOP_REASONS] = {"REASONS", NULL, TABLE_TEXT},
};

struct loop_listing {
    const struct dependences *dependences;
    const struct dependence_loop **loops;
    char carried[16], verdict[VERDICT_BYTES], place[DEPENDENCES_LOOK_BYTES], reasons[REASONS_BYTES];
};

/* Appends a word after the separator, unless it is the first one; cut off at room bytes. */
static void append(char *text, size_t room, const char *separator, const char *word)
{
    const size_t size = strlen(text);
    snprintf(text + size, room - size, "%s%s", size > 0 ? separator : "", word);
}

static void fill_loop(void *argument, size_t number, struct table_cell *cells)
{
    struct loop_listing *listing = argument;
    const struct dependence_loop *loop = listing->loops[number];
    const uint64_t all = listing->dependences->totals.instructions;
    cells[LOOP_SHARE].none = all == DEPENDENCES_UNKNOWN || all == 0;
    cells[LOOP_SHARE].real = (double)loop->instructions / (double)(all > 0 ? all : 1);
    cells[LOOP_ENTRIES].number = loop->entries;
    cells[LOOP_ITERATIONS].number = loop->iterations;
    listing->carried[0] = listing->reasons[0] = 0;
    for (unsigned kind = 0; kind < DEPENDENCE_KINDS; kind++)
        if (loop->carried >> kind & 1)
            append(listing->carried, sizeof listing->carried, " ", dependence_kind_names[kind]);
    for (size_t i = 0; i < loop->reason_count; i++)
        append(listing->reasons, sizeof listing->reasons, "; ", loop->reasons[i]);
    if (loop->verdict == DEPENDENCE_DISTANCE)
        snprintf(listing->verdict, sizeof listing->verdict, "distance %" PRIu64, loop->distance);
    else
        snprintf(listing->verdict, sizeof listing->verdict, "%s",
                 dependence_verdict_names[loop->verdict]);
    cells[LOOP_CARRIED].text = listing->carried;
    cells[LOOP_VERDICT].text = listing->verdict;
    cells[LOOP_PLACE].text = dependences_look(listing->dependences, loop->place, listing->place);
    cells[LOOP_REASONS].text = listing->reasons;
}

static int print_loops(const struct dependences *dependences, FILE *out)
{
    struct loop_listing listing = {.dependences = dependences};
    size_t count = 0;
    listing.loops = malloc((dependences->loop_count + 1) * sizeof *listing.loops);
    if (!listing.loops)
        return BT_MEMORY;
    for (size_t i = 0; i < dependences->loop_count; i++)
        if (dependences->loops[i].verdict != DEPENDENCE_UNJUDGED)
            listing.loops[count++] = &dependences->loops[i];
    if (count > 0) {
        const struct table table = {.columns = loop_columns,
                                    .column_count = LOOP_COLUMNS,
                                    .rows = count,
                                    .row = fill_loop,
                                    .argument = &listing};
        fprintf(out, "\n%zu %s:\n", count, count == 1 ? "loop" : "loops");
        table_print(&table, out);
    }
    free(listing.loops);
    return 0;
}

/* --- rows --------------------------------------------------------------------------------------
 */

enum row_column {
    ROW_KIND,
    ROW_COUNT,
    ROW_SINK,
    ROW_SOURCE,
    ROW_TOP_SINK,
    ROW_TOP_SOURCE,
    ROW_LOOP,
    ROW_DISTANCE,
    ROW_THREADS,
    ROW_COLUMNS
};

static const struct table_column row_columns[ROW_COLUMNS] = {
    [ROW_KIND] = {"KIND", NULL, TABLE_TEXT},
    [ROW_COUNT] = {"COUNT", NULL, TABLE_COUNT},
    [ROW_SINK] = {"SINK", NULL, TABLE_TEXT},
    [ROW_SOURCE] = {"SOURCE", NULL, TABLE_TEXT},
    [ROW_TOP_SINK] = {"TOP SINK", NULL, TABLE_TEXT},
    [ROW_TOP_SOURCE] = {"TOP SOURCE", NULL, TABLE_TEXT},
    [ROW_LOOP] = {"LOOP", NULL, TABLE_TEXT},
    [ROW_DISTANCE] = {"CARRIED AT", NULL, TABLE_TEXT},
    [ROW_THREADS] = {"THREADS", NULL, TABLE_TEXT},
};

struct row_listing {
    const struct dependences *dependences;
    bool shown[ROW_COLUMNS];
    char places[5][DEPENDENCES_LOOK_BYTES];
    char distance[DEPENDENCES_DISTANCE_BYTES];
    char threads[32];
};

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    struct row_listing *listing = argument;
    const struct dependences *dependences = listing->dependences;
    const struct dependence *row = &dependences->rows[number];
    const uint32_t places[5] = {
        row->sink, row->source, row->top_sink, row->top_source,
        row->loop == DEPENDENCES_NONE ? DEPENDENCES_NONE : dependences->loops[row->loop].place};
    cells[ROW_KIND].text = dependence_kind_names[row->kind];
    cells[ROW_COUNT].number = row->count;
    for (unsigned i = 0; i < 5; i++)
        if (listing->shown[ROW_SINK + i])
            cells[ROW_SINK + i].text = dependences_look(dependences, places[i], listing->places[i]);
    cells[ROW_DISTANCE].text =
        row->carried ? dependences_look_distance(row, listing->distance) : "";
    snprintf(listing->threads, sizeof listing->threads, "%" PRIu32 " from %" PRIu32,
             row->sink_thread, row->source_thread);
    cells[ROW_THREADS].text = listing->threads;
}

/* Columns that would say nothing are not shown. */
static void choose_columns(struct row_listing *listing)
{
    const struct dependences *dependences = listing->dependences;
    listing->shown[ROW_KIND] = listing->shown[ROW_COUNT] = true;
    listing->shown[ROW_SINK] = listing->shown[ROW_SOURCE] = true;
    for (size_t i = 0; i < dependences->row_count; i++) {
        const struct dependence *row = &dependences->rows[i];
        if ((row->top_sink != DEPENDENCES_NONE && row->top_sink != row->sink) ||
            (row->top_source != DEPENDENCES_NONE && row->top_source != row->source))
            listing->shown[ROW_TOP_SINK] = listing->shown[ROW_TOP_SOURCE] = true;
        listing->shown[ROW_LOOP] |= row->loop != DEPENDENCES_NONE;
        listing->shown[ROW_DISTANCE] |= row->carried;
        listing->shown[ROW_THREADS] |= row->sink_thread > 0 || row->source_thread > 0;
    }
}

static void print_rows(const struct dependences *dependences, FILE *out)
{
    struct row_listing listing = {.dependences = dependences};
    struct table_column columns[ROW_COLUMNS];
    choose_columns(&listing);
    for (unsigned i = 0; i < ROW_COLUMNS; i++) {
        columns[i] = row_columns[i];
        if (!listing.shown[i])
            columns[i].heading = NULL;
    }
    const struct table table = {.columns = columns,
                                .column_count = ROW_COLUMNS,
                                .rows = dependences->row_count,
                                .row = fill_row,
                                .argument = &listing};
    const uint64_t rows = dependences->totals.rows;
    fprintf(out, "\n%" PRIu64 " %s of %s:\n", rows, rows == 1 ? "pair" : "pairs",
            things[dependences->totals.by]);
    table_print(&table, out);
    if (rows > dependences->row_count)
        fprintf(out, "and %" PRIu64 " more\n", rows - dependences->row_count);
}

static void print_notes(const struct dependences *dependences, FILE *out)
{
    for (size_t i = 0; i < dependences->note_count; i++)
        fprintf(out, "%s%s: %" PRIu64 "\n", i == 0 ? "\n" : "", dependences->notes[i].text,
                dependences->notes[i].count);
}

int dependences_write_text(const struct dependences *dependences, FILE *out, struct bt_error *error)
{
    print_summary(dependences, out);
    if (print_loops(dependences, out) < 0)
        return bt_fail(error, BT_MEMORY, "no memory to write dependences");
    print_rows(dependences, out);
    print_notes(dependences, out);
    return 0;
}
