#include "tools/dcfg/graph/fetch_stream.h"

#include "tools/dcfg/graph/bus_visits.h"
#include "tools/dcfg/graph/fetch_join.h"
#include "tools/dcfg/graph/fetch_sizes.h"
#include "tools/symbols/image_times.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Number of fetches that determine the kind. */
#define KIND_SAMPLE 4096u
/* Records of executions that are put together. */
#define EXPANDED_RECORDS (2 * BLOCK_STEP_LITERALS_MAX)

struct fetch_stream {
    struct sink *to;
    const struct images *images;
    struct fetch_join *join;   /* NULL: not needed yet */
    struct fetch_sizes *sizes; /* likewise */
    struct bus_code *code;     /* of the images; NULL: not needed yet */
    struct bus_fetch *bus;     /* NULL: not needed yet */
    struct bus_visits *visits; /* likewise; without images */
    struct bus_evidence *evidence;
    struct flow *flow;                /* NULL: the sink takes no executions */
    struct flow_templates *templates; /* NULL: not needed yet */
    struct record *expanded;          /* EXPANDED_RECORDS of executions; NULL: likewise */
    bool keep_noise;
    bool again; /* a finding was given */
    enum fetch_kind kind;
    const struct bus_model *given; /* NULL: the model is to be found */
    bool found;                    /* the finding is valid */
    struct bus_finding finding;
    struct fetch_stream_counts counts;

    /* state of the current file */
    struct capture_info info;
    bool is_program;    /* an executed program's file */
    bool begun;         /* a file has begun */
    bool placed;        /* end_index is known */
    bool hole;          /* the next record does not follow the previous one */
    uint8_t event;      /* enum record_event before the next record */
    uint64_t end_index; /* index after the last record */

    /* sample of fetches that determines the kind and the model */
    struct record sample[BUS_DETECT_SAMPLE];
    bool hole_before[BUS_DETECT_SAMPLE];
    uint8_t events[BUS_DETECT_SAMPLE];
    size_t sampled;
    bool sampling;
};

/* Whether nothing is to be found: a model is needed for the chunks of a bus. */
static bool has_kind_and_model(const struct fetch_stream *stream)
{
    return stream->kind == FETCH_INSTR || (stream->kind == FETCH_BUS && stream->found);
}

static bool has_images(const struct fetch_stream *stream)
{
    return images_count(stream->images) > 0;
}

struct fetch_stream *fetch_stream_new(const struct fetch_stream_settings *settings, struct sink *to,
                                      struct bt_error *error)
{
    struct fetch_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        bt_fail(error, BT_MEMORY, "no memory for the stream of fetches");
        return NULL;
    }
    stream->kind = settings->kind;
    stream->to = to;
    stream->images = settings->images;
    stream->given = settings->model;
    stream->keep_noise = settings->keep_noise;
    if (settings->finding) {
        stream->found = stream->again = true;
        stream->finding = *settings->finding;
    }
    stream->sampling = !has_kind_and_model(stream);
    return stream;
}

void fetch_stream_free(struct fetch_stream *stream)
{
    if (stream) {
        bus_fetch_free(stream->bus);
        bus_visits_free(stream->visits);
        bus_evidence_free(stream->evidence);
        bus_code_free(stream->code);
        fetch_join_free(stream->join);
        fetch_sizes_free(stream->sizes);
        flow_templates_free(stream->templates);
        free(stream->expanded);
    }
    free(stream);
}

enum fetch_kind fetch_stream_kind(const struct fetch_stream *stream)
{
    return stream->kind;
}

const struct bus_finding *fetch_stream_finding(const struct fetch_stream *stream)
{
    return stream->found ? &stream->finding : NULL;
}

const struct bus_evidence *fetch_stream_evidence(const struct fetch_stream *stream)
{
    return stream->evidence;
}

struct fetch_stream_counts fetch_stream_counts(const struct fetch_stream *stream)
{
    struct fetch_stream_counts counts = stream->counts;
    if (stream->bus)
        counts.bus = bus_fetch_counts(stream->bus);
    if (stream->visits)
        counts.bus = bus_visits_counts(stream->visits);
    return counts;
}

