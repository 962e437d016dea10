#include "tools/cache/report.h"

#include "tools/cache/settings_text.h"
#include "tools/json.h"
#include "tools/table.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_AND_ALL (REFERENCE_KINDS + 1u)

/* A cache, or the sum over the processors of one level and side. */
struct row {
    struct cache_result cache;
    bool sum;
};

/* What the tables' rows are made from. */
struct listing {
    const struct report *report;
    struct row *rows;
    size_t row_count;
    size_t *shown; /* kinds of rows that have references, row * KINDS_AND_ALL + kind */
    size_t shown_count;
    struct row **agents;
    size_t agent_count;
    struct cache_line_counters *lines; /* the worst first */
};

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

static void add_level(struct listing *listing, unsigned level)
{
    const struct cache_results *results = listing->report->results;
    const struct cache_level *kind = &results->settings.levels[level];
    for (unsigned side = 0; side < (kind->split ? CACHE_SIDES : 1u); side++) {
        if (several(results, level)) {
            struct row *row = &listing->rows[listing->row_count++];
            row->sum = true;
            row->cache =
                (struct cache_result){level, RESULT_ALL, (enum cache_side)side, false,
                                      cache_results_sum(results, level, (enum cache_side)side)};
        }
        for (size_t i = 0; i < results->cache_count; i++)
            if (results->caches[i].level == level && results->caches[i].side == side)
                listing->rows[listing->row_count++].cache = results->caches[i];
    }
}

static uint64_t badness(const struct cache_line_counters *line)
{
    return line->invalidations + line->interventions + line->upgrades;
}

static int worst_first(const void *a, const void *b)
{
    const struct cache_line_counters *one = a;
    const struct cache_line_counters *other = b;
    uint64_t left = badness(one);
    uint64_t right = badness(other);
    if (left != right)
        return left > right ? -1 : 1;
    return (one->address > other->address) - (one->address < other->address);
}

static void free_listing(struct listing *listing)
{
    free(listing->rows);
    free(listing->shown);
    free(listing->agents);
    free(listing->lines);
}

/* Kinds without references are left out: fetches of a data cache. */
static void show_kinds(struct listing *listing, size_t row)
{
    const struct cache_counters *counters = &listing->rows[row].cache.counters;
    for (unsigned kind = 0; kind < KINDS_AND_ALL; kind++)
        if (kind == REFERENCE_KINDS || counters->references[kind] > 0 ||
            counters->prefetches[kind] > 0)
            listing->shown[listing->shown_count++] = row * KINDS_AND_ALL + kind;
}

static int make_listing(struct listing *listing, const struct report *report,
                        struct bt_error *error)
{
    const struct cache_results *results = report->results;
    *listing = (struct listing){.report = report};
    size_t rows = results->cache_count + CACHE_LEVELS * CACHE_SIDES;
    listing->rows = calloc(rows, sizeof *listing->rows);
    listing->shown = calloc(rows * KINDS_AND_ALL, sizeof *listing->shown);
    listing->agents = calloc(rows, sizeof *listing->agents);
    listing->lines = calloc(results->line_count + 1, sizeof *listing->lines);
    if (!listing->rows || !listing->shown || !listing->agents || !listing->lines) {
        free_listing(listing);
        return bt_fail(error, BT_MEMORY, "no memory for the tables of results");
    }
    for (unsigned level = 0; level < results->settings.level_count; level++)
        add_level(listing, level);
    for (size_t i = 0; i < listing->row_count; i++) {
        if (listing->rows[i].cache.agent)
            listing->agents[listing->agent_count++] = &listing->rows[i];
        show_kinds(listing, i);
    }
    if (results->line_count > 0) {
        memcpy(listing->lines, results->lines, results->line_count * sizeof *listing->lines);
        qsort(listing->lines, results->line_count, sizeof *listing->lines, worst_first);
    }
    return 0;
}

/* --- cells --- */

/* Columns that are counters: where they are. Arrays by kind are summed up in the row of all. */
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

/* kind REFERENCE_KINDS: all of them. */
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
    COUNTER("INVALIDATIONS", invalidations), COUNTER("INTERVENTIONS", interventions),
    COUNTER("UPGRADES", upgrades), COUNTER("SNOOP WRITE-BACKS", snoop_write_backs)};
#undef COUNTER

#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define NAME_COLUMNS  3u /* level, cache, processor */
#define KIND_COLUMNS  4u /* kind, references, misses, ratio */
#define LINES_COLUMNS 12u

