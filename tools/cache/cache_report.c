#include "tools/cache/cache_report.h"

#include "tools/cache/cache_report_accesses.h"
#include "tools/cache/cache_report_attribution.h"
#include "tools/cache/cache_report_intervals.h"
#include "tools/cache/cache_report_tables.h"
#include "tools/cache/cache_report_times.h"
#include "tools/cache/cache_report_tlb.h"
#include "tools/cache/cache_settings_text.h"
#include "tools/cache/model/replacement.h"
#include "tools/cache/optimum_bound.h"
#include "tools/cache/study/access_time.h"
#include "tools/common/json_report.h"

#include <inttypes.h>

/* names of the tables in JSON */
static const char *const keys[CACHE_REPORT_TABLES] = {"caches", "traffic", "coherence", "memory",
                                                      "lines"};

static uint64_t dropped(const struct hierarchy_counters *counters)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        sum += counters->dropped[i];
    return sum;
}

static void print_records(const struct cache_report *report, FILE *out)
{
    const struct hierarchy_counters *counters = &report->results->counters;
    char only[RECORD_INPUT_ONLY_BYTES] = "";
    if (report->input)
        record_input_only(only, report->input);
    fprintf(out, "%" PRIu64 " records%s", counters->records, only);
    const char *between = ", dropped as no references: ";
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        if (counters->dropped[i] > 0) {
            fprintf(out, "%s%" PRIu64 " %s", between, counters->dropped[i],
                    i < REQUEST_TYPES ? request_type_name(request_type_at(i)) : "of unknown type");
            between = ", ";
        }
    if (report->results->warm_records > 0)
        fprintf(out, ", after %" PRIu64 " records of warm-up", report->results->warm_records);
    if (report->lost > 0)
        fprintf(out, "; %" PRIu64 " requests were lost when they were captured", report->lost);
    fputs("\n", out);
}

static bool is_seeded(const struct cache_settings *cache)
{
    return cache->replacement == CACHE_RANDOM || cache->replacement == CACHE_BRRIP ||
           cache->replacement == CACHE_DRRIP;
}

void cache_report_settings(const struct hierarchy_settings *settings, int swept, FILE *out)
{
    char text[SETTINGS_LEVEL_BYTES];
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++)
            fprintf(out, "%s\n",
                    settings_text_level(text, settings, level, (enum cache_side)side,
                                        (int)level == swept));
    fprintf(out, "coherence %s%s, attributes %s, dirty lines at the end %s",
            settings_coherence_name(settings->coherence),
            settings->coherence == CACHE_INCOHERENT ? ""
            : settings->plain_readinv               ? ", MEMREADINV reads"
                                                    : ", MEMREADINV takes ownership",
            settings->honour_attributes ? "honoured" : "ignored",
            settings->no_flush ? "left" : "written back");
    if (access_time_is_known(settings))
        fprintf(out, ", memory latency %" PRIu32, settings->memory_latency);
    for (unsigned level = 0; level < settings->level_count; level++)
        if (is_seeded(&settings->levels[level].sides[0]) ||
            is_seeded(&settings->levels[level].sides[1])) {
            fprintf(out, ", seed %" PRIu64, settings->seed);
            break;
        }
    fputs("\n", out);
}

static void print_table(struct cache_report_table *made, FILE *out)
{
    fputs("\n", out);
    table_print(&made->table, out);
}

/* All tables of a report. */
struct made_report {
    struct cache_report_tables tables;
    struct attribution_report *attribution;
    struct accesses_report *accesses;
};

static void report_clear(struct made_report *made)
{
    accesses_report_free(made->accesses);
    attribution_report_free(made->attribution);
    cache_report_tables_free(&made->tables);
}

static int report_make(struct made_report *made, const struct cache_report *report,
                       struct bt_error *error)
{
    *made = (struct made_report){.attribution = NULL};
    int result = cache_report_tables_new(&made->tables, report, error);
    if (result < 0)
        return result;
    result = attribution_report_new(&made->attribution, report, error);
    if (result == 0)
        result = accesses_report_new(&made->accesses, &made->tables, error);
    if (result < 0)
        report_clear(made);
    else
        accesses_report_note(report, stderr);
    return result;
}

/* The tables beside those of the caches. */
static void print_more(const struct cache_report *report, const struct made_report *all, FILE *out)
{
    struct cache_report_table made;
    double cycles;
    if (accesses_report_table(&made, all->accesses) && made.table.rows > 0) {
        accesses_report_hide_empty(&made);
        print_table(&made, out);
    }
    if (attribution_report_table(&made, all->attribution))
        print_table(&made, out);
    if (cache_report_tlb_table(&made, report))
        print_table(&made, out);
    if (cache_report_tlb_cycles(report, &cycles))
        fprintf(out, "a translation takes %.2f cycles on average beyond a hit in level 1\n",
                cycles);
    if (cache_report_times_table(&made, report))
        print_table(&made, out);
    if (cache_report_intervals_table(&made, report))
        print_table(&made, out);
}

int cache_report_text(const struct cache_report *report, FILE *out, struct bt_error *error)
{
    struct made_report all;
    struct cache_report_table made;
    if (report_make(&all, report, error) < 0)
        return error->code;
    cache_report_settings(&report->results->settings, -1, out);
    optimum_bound_print(&report->results->settings, out);
    print_records(report, out);
    for (unsigned i = 0; i < CACHE_REPORT_TABLES; i++) {
        if (!cache_report_table_make(&made, &all.tables, (enum cache_report_table_number)i))
            continue;
        cache_report_table_hide_empty(&made, (enum cache_report_table_number)i);
        print_table(&made, out);
    }
    print_more(report, &all, out);
    report_clear(&all);
    return 0;
}

