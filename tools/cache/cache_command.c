#include "tools/common/commands.h"

#include "formats/foreign/trace_format.h"
#include "tools/cache/cache_report.h"
#include "tools/cache/cache_settings_text.h"
#include "tools/cache/compare_report.h"
#include "tools/cache/study/results_message.h"
#include "tools/cache/study/simulation.h"
#include "tools/cache/sweep_report.h"
#include "tools/cache/tlb_settings.h"
#include "tools/input/record_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_DEFAULT    10u
#define ACCESSES_DEFAULT 10u /* of each line, with --lines */
#define ROWS_DEFAULT     20u
#define NOT_GIVEN        UINT32_MAX

struct cache_request {
    struct settings_text text;
    struct record_input_settings input;
    const char *plot;
    struct figure_options figure;
    struct settings_text compared[COMPARE_MAX];
    const char *compared_names[COMPARE_MAX];
    uint32_t levels_taken; /* bits of the options of levels that were given */
    unsigned compared_count;
    struct sweep_axes axes;
    struct extent warm, interval;
    bool swept;
    uint32_t threads;
    uint64_t lines, accesses; /* NOT_GIVEN: the option is absent */
    struct tlb_settings tlb;
    enum attribution_by by;
    uint64_t rows;
    bool with_tlb;
    bool csv_accesses; /* CSV has the accesses of lines */
    bool csv, json, classify, optimum, no_optimum, no_flush;
};

/* The caches of a level; the option, which can be given once, would replace a part of what it was.
 */
static int take_level(struct cache_request *request, unsigned level, enum settings_sides sides,
                      const char *argument, struct bt_error *error)
{
    const uint32_t option = 1u << (3 * level + (unsigned)sides);
    if (request->levels_taken & option)
        return bt_fail(error, BT_USAGE,
                       "'%.40s' is the second one: give the option once, with all words, separated "
                       "by commas",
                       argument);
    request->levels_taken |= option;
    return settings_text_take(&request->text, level, sides, argument, error);
}

#define TAKE_LEVEL(name, level, sides)                                                             \
    static int take_##name(void *settings, const char *argument, struct bt_error *error)           \
    {                                                                                              \
        return take_level(settings, level, sides, argument, error);                                \
    }
TAKE_LEVEL(l1, 0, SETTINGS_BOTH)
TAKE_LEVEL(l1i, 0, SETTINGS_INSTRUCTION)
TAKE_LEVEL(l1d, 0, SETTINGS_DATA)
TAKE_LEVEL(l2, 1, SETTINGS_BOTH)
TAKE_LEVEL(l2i, 1, SETTINGS_INSTRUCTION)
TAKE_LEVEL(l2d, 1, SETTINGS_DATA)
TAKE_LEVEL(l3, 2, SETTINGS_BOTH)
TAKE_LEVEL(l4, 3, SETTINGS_BOTH)
#undef TAKE_LEVEL

static int take_config(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    return settings_file_read(&request->text, argument, error);
}

static int take_coherence(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    return settings_text_coherence(&request->text, argument, error);
}

static int take_readinv(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    return settings_text_readinv(&request->text, argument, error);
}

static int take_attributes(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    return settings_text_attributes(&request->text, argument, error);
}

static int take_sweep(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    request->swept = true;
    return sweep_axes_parse(&request->axes, argument, error);
}

static int take_compared(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    if (request->compared_count == COMPARE_MAX)
        return bt_fail(error, BT_USAGE, "more than %u configurations", COMPARE_MAX);
    struct settings_text *text = &request->compared[request->compared_count];
    request->compared_names[request->compared_count++] = argument;
    settings_text_begin(text);
    const int result = settings_file_read(text, argument, error);
    return result < 0 ? result : settings_text_end(text, error);
}

static int take_by(void *settings, const char *argument, struct bt_error *error)
{
    static const char *const names[] = {"instruction", "symbol", "source", "page"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0) {
            ((struct cache_request *)settings)->by =
                (enum attribution_by)(ATTRIBUTE_BY_INSTRUCTION + i);
            return 0;
        }
    return bt_fail(error, BT_USAGE, "can be instruction, symbol, source or page, not '%.40s'",
                   argument);
}

