/*
 * Measures what `dcfg build` reconstructs from the fetches of a bus (doc/benchmarks.md): puts an
 * executed program on simulated buses and compares true and reconstructed counts: with the images,
 * of each instruction; without, of visits of each chunk, with a model that is found and with the
 * true one.
 *
 * usage: bus_models [--quick] IMAGE... CAPTURE
 *        bus_models --only MODEL CACHE NOISE IMAGE... CAPTURE
 *        bus_models --write MODEL CACHE NOISE IMAGE... CAPTURE
 *
 * IMAGE is ELF[@ADDRESS]. --quick: some buses only. --only: one bus, and the places where certain
 * counts exceed the truth. --write: writes the fetches to standard output.
 *
 * Prints the number of instructions and three lines for each bus: its model, noise in percent and
 * bytes of cache, the view (image, blind or told), the detected model (`found` if it is the right
 * one), the percentage of wrong counts and of certain ones, the number of certain counts beyond the
 * truth, and million fetches per second. Exit status 1 if a model is not detected, a capture after
 * a cache is not recognised, a certain count exceeds the truth, or an error is above its limit.
 */
#include "formats/capture/trace_reader.h"
#include "tests/support/bus_processor.h"
#include "tests/support/measure.h"
#include "tools/dcfg/graph/fetch_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 4096u
#define SLOTS (UINT32_C(1) << 21)

/* Limits without a cache, noise and prefetch, in percent: of instructions, for chunks of 8 bytes
 * and shorter ones; of visits, for all. */
#define WRONG_MAX        3.0
#define CERTAIN_MIN      90.0
#define VISITS_WRONG_MAX 0.1

enum view { VIEW_IMAGE, VIEW_BLIND, VIEW_TOLD };
static const char *const view_names[] = {"image", "blind", "told"};

/* An instruction, or a chunk. */
struct place {
    uint32_t address;
    uint8_t size;
    uint64_t executed;
    uint64_t found;
    uint64_t certain;
};

struct places {
    struct place *slots; /* hash table with open addressing, by address and size */
    size_t used;
    uint64_t executed;
};

struct bench {
    struct sink sink; /* of what is reconstructed */
    struct record *truth;
    size_t count;
    struct places instructions;
    struct places visits;
    struct places *counted; /* one of these */
    struct images *images;
    struct record *fetches;
    size_t fetch_count;
    size_t fetch_room;
    bool lists_excess;
    bool failed;
};

static struct place *find_place(struct places *places, uint32_t address, uint8_t size)
{
    size_t at = (address * 2654435761u ^ size * 40503u) & (SLOTS - 1);
    struct place *slots = places->slots;
    while (slots[at].size != 0 && (slots[at].address != address || slots[at].size != size))
        at = (at + 1) & (SLOTS - 1);
    if (slots[at].size == 0 && ++places->used > SLOTS / 8 * 7) {
        fputs("bus_models: too many places\n", stderr);
        exit(3);
    }
    slots[at].address = address;
    slots[at].size = size;
    return &slots[at];
}

static void add_truth(struct places *places, uint32_t address, uint32_t size)
{
    find_place(places, address, (uint8_t)size)->executed++;
    places->executed++;
}

static int put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct bench *bench = (struct bench *)sink;
    (void)error;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        struct place *place = find_place(bench->counted, record->address, record->size);
        place->found++;
        place->certain += !(record->attribute & BUS_FETCH_ASSUMED);
    }
    return 0;
}

static const struct sink_operations operations = {.put = put, .close = NULL};

static void *grow(void *array, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return array;
    *room = 2 * needed;
    array = realloc(array, *room * size);
    if (!array)
        exit(3);
    return array;
}

static int read_truth(struct bench *bench, const char *path, struct bt_error *error)
{
    static struct record records[BATCH];
    struct trace_reader *reader;
    struct batch batch = {.records = records, .capacity = BATCH};
    size_t room = 0;
    if (trace_reader_open(&reader, path, 0, error) != 0)
        return error->code;
    struct source *source = trace_reader_source(reader);
    while (source_next(source, &batch, -1, error) == 1) {
        bench->truth = grow(bench->truth, &room, bench->count + batch.count, sizeof *bench->truth);
        for (size_t i = 0; i < batch.count; i++) {
            if (records[i].type != REQUEST_FETCH)
                continue;
            bench->truth[bench->count++] = records[i];
            add_truth(&bench->instructions, records[i].address, records[i].size);
        }
    }
    source_close(source);
    return 0;
}

