#include "tools/cache/cache_report_tables.h"

#include "tools/cache/optimum_bound.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_AND_ALL (REFERENCE_KINDS + 1u)

/* --- which rows there are --- */

static bool several(const struct cache_results *results, unsigned level)
{
    int first = RESULT_ALL;
    for (size_t i = 0; i < results->cache_count; i++) {
        const struct cache_result *cache = &results->caches[i];
        if (cache->level != level || cache->processor == RESULT_ALL)
            continue;
        if (first != RESULT_ALL && first != cache->processor)
            return true;
        first = cache->processor;
    }
    return false;
}

static bool has_agents(const struct cache_results *results, unsigned level)
{
    for (size_t i = 0; i < results->cache_count; i++)
        if (results->caches[i].level == level && results->caches[i].agent)
            return true;
    return false;
}

static void add_level(struct cache_report_tables *tables, unsigned level)
{
    const struct cache_results *results = tables->report->results;
    const struct cache_level *kind = &results->settings.levels[level];
    for (unsigned side = 0; side < (kind->split ? CACHE_SIDES : 1u); side++) {
        if (several(results, level)) {
            tables->rows[tables->row_count++] = (struct cache_result){
                .level = level,
                .processor = RESULT_ALL,
                .side = (enum cache_side)side,
                .agent = has_agents(results, level),
                .counters = cache_results_sum(results, level, (enum cache_side)side)};
        }
        for (size_t i = 0; i < results->cache_count; i++)
            if (results->caches[i].level == level && results->caches[i].side == side)
                tables->rows[tables->row_count++] = results->caches[i];
    }
}

static int worst_first(const void *a, const void *b)
{
    const struct cache_line_counters *one = a;
    const struct cache_line_counters *other = b;
    uint64_t left = cache_line_traffic(one);
    uint64_t right = cache_line_traffic(other);
    if (left != right)
        return left > right ? -1 : 1;
    return (one->address > other->address) - (one->address < other->address);
}

void cache_report_tables_free(struct cache_report_tables *tables)
{
    free(tables->rows);
    free(tables->shown);
    free(tables->agents);
    free(tables->lines);
}

/* Leaves out kinds without references, such as fetches of a data cache. */
static void show_kinds(struct cache_report_tables *tables, size_t row)
{
    const struct cache_counters *counters = &tables->rows[row].counters;
    for (unsigned kind = 0; kind < KINDS_AND_ALL; kind++)
        if (kind == REFERENCE_KINDS || counters->references[kind] > 0 ||
            counters->prefetches[kind] > 0)
            tables->shown[tables->shown_count++] = row * KINDS_AND_ALL + kind;
}

int cache_report_tables_new(struct cache_report_tables *tables, const struct cache_report *report,
                            struct bt_error *error)
{
    const struct cache_results *results = report->results;
    *tables = (struct cache_report_tables){.report = report};
    size_t rows = results->cache_count + CACHE_LEVELS * CACHE_SIDES;
    tables->rows = calloc(rows, sizeof *tables->rows);
    tables->shown = calloc(rows * KINDS_AND_ALL, sizeof *tables->shown);
    tables->agents = calloc(rows, sizeof *tables->agents);
    tables->lines = calloc(results->line_count + 1, sizeof *tables->lines);
    if (!tables->rows || !tables->shown || !tables->agents || !tables->lines) {
        cache_report_tables_free(tables);
        return bt_fail(error, BT_MEMORY, "no memory for the tables of results");
    }
    for (unsigned level = 0; level < results->settings.level_count; level++)
        add_level(tables, level);
    for (size_t i = 0; i < tables->row_count; i++) {
        if (tables->rows[i].agent)
            tables->agents[tables->agent_count++] = &tables->rows[i];
        show_kinds(tables, i);
    }
    if (results->line_count > 0) {
        memcpy(tables->lines, results->lines, results->line_count * sizeof *tables->lines);
        qsort(tables->lines, results->line_count, sizeof *tables->lines, worst_first);
    }
    return 0;
}