static int take_tlb(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    request->with_tlb = true;
    return strcmp(argument, "default") == 0 ? 0 : tlb_settings_take(&request->tlb, argument, error);
}

static int take_pages(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    request->with_tlb = true;
    return tlb_settings_take_pages(&request->tlb, argument, error);
}

static int take_memory_latency(void *settings, const char *argument, struct bt_error *error)
{
    struct cache_request *request = settings;
    return settings_text_latency(&request->text.settings.memory_latency, argument, error);
}

static int take_extent(void *extent, const char *argument, struct bt_error *error)
{
    return extent_parse(extent, argument, error);
}

static const struct option_row cache_options[] = {
    {OPTION_CALL, 0, "l1", "CACHE , " SETTINGS_CACHE_WORDS, "level 1: '32K,line=64,ways=8,split'",
     0, take_l1},
    {OPTION_CALL, 0, "l1i", "CACHE , " SETTINGS_CACHE_WORDS,
     "separate instruction cache of level 1", 0, take_l1i},
    {OPTION_CALL, 0, "l1d", "CACHE , " SETTINGS_CACHE_WORDS, "separate data cache of level 1", 0,
     take_l1d},
    {OPTION_CALL, 0, "l2", "CACHE , " SETTINGS_CACHE_WORDS,
     "level 2: '1M,ways=16,inclusive,private'", 0, take_l2},
    {OPTION_CALL, 0, "l2i", "CACHE , " SETTINGS_CACHE_WORDS,
     "separate instruction cache of level 2", 0, take_l2i},
    {OPTION_CALL, 0, "l2d", "CACHE , " SETTINGS_CACHE_WORDS, "separate data cache of level 2", 0,
     take_l2d},
    {OPTION_CALL, 0, "l3", "CACHE , " SETTINGS_CACHE_WORDS, "level 3", 0, take_l3},
    {OPTION_CALL, 0, "l4", "CACHE , " SETTINGS_CACHE_WORDS, "level 4", 0, take_l4},
    {OPTION_CALL, 0, "config", "FILE", "read a hierarchy from a file", 0, take_config},
    {OPTION_CALL, 0, "compare", "FILE",
     "simulate this hierarchy and those of further --compare, and compare them", 0, take_compared},
    {OPTION_CALL, 0, "coherence", "PROTOCOL " SETTINGS_COHERENCE_WORDS,
     "none, msi, mesi, mesif or moesi (default: mesi if several processors have private caches)", 0,
     take_coherence},
    {OPTION_CALL, 0, "readinv", "HOW own read",
     "what MEMREADINV does with coherence: own (the default) or read", 0, take_readinv},
    {OPTION_CALL, 0, "attr", "HOW honour ignore",
     "honour or ignore (the default) the memory type of requests", 0, take_attributes},
    {OPTION_FLAG, 0, "classify", NULL, "count misses by cause",
     offsetof(struct cache_request, classify), NULL},
    {OPTION_FLAG, 0, "optimum", NULL,
     "count the misses of the best possible replacement, not only estimate them",
     offsetof(struct cache_request, optimum), NULL},
    {OPTION_FLAG, 0, "no-optimum", NULL, "do not estimate them",
     offsetof(struct cache_request, no_optimum), NULL},
    {OPTION_FLAG, 0, "no-flush", NULL, "do not write back dirty lines at the end",
     offsetof(struct cache_request, no_flush), NULL},
    {OPTION_COUNT, 0, "seed", "N", "seed of random replacement (default: 0)",
     offsetof(struct cache_request, text.settings.seed), NULL},
    {OPTION_COUNT, 0, "lines", "N",
     "list the N lines with the most coherence traffic (default: 10)",
     offsetof(struct cache_request, lines), NULL},
    {OPTION_COUNT, 0, "accesses", "N",
     "of each line, list the N accesses with the most traffic (default with --lines: 10)",
     offsetof(struct cache_request, accesses), NULL},
    {OPTION_CALL, 0, "memory-latency", "CYCLES",
     "report average access times; the levels have latency=CYCLES", 0, take_memory_latency},
    {OPTION_CALL, 0, "by", "WHAT instruction symbol source page",
     "list the misses by instruction, symbol or source line of the code, or by page", 0, take_by},
    {OPTION_COUNT, 0, "top", "N", "of these, list N (default: 20; 0: all)",
     offsetof(struct cache_request, rows), NULL},
    {OPTION_CALL, 0, "tlb", "TLB default",
     "also simulate TLBs of two levels: 'default' or 'l1d=64,l1d-ways=4,l2=1536'", 0, take_tlb},
    {OPTION_CALL, 0, "pages", "SIZE",
     "the TLBs' pages: 4K (the default), 2M or 1G; 2M@0x400000-0x7fffff in a range", 0, take_pages},
    {OPTION_CALL, 0, "warm", "EXTENT",
     "do not count the first part of the trace: 10M (requests), 5ms, 1Mticks",
     offsetof(struct cache_request, warm), take_extent},
    {OPTION_CALL, 0, "interval", "EXTENT", "report each interval of this length, too",
     offsetof(struct cache_request, interval), take_extent},
    {OPTION_CALL, 0, "sweep", "AXES , size= line= ways= level=",
     "simulate all combinations of 'size=4K..1M,ways=1..8,line=32,64'", 0, take_sweep},
    {OPTION_TEXT, 0, "plot", "FILE", "draw the curves of a sweep as FILE.svg, FILE.png or FILE.pdf",
     offsetof(struct cache_request, plot), NULL},
    FIGURE_OPTIONS(struct cache_request, figure),
    MODULE_OPTIONS(struct cache_request, input.modules),
    {OPTION_NUMBER, 'j', "threads", "N",
     "worker threads; 0: one per processor, if that helps (default: 0)",
     offsetof(struct cache_request, threads), NULL},
    {OPTION_COUNT, 0, "skip", "N", "skip the first N records",
     offsetof(struct cache_request, input.first), NULL},
    {OPTION_COUNT, 'n', "count", "N", "read N records, then stop",
     offsetof(struct cache_request, input.count), NULL},
    RECORD_INPUT_OPTIONS(struct cache_request, input),
    OPTION_CSV_ROW(struct cache_request, csv),
    OPTION_JSON_ROW(struct cache_request, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* A sink of records, and what takes its clock: a simulation or a sweep. */
struct study {
    struct sink *sink;
    void *context;
    int (*clock)(void *context, uint64_t clock_hz, struct bt_error *error);
    struct tlb *tlb;                 /* gets the records, too; or NULL */
    struct attribution *attribution; /* of the simulation's misses; or NULL */
    struct simulation *by_blocks;    /* takes executions (the same as context); or NULL */
    uint64_t clock_hz;               /* of the first trace; 0: unknown */
};

/* Puts a batch, or the executions in its place. */
static int put_batch(const struct study *study, const struct record_input *input,
                     const struct batch *batch, struct bt_error *error)
{
    const struct block_executions *executions = record_input_executions(input);
    return executions ? simulation_put_executions(study->by_blocks, batch, executions, error)
                      : sink_put(study->sink, batch, error);
}

static int put_all(struct study *study, struct record_input *input, struct bt_error *error)
{
    const struct batch *batch;
    int result;
    for (bool first = true; (result = record_input_next(input, &batch, error)) == 1;
         first = false) {
        const struct capture_info *info = record_input_info(input);
        if (first) {
            study->clock_hz = info ? info->clock_hz : 0;
            result = study->clock(study->context, study->clock_hz, error);
            if (result == 0 && study->tlb)
                result = tlb_clock(study->tlb, study->clock_hz, error);
            if (result < 0)
                return result;
        }
        result = put_batch(study, input, batch, error);
        if (result == 0 && study->tlb)
            result = sink_put(tlb_sink(study->tlb), batch, error);
        if (result < 0)
            return result;
    }
    return result;
}

/* Sends the records of all operands to the study. Returns the exit status, or a negative error
 * code. */
static int read_records(const struct cache_request *request, const struct invocation *call,
                        struct study *study, bool silent, struct bt_error *error)
{
    struct record_input_settings settings = request->input;
    struct record_input *input;
    settings.silent = silent;
    settings.by_blocks = study->by_blocks != NULL;
    settings.gap_note = "caches keep their lines across them";
    int result = record_input_open(&input, call->count, call->arguments, &settings, error);
    if (result < 0)
        return result;
    result = put_all(study, input, error);
    int status = record_input_close(input);
    return result < 0 ? result : status;
}

static int simulation_takes_clock(void *simulation, uint64_t clock_hz, struct bt_error *error)
{
    return simulation_clock(simulation, clock_hz, error);
}

static int sweep_takes_clock(void *sweep, uint64_t clock_hz, struct bt_error *error)
{
    return sweep_clock(sweep, clock_hz, error);
}

/* All counters are zero then. */
static void print_all_warm(uint64_t records)
{
    fprintf(stderr,
            "bustap: the trace ended within the warm-up, after %" PRIu64
            " records: nothing was counted; choose a shorter --warm\n",
            records);
}

static int print(const struct cache_request *request, const struct cache_results *results,
                 uint64_t lost, const struct study *study, const struct address_names *names,
                 struct bt_error *error)
{
    struct cache_report report = {.results = results,
                                  .names = names,
                                  .input = &request->input,
                                  .lost = lost,
                                  .tlb = study->tlb,
                                  .attribution = study->attribution,
                                  .by = request->by,
                                  .rows = (size_t)request->rows,
                                  .clock_hz = study->clock_hz,
                                  .lines = (size_t)request->lines,
                                  .accesses = (size_t)request->accesses,
                                  .csv_accesses = request->csv_accesses};
    if (results->all_warm)
        print_all_warm(results->warm_records);
    return request->json  ? cache_report_json(&report, error)
           : request->csv ? cache_report_csv(&report, stdout, error)
                          : cache_report_text(&report, stdout, error);
}

static int attribute(struct attribution **attribution, const struct cache_request *request,
                     struct simulation *simulation, struct bt_error *error)
{
    *attribution = attribution_new(
        request->by == ATTRIBUTE_BY_PAGE ? ATTRIBUTE_PAGES : ATTRIBUTE_INSTRUCTIONS, error);
    return *attribution ? simulation_attribute(simulation, *attribution, error) : error->code;
}

/* Says why the caches of several processors are not coherent by default. */
static void print_incoherent(const struct settings_text *text, const struct cache_results *results)
{
    int first = -1;
    bool several = false;
    for (size_t i = 0; i < results->cache_count; i++) {
        int processor = results->caches[i].processor;
        if (processor == RESULT_ALL)
            continue;
        several = several || (first >= 0 && processor != first);
        first = processor;
    }
    if (several && text->incoherent[0])
        fprintf(stderr,
                "bustap: the caches of the processors are not kept coherent: %s; "
                "--coherence none confirms that\n",
                text->incoherent);
}

/* The names of the programs that the options give; NULL: none are given. */
static int given_names(struct address_names **names, const struct cache_request *request,
                       bool first, struct bt_error *error)
{
    if (!module_settings_given(&request->input.modules))
        return 0;
    const int result = address_names_new(names, &request->input.modules, NULL, error);
    if (first)
        address_names_print_refused(*names, stderr);
    return result;
}

/* Captures of executed programs know their modules: reads the names of what will be printed. */
static void find_names(struct address_names **names, const struct cache_request *request,
                       const struct invocation *call, const struct cache_results *results)
{
    const struct module_captures captures = {call->arguments, call->count};
    struct bt_error error;
    const bool wanted = (results->line_count > 0 && request->lines > 0) ||
                        (request->by != ATTRIBUTE_BY_NOTHING && request->by != ATTRIBUTE_BY_PAGE);
    if (wanted && address_names_new(names, &request->input.modules, &captures, &error) < 0)
        fprintf(stderr, "bustap: lines have no names: %s\n", error.message);
    address_names_print_refused(*names, stderr);
}

/* The number of threads of a simulation; 0: one for each processor. */
static unsigned threads_of(const struct cache_request *request, const struct cluster *cluster)
{
    const char *why = simulation_one_thread(&request->text.settings);
    if (request->threads == NOT_GIVEN)
        return cluster_size(cluster) > 1 || request->by != ATTRIBUTE_BY_NOTHING ||
                       request->interval.unit != EXTENT_NONE
                   ? 1
                   : 0;
    if (request->threads > 1 && why && cluster_rank(cluster) == 0)
        fprintf(stderr, "bustap: one thread simulates: %s\n", why);
    return request->threads;
}

/* Returns the exit status, or a negative error code. */
static int simulate(const struct cache_request *request, const struct invocation *call,
                    struct cluster *cluster, struct bt_error *error)
{
    bool first = cluster_rank(cluster) == 0;
    struct simulation *simulation = NULL;
    struct tlb *tlb = NULL;
    struct attribution *attribution = NULL;
    struct address_names *names = NULL;
    struct cache_results results = {.cache_count = 0};
    int status = 0;
    int result = given_names(&names, request, first, error);
    if (result == 0)
        result = simulation_new(&simulation, &request->text.settings, threads_of(request, cluster),
                                cluster, error);
    if (result == 0 && request->with_tlb && first)
        result = tlb_new(&tlb, &request->tlb, error);
    if (result == 0 && request->by != ATTRIBUTE_BY_NOTHING)
        result = attribute(&attribution, request, simulation, error);
    if (result < 0)
        goto out;
    if (tlb)
        tlb_warm(tlb, &request->warm);
    const struct phases phases = phases_begin(&request->warm, &request->interval);
    simulation_divide(simulation, &phases);
    struct study study = {.sink = simulation_sink(simulation),
                          .context = simulation,
                          .clock = simulation_takes_clock,
                          .attribution = attribution,
                          .tlb = tlb};
    if (!tlb && simulation_takes_executions(simulation))
        study.by_blocks = simulation;
    if (simulation_takes_part(simulation))
        result = status = read_records(request, call, &study, !first, error);
    if (result >= 0)
        result = simulation_end(simulation, &results, error);
    if (result == 0)
        result = cache_results_gather(&results, cluster, error);
    if (result == 0 && first)
        print_incoherent(&request->text, &results);
    if (result == 0 && first && !names)
        find_names(&names, request, call, &results);
    if (result == 0 && first)
        result = print(request, &results, simulation_lost(simulation), &study, names, error);
out:
    cache_results_clear(&results);
    simulation_free(simulation);
    tlb_free(tlb);
    attribution_free(attribution);
    address_names_free(names);
    return result < 0 ? result : status;
}

static int comparison_takes_clock(void *comparison, uint64_t clock_hz, struct bt_error *error)
{
    return comparison_clock(comparison, clock_hz, error);
}

static int print_comparison(const struct cache_request *request,
                            const struct comparison *comparison, struct bt_error *error)
{
    const struct cache_results *first = comparison_results(comparison, 0);
    if (first->all_warm)
        print_all_warm(first->warm_records);
    if (request->json)
        return comparison_json(comparison, &request->input, error);
    if (request->csv)
        comparison_csv(comparison, stdout);
    else
        comparison_text(comparison, &request->input, stdout);
    return 0;
}

/* Returns the exit status, or a negative error code. */
static int compare_all(const struct cache_request *request, const struct invocation *call,
                       struct cluster *cluster, struct bt_error *error)
{
    const bool first = cluster_rank(cluster) == 0;
    const struct phases phases = phases_begin(&request->warm, &request->interval);
    struct compared compared[COMPARE_MAX];
    struct comparison *comparison;
    for (unsigned i = 0; i < request->compared_count; i++)
        compared[i] = (struct compared){.name = request->compared_names[i],
                                        .settings = &request->compared[i].settings};
    int result =
        comparison_new(&comparison, compared, request->compared_count,
                       request->threads == NOT_GIVEN ? 1 : request->threads, cluster, error);
    if (result < 0)
        return result;
    comparison_divide(comparison, &phases);
    struct study study = {.sink = comparison_sink(comparison),
                          .context = comparison,
                          .clock = comparison_takes_clock};
    const int status = result = read_records(request, call, &study, !first, error);
    if (result >= 0)
        result = comparison_end(comparison, cluster, error);
    if (result == 0 && first)
        result = print_comparison(request, comparison, error);
    comparison_free(comparison);
    return result < 0 ? result : status;
}

static int print_sweep(const struct cache_request *request, const struct sweep *sweep,
                       const struct figure_output *output, struct bt_error *error)
{
    struct sweep_report report = {.settings = &request->text.settings,
                                  .level = request->axes.level,
                                  .input = &request->input,
                                  .records = sweep_records(sweep),
                                  .warm_records = sweep_warm_records(sweep),
                                  .lost = sweep_lost(sweep)};
    const char *why;
    unsigned left_out = sweep_left_out(sweep, &why);
    report.points = sweep_points(sweep, &report.count);
    if (report.records == 0 && report.warm_records > 0)
        print_all_warm(report.warm_records);
    if (left_out > 0)
        fprintf(stderr, "bustap: left out of the sweep: %u impossible %s: %s\n", left_out,
                left_out == 1 ? "cache" : "caches", why);
    if (request->plot) {
        int result = sweep_report_plot(&report, output, error);
        if (result < 0)
            return result;
    }
    return request->json  ? sweep_report_json(&report, error)
           : request->csv ? sweep_report_csv(&report, stdout, error)
                          : sweep_report_text(&report, stdout, error);
}

/* Returns the exit status, or a negative error code. */
static int sweep_all(const struct cache_request *request, const struct invocation *call,
                     struct cluster *cluster, struct bt_error *error)
{
    bool first = cluster_rank(cluster) == 0;
    struct sweep_settings settings = {.hierarchy = &request->text.settings,
                                      .axes = &request->axes,
                                      .threads = request->threads,
                                      .process = (unsigned)cluster_rank(cluster),
                                      .processes = (unsigned)cluster_size(cluster),
                                      .together = true};
    struct figure_output output;
    struct sweep *sweep;
    if (request->threads == NOT_GIVEN)
        settings.threads = settings.processes > 1 ? 1 : 0;
    struct figure_options figure = request->figure;
    figure.filter = request->input.filter;
    int result = request->plot && first ? figure_output_prepare(&output, request->plot, &figure,
                                                                call->count, call->arguments, error)
                                        : 0;
    if (result == 0)
        result = sweep_new(&sweep, &settings, error);
    if (result < 0)
        return result;
    sweep_warm(sweep, &request->warm);
    struct study study = {.sink = sweep_sink(sweep), .context = sweep, .clock = sweep_takes_clock};
    int status = result = read_records(request, call, &study, !first, error);
    if (result >= 0)
        result = sweep_end(sweep, error);
    if (result == 0)
        result = sweep_gather(sweep, cluster, error);
    if (result == 0 && first)
        result = print_sweep(request, sweep, &output, error);
    sweep_free(sweep);
    return result < 0 ? result : status;
}

/* Whether the options describe a hierarchy, other than by --compare. */
static bool describes_hierarchy(const struct cache_request *request)
{
    const struct hierarchy_settings *settings = &request->text.settings;
    bool given = settings->coherence != CACHE_INCOHERENT || settings->honour_attributes ||
                 settings->memory_latency > 0 || request->classify || request->optimum ||
                 request->no_flush;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        given = given || request->text.given[level];
    return given;
}

/* Without --lines, lines are listed without their accesses, which take time to count. */
static void settle_lines(struct cache_request *request)
{
    request->csv_accesses = request->csv && request->accesses != NOT_GIVEN;
    if (request->accesses == NOT_GIVEN)
        request->accesses = request->lines == NOT_GIVEN ? 0 : ACCESSES_DEFAULT;
    if (request->lines == NOT_GIVEN)
        request->lines = LINES_DEFAULT;
    request->text.settings.accesses = request->accesses > 0 && request->lines > 0 &&
                                      !request->swept && request->compared_count == 0;
}

/* What contradicts what, as a sentence; NULL: nothing. */
static const char *contradiction(const struct cache_request *request)
{
    const bool intervals = request->interval.unit != EXTENT_NONE;
    if (request->csv && request->json)
        return "--csv and --json exclude each other";
    if (!request->plot && figure_options_given(&request->figure))
        return "--plot-format, --title, --size and --log are for --plot FILE";
    if (request->plot && !request->swept)
        return "only a sweep is plotted: --plot needs --sweep";
    if (request->swept && request->classify)
        return "a sweep counts no kinds of misses: --sweep excludes --classify";
    if (request->optimum && request->no_optimum)
        return "--optimum and --no-optimum exclude each other";
    if (request->swept && intervals)
        return "a sweep has no intervals: --sweep excludes --interval";
    if (request->with_tlb && (request->swept || request->compared_count > 0 || request->csv))
        return "TLBs are reported as text and JSON, beside one hierarchy: --tlb and --pages "
               "exclude "
               "--sweep, --compare and --csv";
    if (request->by != ATTRIBUTE_BY_NOTHING && (request->swept || request->compared_count > 0))
        return "misses are attributed in one hierarchy: --by excludes --sweep and --compare";
    if (request->csv && request->accesses != NOT_GIVEN && request->by != ATTRIBUTE_BY_NOTHING)
        return "CSV is one table: --csv takes --by or --accesses";
    if (request->accesses != NOT_GIVEN && (request->swept || request->compared_count > 0))
        return "accesses are counted in one hierarchy: --accesses excludes --sweep and --compare";
    if (request->compared_count == 0)
        return NULL;
    if (request->swept || intervals)
        return "a comparison has neither points nor intervals: --compare excludes --sweep and "
               "--interval";
    if (describes_hierarchy(request))
        return "the files of --compare describe whole hierarchies: add a file for the one that the "
               "other options describe";
    return NULL;
}

static int cache_main(struct invocation *call)
{
    struct cache_request request = {.input = {.quiet_output = true, .count = UINT64_MAX},
                                    .tlb = tlb_settings_default(),
                                    .lines = NOT_GIVEN,
                                    .accesses = NOT_GIVEN,
                                    .rows = ROWS_DEFAULT,
                                    .threads = NOT_GIVEN};
    struct bt_error error;
    int status;
    settings_text_begin(&request.text);
    if (!command_options(call, &request, &status))
        return status;
    const char *wrong = contradiction(&request);
    if (wrong)
        return command_usage(call, "%s", wrong);
    if (request.input.trace.from && !trace_format_find(request.input.trace.from, &error))
        return command_usage(call, "%s", error.message);
    request.text.settings.classify |= request.classify;
    request.text.settings.optimum |= request.optimum;
    request.text.settings.optimum_sample =
        !request.no_optimum && !request.text.settings.optimum && !request.swept;
    for (unsigned i = 0; i < request.compared_count; i++)
        request.compared[i].settings.optimum_sample =
            !request.no_optimum && !request.compared[i].settings.optimum;
    request.text.settings.no_flush |= request.no_flush;
    settle_lines(&request);
    if (request.swept) /* the only level, if no level is given */
        request.text.given[request.axes.level] = true;
    if (settings_text_end(&request.text, &error) < 0)
        return command_usage(call, "%s", error.message);
    request.text.settings.automatic_coherence &= !request.swept;
    struct cluster *cluster = NULL;
    status = cluster_join(&cluster, &error);
    if (status == 0)
        status = request.swept                ? sweep_all(&request, call, cluster, &error)
                 : request.compared_count > 0 ? compare_all(&request, call, cluster, &error)
                                              : simulate(&request, call, cluster, &error);
    if (status < 0)
        status = command_failure(&error);
    cluster_leave(cluster, status);
    return status;
}

const struct command cache_command = {
    .name = "cache",
    .operands = "[CAPTURE...]",
    .summary = "simulate caches: misses, coherence, sweeps over sizes",
    .details =
        "Simulates one to four levels of caches on the requests of captures and counts "
        "their events; bustap-cache(1) describes the model. CACHE is a size and "
        "key=value pairs (line, ways, hash, replacement, write, allocate, sub-block, "
        "prefetch, prefetcher, victim, latency) and words (split, shared, private, inclusive, "
        "exclusive). "
        "Without a level option, each processor has 32 KiB for instructions and 32 KiB "
        "for data (8 ways, lines of 64 bytes), and all share 1 MiB (16 ways). Private caches "
        "of several processors are kept coherent with mesi by default. Without "
        "CAPTURE, or if it is -, standard input is read.",
    .options = cache_options,
    .run = cache_main,
    .group = NULL,
    .reads_captures = true};