/* --- the bus --- */

static void simulate(struct bench *bench, const struct bus_processor_model *model)
{
    struct bus_processor *processor = bus_processor_new(model, 1);
    if (!processor)
        exit(3);
    bench->fetch_count = 0;
    for (size_t i = 0; i < bench->count; i++) {
        bench->fetches = grow(bench->fetches, &bench->fetch_room,
                              bench->fetch_count + BUS_PROCESSOR_FETCHES, sizeof *bench->fetches);
        bench->fetch_count +=
            bus_processor_execute(processor, bench->truth[i].address, bench->truth[i].size,
                                  bench->fetches + bench->fetch_count);
    }
    bus_processor_free(processor);
}

/* The true visits: successive executions in a chunk are one. On a bus without refetches, a taken
 * branch to the chunk is another one. */
static void count_visits(struct bench *bench, const struct bus_processor_model *model)
{
    uint32_t last = UINT32_MAX; /* address of the chunk */
    uint32_t next = UINT32_MAX; /* address after the last instruction */
    memset(bench->visits.slots, 0, SLOTS * sizeof *bench->visits.slots);
    bench->visits.used = 0;
    bench->visits.executed = 0;
    for (size_t i = 0; i < bench->count; i++) {
        const struct record *instruction = &bench->truth[i];
        uint32_t end = instruction->address + instruction->size;
        uint32_t chunk = instruction->address & ~(model->chunk - 1);
        bool again = model->refetch == BUS_REFETCH_NONE && instruction->address != next;
        for (; chunk < end; chunk += model->chunk) {
            if (chunk != last || again)
                add_truth(&bench->visits, chunk, model->chunk);
            last = chunk;
        }
        next = end;
    }
}

/* --- reconstruction --- */

/* Puts fetches through a stream. Returns its result; *finding and *counts are what it found. */
static int reconstruct(struct bench *bench, const struct fetch_stream_settings *settings,
                       size_t count, struct bus_finding *finding,
                       struct fetch_stream_counts *counts)
{
    const struct batch batch = {.records = bench->fetches, .count = count};
    struct fetch_stream *stream = fetch_stream_new(settings, &bench->sink, NULL);
    if (!stream)
        exit(3);
    int result = fetch_stream_put(stream, &batch, NULL);
    if (result == 0)
        result = fetch_stream_end(stream, NULL);
    if (fetch_stream_finding(stream))
        *finding = *fetch_stream_finding(stream);
    *counts = fetch_stream_counts(stream);
    fetch_stream_free(stream);
    return result;
}

static void forget_found(struct places *places)
{
    for (size_t i = 0; i < SLOTS; i++)
        places->slots[i].found = places->slots[i].certain = 0;
}

static void fail(struct bench *bench, bool failed, const char *why)
{
    if (!failed)
        return;
    bench->failed = true;
    printf("     FAILED: %s\n", why);
}

/* Whether the fetches alone do not tell the model. Where most chunks have a loop inside them,
 * chunks that are executed again look like chunks that are fetched again; with noise, runs of
 * chunks as short as instructions look like prefetched ones, and these like errors. */
static bool is_hidden(const struct bus_processor_model *model, enum view view)
{
    return view == VIEW_BLIND && ((model->chunk == 32 && model->refetch == BUS_REFETCH_NONE) ||
                                  (model->chunk == 4 && model->noise_percent > 0));
}

