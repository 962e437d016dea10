#include "tools/dcfg/graph/bus_detect.h"

#include "tools/dcfg/graph/bus_decode.h"

#include <stdlib.h>

#define AHEAD_TRIED  4u
#define SAMPLE_MIN   1000u
#define NOISE_SAMPLE 8192u /* decoding with noise is slower */

/* Per mille of the sample. */
#define UNEXPLAINED_EXACT  1u   /* a model with at most this many explains the bus without noise */
#define UNEXPLAINED_CACHED 15u  /* above this a model does not explain the bus */
#define NOISE_MAX          100u /* likewise of fetches with wrong address bits */
#define UNEXPLAINED_OTHER  300u /* above this the code is not what was executed */

static int ignore(void *context, const struct record *instruction, bool assumed,
                  struct bt_error *error)
{
    (void)context;
    (void)instruction;
    (void)assumed;
    (void)error;
    return 0;
}

/* What a model makes of the sample. */
static int try_model(const struct bus_model *model, struct bus_code *code,
                     const struct record *fetches, size_t count, struct bus_decode_counts *counts,
                     struct bt_error *error)
{
    struct bus_decoder *decoder = bus_decoder_new(model, code, ignore, NULL, error);
    if (!decoder)
        return BT_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (bus_code_has(code, fetches[i].address, model->chunk) ||
            bus_decoder_expects(decoder, &fetches[i]))
            bus_decoder_take(decoder, &fetches[i], error);
        else
            bus_decoder_leave(decoder, &fetches[i], error);
    }
    *counts = bus_decoder_counts(decoder);
    bus_decoder_free(decoder);
    return 0;
}

static uint64_t per_mille(uint64_t part, uint64_t whole)
{
    return whole > 0 ? part * 1000 / whole : 0;
}

int bus_examine(struct bus_finding *finding, const struct bus_model *model, struct bus_code *code,
                const struct record *fetches, size_t count, struct bt_error *error)
{
    *finding = (struct bus_finding){.model = *model, .sample = count};
    for (size_t i = 0; i < count; i++)
        finding->in_code += bus_code_has(code, fetches[i].address, model->chunk);
    struct bus_decode_counts counts = {.unexplained = 0};
    int result = try_model(model, code, fetches, count, &counts, error);
    uint64_t unexplained = per_mille(counts.unexplained, finding->in_code);
    bool explained =
        unexplained <= UNEXPLAINED_CACHED && per_mille(counts.noise, count) <= NOISE_MAX;
    finding->unexplained = counts.unexplained;
    finding->noise = counts.noise;
    finding->verdict = finding->in_code == 0 || unexplained > UNEXPLAINED_OTHER ? BUS_OTHER_CODE
                       : explained                                              ? BUS_COUNTABLE
                                                                                : BUS_CACHED;
    return result;
}

/* The strictest of the models that explain the sample almost as well as the best. A fetch without
 * explanation weighs as much as several with wrong address bits. */
static int choose_model(struct bus_model *model, struct bus_code *code,
                        const struct record *fetches, size_t count, struct bt_error *error)
{
    static const uint8_t refetches[] = {BUS_REFETCH_EACH, BUS_REFETCH_NONE, BUS_REFETCH_SOME};
    uint64_t weights[3 * AHEAD_TRIED];
    uint64_t least = UINT64_MAX;
    unsigned chosen = 0;
    for (unsigned i = 0; i < 3 * AHEAD_TRIED; i++) {
        struct bus_decode_counts counts;
        model->refetch = refetches[i / AHEAD_TRIED];
        model->ahead = (uint8_t)(i % AHEAD_TRIED);
        int result = try_model(model, code, fetches, count, &counts, error);
        if (result != 0)
            return result;
        weights[i] = 4 * counts.unexplained + counts.noise;
        if (weights[i] < least)
            least = weights[i];
    }
    if (count < SAMPLE_MIN) /* too few to exclude a model: the most usual one comes first */
        chosen = AHEAD_TRIED;
    while (weights[chosen] > least + least / 3 + count / 250)
        chosen = (chosen + 1) % (3 * AHEAD_TRIED);
    model->refetch = refetches[chosen / AHEAD_TRIED];
    model->ahead = (uint8_t)(chosen % AHEAD_TRIED);
    return 0;
}

/* --- without images --- */

static int compare_addresses(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_unique(uint32_t *addresses, size_t count)
{
    size_t unique = 0;
    if (count > 0)
        qsort(addresses, count, sizeof *addresses, compare_addresses);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || addresses[unique - 1] != addresses[i])
            addresses[unique++] = addresses[i];
    return unique;
}

/* Whether a quarter of the chunks that were fetched more than once follow themselves somewhere: in
 * code, few chunks have a branch to themselves. */
static int find_refetch(struct bus_model *model, const struct record *fetches, size_t count,
                        struct bt_error *error)
{
    uint32_t *addresses = malloc((count + 1) * sizeof *addresses);
    uint32_t *repeated = malloc((count + 1) * sizeof *repeated);
    size_t repeats = 0;
    for (size_t i = 0; addresses && repeated && i < count; i++) {
        addresses[i] = fetches[i].address;
        if (i > 0 && fetches[i].address == fetches[i - 1].address)
            repeated[repeats++] = fetches[i].address;
    }
    if (addresses && repeated && sort_unique(repeated, repeats) * 4 > sort_unique(addresses, count))
        model->refetch = BUS_REFETCH_SOME;
    int result = addresses && repeated
                     ? 0
                     : bt_fail(error, BT_MEMORY, "no memory to find what a bus refetches");
    free(addresses);
    free(repeated);
    return result;
}

int bus_detect(struct bus_finding *finding, struct bus_code *code, const struct record *fetches,
               size_t count, struct bt_error *error)
{
    struct bus_finding noisy;
    size_t shorter = count < NOISE_SAMPLE ? count : NOISE_SAMPLE;
    struct bus_model model = {.chunk = count > 0 ? fetches[0].size : BUS_CHUNK_MIN};
    if (!code) {
        int result = find_refetch(&model, fetches, count, error);
        *finding = (struct bus_finding){.model = model, .sample = count};
        return result;
    }
    int result = choose_model(&model, code, fetches, count, error);
    if (result == 0)
        result = bus_examine(finding, &model, code, fetches, count, error);
    if (result != 0 || per_mille(finding->unexplained, finding->in_code) <= UNEXPLAINED_EXACT)
        return result;
    model.noise = true;
    result = choose_model(&model, code, fetches + (count - shorter), shorter, error);
    if (result == 0)
        result = bus_examine(&noisy, &model, code, fetches, count, error);
    if (result == 0 && noisy.unexplained * 4 < finding->unexplained)
        *finding = noisy;
    return result;
}
