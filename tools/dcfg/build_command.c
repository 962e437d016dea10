#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/dcfg/dcfg_writer.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/build_paths.h"
#include "tools/dcfg/graph/build.h"
#include "tools/input/record_input.h"
#include "tools/symbols/image_times.h"

#include <inttypes.h>
#include <string.h>

#define MEMORY_DEFAULT (UINT64_C(4) << 30)

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
    const char *images[IMAGE_COUNT_MAX];
    uint32_t image_count;
};

static int take_image(void *settings, const char *argument, struct bt_error *error)
{
    struct build_request *request = settings;
    if (request->image_count == IMAGE_COUNT_MAX)
        return bt_fail(error, BT_USAGE, "more than %u images", IMAGE_COUNT_MAX);
    request->images[request->image_count++] = argument;
    return 0;
}

static int take_unknown(void *settings, const char *argument, struct bt_error *error)
{
    struct build_request *request = settings;
    bool indirect = strcmp(argument, "indirect") == 0;
    if (!indirect && strcmp(argument, "branch") != 0)
        return bt_fail(error, BT_USAGE, "--unknown-branches is branch or indirect");
    request->unknown = indirect ? UNKNOWN_BRANCHES_INDIRECT : UNKNOWN_BRANCHES_BRANCH;
    return 0;
}

