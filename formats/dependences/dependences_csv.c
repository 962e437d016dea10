#include "formats/dependences/dependences_columns_internal.h"
#include "formats/dependences/dependences_write_internal.h"

/* clang-format off */
#define PLACE(first, role)                                                                         \
    [(first) + PART_FILE] = {NULL, role "_file", TABLE_TEXT},                                      \
    [(first) + PART_LINE] = {NULL, role "_line", TABLE_COUNT},                                     \
    [(first) + PART_FUNCTION] = {NULL, role "_function", TABLE_TEXT},                              \
    [(first) + PART_MODULE] = {NULL, role "_module", TABLE_TEXT},                                  \
    [(first) + PART_OFFSET] = {NULL, role "_offset", TABLE_ADDRESS},                               \
    [(first) + PART_ADDRESS] = {NULL, role "_address", TABLE_ADDRESS}
/* clang-format on */

const struct table_column dependences_columns[DEPENDENCES_COLUMNS] = {
    [COLUMN_KIND] = {NULL, "kind", TABLE_TEXT},
    [COLUMN_COUNT] = {NULL, "count", TABLE_COUNT},
    [COLUMN_CARRIED] = {NULL, "carried", TABLE_COUNT},
    [COLUMN_LEAST] = {NULL, "distance_least", TABLE_COUNT},
    [COLUMN_MEAN] = {NULL, "distance_mean", TABLE_REAL},
    [COLUMN_GREATEST] = {NULL, "distance_greatest", TABLE_COUNT},
    [COLUMN_SUM] = {NULL, "distance_sum", TABLE_COUNT},
    [COLUMN_AT_LEAST] = {NULL, "distance_at_least", TABLE_COUNT},
    [COLUMN_SINK_THREAD] = {NULL, "sink_thread", TABLE_COUNT},
    [COLUMN_SOURCE_THREAD] = {NULL, "source_thread", TABLE_COUNT},
    PLACE(COLUMN_PLACES + ROLE_SINK * PARTS, "sink"),
    PLACE(COLUMN_PLACES + ROLE_SOURCE * PARTS, "source"),
    PLACE(COLUMN_PLACES + ROLE_TOP_SINK * PARTS, "top_sink"),
    PLACE(COLUMN_PLACES + ROLE_TOP_SOURCE * PARTS, "top_source"),
    PLACE(COLUMN_PLACES + ROLE_LOOP * PARTS, "loop"),
};

static void fill_place(const struct dependences *dependences, uint32_t number,
                       struct table_cell *cells)
{
    if (number == DEPENDENCES_NONE) {
        for (unsigned part = 0; part < PARTS; part++)
            cells[part].none = true;
        return;
    }
    const struct dependence_place *place = &dependences->places[number];
    cells[PART_FILE].text = place->file;
    cells[PART_LINE].number = place->line;
    cells[PART_LINE].none = place->line == 0;
    cells[PART_FUNCTION].text = place->function;
    cells[PART_MODULE].text = place->module;
    cells[PART_OFFSET].number = place->offset;
    cells[PART_OFFSET].none = place->offset == DEPENDENCES_UNKNOWN;
    cells[PART_ADDRESS].number = place->address;
    cells[PART_ADDRESS].none = place->address == DEPENDENCES_UNKNOWN;
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct dependences *dependences = argument;
    const struct dependence *row = &dependences->rows[number];
    const uint32_t places[ROLES] = {
        row->sink, row->source, row->top_sink, row->top_source,
        row->loop == DEPENDENCES_NONE ? DEPENDENCES_NONE : dependences->loops[row->loop].place};
    cells[COLUMN_KIND].text = dependence_kind_names[row->kind];
    cells[COLUMN_COUNT].number = row->count;
    cells[COLUMN_CARRIED].number = row->carried;
    cells[COLUMN_LEAST].number = row->least;
    cells[COLUMN_MEAN].real = dependence_mean(row);
    cells[COLUMN_GREATEST].number = row->greatest;
    cells[COLUMN_SUM].number = row->sum;
    cells[COLUMN_AT_LEAST].number = row->at_least;
    for (unsigned column = COLUMN_LEAST; column <= COLUMN_AT_LEAST; column++)
        cells[column].none = !row->carried;
    cells[COLUMN_SINK_THREAD].number = row->sink_thread;
    cells[COLUMN_SOURCE_THREAD].number = row->source_thread;
    for (unsigned role = 0; role < ROLES; role++)
        fill_place(dependences, places[role], cells + COLUMN_PLACES + role * PARTS);
}

void dependences_write_csv(const struct dependences *dependences, FILE *out)
{
    /* the table's argument is not const; fill_row() only reads it */
    const struct table table = {.columns = dependences_columns,
                                .column_count = DEPENDENCES_COLUMNS,
                                .rows = dependences->row_count,
                                .row = fill_row,
                                .argument = (void *)(uintptr_t)dependences};
    table_print_csv(&table, out);
}