static void name_columns(struct table_column *columns)
{
    columns[0] = (struct table_column){"LEVEL", "level", TABLE_COUNT};
    columns[1] = (struct table_column){"CACHE", "cache", TABLE_TEXT};
    columns[2] = (struct table_column){"PROCESSOR", "processor", TABLE_COUNT};
}

static void name_cells(const struct listing *listing, const struct row *row,
                       struct table_cell *cells)
{
    static const char *const sides[CACHE_SIDES] = {"instruction", "data"};
    const struct cache_level *level = &listing->report->results->settings.levels[row->cache.level];
    cells[0].number = row->cache.level + 1;
    cells[1].text = level->split ? sides[row->cache.side] : "unified";
    cells[2].none = row->cache.processor == RESULT_ALL;
    cells[2].number = (uint64_t)(cells[2].none ? 0 : row->cache.processor);
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

static void miss_row(void *argument, size_t place, struct table_cell *cells)
{
    const struct listing *listing = argument;
    size_t number = listing->shown[place];
    const struct row *row = &listing->rows[number / KINDS_AND_ALL];
    name_cells(listing, row, cells);
    kind_cells(&row->cache.counters, (unsigned)(number % KINDS_AND_ALL), cells + NAME_COLUMNS);
}

static void traffic_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct listing *listing = argument;
    const struct row *row = &listing->rows[number];
    name_cells(listing, row, cells);
    for (size_t i = 0; i < COUNT(by_cache); i++)
        cells[NAME_COLUMNS + i].number = counter_at(&row->cache.counters, by_cache[i].offset);
}

static void agent_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct listing *listing = argument;
    const struct row *row = listing->agents[number];
    name_cells(listing, row, cells);
    for (size_t i = 0; i < COUNT(by_agent); i++)
        cells[NAME_COLUMNS + i].number = counter_at(&row->cache.counters, by_agent[i].offset);
}

/* All that is known of a cache, and of the kinds in it. */
static void csv_row(void *argument, size_t place, struct table_cell *cells)
{
    const struct listing *listing = argument;
    size_t number = listing->shown[place];
    const struct row *row = &listing->rows[number / KINDS_AND_ALL];
    const struct cache_counters *counters = &row->cache.counters;
    size_t at = NAME_COLUMNS + KIND_COLUMNS + COUNT(by_kind);
    miss_row(argument, place, cells);
    for (size_t i = 0; i < COUNT(by_cache) + COUNT(by_agent); i++, at++) {
        const struct counter_column *column =
            i < COUNT(by_cache) ? &by_cache[i] : &by_agent[i - COUNT(by_cache)];
        cells[at].none = number % KINDS_AND_ALL != REFERENCE_KINDS;
        cells[at].number = counter_at(counters, column->offset);
    }
}

static void memory_row(void *argument, size_t kind, struct table_cell *cells)
{
    const struct listing *listing = argument;
    const struct hierarchy_counters *counters = &listing->report->results->counters;
    cells[0].text = reference_kind_name((enum reference_kind)kind);
    cells[1].number = counters->memory_references[kind];
    cells[2].number = counters->memory_bytes[kind];
    cells[3].number = counters->uncached[kind];
}

static void line_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct listing *listing = argument;
    const struct cache_line_counters *line = &listing->lines[number];
    struct place place;
    places_find(listing->report->places, line->address, &place);
    cells[0].number = line->address;
    cells[1].number = line->invalidations;
    cells[2].number = line->interventions;
    cells[3].number = line->upgrades;
    cells[4].number = line->write_backs;
    cells[5].number = line->true_sharing;
    cells[6].number = line->false_sharing;
    cells[7] = (struct table_cell){.text = place.symbol, .number = place.symbol_offset};
    cells[8] = cells[7];
    cells[9] = (struct table_cell){.text = place.file, .number = place.line};
    cells[10] = cells[9];
    cells[11] = (struct table_cell){.number = place.line, .none = !place.file};
}

/* --- tables --- */

/* The tables in their order; for each its key in JSON and its heading for people. */
enum table_number { MISSES, TRAFFIC, COHERENCE, MEMORY, LINES, TABLES };
static const char *const table_keys[TABLES] = {"caches", "traffic", "coherence", "memory", "lines"};

struct made_table {
    struct table table;
    struct table_column columns[TABLE_COLUMNS_MAX];
};

static size_t add_columns(struct table_column *columns, size_t at,
                          const struct counter_column *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[at + i] = more[i].column;
    return at + count;
}

