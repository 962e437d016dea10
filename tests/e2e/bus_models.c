/*
 * Measures the reconstruction of executed instructions from the fetches of a bus
 * (doc/benchmarks.md): puts an executed program on simulated buses and compares the true and the
 * reconstructed count of each instruction.
 *
 * usage: bus_models [--quick] ELF CAPTURE
 *        bus_models --write MODEL CACHE NOISE ELF CAPTURE     (writes the fetches to standard
 *                                                              output)
 *
 * Prints a line for each bus: its model, the detected model, the percentage of wrong counts
 * and of certain instructions, the number of certain instructions beyond the true count, and
 * million fetches per second. Exit status 1 if a model is not detected, a capture after a cache is
 * not recognised, a certain count exceeds the truth, or an error is above its limit. --quick: some
 * buses only.
 */
#include "formats/capture/trace_reader.h"
#include "tests/support/bus_processor.h"
#include "tests/support/measure.h"
#include "tools/dcfg/graph/bus_decode.h"
#include "tools/dcfg/graph/bus_detect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 4096u
#define SLOTS (UINT32_C(1) << 20)

/* Limits without a cache, chunks of 8 bytes, no prefetch, no noise, in percent. */
#define WRONG_MAX   3.0
#define CERTAIN_MIN 90.0

struct place {
    uint32_t address;
    uint8_t size;
    uint64_t executed;
    uint64_t found;
    uint64_t certain;
};

struct bench {
    struct record *truth;
    size_t count;
    struct place *places; /* hash table with open addressing, by address and size */
    struct bus_code *code;
    struct record *fetches;
    size_t fetch_count;
    size_t fetch_room;
    bool failed;
};

static struct place *find_place(struct bench *bench, uint32_t address, uint8_t size)
{
    size_t at = (address * 2654435761u ^ size * 40503u) & (SLOTS - 1);
    while (bench->places[at].size != 0 &&
           (bench->places[at].address != address || bench->places[at].size != size))
        at = (at + 1) & (SLOTS - 1);
    bench->places[at].address = address;
    bench->places[at].size = size;
    return &bench->places[at];
}

static int put(void *context, const struct record *record, bool assumed, struct bt_error *error)
{
    struct place *place = find_place(context, record->address, record->size);
    (void)error;
    place->found++;
    place->certain += !assumed;
    return 0;
}

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
            find_place(bench, records[i].address, records[i].size)->executed++;
        }
    }
    source_close(source);
    return 0;
}

static void simulate(struct bench *bench, const struct bus_processor_model *model)
{
    struct bus_processor *processor = bus_processor_new(model, 1);
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

static void decode(struct bench *bench, const struct bus_model *model)
{
    struct bus_decoder *decoder = bus_decoder_new(model, bench->code, put, bench, NULL);
    if (!decoder)
        exit(3);
    for (size_t i = 0; i < bench->fetch_count; i++) {
        const struct record *fetch = &bench->fetches[i];
        if (bus_code_has(bench->code, fetch->address, fetch->size) ||
            bus_decoder_expects(decoder, fetch))
            bus_decoder_take(decoder, fetch, NULL);
        else
            bus_decoder_leave(decoder, fetch, NULL);
    }
    bus_decoder_break(decoder, NULL);
    bus_decoder_free(decoder);
}

static void fail(struct bench *bench, bool failed, const char *why)
{
    if (!failed)
        return;
    bench->failed = true;
    printf("     FAILED: %s\n", why);
}

static void compare(struct bench *bench, const struct bus_processor_model *model, double seconds)
{
    uint64_t wrong = 0;
    uint64_t certain = 0;
    uint64_t excess = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        const struct place *place = &bench->places[i];
        wrong += place->found > place->executed ? place->found - place->executed
                                                : place->executed - place->found;
        certain += place->certain;
        excess += place->certain > place->executed ? place->certain - place->executed : 0;
    }
    double wrong_percent = 100.0 * (double)wrong / (double)bench->count;
    double certain_percent = 100.0 * (double)certain / (double)bench->count;
    printf(" %6.2f %6.2f %6" PRIu64 " %6.1f\n", wrong_percent, certain_percent, excess,
           (double)bench->fetch_count / seconds / 1e6);
    fail(bench, excess > 0, "certain counts exceed the truth");
    fail(bench,
         model->chunk == 8 && model->ahead == 0 && model->noise_percent == 0 &&
             (wrong_percent > WRONG_MAX || certain_percent < CERTAIN_MIN),
         "above 3 % wrong, or below 90 % certain");
}