static bool has_prefetchers(const struct cache_report_tables *tables)
{
    const struct hierarchy_settings *settings = &tables->report->results->settings;
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            if (settings->levels[level].sides[side].prefetcher != CACHE_NO_PREFETCHER)
                return true;
    return false;
}

static bool has_signatures(const struct cache_report_tables *tables)
{
    const struct hierarchy_settings *settings = &tables->report->results->settings;
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            if (settings->levels[level].sides[side].replacement == CACHE_SHIP)
                return true;
    return false;
}

/* --- cells --- */

/*
 * Columns that are counters, by their offset. The row of all kinds has the sum of an array by kind.
 */
struct counter_column {
    struct table_column column;
    size_t offset;
};

static uint64_t counter_at(const struct cache_counters *counters, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)counters + offset, sizeof value);
    return value;
}

/* kind REFERENCE_KINDS: the sum of all kinds */
static uint64_t of_kind(const struct cache_counters *counters, size_t offset, unsigned kind)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < REFERENCE_KINDS; i++)
        if (i == kind || kind == REFERENCE_KINDS)
            sum += counter_at(counters, offset + i * sizeof(uint64_t));
    return sum;
}

#define COUNTER(heading, name)                                                                     \
    {                                                                                              \
        {heading, #name, TABLE_COUNT}, offsetof(struct cache_counters, name)                       \
    }

static const struct counter_column by_kind[] = {COUNTER("LINE MISSES", line_misses),
                                                COUNTER("PREFETCHES", prefetches),
                                                COUNTER("PREFETCH MISSES", prefetch_misses),
                                                COUNTER("COMPULSORY", compulsory),
                                                COUNTER("CAPACITY", capacity),
                                                COUNTER("CONFLICT", conflict),
                                                COUNTER("TRUE SHARING", true_sharing),
                                                COUNTER("FALSE SHARING", false_sharing)};
static const struct counter_column by_cache[] = {COUNTER("FILLS", fills),
                                                 COUNTER("BYTES", fill_bytes),
                                                 COUNTER("WRITE-BACKS", write_backs),
                                                 COUNTER("BYTES", write_back_bytes),
                                                 COUNTER("WRITE-THROUGHS", write_throughs),
                                                 COUNTER("BYTES", write_through_bytes),
                                                 COUNTER("SPLIT", split),
                                                 COUNTER("VICTIM HITS", victim_hits),
                                                 COUNTER("INSERTIONS", insertions),
                                                 COUNTER("BACK INVALIDATIONS", back_invalidations)};
static const struct counter_column by_agent[] = {
    COUNTER("INVALIDATIONS", invalidations),
    COUNTER("INTERVENTIONS", interventions),
    COUNTER("UPGRADES", upgrades),
    COUNTER("SNOOP WRITE-BACKS", snoop_write_backs),
    COUNTER("RECEIVED", received),
    COUNTER("CLEAN INTERVENTIONS", clean_interventions),
    COUNTER("DIRTY BYTES", intervention_bytes),
    COUNTER("CLEAN BYTES", clean_intervention_bytes)};
/* of some hierarchies only */
static const struct counter_column by_signature[] = {
    COUNTER("SIGNED BY INSTRUCTION", signed_by_instruction),
    COUNTER("BY REGION", signed_by_region)};
static const struct counter_column by_prefetcher[] = {COUNTER("COVERED", prefetch_covered),
                                                      COUNTER("LATE", prefetch_late),
                                                      COUNTER("USELESS", prefetch_useless)};
#undef COUNTER

static const struct counter_column by_own_kind[] = {
    {{"OWN CAPACITY", "own_capacity", TABLE_COUNT}, offsetof(struct cache_counters, own_capacity)},
    {{"OWN CONFLICT", "own_conflict", TABLE_COUNT}, offsetof(struct cache_counters, own_conflict)}};

#define COUNT(array)   (sizeof(array) / sizeof *(array))
#define NAME_COLUMNS   3u /* level, cache, processor */
#define KIND_COLUMNS   4u /* kind, references, misses, ratio */
#define COHERENCE_KEPT 4u /* columns of agents that text shows although they are empty */
#define NAMED_BYTES    4u /* distance of the bytes of a line whose symbols are looked up */
#define LINES_COLUMNS  12u

static void name_columns(struct table_column *columns)
{
    columns[0] = (struct table_column){"LEVEL", "level", TABLE_COUNT};
    columns[1] = (struct table_column){"CACHE", "cache", TABLE_TEXT};
    columns[2] = (struct table_column){"PROCESSOR", "processor", TABLE_COUNT};
}

static void name_cells(const struct cache_report_tables *tables, const struct cache_result *row,
                       struct table_cell *cells)
{
    static const char *const sides[CACHE_SIDES] = {"instruction", "data"};
    const struct cache_level *level = &tables->report->results->settings.levels[row->level];
    cells[0].number = row->level + 1;
    cells[1].text = level->split ? sides[row->side] : "unified";
    cells[2].none = row->processor == RESULT_ALL;
    cells[2].number = (uint64_t)(cells[2].none ? 0 : row->processor);
}

static void kind_cells(const struct cache_counters *counters, unsigned kind,
                       struct table_cell *cells)
{
    uint64_t references = of_kind(counters, offsetof(struct cache_counters, references), kind);
    uint64_t misses = of_kind(counters, offsetof(struct cache_counters, misses), kind);
    cells[0].text = kind < REFERENCE_KINDS ? reference_kind_name((enum reference_kind)kind) : "all";
    cells[1].number = references;
    cells[2].number = misses;
    cells[3].none = references == 0;
    cells[3].real = references ? (double)misses / (double)references : 0;
    for (size_t i = 0; i < COUNT(by_kind); i++)
        cells[KIND_COLUMNS + i].number = of_kind(counters, by_kind[i].offset, kind);
}

/* Columns of kinds of misses by the caches' own policies: 0, if there are none. */
static size_t own_columns(const struct cache_report_tables *tables)
{
    const struct hierarchy_settings *settings = &tables->report->results->settings;
    for (unsigned level = 0; level < settings->level_count; level++)
        if (hierarchy_has_own_kinds(settings, level, CACHE_INSTRUCTION) ||
            hierarchy_has_own_kinds(settings, level, CACHE_DATA))
            return COUNT(by_own_kind);
    return 0;
}

static size_t bound_columns(const struct cache_report_tables *tables)
{
    struct table_column columns[OPTIMUM_BOUND_COLUMNS];
    return optimum_bound_columns(&tables->report->results->settings, columns);
}

static void miss_row(void *argument, size_t shown, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    size_t number = tables->shown[shown];
    const struct cache_result *row = &tables->rows[number / KINDS_AND_ALL];
    name_cells(tables, row, cells);
    const struct hierarchy_settings *settings = &tables->report->results->settings;
    const unsigned kind = (unsigned)(number % KINDS_AND_ALL);
    kind_cells(&row->counters, kind, cells + NAME_COLUMNS);
    size_t at = NAME_COLUMNS + KIND_COLUMNS + COUNT(by_kind);
    for (size_t i = 0; i < own_columns(tables); i++, at++) {
        cells[at].number = of_kind(&row->counters, by_own_kind[i].offset, kind);
        cells[at].none = !hierarchy_has_own_kinds(settings, row->level, row->side);
    }
    if (bound_columns(tables) == 0)
        return;
    const struct optimum_bound bound =
        optimum_bound(settings, row->level, row->side, &row->counters, kind);
    optimum_bound_cells(&bound, settings,
                        of_kind(&row->counters, offsetof(struct cache_counters, references), kind),
                        cells + at);
}

/* Counters of a whole cache. */
static size_t put_counters(const struct cache_counters *counters,
                           const struct counter_column *columns, size_t count,
                           struct table_cell *cells, size_t at)
{
    for (size_t i = 0; i < count; i++)
        cells[at + i].number = counter_at(counters, columns[i].offset);
    return at + count;
}

/* The use of a cache's prefetches, and what they add to its traffic. */
static size_t put_prefetcher(const struct cache_report_tables *tables,
                             const struct cache_result *row, struct table_cell *cells, size_t at)
{
    const struct cache_counters *counters = &row->counters;
    const struct cache_level *level = &tables->report->results->settings.levels[row->level];
    uint64_t used = counters->prefetch_covered + counters->prefetch_late;
    uint64_t made =
        of_kind(counters, offsetof(struct cache_counters, prefetch_misses), REFERENCE_KINDS);
    uint64_t needed =
        used + of_kind(counters, offsetof(struct cache_counters, misses), REFERENCE_KINDS);
    bool has = level->sides[level->split ? row->side : 0].prefetcher != CACHE_NO_PREFETCHER;
    at = put_counters(counters, by_prefetcher, COUNT(by_prefetcher), cells, at);
    cells[at].number = has ? made * level->sides[level->split ? row->side : 0].line : 0;
    cells[at + 1].none = !has || made == 0;
    cells[at + 1].real = made ? (double)used / (double)made : 0;
    cells[at + 2].none = !has || needed == 0;
    cells[at + 2].real = needed ? (double)used / (double)needed : 0;
    return at + 3;
}

static size_t add_prefetcher_columns(struct table_column *columns, size_t at)
{
    for (size_t i = 0; i < COUNT(by_prefetcher); i++)
        columns[at++] = by_prefetcher[i].column;
    columns[at++] = (struct table_column){"PREFETCHED BYTES", "prefetched_bytes", TABLE_COUNT};
    columns[at++] = (struct table_column){"ACCURACY", "prefetch_accuracy", TABLE_SHARE};
    columns[at++] = (struct table_column){"COVERAGE", "prefetch_coverage", TABLE_SHARE};
    return at;
}

static void traffic_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    const struct cache_result *row = &tables->rows[number];
    name_cells(tables, row, cells);
    size_t at = put_counters(&row->counters, by_cache, COUNT(by_cache), cells, NAME_COLUMNS);
    if (has_signatures(tables))
        at = put_counters(&row->counters, by_signature, COUNT(by_signature), cells, at);
    if (has_prefetchers(tables))
        put_prefetcher(tables, row, cells, at);
}

