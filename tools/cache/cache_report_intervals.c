#include "tools/cache/cache_report_intervals.h"

#include <string.h>

#define CACHE_COLUMNS 3u

/* The columns of a cache: unified, instruction, data. */
#define LEVEL_COLUMNS(level)                                                                       \
    {                                                                                              \
        {{NULL, "l" level "_references", TABLE_COUNT},                                             \
         {"L" level " MISSES", "l" level "_misses", TABLE_COUNT},                                  \
         {"L" level " RATIO", "l" level "_miss_ratio", TABLE_SHARE}},                              \
            {{NULL, "l" level "i_references", TABLE_COUNT},                                        \
             {"L" level "I MISSES", "l" level "i_misses", TABLE_COUNT},                            \
             {"L" level "I RATIO", "l" level "i_miss_ratio", TABLE_SHARE}},                        \
        {                                                                                          \
            {NULL, "l" level "d_references", TABLE_COUNT},                                         \
                {"L" level "D MISSES", "l" level "d_misses", TABLE_COUNT},                         \
                {"L" level "D RATIO", "l" level "d_miss_ratio", TABLE_SHARE},                      \
        }                                                                                          \
    }

static const struct table_column cache_columns[][1 + CACHE_SIDES][CACHE_COLUMNS] = {
    LEVEL_COLUMNS("1"), LEVEL_COLUMNS("2"), LEVEL_COLUMNS("3"), LEVEL_COLUMNS("4")};
_Static_assert(sizeof cache_columns / sizeof *cache_columns >= CACHE_LEVELS, "a level has no name");

static void interval_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct cache_report *report = argument;
    const struct cache_results *results = report->results;
    const struct interval *interval = &results->intervals.intervals[number];
    size_t at = 0;
    cells[at++].number = interval->first_record;
    cells[at++].number = interval->first_tick;
    cells[at].none = report->clock_hz == 0;
    cells[at].real = report->clock_hz ? (double)interval->first_tick / (double)report->clock_hz : 0;
    cells[at + 1].real = cells[at].real * 1e3;
    at += 2;
    cells[at++].number = interval->records;
    for (unsigned level = 0; level < results->settings.level_count; level++)
        for (unsigned side = 0; side < (results->settings.levels[level].split ? CACHE_SIDES : 1u);
             side++) {
            const struct interval_level *counts = &interval->levels[level][side];
            cells[at++].number = counts->references;
            cells[at++].number = counts->misses;
            cells[at].none = counts->references == 0;
            cells[at++].real =
                counts->references ? (double)counts->misses / (double)counts->references : 0;
        }
    cells[at++].number = interval->memory_references;
    cells[at].number = interval->memory_bytes;
}

bool cache_report_intervals_table(struct cache_report_table *made,
                                  const struct cache_report *report)
{
    const struct hierarchy_settings *settings = &report->results->settings;
    struct table_column *columns = made->columns;
    size_t at = 0;
    columns[at++] = (struct table_column){"RECORD", "first_record", TABLE_COUNT};
    columns[at++] = (struct table_column){"TICK", "first_tick", TABLE_COUNT};
    columns[at++] = (struct table_column){NULL, "seconds", TABLE_REAL};
    columns[at++] =
        (struct table_column){report->clock_hz ? "MILLISECONDS" : NULL, NULL, TABLE_REAL};
    columns[at++] = (struct table_column){"RECORDS", "records", TABLE_COUNT};
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++) {
            memcpy(columns + at, cache_columns[level][settings->levels[level].split ? side + 1 : 0],
                   sizeof cache_columns[level][0]);
            at += CACHE_COLUMNS;
        }
    columns[at++] = (struct table_column){"MEMORY", "memory_references", TABLE_COUNT};
    columns[at++] = (struct table_column){"BYTES", "memory_bytes", TABLE_COUNT};
    made->table = (struct table){.columns = columns,
                                 .column_count = at,
                                 .rows = report->results->intervals.count,
                                 .row = interval_row,
                                 .argument = (void *)(uintptr_t)report};
    return made->table.rows > 0;
}