/* --- files and holes --- */

void fetch_stream_file(struct fetch_stream *stream, const struct capture_info *info)
{
    static const struct capture_info nothing;
    const struct capture_info *next = info ? info : &nothing;
    bool follows = stream->placed && capture_info_same_capture(next, &stream->info);
    if (stream->begun && !follows) {
        stream->counts.holes += !stream->hole;
        stream->hole = true;
    }
    stream->placed = follows;
    stream->info = *next;
    stream->is_program = strcmp(next->bus, CAPTURE_BUS_PROGRAM) == 0;
    stream->counts.is_program = stream->is_program;
    stream->begun = true;
}

/* Whether a hole precedes the batch. */
static bool find_hole(struct fetch_stream *stream, const struct batch *batch)
{
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    bool missing = stream->placed && start != stream->end_index;
    bool hole = missing || batch_has_loss_or_gap(batch);
    stream->counts.holes += hole && !stream->hole;
    /* what a selection leaves out before its first record is no hole */
    stream->placed = stream->placed || batch->count > 0 || hole;
    stream->end_index = batch->first_index + batch->count;
    return hole || stream->hole;
}

/* --- the kind --- */

enum fetch_kind fetch_stream_detect(const struct record *records, size_t count, uint32_t chunk_min)
{
    size_t chunks = 0;
    for (size_t i = 0; i < count; i++)
        chunks += records[i].size >= chunk_min && bus_fetch_is_chunk(&records[i]);
    return chunks > count / 2 ? FETCH_BUS : FETCH_INSTR;
}

/* Puts instructions. Only those of an executed program are certainly fetched as a whole. */
static int put_instructions(struct fetch_stream *stream, const struct batch *batch,
                            struct bt_error *error)
{
    if (stream->info.sizes_estimated) {
        if (!stream->sizes)
            stream->sizes = fetch_sizes_new(stream->to, error);
        return stream->sizes ? fetch_sizes_put(stream->sizes, batch, error) : BT_MEMORY;
    }
    if (!stream->join && (stream->is_program || images_count(stream->images) == 0))
        return sink_put(stream->to, batch, error);
    if (!stream->join)
        stream->join = fetch_join_new(stream->images, stream->to, error);
    return stream->join ? fetch_join_put(stream->join, batch, error) : BT_MEMORY;
}

/* Makes the conversion of chunks, of which the model is known. 0 or BT_MEMORY. */
static int begin_bus(struct fetch_stream *stream, struct bt_error *error)
{
    const struct bus_model *model = &stream->finding.model;
    const bool is_doubtful = stream->finding.doubt != BUS_DOUBT_NONE;
    if (!stream->again) {
        stream->evidence = bus_evidence_new(model->chunk, error);
        if (!stream->evidence)
            return BT_MEMORY;
    }
    if (!has_images(stream)) {
        stream->visits =
            bus_visits_new(model, stream->finding.noise_mask, stream->evidence, stream->to, error);
        if (stream->visits && is_doubtful)
            bus_visits_doubt(stream->visits);
        return stream->visits ? 0 : BT_MEMORY;
    }
    if (!stream->code)
        stream->code = bus_code_new(stream->images, error);
    if (stream->code)
        stream->bus = bus_fetch_new(model, stream->code, stream->evidence, stream->to, error);
    if (stream->bus && is_doubtful)
        bus_fetch_doubt(stream->bus);
    return stream->bus ? 0 : BT_MEMORY;
}

static int put(struct fetch_stream *stream, struct record *records, size_t count, bool hole,
               uint8_t event, struct bt_error *error)
{
    const struct batch batch = {.records = records,
                                .count = count,
                                .capacity = count,
                                .event = event,
                                .gap = {.milliseconds = hole ? 1 : 0}};
    if (stream->kind != FETCH_BUS)
        return put_instructions(stream, &batch, error);
    int result = stream->bus || stream->visits ? 0 : begin_bus(stream, error);
    if (result != 0)
        return result;
    return stream->bus ? bus_fetch_put(stream->bus, &batch, error)
                       : bus_visits_put(stream->visits, &batch, error);
}

