#include "tools/dcfg/graph/bus_detect.h"

#include "tools/common/fetch_noise.h"
#include "tools/dcfg/graph/bus_decode.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD_TRIED  4u
#define SAMPLE_MIN   1000u
#define NOISE_SAMPLE 8192u /* decoding with noise is slower */

/* Per mille of the sample. */
#define UNEXPLAINED_EXACT  1u   /* a model with at most this many explains the bus without noise */
#define UNEXPLAINED_CACHED 15u  /* above this a model does not explain the bus */
#define NOISE_MAX          100u /* likewise of fetches with wrong address bits */

/* Successive chunks are a run. Where fewer runs begin in the one before, a cache hides the loops:
 * of eight programs 42 to 91 % without a cache, none with one, and up to 2 % with wrong address
 * bits. */
#define RUNS_MIN   300u
#define LOOP_SHARE 25u

/* Without images, of refetches with prefetched chunks: the share of runs that begin where the
 * previous one did, or at the next chunk. */
#define RUNS_SHARE 700u

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

/* Whether the fetches are those of a cache, which hides loops; false if there are too few. */
static bool hides_loops(const struct record *fetches, size_t count, uint32_t chunk)
{
    size_t runs = 0;
    size_t returns = 0;
    uint32_t start = 0;
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t address = fetches[i].address;
        if (runs > 0 && (address == end || address == end + chunk)) {
            end = address;
            continue;
        }
        returns += runs > 0 && address >= start && address <= end;
        runs++;
        start = end = address;
    }
    return runs >= RUNS_MIN && per_mille(returns, runs) < LOOP_SHARE;
}

/* Finds the noise without images: noise and noise_mask of the finding. */
static int find_noise(struct bus_finding *finding, const struct record *fetches, size_t count,
                      struct bt_error *error)
{
    struct fetch_noise_finding found = {.mask = 0};
    uint32_t *addresses = malloc((count + 1) * sizeof *addresses);
    if (!addresses)
        return bt_fail(error, BT_MEMORY, "no memory to find the model of the bus");
    for (size_t i = 0; i < count; i++)
        addresses[i] = fetches[i].address;
    int result = fetch_noise_find(&found, addresses, count, finding->model.chunk, error);
    if (result == 0 && fetch_noise_is_probe(&found)) {
        finding->noise = found.excursions;
        finding->noise_mask = found.mask;
    }
    free(addresses);
    return result;
}

int bus_examine(struct bus_finding *finding, const struct bus_model *model, struct bus_code *code,
                const struct record *fetches, size_t count, struct bt_error *error)
{
    *finding = (struct bus_finding){.model = *model, .sample = count};
    if (!code)
        return find_noise(finding, fetches, count, error);
    for (size_t i = 0; i < count; i++)
        finding->in_code += bus_code_has(code, fetches[i].address, model->chunk);
    struct bus_decode_counts counts = {.unexplained = 0};
    int result = try_model(model, code, fetches, count, &counts, error);
    uint64_t unexplained = per_mille(counts.unexplained, finding->in_code);
    bool explained =
        unexplained <= UNEXPLAINED_CACHED && per_mille(counts.noise, count) <= NOISE_MAX;
    finding->unexplained = counts.unexplained;
    finding->noise = counts.noise;
    finding->verdict =
        finding->in_code == 0 ? BUS_OTHER_CODE
        : (!explained || model->noise) && hides_loops(fetches, count, finding->model.chunk)
            ? BUS_CACHED
        : explained ? BUS_COUNTABLE
                    : BUS_OTHER_CODE;
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
    /* With noise, lax models explain some wrong bits otherwise: the right one has up to 12 % more
     * weight than the best, a wrong one 23 % or more. */
    uint64_t slack = model->noise ? least / 6 + count / 1000 : least / 3 + count / 250;
    while (weights[chosen] > least + slack)
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

/* Of a processor that fetches for each instruction and prefetches: the number of prefetched chunks;
 * 0: it is none. */
static unsigned find_runs(const struct record *fetches, size_t count, uint32_t chunk)
{
    size_t lengths[AHEAD_TRIED + 1] = {0};
    size_t runs = 0;
    size_t again = 0;
    uint32_t start = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && fetches[end].address == fetches[end - 1].address + chunk;)
            end++;
        again += runs > 0 && fetches[i].address - start <= chunk;
        start = fetches[i].address;
        lengths[end - i <= AHEAD_TRIED ? end - i : 0]++;
        runs++;
    }
    for (unsigned length = 2; length <= AHEAD_TRIED; length++)
        if (per_mille(lengths[length], runs) > RUNS_SHARE && per_mille(again, runs) > RUNS_SHARE)
            return length - 1;
    return 0;
}

/* The model of fetches without images. */
static int detect_blindly(struct bus_finding *finding, const struct record *fetches, size_t count,
                          struct bt_error *error)
{
    struct bus_model *model = &finding->model;
    int result = find_noise(finding, fetches, count, error);
    if (result != 0)
        return result;
    unsigned ahead = find_runs(fetches, count, model->chunk);
    model->noise = finding->noise > 0;
    model->ahead = ahead > 0 ? (uint8_t)ahead : BUS_AHEAD_UNKNOWN;
    finding->verdict =
        hides_loops(fetches, count, finding->model.chunk) ? BUS_CACHED : BUS_COUNTABLE;
    if (ahead > 0) {
        model->refetch = BUS_REFETCH_EACH;
        return 0;
    }
    return find_refetch(model, fetches, count, error);
}

int bus_detect(struct bus_finding *finding, uint32_t chunk, struct bus_code *code,
               const struct record *fetches, size_t count, struct bt_error *error)
{
    struct bus_finding noisy;
    size_t shorter = count < NOISE_SAMPLE ? count : NOISE_SAMPLE;
    struct bus_model model = {.chunk = chunk};
    if (!code) {
        *finding = (struct bus_finding){.model = model, .sample = count};
        return detect_blindly(finding, fetches, count, error);
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
