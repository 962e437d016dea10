#include "tools/cache/cache_report_times.h"

#include "tools/cache/study/access_time.h"

static void time_row(void *argument, size_t number, struct table_cell *cells)
{
    static const char *const names[] = {"instruction", "data", "all"};
    const struct cache_results *results = ((const struct cache_report *)argument)->results;
    const bool split = results->settings.levels[0].split;
    const struct access_time time = !split || number == CACHE_SIDES
                                        ? access_time_of_all(results)
                                        : access_time_of(results, (enum cache_side)number);
    size_t at = 0;
    cells[at++].text = names[split ? number : CACHE_SIDES];
    cells[at++].number = time.references;
    for (unsigned level = 0; level < results->settings.level_count; level++)
        cells[at++].real = time.level_cycles[level];
    cells[at++].real = time.memory_cycles;
    cells[at].none = time.references == 0;
    cells[at].real = time.cycles;
}

bool cache_report_times_table(struct cache_report_table *made, const struct cache_report *report)
{
    static const struct table_column levels[] = {{"LEVEL 1", "level_1_cycles", TABLE_REAL},
                                                 {"LEVEL 2", "level_2_cycles", TABLE_REAL},
                                                 {"LEVEL 3", "level_3_cycles", TABLE_REAL},
                                                 {"LEVEL 4", "level_4_cycles", TABLE_REAL}};
    const struct hierarchy_settings *settings = &report->results->settings;
    struct table_column *columns = made->columns;
    size_t at = 0;
    columns[at++] = (struct table_column){"ACCESS TIME", "cache", TABLE_TEXT};
    columns[at++] = (struct table_column){"REFERENCES", "references", TABLE_COUNT};
    for (unsigned level = 0; level < settings->level_count; level++)
        columns[at++] = levels[level];
    columns[at++] = (struct table_column){"MEMORY", "memory_cycles", TABLE_REAL};
    columns[at++] = (struct table_column){"CYCLES", "cycles", TABLE_REAL};
    made->table = (struct table){.columns = columns,
                                 .column_count = at,
                                 .rows = settings->levels[0].split ? CACHE_SIDES + 1 : 1,
                                 .row = time_row,
                                 .argument = (void *)(uintptr_t)report};
    return access_time_is_known(settings);
}
