#include "tools/dcfg/graph/build.h"

#include "tools/dcfg/graph/assemble.h"
#include "tools/dcfg/graph/build_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A capture has processors, not processes: one process has all processors as its threads. */
#define PROCESS_ID 1u

struct build {
    struct build_settings settings;
    struct fetch_stream *stream; /* into flow, in the second pass into trace */
    struct flow *flow;
    struct flow_graph graph;
    struct build_trace *trace; /* NULL in the first pass */
    struct build_counts counts;
};

struct build *build_new(const struct build_settings *settings, struct bt_error *error)
{
    struct build *build = calloc(1, sizeof *build);
    if (!build) {
        bt_fail(error, BT_MEMORY, "no memory for the graph");
        return NULL;
    }
    build->settings = *settings;
    build->flow = flow_new(settings->memory_max, error);
    if (build->flow)
        build->stream =
            fetch_stream_new(&(struct fetch_stream_settings){.kind = settings->fetch,
                                                             .images = settings->images,
                                                             .model = settings->bus,
                                                             .keep_noise = settings->keep_noise},
                             flow_sink(build->flow), error);
    if (build->stream) {
        fetch_stream_by_blocks(build->stream, build->flow);
        return build;
    }
    build_free(build);
    return NULL;
}

void build_free(struct build *build)
{
    if (!build)
        return;
    build_trace_free(build->trace);
    fetch_stream_free(build->stream);
    flow_free(build->flow);
    free(build);
}

void build_file(struct build *build, const struct capture_info *info)
{
    fetch_stream_file(build->stream, info);
}

int build_put(struct build *build, const struct batch *batch, struct bt_error *error)
{
    return fetch_stream_put(build->stream, batch, error);
}

int build_put_executions(struct build *build, const struct batch *batch,
                         const struct block_executions *executions, struct bt_error *error)
{
    return fetch_stream_put_executions(build->stream, batch, executions, error);
}

static void count(struct build *build)
{
    struct fetch_stream_counts stream = fetch_stream_counts(build->stream);
    build->counts.records = stream.records;
    build->counts.holes = stream.holes;
    build->counts.is_program = stream.is_program;
    build->counts.fetch = fetch_stream_kind(build->stream);
    build->counts.bus = stream.bus;
    if (fetch_stream_finding(build->stream))
        build->counts.finding = *fetch_stream_finding(build->stream);
    build->counts.instructions = flow_fetches(build->flow);
    build->counts.fetches = stream.bus.chunks > 0 ? stream.bus.chunks : build->counts.instructions;
}

_Static_assert(DCFG_BUS_BITS == FETCH_NOISE_BITS, "both are the bits of an address");

/* Adds the evidence of a graph from a bus. */
static int add_bus(struct build *build, struct dcfg *graph, struct bt_error *error)
{
    const struct bus_evidence *evidence = fetch_stream_evidence(build->stream);
    const struct bus_finding *finding = &build->counts.finding;
    const struct bus_fetch_counts *counts = &build->counts.bus;
    if (!evidence)
        return 0;
    struct dcfg_bus bus = {.chunks = images_count(build->settings.images) == 0,
                           .found = !build->settings.bus,
                           .counts = {[DCFG_BUS_FETCHES] = counts->chunks,
                                      [DCFG_BUS_REPEATED] = counts->repeated,
                                      [DCFG_BUS_PREFETCHED] = counts->prefetched,
                                      [DCFG_BUS_NOISE] = counts->noise,
                                      [DCFG_BUS_UNEXPLAINED] = counts->unexplained,
                                      [DCFG_BUS_OUTSIDE] = counts->outside,
                                      [DCFG_BUS_SAMPLE] = finding->sample,
                                      [DCFG_BUS_SAMPLE_UNEXPLAINED] = finding->unexplained}};
    bus_model_text(bus.model, &finding->model);
    memcpy(bus.noise_bits, counts->noise_bits, sizeof bus.noise_bits);
    int result = dcfg_set_bus(graph, &bus, error);
    return result == 0 ? bus_evidence_add_to(evidence, graph, error) : result;
}

#define PLACES_MIN 10u /* fewer may all be elsewhere by chance */

/* Images that were named and of which no instruction was executed are a mistake. */
static int check_matches(const struct build *build, struct bt_error *error)
{
    const struct image_matches *matches = &build->counts.matches;
    if (images_count(build->settings.images) == 0 || build->settings.found ||
        matches->instructions < PLACES_MIN ||
        matches->outside + matches->different < matches->instructions)
        return 0;
    return bt_fail(error, BT_DATA,
                   "the images are not what was executed: of %" PRIu64
                   " places that were fetched from %" PRIu64 " are in no image, and %" PRIu64
                   " are no such instructions; check that these are the files that ran, and their "
                   "load addresses (--image FILE@ADDRESS)",
                   matches->instructions, matches->outside, matches->different);
}

int build_graph(struct build *build, struct dcfg **graph, struct bt_error *error)
{
    const struct assemble_settings settings = {.process_id = PROCESS_ID,
                                               .unknown = BUILD_UNKNOWN_IMAGE,
                                               .memory_max = build->settings.memory_max,
                                               .unknown_branches = build->settings.unknown};
    int result = fetch_stream_end(build->stream, error);
    if (result != 0)
        return result;
    count(build);
    if (build->counts.fetches == 0)
        return bt_fail(error, BT_DATA,
                       "there is no instruction fetch in %s: a control-flow graph needs a capture "
                       "whose filter lets fetches pass",
                       build->counts.records > 0 ? "these records" : "an empty capture");
    edge_types_end_blocks(build->flow, build->settings.images, &build->counts.matches);
    result = check_matches(build, error);
    if (result == 0)
        result = flow_part_shared(build->flow, error);
    if (result == 0)
        result = flow_finish(build->flow, &build->graph, error);
    if (result == 0)
        result = assemble_dcfg(graph, &build->graph, build->settings.images, &settings, error);
    return result == 0 ? add_bus(build, *graph, error) : result;
}

int build_trace_begin(struct build *build, struct text_writer *writer, struct bt_error *error)
{
    struct bt_error failed = {.code = BT_MEMORY};
    build->trace = build_trace_new(build->flow, &build->graph, PROCESS_ID,
                                   build->settings.chunk_edges, writer, &failed);
    if (!build->trace) {
        if (error)
            *error = failed;
        return failed.code;
    }
    struct fetch_stream *first = build->stream;
    build->stream =
        fetch_stream_new(&(struct fetch_stream_settings){.kind = build->counts.fetch,
                                                         .images = build->settings.images,
                                                         .model = build->settings.bus,
                                                         .finding = fetch_stream_finding(first)},
                         build_trace_sink(build->trace), error);
    fetch_stream_free(first);
    return build->stream ? 0 : BT_MEMORY;
}

int build_trace_end(struct build *build, struct bt_error *error)
{
    int result = fetch_stream_end(build->stream, error);
    if (result == 0)
        result = build_trace_finish(build->trace, error);
    build->counts.edges = build_trace_edges(build->trace);
    return result;
}

struct build_counts build_counts(const struct build *build)
{
    return build->counts;
}