/* The fetches of the processor that has most of them, in place of the sample's. Returns their
 * number. */
static size_t busiest(const struct record *sample, size_t count, struct record *fetches)
{
    size_t counts[256] = {0};
    unsigned most = 0;
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (bus_fetch_is_chunk(&sample[i]) && ++counts[sample[i].processor] > counts[most])
            most = sample[i].processor;
    for (size_t i = 0; i < count; i++)
        if (bus_fetch_is_chunk(&sample[i]) && sample[i].processor == most)
            fetches[taken++] = sample[i];
    return taken;
}

/* 0 if the fetches show what was executed, or BT_DATA. */
static int check_finding(const struct bus_finding *finding, struct bt_error *error)
{
    char model[BUS_MODEL_TEXT_BYTES];
    if (finding->verdict == BUS_COUNTABLE)
        return 0;
    if (finding->verdict == BUS_CACHED)
        return bt_fail(error, BT_DATA,
                       "these fetches fill an instruction cache: in the first %" PRIu64
                       " of them, loops are not visible, so executions cannot be counted; capture "
                       "with the cache disabled, or list which code was fetched, when and by which "
                       "processor: bustap dcfg fetches CAPTURE",
                       finding->sample);
    bus_model_text(model, &finding->model);
    if (finding->in_code > 0 && finding->is_given)
        return bt_fail(error, BT_DATA,
                       "the model %s does not explain %" PRIu64 " of the first %" PRIu64
                       " bus fetches in the images; leave out --bus to have the model found, and "
                       "check that these are the files that ran",
                       model, finding->unexplained, finding->in_code);
    return bt_fail(error, BT_DATA,
                   "the images are not what was executed: of the first %" PRIu64
                   " bus fetches %" PRIu64 " are in them, and of these %" PRIu64
                   " are at no place where execution can continue (%s); check that these are the "
                   "files that ran, and their load addresses (--image FILE@ADDRESS)%s",
                   finding->sample, finding->in_code, finding->unexplained, model,
                   finding->few && finding->in_code > 0
                       ? ", or these fetches fill an instruction cache: there are too few to tell"
                       : "");
}

/* The most frequent size. */
static uint32_t usual_size(const struct record *fetches, size_t count)
{
    size_t counts[BUS_CHUNK_MAX + 1] = {0};
    uint32_t usual = BUS_CHUNK_MIN;
    for (size_t i = 0; i < count; i++)
        if (++counts[fetches[i].size] > counts[usual])
            usual = fetches[i].size;
    return usual;
}

static bool has_size(const struct record *fetches, size_t count, uint32_t size)
{
    while (count > 0 && fetches[count - 1].size != size)
        count--;
    return count > 0;
}

/* Finds the model of a bus in the sample. */
static int find_model(struct fetch_stream *stream, struct bt_error *error)
{
    struct record *fetches = malloc((stream->sampled + 1) * sizeof *fetches);
    if (!fetches)
        return bt_fail(error, BT_MEMORY, "no memory to find the model of the bus");
    size_t count = busiest(stream->sample, stream->sampled, fetches);
    int result = 0;
    if (has_images(stream)) {
        stream->code = bus_code_new(stream->images, error);
        result = stream->code ? 0 : BT_MEMORY;
    }
    struct bus_model model = stream->given ? *stream->given : (struct bus_model){.chunk = 0};
    if (model.chunk == 0)
        model.chunk = usual_size(fetches, count);
    if (result == 0 && count > 0 && !has_size(fetches, count, model.chunk))
        result = bt_fail(error, BT_DATA,
                         "no fetch has the %u bytes of --bus chunk=%u, most have %u; leave out "
                         "chunk= to use that size",
                         model.chunk, model.chunk, usual_size(fetches, count));
    if (result == 0)
        result =
            stream->given
                ? bus_examine(&stream->finding, &model, stream->code, fetches, count, error)
                : bus_detect(&stream->finding, model.chunk, stream->code, fetches, count, error);
    stream->found = result == 0;
    free(fetches);
    stream->finding.is_given = stream->given != NULL;
    if (result == 0)
        result = check_finding(&stream->finding, error);
    if (stream->keep_noise && stream->finding.model.noise) {
        stream->finding.model.noise = false;
        stream->finding.doubt = BUS_DOUBT_NOISE;
    }
    return result;
}