static void agent_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    const struct cache_result *row = tables->agents[number];
    name_cells(tables, row, cells);
    put_counters(&row->counters, by_agent, COUNT(by_agent), cells, NAME_COLUMNS);
}

/* Everything that is known of a cache and of each kind of reference to it. */
static void csv_row(void *argument, size_t shown, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    size_t number = tables->shown[shown];
    const struct cache_result *row = &tables->rows[number / KINDS_AND_ALL];
    const struct cache_counters *counters = &row->counters;
    size_t first =
        NAME_COLUMNS + KIND_COLUMNS + COUNT(by_kind) + own_columns(tables) + bound_columns(tables);
    miss_row(argument, shown, cells);
    size_t end = put_counters(counters, by_cache, COUNT(by_cache), cells, first);
    end = put_counters(counters, by_agent, COUNT(by_agent), cells, end);
    if (has_signatures(tables))
        end = put_counters(counters, by_signature, COUNT(by_signature), cells, end);
    if (has_prefetchers(tables))
        end = put_prefetcher(tables, row, cells, end);
    for (size_t at = first; at < end; at++)
        cells[at].none = cells[at].none || number % KINDS_AND_ALL != REFERENCE_KINDS;
}

static void memory_row(void *argument, size_t kind, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    const struct hierarchy_counters *counters = &tables->report->results->counters;
    cells[0].text = reference_kind_name((enum reference_kind)kind);
    cells[1].number = counters->memory_references[kind];
    cells[2].number = counters->memory_bytes[kind];
    cells[3].number = counters->uncached[kind];
    cells[4].number = counters->write_combining[kind];
}