/* all_assumed: nothing is certain, although the records do not say so. */
static void compare(struct bench *bench, const struct bus_processor_model *model, enum view view,
                    bool all_assumed, double seconds)
{
    uint64_t wrong = 0;
    uint64_t certain = 0;
    uint64_t excess = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct place *place = &bench->counted->slots[i];
        uint64_t sure = all_assumed ? 0 : place->certain;
        wrong += place->found > place->executed ? place->found - place->executed
                                                : place->executed - place->found;
        certain += sure;
        excess += sure > place->executed ? sure - place->executed : 0;
        if (sure > place->executed && bench->lists_excess)
            printf("     0x%08x executed %" PRIu64 ", certain %" PRIu64 ", found %" PRIu64 "\n",
                   place->address, place->executed, sure, place->found);
    }
    double wrong_percent = 100.0 * (double)wrong / (double)bench->counted->executed;
    double certain_percent = 100.0 * (double)certain / (double)bench->counted->executed;
    printf(" %7.2f %6.2f %6" PRIu64 " %6.1f\n", wrong_percent, certain_percent, excess,
           (double)bench->fetch_count / seconds / 1e6);
    bool plain = model->ahead == 0 && model->noise_percent == 0 && !is_hidden(model, view);
    fail(bench, excess > 0, "certain counts exceed the truth");
    fail(bench,
         plain && view == VIEW_IMAGE && model->chunk <= 8 &&
             (wrong_percent > WRONG_MAX || certain_percent < CERTAIN_MIN),
         "above 3 % wrong, or below 90 % certain");
    fail(bench, plain && view != VIEW_IMAGE && wrong_percent > VISITS_WRONG_MAX,
         "visits above 0.1 % wrong");
}

/* What is found. Without images, a processor that fetches for each instruction looks like one that
 * refetches. */
static struct bus_model expected_model(const struct bus_processor_model *model, enum view view)
{
    struct bus_model expected = {.chunk = model->chunk,
                                 .refetch = (uint8_t)model->refetch,
                                 .ahead = (uint8_t)model->ahead,
                                 .noise = model->noise_percent > 0};
    if (view != VIEW_BLIND)
        return expected;
    if (model->refetch == BUS_REFETCH_EACH)
        expected.refetch = BUS_REFETCH_SOME;
    if (model->ahead == 0)
        expected.ahead = BUS_AHEAD_UNKNOWN;
    return expected;
}

/* Whether a model that is not the expected one is as good. */
static bool is_as_good(const struct bus_model *found, const struct bus_model *expected,
                       enum view view)
{
    /* of the models in which nothing is certain, a laxer one */
    if (view == VIEW_IMAGE)
        return expected->noise && expected->refetch == BUS_REFETCH_SOME && expected->ahead > 0 &&
               found->noise && found->refetch == BUS_REFETCH_SOME && found->ahead > expected->ahead;
    /* without images, noise hides prefetches */
    return expected->noise && found->noise && found->ahead == BUS_AHEAD_UNKNOWN;
}

static void try_view(struct bench *bench, const struct bus_processor_model *model, enum view view)
{
    struct bus_finding finding = {.verdict = BUS_OTHER_CODE};
    struct fetch_stream_counts counts;
    struct measure measure;
    char text[BUS_MODEL_TEXT_BYTES];
    char found[BUS_MODEL_TEXT_BYTES];
    const struct bus_model truth = expected_model(model, VIEW_TOLD);
    const struct bus_model expected = expected_model(model, view);
    struct fetch_stream_settings settings = {.kind = FETCH_BUS,
                                             .images = view == VIEW_IMAGE ? bench->images : NULL,
                                             .model = view == VIEW_TOLD ? &truth : NULL};
    bench->counted = view == VIEW_IMAGE ? &bench->instructions : &bench->visits;
    size_t sample = bench->fetch_count < BUS_DETECT_SAMPLE ? bench->fetch_count : BUS_DETECT_SAMPLE;
    int result = reconstruct(bench, &settings, sample, &finding, &counts);
    printf("%-38s %2u %5u  %s ", bus_model_text(text, &truth), model->noise_percent, model->cache,
           view_names[view]);
    if (model->cache > 0) {
        bool refused = result == BT_DATA && finding.verdict == BUS_CACHED;
        printf("%s\n", refused ? "cached" : "NOT RECOGNISED");
        fail(bench, !refused, "the cache was not recognised");
        return;
    }
    bool same = strcmp(bus_model_text(text, &expected), bus_model_text(found, &finding.model)) == 0;
    printf("%s", same ? "found" : found);
    forget_found(bench->counted);
    settings.finding = &finding;
    measure_begin(&measure);
    reconstruct(bench, &settings, bench->fetch_count, &finding, &counts);
    measure_end(&measure);
    compare(bench, model, view, counts.bus.assumed == counts.bus.instructions, measure.cpu);
    fail(bench,
         result != 0 ||
             (!same && !is_hidden(model, view) && !is_as_good(&finding.model, &expected, view)),
         "the model was not found");
    fflush(stdout);
}