int cache_report_csv(const struct cache_report *report, FILE *out, struct bt_error *error)
{
    struct made_report all;
    struct cache_report_table made;
    if (report_make(&all, report, error) < 0)
        return error->code;
    if (!attribution_report_table(&made, all.attribution) &&
        !(report->csv_accesses && accesses_report_table(&made, all.accesses)) &&
        !cache_report_intervals_table(&made, report))
        cache_report_table_csv(&made, &all.tables);
    table_print_csv(&made.table, out);
    report_clear(&all);
    return 0;
}

static void json_cache(struct json_put *json, const struct hierarchy_settings *settings,
                       unsigned level, unsigned side, bool swept)
{
    static const char *const names[] = {"unified", "instruction", "data"};
    const struct cache_level *kind = &settings->levels[level];
    const struct cache_settings *cache = &kind->sides[side];
    json_put_object(json);
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
    if (cache->hash != CACHE_HASH_NONE)
        json_text(json, "hash", settings_hash_name(cache->hash));
    json_text(json, "replacement", replacement_names[cache->replacement]);
    json_text(json, "write", cache->write_through ? "through" : "back");
    json_bool(json, "allocate", !cache->no_write_allocate);
    json_text(json, "prefetch", settings_prefetch_name(cache->prefetch));
    if (cache->prefetcher != CACHE_NO_PREFETCHER) {
        json_text(json, "prefetcher", settings_prefetcher_name(cache->prefetcher));
        json_count(json, "prefetch_degree", cache->prefetch_degree);
        json_count(json, "prefetch_distance", cache->prefetch_distance);
        json_count(json, "prefetch_page", cache->prefetch_page);
        json_count(json, "prefetch_latency", cache->prefetch_latency);
    }
    json_count(json, "victim_lines", cache->victim_lines);
    if (kind->latency > 0)
        json_count(json, "latency", kind->latency);
    json_put_object_end(json);
}

void cache_report_json_settings(struct json_put *json, const struct hierarchy_settings *settings,
                                int swept)
{
    json_object(json, "settings");
    json_array(json, "caches");
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++)
            json_cache(json, settings, level, side, (int)level == swept);
    json_put_array_end(json);
    json_text(json, "coherence", settings_coherence_name(settings->coherence));
    if (settings->coherence != CACHE_INCOHERENT)
        json_text(json, "readinv", settings->plain_readinv ? "read" : "own");
    json_text(json, "attributes", settings->honour_attributes ? "honour" : "ignore");
    json_bool(json, "classify", settings->classify);
    if (settings->optimum)
        json_bool(json, "optimum", true);
    json_bool(json, "flush", !settings->no_flush);
    json_count(json, "seed", settings->seed);
    if (access_time_is_known(settings))
        json_count(json, "memory_latency", settings->memory_latency);
    json_put_object_end(json);
}

static void json_records(struct json_put *json, const struct cache_report *report)
{
    const struct hierarchy_counters *counters = &report->results->counters;
    if (report->input)
        record_input_json(json, report->input);
    json_count(json, "records", counters->records);
    if (report->results->warm_records > 0)
        json_count(json, "warm_records", report->results->warm_records);
    json_count(json, "lost", report->lost);
    json_object(json, "dropped");
    json_count(json, "all", dropped(counters));
    for (unsigned i = 0; i <= REQUEST_TYPES; i++)
        if (counters->dropped[i] > 0)
            json_count(json, i < REQUEST_TYPES ? request_type_name(request_type_at(i)) : "unknown",
                       counters->dropped[i]);
    json_put_object_end(json);
}

static void json_more(struct json_put *json, const struct cache_report *report,
                      const struct made_report *all)
{
    struct cache_report_table made;
    double cycles;
    if (accesses_report_table(&made, all->accesses)) {
        table_json(&made.table, "accesses", json);
        json_count(json, "accesses_from_traffic", report->results->accesses_least);
    }
    if (attribution_report_table(&made, all->attribution))
        table_json(&made.table, "misses_by", json);
    if (cache_report_tlb_table(&made, report))
        table_json(&made.table, "tlb", json);
    if (cache_report_tlb_cycles(report, &cycles))
        json_real(json, "translation_cycles", cycles);
    if (cache_report_times_table(&made, report))
        table_json(&made.table, "access_times", json);
    if (cache_report_intervals_table(&made, report))
        table_json(&made.table, "intervals", json);
}

int cache_report_json(const struct cache_report *report, struct bt_error *error)
{
    struct made_report all;
    struct cache_report_table made;
    if (report_make(&all, report, error) < 0)
        return error->code;
    struct json_put *json = json_report_begin(stdout);
    const int result = json ? 0 : bt_fail(error, BT_MEMORY, "no memory for JSON");
    if (json) {
        cache_report_json_settings(json, &report->results->settings, -1);
        json_records(json, report);
        for (unsigned i = 0; i < CACHE_REPORT_TABLES; i++)
            if (cache_report_table_make(&made, &all.tables, (enum cache_report_table_number)i))
                table_json(&made.table, keys[i], json);
        json_more(json, report, &all);
        json_report_end(json);
    }
    report_clear(&all);
    return result;
}