/* The name of a line is that of the symbol with the most bytes in it. */
static struct address_name name_line(const struct cache_report *report, uint32_t address)
{
    const uint32_t bytes = report->results->settings.levels[0].sides[0].line;
    struct address_name best = {.symbol = NULL};
    struct address_name first = {.symbol = NULL};
    uint32_t most = 0;
    uint32_t run = 0;
    for (uint32_t offset = 0; report->names && offset < bytes; offset += NAMED_BYTES) {
        struct address_name name;
        address_names_find(report->names, address + offset, &name);
        if (name.symbol != first.symbol) {
            first = name;
            run = 0;
        }
        if (name.symbol && ++run > most) {
            most = run;
            best = first;
        }
    }
    return best;
}

static void line_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct cache_report_tables *tables = argument;
    const struct cache_line_counters *line = &tables->lines[number];
    const struct address_name name = name_line(tables->report, line->address);
    cells[0].number = line->address;
    cells[1].number = line->invalidations;
    cells[2].number = line->interventions;
    cells[3].number = line->upgrades;
    cells[4].number = line->write_backs;
    cells[5].number = line->true_sharing;
    cells[6].number = line->false_sharing;
    cells[7] = (struct table_cell){.text = name.symbol, .number = name.symbol_offset};
    cells[8] = cells[7];
    cells[9] = (struct table_cell){.text = name.file, .number = name.line};
    cells[10] = cells[9];
    cells[11] = (struct table_cell){.number = name.line, .none = !name.file};
}