static void try_bus(struct bench *bench, const struct bus_processor_model *model)
{
    simulate(bench, model);
    if (model->cache == 0)
        count_visits(bench, model);
    for (enum view view = VIEW_IMAGE; view <= VIEW_TOLD; view++)
        if (view != VIEW_TOLD || model->cache == 0)
            try_view(bench, model, view);
}

static void try_all(struct bench *bench, bool quick)
{
    static const uint32_t noises[] = {0, 5, 1};
    static const uint32_t caches[] = {0, 2048, 16384};
    for (uint32_t chunk = quick ? 8 : 4; chunk <= (quick ? 16u : 32u); chunk *= 2)
        for (int refetch = 0; refetch <= BUS_REFETCH_EACH; refetch++)
            for (uint32_t ahead = 0; ahead <= 2; ahead += quick ? 2 : 1)
                for (unsigned noise = 0; noise < (quick ? 2u : 3u); noise++)
                    for (unsigned cache = 0; cache < (quick ? 2u : 3u); cache++)
                        try_bus(bench, &(struct bus_processor_model){.chunk = chunk,
                                                                     .refetch = refetch,
                                                                     .ahead = ahead,
                                                                     .noise_percent = noises[noise],
                                                                     .cache = caches[cache]});
}

/* The bus of a model as bus_model_parse reads it, with a cache of so many bytes and noise in
 * percent. */
static struct bus_processor_model parse_bus(char **arguments)
{
    struct bus_model model;
    if (bus_model_parse(&model, arguments[0], NULL) < 0)
        exit(2);
    return (struct bus_processor_model){.chunk = model.chunk,
                                        .refetch = model.refetch,
                                        .ahead = model.ahead,
                                        .cache = (uint32_t)atoi(arguments[1]),
                                        .noise_percent = (uint32_t)atoi(arguments[2])};
}

static void write_fetches(const struct bench *bench)
{
    for (size_t i = 0; i < bench->fetch_count; i++) {
        uint8_t bytes[RECORD_BYTES];
        record_put(bytes, &bench->fetches[i]);
        fwrite(bytes, 1, sizeof bytes, stdout);
    }
}

static int read_program(struct bench *bench, char **images, int count, const char *capture,
                        struct bt_error *error)
{
    bench->instructions.slots = calloc(SLOTS, sizeof *bench->instructions.slots);
    bench->visits.slots = calloc(SLOTS, sizeof *bench->visits.slots);
    bench->images = images_new(error);
    if (!bench->images || !bench->instructions.slots || !bench->visits.slots)
        exit(3);
    for (int i = 0; i < count; i++)
        if (images_add(bench->images, images[i], error) != 0)
            return error->code;
    return read_truth(bench, capture, error);
}

int main(int argc, char **argv)
{
    static struct bench bench = {.sink = {.operations = &operations}};
    struct bt_error error;
    const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const bool write = argc > 1 && strcmp(argv[1], "--write") == 0;
    const bool only = argc > 1 && strcmp(argv[1], "--only") == 0;
    const int first = quick ? 2 : write || only ? 5 : 1;
    struct bus_processor_model bus;
    if (argc < first + 2)
        return 2;
    if (write || only)
        bus = parse_bus(argv + 2);
    if (read_program(&bench, argv + first, argc - 1 - first, argv[argc - 1], &error) != 0) {
        fprintf(stderr, "bus_models: %s\n", error.message);
        return 2;
    }
    if (write) {
        simulate(&bench, &bus);
        write_fetches(&bench);
    } else if (only) {
        bench.lists_excess = true;
        try_bus(&bench, &bus);
    } else {
        printf("%zu instructions\n", bench.count);
        try_all(&bench, quick);
    }
    free(bench.truth);
    free(bench.instructions.slots);
    free(bench.visits.slots);
    free(bench.fetches);
    images_free(bench.images);
    return bench.failed;
}