/* Puts the sample. */
static int put_sample(struct fetch_stream *stream, struct bt_error *error)
{
    size_t count = stream->sampled;
    int result = has_kind_and_model(stream) ? 0 : find_model(stream, error);
    stream->sampled = 0;
    stream->sampling = false;
    for (size_t first = 0, end; first < count && result == 0; first = end) {
        end = first + 1;
        while (end < count && !stream->hole_before[end] && stream->events[end] == EVENT_NONE)
            end++;
        result = put(stream, stream->sample + first, end - first, stream->hole_before[first],
                     stream->events[first], error);
    }
    return result;
}

/* Whether the sample is complete; finds the kind. */
static bool sample_complete(struct fetch_stream *stream, bool end)
{
    if (stream->kind == FETCH_AUTO && stream->sampled > 0 &&
        (end || stream->sampled >= KIND_SAMPLE))
        stream->kind = fetch_stream_detect(stream->sample, stream->sampled,
                                           has_images(stream) ? BUS_CHUNK_MIN : 2 * BUS_CHUNK_MIN);
    return stream->sampled > 0 && (end || stream->sampled == BUS_DETECT_SAMPLE ||
                                   (stream->kind != FETCH_AUTO && has_kind_and_model(stream)));
}

/* Adds to the sample. Returns the number of records used. */
static size_t sample(struct fetch_stream *stream, const struct batch *batch)
{
    size_t i = 0;
    while (i < batch->count && !sample_complete(stream, false)) {
        const struct record *record = &batch->records[i++];
        if (record->type != REQUEST_FETCH)
            continue;
        stream->hole_before[stream->sampled] = stream->hole;
        stream->events[stream->sampled] = stream->event;
        stream->sample[stream->sampled++] = *record;
        stream->hole = false;
        stream->event = EVENT_NONE;
    }
    return i;
}

/* Puts consecutive records. */
static int put_piece(struct fetch_stream *stream, const struct batch *batch, struct bt_error *error)
{
    size_t taken = 0;
    if (stream->sampling) {
        taken = sample(stream, batch);
        int result = sample_complete(stream, false) ? put_sample(stream, error) : 0;
        if (result != 0 || taken == batch->count)
            return result;
    }
    bool hole = stream->hole;
    uint8_t event = stream->event;
    stream->hole = false;
    stream->event = EVENT_NONE;
    return put(stream, batch->records + taken, batch->count - taken, hole, event, error);
}

/*
 * An executed program has one tick for each instruction; a larger step means instructions left out.
 */
static bool is_left_out(const struct fetch_stream *stream, const struct record *record)
{
    return stream->is_program && record->type == REQUEST_FETCH && record->time > 1;
}

int fetches_place(const struct images *images, const struct batch *batch, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    int result = 0;
    if (!images_are_separate(images))
        return 0;
    for (size_t i = 0; i < batch->count && result == 0; i++) {
        struct record *record = &batch->records[i];
        tick += i > 0 ? record->time : 0;
        if (record->type == REQUEST_FETCH)
            result = images_place(images, tick, &record->address, error);
    }
    return result;
}

int fetch_stream_put(struct fetch_stream *stream, const struct batch *batch, struct bt_error *error)
{
    int result = fetches_place(stream->images, batch, error);
    if (result != 0)
        return result;
    stream->hole = find_hole(stream, batch);
    stream->event = batch->event;
    stream->counts.records += batch->count;
    if (batch->count == 0)
        return put_piece(stream, batch, error);
    for (size_t first = 0, end; first < batch->count && result == 0; first = end) {
        for (end = first + 1; end < batch->count && !is_left_out(stream, &batch->records[end]);)
            end++;
        if (is_left_out(stream, &batch->records[first])) {
            stream->counts.holes += !stream->hole;
            stream->hole = true;
        }
        const struct batch piece = {.records = batch->records + first, .count = end - first};
        result = put_piece(stream, &piece, error);
    }
    return result;
}

