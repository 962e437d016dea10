#include "tools/rondo/rondo_report.h"

#include "formats/base/printable.h"
#include "formats/base/quantity.h"
#include "tools/common/json_report.h"
#include "tools/common/words.h"
#include "tools/common/wrap.h"
#include "tools/rondo/rondo_report_tables.h"

#include <inttypes.h>
#include <stdarg.h>

#define PROSE_BYTES 640u

/* Buffer for the numbers of one sentence. */
struct rondo_text {
    char text[QUANTITY_TEXT_BYTES];
};

static struct rondo_text number(uint64_t value)
{
    struct rondo_text made;
    quantity_text(made.text, value);
    return made;
}

static uint64_t all_branches(const struct front_end_totals *totals)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < BRANCH_KINDS; kind++)
        sum += totals->executed[kind];
    return sum;
}

static void print_totals(const struct rondo_report *report, FILE *out)
{
    const struct rondo_results *results = report->results;
    const uint64_t branches = all_branches(report->totals);
    fprintf(out, "%s instructions, %s branches (%.1f %%)", number(results->instructions).text,
            number(branches).text, 100 * words_ratio(branches, results->instructions));
    if (results->skipped > 0)
        fprintf(out, "; %s instructions skipped before", number(results->skipped).text);
    if (results->limited)
        fputs("; then the limit", out);
    putc('\n', out);
    if (report->switches > 0)
        fprintf(out, "%s switches of threads, which have %s instructions a turn\n",
                number(report->switches).text, number(report->quantum).text);
    if (results->executed[0]) {
        fputs("Then the program executes ", out);
        printable_put(results->executed, out);
        fputs(" in its place, of which nothing is known.\n", out);
    }
    putc('\n', out);
}

/* Appends to a text of PROSE_BYTES; *used is its length. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t *used, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text + *used, PROSE_BYTES - *used, format, arguments);
    va_end(arguments);
    *used += more > 0 && (size_t)more < PROSE_BYTES - *used ? (size_t)more : 0;
}

static void print_wrong_paths(const struct rondo_report *report, FILE *out)
{
    static const char *const endings[RONDO_ENDINGS] = {"at that depth", "without a target",
                                                       "at a system call", "at a signal"};
    const struct rondo_results *results = report->results;
    char text[PROSE_BYTES];
    size_t used = 0;
    add(text, &used, "%s wrong paths were followed for at most %" PRIu32 " instructions",
        number(results->wrong_paths).text, report->depth);
    const char *between = "; they ended ";
    for (unsigned i = 0; i < RONDO_ENDINGS; i++)
        if (results->wrong_ended[i] > 0) {
            add(text, &used, "%s%s %s", between, number(results->wrong_ended[i]).text, endings[i]);
            between = ", ";
        }
    if (results->waits > 0)
        add(text, &used, ". Without a target from the start: %s", number(results->waits).text);
    add(text, &used,
        ". On them: %s instructions (%.1f %% of the right path's), %s reads, %s writes.",
        number(results->wrong_instructions).text,
        100 * words_ratio(results->wrong_instructions, results->instructions),
        number(results->wrong_reads).text, number(results->wrong_writes).text);
    if (report->store_buffer)
        add(text, &used, " %s reads (%.1f %%) find what their path has stored.",
            number(results->wrong_own_reads).text,
            100 * words_ratio(results->wrong_own_reads, results->wrong_reads));
    putc('\n', out);
    wrap_print(text, 0, out);
}

int rondo_report_text(const struct rondo_report *report, FILE *out, struct bt_error *error)
{
    struct rondo_tables tables;
    int result = rondo_tables_make(&tables, report, error);
    if (result < 0)
        return result;
    print_totals(report, out);
    fputs("Conditional branches:\n", out);
    struct table table = rondo_tables_predictors(&tables);
    table_print(&table, out);
    fprintf(out, "\nAll kinds of branches, with %s:\n", report->names[report->settings->followed]);
    table = rondo_tables_kinds(&tables);
    table_print(&table, out);
    if (report->depth > 0)
        print_wrong_paths(report, out);
    if (report->branches) {
        fprintf(out, "\nBranches, by what %s mispredicted:\n",
                report->names[report->settings->followed]);
        table = rondo_tables_branches(&tables);
        table_print(&table, out);
    }
    rondo_tables_clear(&tables);
    return 0;
}

int rondo_report_csv(const struct rondo_report *report, FILE *out, struct bt_error *error)
{
    struct rondo_tables tables;
    int result = rondo_tables_make(&tables, report, error);
    if (result < 0)
        return result;
    struct table table =
        report->branches ? rondo_tables_branches(&tables) : rondo_tables_predictors(&tables);
    table_print_csv(&table, out);
    rondo_tables_clear(&tables);
    return 0;
}

static void json_wrong_paths(const struct rondo_report *report, struct json_put *json)
{
    static const char *const endings[RONDO_ENDINGS] = {"ended_at_depth", "ended_without_target",
                                                       "ended_at_system_call", "ended_at_signal"};
    const struct rondo_results *results = report->results;
    json_object(json, "wrong_paths");
    json_count(json, "depth", report->depth);
    json_count(json, "paths", results->wrong_paths);
    for (unsigned i = 0; i < RONDO_ENDINGS; i++)
        json_count(json, endings[i], results->wrong_ended[i]);
    json_count(json, "mispredicted_without_target", results->waits);
    json_count(json, "instructions", results->wrong_instructions);
    json_count(json, "reads", results->wrong_reads);
    json_count(json, "writes", results->wrong_writes);
    if (report->store_buffer)
        json_count(json, "own_reads", results->wrong_own_reads);
    json_put_object_end(json);
}

static void json_settings(const struct rondo_report *report, struct json_put *json)
{
    const struct front_end_settings *settings = report->settings;
    char text[PREDICTOR_TEXT_BYTES];
    json_text(json, "followed", report->names[settings->followed]);
    json_array(json, "settings");
    for (size_t i = 0; i < settings->predictor_count; i++)
        json_string(json, predictor_settings_text(text, &settings->predictors[i]));
    json_put_array_end(json);
    json_count(json, "return_stack", settings->targets.return_stack);
    json_count(json, "target_buffer_entries", settings->targets.buffer_entries);
    json_count(json, "target_buffer_ways", settings->targets.buffer_ways);
    json_count(json, "target_cache_entries", settings->targets.cache_entries);
    json_count(json, "target_cache_targets", settings->targets.cache_histories);
}

int rondo_report_json(const struct rondo_report *report, FILE *out, struct bt_error *error)
{
    struct rondo_tables tables;
    struct json_put *json = json_report_begin(out);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for the report");
    int result = rondo_tables_make(&tables, report, error);
    if (result < 0) {
        json_put_free(json);
        return result;
    }
    json_count(json, "instructions", report->results->instructions);
    json_count(json, "skipped", report->results->skipped);
    json_bool(json, "limited", report->results->limited);
    json_count(json, "quantum", report->quantum);
    json_count(json, "switches", report->switches);
    if (report->results->executed[0])
        json_text(json, "executes", report->results->executed);
    json_settings(report, json);
    struct table table = rondo_tables_predictors(&tables);
    table_json(&table, "predictors", json);
    table = rondo_tables_kinds(&tables);
    table_json(&table, "kinds", json);
    json_wrong_paths(report, json);
    if (report->branches) {
        table = rondo_tables_branches(&tables);
        table_json(&table, "branches", json);
    }
    json_report_end(json);
    rondo_tables_clear(&tables);
    return 0;
}