static const struct option_row build_options[] = {
    {OPTION_TEXT, 'o', "output", "OUT", "graph to write: NAME.json, .json.gz, .json.bz2 or -",
     offsetof(struct build_request, output), NULL},
    {OPTION_TEXT, 0, "trace", "OUT", "also write the trace of edges, named as with -o",
     offsetof(struct build_request, trace), NULL},
    {OPTION_CALL, 0, "image", "ELF[@LOAD]",
     "a program whose code was fetched, and its load address", 0, take_image},
    {OPTION_TEXT, 0, "fetch", "KIND",
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
    {OPTION_BYTES, 0, "memory", "SIZE", "memory limit of the graph (default: 4G)",
     offsetof(struct build_request, memory), NULL},
    {OPTION_CALL, 0, "unknown-branches", "TYPE",
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
                "bustap: %" PRIu64 " of %" PRIu64 " places that were fetched from are no such "
                "instructions in the images: are these the files that ran, at these addresses?\n",
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

/* Prints which address bits were wrong, the most frequent ones. */
static void print_noise(const struct bus_fetch_counts *bus)
{
    uint64_t most = 0;
    if (bus->noise == 0)
        return;
    fprintf(stderr, "bustap: %" PRIu64 " bus fetch%s look%s like errors of the probe: bits",
            bus->noise, bus->noise == 1 ? "" : "es", bus->noise == 1 ? "s" : "");
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        most = bus->noise_bits[bit] > most ? bus->noise_bits[bit] : most;
    for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
        if (bus->noise_bits[bit] > 0 && bus->noise_bits[bit] >= most / 10)
            fprintf(stderr, " %u (%" PRIu64 ")", bit, bus->noise_bits[bit]);
    fprintf(stderr, " of their addresses differ from a neighbour's\n");
}

/* Prints the model of the bus, and what the graph rests on. */
static void print_bus(const struct build_counts *counts, bool images)
{
    const struct bus_fetch_counts *bus = &counts->bus;
    uint64_t certain = bus->instructions - bus->assumed;
    char model[BUS_MODEL_TEXT_BYTES];
    fprintf(stderr, "bustap: bus: %s", bus_model_text(model, &counts->finding.model));
    if (images)
        fprintf(stderr, "; it leaves %" PRIu64 " of %" PRIu64 " fetches unexplained",
                bus->unexplained, bus->chunks);
    fprintf(stderr,
            "\nbustap: from %" PRIu64 " bus fetches: %" PRIu64 " %s%s %s certain, %" PRIu64
            " %s assumed\n",
            bus->chunks, certain,
            images         ? "instruction"
            : certain == 1 ? "visit of a chunk"
                           : "visits of chunks",
            images ? plural(certain) : "", verb(certain), bus->assumed, verb(bus->assumed));
    fprintf(stderr,
            "bustap: of the bus fetches %" PRIu64 " repeated the one before, %" PRIu64
            " %s only prefetched",
            bus->repeated, bus->prefetched, bus->prefetched == 1 ? "was" : "were");
    if (images)
        fprintf(stderr, ", %" PRIu64 " %s in no image", bus->outside,
                bus->outside == 1 ? "was" : "were");
    fputc('\n', stderr);
    print_noise(bus);
}

static void print_summary(const struct build_request *request, const struct build_counts *counts,
                          const struct dcfg_process *process)
{
    uint64_t others = counts->records - counts->fetches;
    bool chunks = counts->fetch == FETCH_BUS && request->image_count == 0;
    fprintf(stderr,
            "bustap: %s: %" PRIu32 " block%s and %" PRIu32 " edge%s of %" PRIu64
            " %s%s%s by %" PRIu32 " processor%s\n",
            PRINTABLE(shown_name(request->output)), process->block_count,
            plural(process->block_count), process->edges.count, plural(process->edges.count),
            counts->instructions, chunks ? "visit" : "instruction", plural(counts->instructions),
            chunks ? " of chunks" : "", process->threads, plural(process->threads));
    if (counts->bus.chunks > 0)
        print_bus(counts, !chunks);
    if (others > 0)
        fprintf(stderr, "bustap: %" PRIu64 " record%s of other requests ignored\n", others,
                plural(others));
    if (counts->holes > 0)
        fprintf(stderr,
                "bustap: %" PRIu64 " hole%s in the capture: edges only seen across one are "
                "UNKNOWN\n",
                counts->holes, plural(counts->holes));
    if (request->image_count > 0)
        print_images(counts);
    if (request->trace)
        fprintf(stderr, "bustap: %s: %" PRIu64 " edges\n", PRINTABLE(shown_name(request->trace)),
                counts->edges);
}

static int print_json(const struct build_request *request, const struct build_counts *counts,
                      const struct dcfg_process *process)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_text(json, "output", request->output);
    json_text(json, "fetch", kinds[counts->fetch]);
    json_count(json, "records", counts->records);
    json_count(json, "fetches", counts->fetches);
    json_count(json, "instructions", counts->instructions);
    json_count(json, "holes", counts->holes);
    json_count(json, "threads", process->threads);
    json_count(json, "blocks", process->block_count);
    json_count(json, "edges", process->edges.count);
    json_count(json, "routines", process->routine_count);
    json_count(json, "loops", process->loop_count);
    json_count(json, "places", counts->matches.instructions);
    json_count(json, "places_in_no_image", counts->matches.outside);
    json_count(json, "places_not_as_in_image", counts->matches.different);
    if (counts->bus.chunks > 0) {
        char model[BUS_MODEL_TEXT_BYTES];
        json_text(json, "bus", bus_model_text(model, &counts->finding.model));
        json_text(json, "unit", request->image_count > 0 ? "instruction" : "chunk");
        json_count(json, "bus_instructions_assumed", counts->bus.assumed);
        json_count(json, "bus_fetches_repeated", counts->bus.repeated);
        json_count(json, "bus_fetches_prefetched", counts->bus.prefetched);
        json_count(json, "bus_fetches_noise", counts->bus.noise);
        json_count(json, "bus_fetches_unexplained", counts->bus.unexplained);
        json_count(json, "bus_fetches_in_no_image", counts->bus.outside);
        json_array(json, "bus_noise_bits");
        for (unsigned bit = 0; bit < DCFG_BUS_BITS; bit++)
            json_put_integer(json, counts->bus.noise_bits[bit]);
        json_put_array_end(json);
    }
    if (request->trace) {
        json_text(json, "trace", request->trace);
        json_count(json, "trace_edges", counts->edges);
    }
    json_report_end(json);
    return 0;
}

/* --- the work --- */

static int add_images(struct images **images, const struct build_request *request,
                      struct bt_error *error)
{
    int result = 0;
    *images = NULL;
    if (request->image_count == 0)
        return 0;
    *images = images_new(error);
    if (!*images)
        return BT_MEMORY;
    images_allow_times(*images);
    for (uint32_t i = 0; i < request->image_count && result == 0; i++)
        result = images_add(*images, request->images[i], error);
    if (result == 0)
        result = images_separate(*images, error);
    images_print_refused(*images, stderr);
    return result;
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
            result = more < 0 ? more : build_put(build, batch, error);
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
            print_summary(request, &counts, graph->processes[0]);
        else if (print_json(request, &counts, graph->processes[0]) != 0)
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
    struct images *images = NULL;
    struct build *build = NULL;
    input_report_begin(&report, true);
    request->input.report = &report;
    const struct captures_settings settings = {.again = request->trace ? "a trace" : NULL,
                                               .concatenate = request->input.concatenate};
    int result = captures_order(&captures, count, paths, &settings, &error);
    if (result == 0)
        result = add_images(&images, request, &error);
    if (result == 0)
        result = build_paths_check(request->output, request->trace, &captures, images, &error);
    if (result == 0) {
        const struct build_settings building = {.fetch = kind,
                                                .images = images,
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
    images_free(images);
    captures_free(&captures);
    input_report_end(&report);
    return report.status;
}

static int build_main(struct invocation *call)
{
    struct build_request request = {
        .fetch = "auto", .memory = MEMORY_DEFAULT, .input = {.headers = true, .count = UINT64_MAX}};
    int status;
    int kind = 0;
    if (!command_options(call, &request, &status))
        return status;
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
        return command_usage(call, "--fetch is auto, instr or bus");
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
               "processors become threads. With --image, blocks end after branches, and "
               "symbols, source lines and the types of edges are known. With --trace the "
               "captures are read twice, so standard input cannot be used.",
    .options = build_options,
    .run = build_main,
    .group = NULL};