/* --- tables --- */

static size_t add_columns(struct table_column *columns, size_t at,
                          const struct counter_column *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[at + i] = more[i].column;
    return at + count;
}

void cache_report_table_hide_zeros(struct cache_report_table *made, size_t kept)
{
    bool used[TABLE_COLUMNS_MAX] = {false};
    for (size_t row = 0; row < made->table.rows; row++) {
        struct table_cell cells[TABLE_COLUMNS_MAX];
        memset(cells, 0, sizeof cells);
        made->table.row(made->table.argument, row, cells);
        for (size_t i = 0; i < made->table.column_count; i++)
            used[i] = used[i] || cells[i].number != 0 || cells[i].text != NULL;
    }
    for (size_t i = kept; i < made->table.column_count; i++)
        if (!used[i] && made->columns[i].kind != TABLE_SHARE)
            made->columns[i].heading = NULL;
}

void cache_report_table_hide_empty(struct cache_report_table *made,
                                   enum cache_report_table_number number)
{
    const size_t kept = NAME_COLUMNS + (number == CACHE_REPORT_COHERENCE ? COHERENCE_KEPT : 0);
    cache_report_table_hide_zeros(made, kept);
}

/* Makes a table of the first columns of made->columns. */
static void set_table(struct cache_report_table *made, struct cache_report_tables *tables,
                      size_t columns, size_t rows,
                      void (*row)(void *argument, size_t row, struct table_cell *cells))
{
    made->table = (struct table){.columns = made->columns,
                                 .column_count = columns,
                                 .rows = rows,
                                 .row = row,
                                 .argument = tables};
}

static void miss_table(struct cache_report_table *made, struct cache_report_tables *tables)
{
    size_t at = NAME_COLUMNS;
    name_columns(made->columns);
    made->columns[at++] = (struct table_column){"KIND", "kind", TABLE_TEXT};
    made->columns[at++] = (struct table_column){"REFERENCES", "references", TABLE_COUNT};
    made->columns[at++] = (struct table_column){"MISSES", "misses", TABLE_COUNT};
    made->columns[at++] = (struct table_column){"RATIO", "miss_ratio", TABLE_SHARE};
    at = add_columns(made->columns, at, by_kind, COUNT(by_kind));
    at = add_columns(made->columns, at, by_own_kind, own_columns(tables));
    at += optimum_bound_columns(&tables->report->results->settings, made->columns + at);
    set_table(made, tables, at, tables->shown_count, miss_row);
}

