/*
 * How well executed instructions are reconstructed from the fetches of a bus (doc/benchmarks.md):
 * puts an executed program on simulated buses and compares, by instruction, how often it was
 * executed with what is reconstructed.
 *
 * usage: bus_models ELF CAPTURE [CHUNK REFETCH AHEAD CACHE NOISE_PERCENT]
 *
 * Prints a line for each bus: chunk, refetch, ahead, cache, noise; executed instructions; percent
 * of wrong counts, of instructions that are certain, and of certain ones beyond the true counts.
 */
#include "formats/capture/trace_reader.h"
#include "tests/support/bus_processor.h"
#include "tools/dcfg/graph/bus_decode.h"
#include "tools/dcfg/graph/bus_detect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 4096u

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
    struct place *places; /* open addressing by address and size */
    size_t slots;
    const struct images *images;
    struct record *fetches;
    size_t fetch_count, fetch_room;
};

static struct place *place_of(struct bench *bench, uint32_t address, uint8_t size)
{
    size_t at = (address * 2654435761u ^ size * 40503u) & (bench->slots - 1);
    while (bench->places[at].size != 0 &&
           (bench->places[at].address != address || bench->places[at].size != size))
        at = (at + 1) & (bench->slots - 1);
    bench->places[at].address = address;
    bench->places[at].size = size;
    return &bench->places[at];
}

static int put(void *context, const struct record *record, bool assumed, struct bt_error *error)
{
    struct place *place = place_of(context, record->address, record->size);
    (void)error;
    place->found++;
    place->certain += !assumed;
    return 0;
}

static void decode(struct bench *bench, const struct bus_model *known)
{
    struct bus_code *code = bus_code_new(bench->images, NULL);
    struct bus_decoder *decoder = bus_decoder_new(known, code, put, bench, NULL);
    for (size_t i = 0; i < bench->fetch_count; i++)
        bus_decoder_take(decoder, &bench->fetches[i], NULL);
    bus_decoder_break(decoder, NULL);
    struct bus_decode_counts c = bus_decoder_counts(decoder);
    printf("  unexplained %" PRIu64 " noise %" PRIu64 " pruned %" PRIu64 "\n", c.unexplained,
           c.noise, c.pruned);
    bus_decoder_free(decoder);
    bus_code_free(code);
}

static struct bus_finding find_model(struct bench *bench)
{
    struct bus_finding finding;
    char text[BUS_MODEL_TEXT_BYTES];
    size_t count = bench->fetch_count < BUS_DETECT_SAMPLE ? bench->fetch_count : BUS_DETECT_SAMPLE;
    struct bus_code *code = bus_code_new(bench->images, NULL);
    bus_detect(&finding, code, bench->fetches, count, NULL);
    bus_code_free(code);
    printf("%-38s %s %5.2f %% unexplained;", bus_model_text(text, &finding.model),
           finding.verdict == BUS_COUNTABLE ? "countable"
           : finding.verdict == BUS_CACHED  ? "cached   "
                                            : "OTHER    ",
           100.0 * (double)finding.unexplained / (double)finding.sample);
    return finding;
}

static void read_truth(struct bench *bench, const char *path)
{
    struct trace_reader *reader;
    struct bt_error error;
    static struct record records[BATCH];
    struct batch batch = {.records = records, .capacity = BATCH};
    size_t room = 0;
    if (trace_reader_open(&reader, path, 0, &error) != 0) {
        fprintf(stderr, "bus_models: %s\n", error.message);
        exit(2);
    }
    struct source *source = trace_reader_source(reader);
    while (source_next(source, &batch, -1, &error) == 1) {
        if (bench->count + batch.count > room) {
            room = room * 2 + BATCH;
            bench->truth = realloc(bench->truth, room * sizeof *bench->truth);
            if (!bench->truth)
                exit(3);
        }
        for (size_t i = 0; i < batch.count; i++)
            if (batch.records[i].type == REQUEST_FETCH)
                bench->truth[bench->count++] = batch.records[i];
    }
    source_close(source);
}