static void try_bus(struct bench *bench, const struct bus_processor_model *model)
{
    struct bus_finding finding;
    struct measure measure;
    char text[BUS_MODEL_TEXT_BYTES];
    for (size_t i = 0; i < SLOTS; i++)
        bench->places[i].found = bench->places[i].certain = 0;
    simulate(bench, model);
    size_t sample = bench->fetch_count < BUS_DETECT_SAMPLE ? bench->fetch_count : BUS_DETECT_SAMPLE;
    if (bus_detect(&finding, model->chunk, bench->code, bench->fetches, sample, NULL) != 0)
        exit(3);
    const struct bus_model truth = {.chunk = model->chunk,
                                    .refetch = (uint8_t)model->refetch,
                                    .ahead = (uint8_t)model->ahead,
                                    .noise = model->noise_percent > 0};
    printf("%-38s %2u %5u  ", bus_model_text(text, &truth), model->noise_percent, model->cache);
    if (model->cache > 0) {
        printf("%s\n", finding.verdict == BUS_CACHED ? "cached" : "NOT RECOGNISED");
        fail(bench, finding.verdict != BUS_CACHED, "the cache was not recognised");
        return;
    }
    char found[BUS_MODEL_TEXT_BYTES];
    bool same = strcmp(bus_model_text(found, &finding.model), text) == 0;
    /* of the models in which nothing is certain, a laxer one is as good */
    bool lax = truth.noise && truth.refetch == BUS_REFETCH_SOME && truth.ahead > 0 &&
               finding.model.noise && finding.model.refetch == BUS_REFETCH_SOME &&
               finding.model.ahead > truth.ahead;
    printf("%s", same ? "found" : found);
    measure_begin(&measure);
    decode(bench, &finding.model);
    measure_end(&measure);
    compare(bench, model, measure.cpu);
    fail(bench, (!same && !lax) || finding.verdict != BUS_COUNTABLE, "the model was not found");
    fflush(stdout);
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

/* Writes the fetches of a model as bus_model_parse reads it, with a cache of so many bytes and
 * noise in percent. */
static int write_fetches(struct bench *bench, char **arguments)
{
    struct bus_model model;
    if (bus_model_parse(&model, arguments[0], NULL) < 0)
        return 2;
    simulate(bench, &(struct bus_processor_model){.chunk = model.chunk,
                                                  .refetch = model.refetch,
                                                  .ahead = model.ahead,
                                                  .cache = (uint32_t)atoi(arguments[1]),
                                                  .noise_percent = (uint32_t)atoi(arguments[2])});
    for (size_t i = 0; i < bench->fetch_count; i++) {
        uint8_t bytes[RECORD_BYTES];
        record_put(bytes, &bench->fetches[i]);
        fwrite(bytes, 1, sizeof bytes, stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct bt_error error;
    bool quick = argc == 4 && strcmp(argv[1], "--quick") == 0;
    bool write = argc == 7 && strcmp(argv[1], "--write") == 0;
    if (argc != 3 && !quick && !write)
        return 2;
    struct images *images = images_new(&error);
    bench.places = calloc(SLOTS, sizeof *bench.places);
    if (!images || !bench.places || images_add(images, argv[argc - 2], &error) != 0 ||
        !(bench.code = bus_code_new(images, &error)) ||
        read_truth(&bench, argv[argc - 1], &error) != 0) {
        fprintf(stderr, "bus_models: %s\n", error.message);
        return 2;
    }
    int status = 0;
    if (write) {
        status = write_fetches(&bench, argv + 2);
    } else {
        printf("%zu instructions\n", bench.count);
        try_all(&bench, quick);
    }
    free(bench.truth);
    free(bench.places);
    free(bench.fetches);
    bus_code_free(bench.code);
    images_free(images);
    return bench.failed ? 1 : status;
}