void cache_report_table_csv(struct cache_report_table *made, struct cache_report_tables *tables)
{
    miss_table(made, tables);
    size_t at = add_columns(made->columns, made->table.column_count, by_cache, COUNT(by_cache));
    at = add_columns(made->columns, at, by_agent, COUNT(by_agent));
    if (has_signatures(tables))
        at = add_columns(made->columns, at, by_signature, COUNT(by_signature));
    if (has_prefetchers(tables))
        at = add_prefetcher_columns(made->columns, at);
    made->table.column_count = at;
    made->table.row = csv_row;
}

static void line_table_columns(struct table_column *columns)
{
    static const struct table_column all[LINES_COLUMNS] = {
        {"LINE", "address", TABLE_ADDRESS},
        {"INVALIDATIONS", "invalidations", TABLE_COUNT},
        {"INTERVENTIONS", "interventions", TABLE_COUNT},
        {"UPGRADES", "upgrades", TABLE_COUNT},
        {"SNOOP WRITE-BACKS", "snoop_write_backs", TABLE_COUNT},
        {"TRUE SHARING", "true_sharing", TABLE_COUNT},
        {"FALSE SHARING", "false_sharing", TABLE_COUNT},
        {"SYMBOL", NULL, TABLE_SYMBOL},
        {NULL, "symbol", TABLE_TEXT},
        {"SOURCE", NULL, TABLE_LINE},
        {NULL, "file", TABLE_TEXT},
        {NULL, "line", TABLE_COUNT}};
    memcpy(columns, all, sizeof all);
}

static void traffic_table(struct cache_report_table *made, struct cache_report_tables *tables)
{
    size_t at = add_columns(made->columns, NAME_COLUMNS, by_cache, COUNT(by_cache));
    if (has_signatures(tables))
        at = add_columns(made->columns, at, by_signature, COUNT(by_signature));
    if (has_prefetchers(tables))
        at = add_prefetcher_columns(made->columns, at);
    set_table(made, tables, at, tables->row_count, traffic_row);
}

static void memory_table(struct cache_report_table *made, struct cache_report_tables *tables)
{
    static const struct table_column memory[] = {
        {"MEMORY", "kind", TABLE_TEXT},
        {"REFERENCES", "references", TABLE_COUNT},
        {"BYTES", "bytes", TABLE_COUNT},
        {"UNCACHED", "uncached", TABLE_COUNT},
        {"WRITE COMBINING", "write_combining", TABLE_COUNT}};
    memcpy(made->columns, memory, sizeof memory);
    set_table(made, tables, COUNT(memory), REFERENCE_KINDS, memory_row);
}

bool cache_report_table_make(struct cache_report_table *made, struct cache_report_tables *tables,
                             enum cache_report_table_number number)
{
    const struct cache_report *report = tables->report;
    const size_t lines = report->results->line_count;
    name_columns(made->columns);
    switch (number) {
    case CACHE_REPORT_MISSES:
        miss_table(made, tables);
        return true;
    case CACHE_REPORT_TRAFFIC:
        traffic_table(made, tables);
        return true;
    case CACHE_REPORT_COHERENCE:
        set_table(made, tables, add_columns(made->columns, NAME_COLUMNS, by_agent, COUNT(by_agent)),
                  tables->agent_count, agent_row);
        return report->results->settings.coherence != CACHE_INCOHERENT;
    case CACHE_REPORT_MEMORY:
        memory_table(made, tables);
        return true;
    default:
        line_table_columns(made->columns);
        set_table(made, tables, LINES_COLUMNS, lines < report->lines ? lines : report->lines,
                  line_row);
        return made->table.rows > 0;
    }
}