/* Columns that would only hold zeros are not shown to people. */
static void hide_empty(struct made_table *made)
{
    bool used[TABLE_COLUMNS_MAX] = {false};
    for (size_t row = 0; row < made->table.rows; row++) {
        struct table_cell cells[TABLE_COLUMNS_MAX];
        memset(cells, 0, sizeof cells);
        made->table.row(made->table.argument, row, cells);
        for (size_t i = 0; i < made->table.column_count; i++)
            used[i] = used[i] || cells[i].number != 0 || cells[i].text != NULL;
    }
    for (size_t i = NAME_COLUMNS; i < made->table.column_count; i++)
        if (!used[i] && made->columns[i].kind != TABLE_SHARE)
            made->columns[i].heading = NULL;
}

static void miss_table(struct made_table *made, struct listing *listing)
{
    size_t at = NAME_COLUMNS;
    name_columns(made->columns);
    made->columns[at++] = (struct table_column){"KIND", "kind", TABLE_TEXT};
    made->columns[at++] = (struct table_column){"REFERENCES", "references", TABLE_COUNT};
    made->columns[at++] = (struct table_column){"MISSES", "misses", TABLE_COUNT};
    made->columns[at++] = (struct table_column){"RATIO", "miss_ratio", TABLE_SHARE};
    at = add_columns(made->columns, at, by_kind, COUNT(by_kind));
    made->table = (struct table){made->columns, at, listing->shown_count, miss_row, listing};
}

static void csv_table(struct made_table *made, struct listing *listing)
{
    miss_table(made, listing);
    size_t at = add_columns(made->columns, made->table.column_count, by_cache, COUNT(by_cache));
    made->table.column_count = add_columns(made->columns, at, by_agent, COUNT(by_agent));
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

/* False: there is nothing to be said in this table. */
static bool make_table(struct made_table *made, struct listing *listing, enum table_number number)
{
    static const struct table_column memory[] = {{"MEMORY", "kind", TABLE_TEXT},
                                                 {"REFERENCES", "references", TABLE_COUNT},
                                                 {"BYTES", "bytes", TABLE_COUNT},
                                                 {"UNCACHED", "uncached", TABLE_COUNT}};
    const struct report *report = listing->report;
    size_t at = NAME_COLUMNS;
    name_columns(made->columns);
    switch (number) {
    case MISSES:
        miss_table(made, listing);
        return true;
    case TRAFFIC:
        at = add_columns(made->columns, at, by_cache, COUNT(by_cache));
        made->table = (struct table){made->columns, at, listing->row_count, traffic_row, listing};
        return true;
    case COHERENCE:
        at = add_columns(made->columns, at, by_agent, COUNT(by_agent));
        made->table = (struct table){made->columns, at, listing->agent_count, agent_row, listing};
        return report->results->settings.coherence != CACHE_INCOHERENT;
    case MEMORY:
        memcpy(made->columns, memory, sizeof memory);
        made->table =
            (struct table){made->columns, COUNT(memory), REFERENCE_KINDS, memory_row, listing};
        return true;
    default:
        line_table_columns(made->columns);
        at = report->results->line_count;
        made->table = (struct table){made->columns, LINES_COLUMNS,
                                     at < report->lines ? at : report->lines, line_row, listing};
        return made->table.rows > 0;
    }
}

/* --- the whole --- */

static uint64_t dropped(const struct hierarchy_counters *counters)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        sum += counters->dropped[i];
    return sum;
}

static void print_records(const struct report *report, FILE *out)
{
    const struct hierarchy_counters *counters = &report->results->counters;
    fprintf(out, "%" PRIu64 " records", counters->records);
    const char *between = ", dropped as no references: ";
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        if (counters->dropped[i] > 0) {
            fprintf(out, "%s%" PRIu64 " %s", between, counters->dropped[i],
                    i < REQUEST_TYPES ? request_type_name(request_type_at(i)) : "of unknown type");
            between = ", ";
        }
    if (report->lost > 0)
        fprintf(out, "; %" PRIu64 " requests were lost when they were captured", report->lost);
    fputs("\n", out);
}

void cache_report_settings(const struct hierarchy_settings *settings, int swept, FILE *out)
{
    char text[SETTINGS_LEVEL_BYTES];
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++)
            fprintf(out, "%s\n",
                    settings_text_level(text, settings, level, (enum cache_side)side,
                                        (int)level == swept));
    fprintf(out, "coherence %s, attributes %s, dirty lines at the end %s",
            settings_coherence_name(settings->coherence),
            settings->honour_attributes ? "honoured" : "ignored",
            settings->no_flush ? "left" : "written back");
    for (unsigned level = 0; level < settings->level_count; level++)
        if (settings->levels[level].sides[0].replacement == CACHE_RANDOM ||
            settings->levels[level].sides[1].replacement == CACHE_RANDOM) {
            fprintf(out, ", seed %" PRIu64, settings->seed);
            break;
        }
    fputs("\n", out);
}

