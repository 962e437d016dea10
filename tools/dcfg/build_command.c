#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/dcfg/dcfg_writer.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/build_paths.h"
#include "tools/dcfg/bus_report.h"
#include "tools/dcfg/graph/build.h"
#include "tools/dcfg/units.h"
#include "tools/input/record_input.h"
#include "tools/symbols/image_list.h"
#include "tools/symbols/image_times.h"
#include "tools/symbols/module_list_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_DEFAULT (UINT64_C(4) << 30)
#define CHUNK_DEFAULT  1048576u

struct build_request {
    const char *output;
    const char *trace;
    const char *fetch;
    const char *bus; /* NULL or "auto": to be found */
    struct bus_model model;
    uint32_t chunk;
    uint64_t memory;
    enum unknown_branches unknown;
    bool keep_noise;
    bool json;
    struct record_input_settings input;
    struct images *images; /* NULL: none is known */
};

static int take_unknown(void *settings, const char *argument, struct bt_error *error)
{
    struct build_request *request = settings;
    bool indirect = strcmp(argument, "indirect") == 0;
    if (!indirect && strcmp(argument, "branch") != 0)
        return bt_fail(error, BT_USAGE, "'%.40s' is not branch or indirect", argument);
    request->unknown = indirect ? UNKNOWN_BRANCHES_INDIRECT : UNKNOWN_BRANCHES_BRANCH;
    return 0;
}