/* --- executions --- */

void fetch_stream_by_blocks(struct fetch_stream *stream, struct flow *flow)
{
    stream->flow = flow;
}

/* Whether put_instructions() would pass the records of an executed program to the flow as they
 * are. */
static bool takes_executions(const struct fetch_stream *stream)
{
    return stream->flow && !stream->sampling && stream->kind == FETCH_INSTR && stream->is_program &&
           !stream->info.sizes_estimated && !stream->join && !images_are_separate(stream->images);
}

/* Prepares the executions of a batch. 0 or BT_MEMORY. */
static int begin_executions(struct fetch_stream *stream, const struct block_executions *executions,
                            struct bt_error *error)
{
    if (!stream->expanded)
        stream->expanded = malloc(EXPANDED_RECORDS * sizeof *stream->expanded);
    if (!stream->expanded)
        return bt_fail(error, BT_MEMORY, "no memory for the stream of fetches");
    if (!stream->templates)
        stream->templates = flow_templates_new(error);
    return stream->templates ? flow_templates_set(stream->templates, executions, error) : BT_MEMORY;
}

/* Whether the step at *place can be put as an execution. */
static bool is_regular(const struct fetch_stream *stream, const struct block_executions *executions,
                       size_t step)
{
    const uint32_t template = executions->steps[step].template;
    return template != BLOCK_LITERALS && flow_template_is_regular(stream->templates, template);
}

/* Puts the records of the next steps, as many as go together, and advances. `piece` describes them,
 * and afterwards those that follow. */
static int put_expanded(struct fetch_stream *stream, const struct block_executions *executions,
                        struct execution_place *place, struct batch *piece, struct bt_error *error)
{
    const bool begins = place->step == 0;
    const bool whole = !takes_executions(stream);
    piece->records = stream->expanded;
    piece->count = 0;
    do {
        const unsigned count = block_step_records(executions, place->step);
        block_step_expand(executions, place, stream->expanded + piece->count);
        piece->count += count;
    } while (place->step < executions->step_count &&
             piece->count <= EXPANDED_RECORDS - BLOCK_STEP_LITERALS_MAX &&
             (whole || !is_regular(stream, executions, place->step)));
    if (!begins)
        piece->first_tick = piece->last_tick + stream->expanded->time;
    piece->last_tick = piece->first_tick + records_time(piece->records + 1, piece->count - 1);
    int result = fetch_stream_put(stream, piece, error);
    *piece = (struct batch){.first_index = piece->first_index + piece->count,
                            .last_tick = piece->last_tick};
    return result;
}

int fetch_stream_put_executions(struct fetch_stream *stream, const struct batch *batch,
                                const struct block_executions *executions, struct bt_error *error)
{
    struct execution_place place = {0};
    struct batch piece = *batch;
    int result = begin_executions(stream, executions, error);
    if (result == 0)
        result = put_expanded(stream, executions, &place, &piece, error);
    while (result == 0 && place.step < executions->step_count) {
        if (!takes_executions(stream) || !is_regular(stream, executions, place.step)) {
            result = put_expanded(stream, executions, &place, &piece, error);
            continue;
        }
        const struct execution_step *step = &executions->steps[place.step];
        const unsigned count = block_step_records(executions, place.step);
        result = flow_put_execution(stream->flow, stream->templates, step->template,
                                    step->of.execution.processor, error);
        block_step_pass(executions, &place);
        stream->counts.records += count;
        piece.first_index += count;
        stream->end_index = piece.first_index;
    }
    return result;
}

int fetch_stream_end(struct fetch_stream *stream, struct bt_error *error)
{
    int result = stream->sampling && sample_complete(stream, true) ? put_sample(stream, error) : 0;
    if (result == 0 && stream->join)
        result = fetch_join_end(stream->join, error);
    if (result == 0 && stream->sizes)
        result = fetch_sizes_end(stream->sizes, error);
    if (result == 0 && stream->bus)
        result = bus_fetch_end(stream->bus, error);
    if (result == 0 && stream->visits)
        result = bus_visits_end(stream->visits, error);
    return result;
}