int cache_report_text(const struct report *report, FILE *out, struct bt_error *error)
{
    struct listing listing;
    struct made_table made;
    if (make_listing(&listing, report, error) < 0)
        return error->code;
    cache_report_settings(&report->results->settings, -1, out);
    print_records(report, out);
    for (unsigned i = 0; i < TABLES; i++) {
        if (!make_table(&made, &listing, (enum table_number)i))
            continue;
        if (i != COHERENCE)
            hide_empty(&made);
        fputs("\n", out);
        table_print(&made.table, out);
    }
    free_listing(&listing);
    return 0;
}

int cache_report_csv(const struct report *report, FILE *out, struct bt_error *error)
{
    struct listing listing;
    struct made_table made;
    if (make_listing(&listing, report, error) < 0)
        return error->code;
    csv_table(&made, &listing);
    table_print_csv(&made.table, out);
    free_listing(&listing);
    return 0;
}

static void json_cache(yajl_gen json, const struct hierarchy_settings *settings, unsigned level,
                       unsigned side, bool swept)
{
    static const char *const names[] = {"unified", "instruction", "data"};
    const struct cache_level *kind = &settings->levels[level];
    const struct cache_settings *cache = &kind->sides[side];
    yajl_gen_map_open(json);
    json_count(json, "level", level + 1);
    json_text(json, "cache", names[kind->split ? side + 1 : 0]);
    json_bool(json, "shared", kind->shared);
    json_text(json, "inclusion", settings_inclusion_name(kind->inclusion));
    if (!swept) {
        json_count(json, "size", cache->size);
        json_count(json, "line", cache->line);
    }
    if (!swept || cache->sub_block)
        json_count(json, "sub_block", cache->sub_block ? cache->sub_block : cache->line);
    if (!swept)
        json_count(json, "ways", cache->ways ? cache->ways : cache->size / cache->line);
    json_text(json, "replacement", settings_replacement_name(cache->replacement));
    json_text(json, "write", cache->write_through ? "through" : "back");
    json_bool(json, "allocate", !cache->no_write_allocate);
    json_text(json, "prefetch", settings_prefetch_name(cache->prefetch));
    json_count(json, "victim_lines", cache->victim_lines);
    yajl_gen_map_close(json);
}

void cache_report_json_settings(yajl_gen json, const struct hierarchy_settings *settings, int swept)
{
    json_key(json, "settings");
    yajl_gen_map_open(json);
    json_key(json, "caches");
    yajl_gen_array_open(json);
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++)
            json_cache(json, settings, level, side, (int)level == swept);
    yajl_gen_array_close(json);
    json_text(json, "coherence", settings_coherence_name(settings->coherence));
    json_text(json, "attributes", settings->honour_attributes ? "honour" : "ignore");
    json_bool(json, "classify", settings->classify);
    json_bool(json, "flush", !settings->no_flush);
    json_count(json, "seed", settings->seed);
    yajl_gen_map_close(json);
}

static void json_records(yajl_gen json, const struct report *report)
{
    const struct hierarchy_counters *counters = &report->results->counters;
    json_count(json, "records", counters->records);
    json_count(json, "lost", report->lost);
    json_key(json, "dropped");
    yajl_gen_map_open(json);
    json_count(json, "all", dropped(counters));
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        if (counters->dropped[i] > 0)
            json_count(json, i < REQUEST_TYPES ? request_type_name(request_type_at(i)) : "unknown",
                       counters->dropped[i]);
    yajl_gen_map_close(json);
}

int cache_report_json(const struct report *report, FILE *out, struct bt_error *error)
{
    struct listing listing;
    struct made_table made;
    yajl_gen json = json_new();
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    if (make_listing(&listing, report, error) < 0) {
        yajl_gen_free(json);
        return error->code;
    }
    yajl_gen_map_open(json);
    cache_report_json_settings(json, &report->results->settings, -1);
    json_records(json, report);
    for (unsigned i = 0; i < TABLES; i++)
        if (make_table(&made, &listing, (enum table_number)i))
            table_json(&made.table, table_keys[i], json, out);
    yajl_gen_map_close(json);
    json_print(json);
    yajl_gen_free(json);
    free_listing(&listing);
    return 0;
}