static const struct option_row build_options[] = {
    {OPTION_TEXT, 'o', "output", "OUT", "graph to write: NAME.json, .json.gz, .json.bz2 or -",
     offsetof(struct build_request, output), NULL},
    {OPTION_TEXT, 0, "trace", "OUT", "also write the trace of edges, named as with -o",
     offsetof(struct build_request, trace), NULL},
    {OPTION_CALL, 0, "image", "ELF[@LOAD]",
     "a program whose code was fetched, and its load address",
     offsetof(struct build_request, input.modules), module_settings_take_image},
    {OPTION_CALL, 0, "modules", "FILE",
     "the same for the programs that bustap exec has listed (default: its list beside the capture)",
     offsetof(struct build_request, input.modules), module_settings_take_list},
    {OPTION_TEXT, 0, "fetch", "KIND auto instr bus",
     "a fetch is an instruction (instr) or a chunk of code (bus); auto detects it",
     offsetof(struct build_request, fetch), NULL},
    {OPTION_TEXT, 0, "bus", "MODEL",
     "how the processor fetches: chunk=N,refetch,ahead=N,noise; auto (default) finds it",
     offsetof(struct build_request, bus), NULL},
    {OPTION_FLAG, 0, "keep-noise", NULL, "keep fetches of a bus that look like errors of the probe",
     offsetof(struct build_request, keep_noise), NULL},
    {OPTION_NUMBER, 0, "chunk", "N",
     "largest number of edges in a chunk of the trace (default: 1048576)",
     offsetof(struct build_request, chunk), NULL},
    {OPTION_BYTES, 0, "max-memory", "SIZE", "memory limit of the graph (default: 4G)",
     offsetof(struct build_request, memory), NULL},
    {OPTION_CALL, 0, "unknown-branches", "TYPE branch indirect",
     "type of branches of unknown type: branch (default) or indirect", 0, take_unknown},
    RECORD_INPUT_OPTIONS(struct build_request, input),
    {OPTION_FLAG, 0, "json", NULL, "print the summary as one JSON object on standard output",
     offsetof(struct build_request, json), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- the summary --- */

static const char *const kinds[] = {"auto", "instr", "bus", NULL};

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *shown_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static void print_images(const struct build_counts *counts)
{
    const struct image_matches *matches = &counts->matches;
    if (matches->different > 0)
        fprintf(stderr,
                "bustap: %" PRIu64 " of %" PRIu64 " places that were fetched from are not such "
                "instructions in the images: check that these are the files that ran, and their "
                "load addresses (--image FILE@ADDRESS)\n",
                matches->different, matches->instructions);
    if (matches->outside > 0)
        fprintf(stderr,
                "bustap: %" PRIu64 " of %" PRIu64
                " places that were fetched from are in no image\n",
                matches->outside, matches->instructions);
}

static const char *verb(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

static const char *const doubts[] = {
    [BUS_DOUBT_FEW] = "too few bus fetches to exclude that they fill an instruction cache",
    [BUS_DOUBT_CACHE] = "loops are not visible, as where bus fetches fill an instruction cache",
    [BUS_DOUBT_NOISE] = "bus fetches with wrong addresses are counted",
};

static uint64_t certain_of(const struct bus_fetch_counts *bus)
{
    return bus->instructions - bus->assumed - bus->outside;
}

/* Prints how sure the executions are, the model of the bus, and what its fetches were. */
static void print_bus(const struct build_counts *counts, const struct dcfg_bus *bus)
{
    const uint64_t certain = certain_of(&counts->bus);
    fprintf(stderr,
            "bustap: from %" PRIu64 " bus fetches: %" PRIu64 " %s %s certain, %" PRIu64
            " %s assumed\n",
            counts->bus.chunks, certain, unit_executed(bus->chunks, certain), verb(certain),
            counts->bus.assumed, verb(counts->bus.assumed));
    if (counts->finding.doubt != BUS_DOUBT_NONE)
        fprintf(stderr, "bustap: nothing is certain: %s\n", doubts[counts->finding.doubt]);
    bus_report_put(bus, "bustap: ", stderr);
}

static bool has_chunks(const struct dcfg *graph)
{
    return graph->bus && graph->bus->chunks;
}

static void print_summary(const struct build_request *request, const struct build_counts *counts,
                          const struct dcfg *graph)
{
    const struct dcfg_process *process = graph->processes[0];
    uint64_t others = counts->records - counts->fetches;
    fprintf(stderr,
            "bustap: %s: %" PRIu32 " block%s and %" PRIu32 " edge%s of %" PRIu64 " %s by %" PRIu32
            " %s%s\n",
            PRINTABLE(shown_name(request->output)), process->block_count,
            plural(process->block_count), process->edges.count, plural(process->edges.count),
            counts->instructions, unit_executed(has_chunks(graph), counts->instructions),
            process->threads, counts->is_program ? "thread" : "processor",
            plural(process->threads));
    if (graph->bus)
        print_bus(counts, graph->bus);
    if (others > 0)
        fprintf(stderr, "bustap: %" PRIu64 " record%s of other requests ignored\n", others,
                plural(others));
    if (counts->holes > 0)
        fprintf(stderr,
                "bustap: %" PRIu64 " hole%s in the capture: edges only seen across one are "
                "UNKNOWN\n",
                counts->holes, plural(counts->holes));
    if (images_count(request->images) > 0)
        print_images(counts);
    if (request->trace)
        fprintf(stderr, "bustap: %s: %" PRIu64 " edges\n", PRINTABLE(shown_name(request->trace)),
                counts->edges);
}

static int print_json(const struct build_request *request, const struct build_counts *counts,
                      const struct dcfg *graph)
{
    const struct dcfg_process *process = graph->processes[0];
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_text(json, "output", request->output);
    json_text(json, "fetch", kinds[counts->fetch]);
    json_count(json, "records", counts->records);
    json_count(json, "fetches", counts->fetches);
    json_count(json, unit_name(has_chunks(graph), 0), counts->instructions);
    json_count(json, "holes", counts->holes);
    json_count(json, "threads", process->threads);
    json_count(json, "blocks", process->block_count);
    json_count(json, "edges", process->edges.count);
    json_count(json, "routines", process->routine_count);
    json_count(json, "loops", process->loop_count);
    json_count(json, "places", counts->matches.instructions);
    json_count(json, "places_in_no_image", counts->matches.outside);
    json_count(json, "places_not_as_in_image", counts->matches.different);
    if (graph->bus) {
        json_count(json, "certain", certain_of(&counts->bus));
        json_count(json, "assumed", counts->bus.assumed);
    }
    bus_report_json(json, graph->bus);
    if (request->trace) {
        json_text(json, "trace", request->trace);
        json_count(json, "trace_edges", counts->edges);
    }
    json_report_end(json);
    return 0;
}

/* --- the work --- */

/* The list of modules beside the captures; NULL: none, or several, of which a graph, that of one
 * process, cannot have all. The caller frees it. */
static char *list_beside(const struct captures *captures)
{
    char *list = NULL;
    bool several = false;
    for (int i = 0; i < captures->count && !several; i++) {
        char *other = module_list_beside(captures->paths[i]);
        several = list && other && strcmp(list, other) != 0;
        if (several)
            fprintf(stderr,
                    "bustap: the captures have several lists of modules, %s and %s: none is used; "
                    "name one with --modules FILE\n",
                    PRINTABLE(list), PRINTABLE(other));
        if (!list)
            list = other;
        else
            free(other);
    }
    if (!several)
        return list;
    free(list);
    return NULL;
}

/* list: NULL for none. */
static int read_images(struct images *images, const struct module_settings *modules,
                       const char *list, struct bt_error *error)
{
    int result = 0;
    images_allow_times(images);
    for (uint32_t i = 0; i < modules->image_count && result == 0; i++)
        result = images_add(images, modules->images[i], error);
    if (result == 0 && list)
        result = image_list_read(images, list, error);
    return result == 0 ? images_separate(images, error) : result;
}

/* The images of the options, or else of the list beside the captures. One that cannot be read is
 * reported, because nobody asked for it. */
static int add_images(struct build_request *request, const struct captures *captures,
                      struct bt_error *error)
{
    const struct module_settings *modules = &request->input.modules;
    const bool given = module_settings_given(modules);
    char *beside = given ? NULL : list_beside(captures);
    int result = 0;
    if (given || beside) {
        request->images = images_new(error);
        result = request->images
                     ? read_images(request->images, modules, given ? modules->list : beside, error)
                     : BT_MEMORY;
    }
    free(beside);
    if (result < 0 && !given && result != BT_MEMORY) {
        fprintf(stderr, "bustap: the list is not used: %s\n", PRINTABLE(error->message));
        images_free(request->images);
        request->images = NULL;
        result = 0;
    }
    if (request->images)
        images_print_refused(request->images, stderr);
    return result;
}

static int put_batch(struct build *build, const struct record_input *input,
                     const struct batch *batch, struct bt_error *error)
{
    const struct block_executions *executions = record_input_executions(input);
    return executions ? build_put_executions(build, batch, executions, error)
                      : build_put(build, batch, error);
}

/* Reads all captures into the build. 0, or the error of the build or of reading. */
static int read_captures(const struct captures *captures,
                         const struct record_input_settings *settings, struct build *build,
                         struct bt_error *error)
{
    struct record_input *input;
    const struct batch *batch;
    int result =
        record_input_open(&input, captures->count, (char **)captures->paths, settings, error);
    if (result < 0)
        return result;
    int more;
    while (result == 0 && (more = record_input_next(input, &batch, error)) != 0) {
        if (more == RECORD_INPUT_FILE)
            build_file(build, record_input_info(input));
        else
            result = more < 0 ? more : put_batch(build, input, batch, error);
    }
    record_input_close(input);
    return result;
}

static int write_trace(const struct build_request *request, const struct captures *captures,
                       struct build *build, struct bt_error *error)
{
    struct record_input_settings again = request->input;
    struct text_writer *writer = text_writer_new(request->trace, error);
    if (!writer)
        return error->code;
    again.again = true;
    again.by_blocks = false; /* a trace has each step */
    int result = build_trace_begin(build, writer, error);
    if (result == 0)
        result = read_captures(captures, &again, build, error);
    if (result == 0)
        result = build_trace_end(build, error);
    if (result == 0)
        result = text_writer_finish(writer, error);
    text_writer_free(writer);
    return result;
}

/* The graph is written last: if writing the trace fails, no graph is written either. */
static int build_all(const struct build_request *request, const struct captures *captures,
                     struct build *build, struct bt_error *error)
{
    struct dcfg *graph = NULL;
    int result = read_captures(captures, &request->input, build, error);
    if (result == 0)
        result = build_graph(build, &graph, error);
    if (result == 0 && request->trace)
        result = write_trace(request, captures, build, error);
    if (result == 0)
        result = dcfg_write(graph, request->output, NULL, error);
    progress_clear(&request->input.report->progress);
    if (result == 0) {
        struct build_counts counts = build_counts(build);
        if (!request->json)
            print_summary(request, &counts, graph);
        else if (print_json(request, &counts, graph) != 0)
            result = bt_fail(error, BT_MEMORY, "no memory for the summary");
    }
    dcfg_free(graph);
    return result;
}

static int run(struct build_request *request, enum fetch_kind kind, int count, char **paths)
{
    struct bt_error error;
    struct input_report report;
    struct captures captures = {.paths = NULL, .count = 0};
    struct build *build = NULL;
    input_report_begin(&report, true);
    request->input.report = &report;
    const struct captures_settings settings = {.again = request->trace ? "a trace" : NULL,
                                               .concatenate = request->input.concatenate};
    int result = captures_order(&captures, count, paths, &settings, &error);
    if (result == 0)
        result = add_images(request, &captures, &error);
    if (result == 0)
        result =
            build_paths_check(request->output, request->trace, &captures, request->images, &error);
    if (result == 0) {
        const struct build_settings building = {.fetch = kind,
                                                .images = request->images,
                                                .found =
                                                    !module_settings_given(&request->input.modules),
                                                .bus = request->bus ? &request->model : NULL,
                                                .unknown = request->unknown,
                                                .keep_noise = request->keep_noise,
                                                .memory_max = request->memory,
                                                .chunk_edges = request->chunk};
        build = build_new(&building, &error);
        result = build ? build_all(request, &captures, build, &error) : BT_MEMORY;
    }
    if (result != 0 && result != BT_CLOSED) /* ignored: a reader that closed the pipe early */
        input_report_error(&report, &error);
    build_free(build);
    images_free(request->images);
    captures_free(&captures);
    input_report_end(&report);
    return report.status;
}

static int build_main(struct invocation *call)
{
    struct build_request request = {
        .fetch = "auto",
        .chunk = CHUNK_DEFAULT,
        .memory = MEMORY_DEFAULT,
        .input = {.headers = true, .by_blocks = true, .count = UINT64_MAX}};
    int status;
    int kind = 0;
    if (!command_options(call, &request, &status))
        return status;
    if (request.chunk == 0)
        return command_usage(call, "--chunk takes 1 or more edges");
    if (call->count == 0)
        return command_usage(call, "CAPTURE is missing");
    if (!request.output)
        return command_usage(call, "-o OUT is missing");
    struct bt_error error;
    if (input_trace_check(&request.input.trace, &error) < 0)
        return command_usage(call, "%s", error.message);
    while (kinds[kind] && strcmp(kinds[kind], request.fetch) != 0)
        kind++;
    if (!kinds[kind])
        return command_wrong_word(call, "fetch", request.fetch);
    if (request.bus && strcmp(request.bus, "auto") == 0)
        request.bus = NULL;
    if (request.bus && bus_model_parse(&request.model, request.bus, &error) < 0)
        return command_usage(call, "--bus: %s", error.message);
    if (request.bus && kind == FETCH_INSTR)
        return command_usage(call, "--bus describes a bus, --fetch instr is none");
    if (request.bus)
        kind = FETCH_BUS;
    bool graph_printed = strcmp(request.output, "-") == 0;
    bool trace_printed = request.trace && strcmp(request.trace, "-") == 0;
    if (graph_printed + trace_printed + request.json > 1)
        return command_usage(call, "standard output takes one of graph, trace and --json");
    return run(&request, (enum fetch_kind)kind, call->count, call->arguments);
}

const struct command dcfg_build_command = {
    .name = "build",
    .operands = "CAPTURE... -o OUT",
    .summary = "build a graph and its trace from instruction fetches",
    .details = "Builds a control-flow graph from the instruction fetches in captures; "
               "processors become threads. With the programs of --image, --modules or the list "
               "of modules beside the captures, blocks end after branches, and symbols, source "
               "lines and the types of edges are known. With --trace the "
               "captures are read twice, so standard input cannot be used.",
    .options = build_options,
    .run = build_main,
    .group = NULL,
    .reads_captures = true};