static void simulate(struct bench *bench, const struct bus_processor_model *model)
{
    struct bus_processor *processor = bus_processor_new(model, 1);
    bench->fetch_count = 0;
    for (size_t i = 0; i < bench->count; i++) {
        if (bench->fetch_count + BUS_PROCESSOR_FETCHES > bench->fetch_room) {
            bench->fetch_room = bench->fetch_room * 2 + BATCH;
            bench->fetches = realloc(bench->fetches, bench->fetch_room * sizeof(struct record));
            if (!bench->fetches)
                exit(3);
        }
        bench->fetch_count +=
            bus_processor_execute(processor, bench->truth[i].address, bench->truth[i].size,
                                  bench->fetches + bench->fetch_count);
    }
    bus_processor_free(processor);
}

static void measure(struct bench *bench, const struct bus_processor_model *model)
{
    struct timespec from, to;
    uint64_t wrong = 0, found = 0, certain = 0, excess = 0;
    for (size_t i = 0; i < bench->slots; i++)
        bench->places[i].found = bench->places[i].certain = 0;
    simulate(bench, model);
    struct bus_finding finding = find_model(bench);
    clock_gettime(CLOCK_MONOTONIC, &from);
    decode(bench, &finding.model);
    if (getenv("WRITE"))
        for (size_t i = 0; i < bench->fetch_count; i++) {
            uint8_t bytes[RECORD_BYTES];
            record_put(bytes, &bench->fetches[i]);
            fwrite(bytes, 1, sizeof bytes, stderr);
        }
    clock_gettime(CLOCK_MONOTONIC, &to);
    for (size_t i = 0; i < bench->slots; i++) {
        const struct place *place = &bench->places[i];
        wrong += place->found > place->executed ? place->found - place->executed
                                                : place->executed - place->found;
        found += place->found;
        certain += place->certain;
        excess += place->certain > place->executed ? place->certain - place->executed : 0;
    }
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    printf("%2u %d %u %5u %u  %zu fetches, %6.2f wrong, %6.2f certain, %" PRIu64
           " excess, %.1f M/s\n",
           model->chunk, model->refetch, model->ahead, model->cache, model->noise_percent,
           bench->fetch_count, 100.0 * (double)wrong / (double)bench->count,
           100.0 * (double)certain / (double)bench->count, excess,
           (double)bench->fetch_count / seconds / 1e6);
    fflush(stdout);
    (void)found;
}

int main(int argc, char **argv)
{
    static struct bench bench = {.slots = 1u << 20, .count = 0};
    struct bt_error error;
    if (argc != 3 && argc != 8)
        return 2;
    struct images *images = images_new(&error);
    if (!images || images_add(images, argv[1], &error) != 0) {
        fprintf(stderr, "bus_models: %s\n", error.message);
        return 2;
    }
    bench.images = images;
    bench.places = calloc(bench.slots, sizeof *bench.places);
    read_truth(&bench, argv[2]);
    for (size_t i = 0; i < bench.count; i++)
        place_of(&bench, bench.truth[i].address, bench.truth[i].size)->executed++;
    printf("%zu instructions\n", bench.count);
    if (argc == 8) {
        const struct bus_processor_model model = {.chunk = (uint32_t)atoi(argv[3]),
                                                  .refetch = atoi(argv[4]),
                                                  .ahead = (uint32_t)atoi(argv[5]),
                                                  .cache = (uint32_t)atoi(argv[6]),
                                                  .noise_percent = (uint32_t)atoi(argv[7])};
        measure(&bench, &model);
    } else {
        for (uint32_t chunk = 4; chunk <= 32; chunk *= 2)
            for (int refetch = 0; refetch < 3; refetch++)
                for (uint32_t ahead = 0; ahead <= 2; ahead++)
                    for (uint32_t noise = 0; noise <= 5; noise += 5) {
                        const struct bus_processor_model model = {.chunk = chunk,
                                                                  .refetch = refetch,
                                                                  .ahead = ahead,
                                                                  .noise_percent = noise};
                        measure(&bench, &model);
                    }
    }
    images_free(images);
    return 0;
}
