#include "tools/dcfg/graph/bus_detect.h"

#include "tools/common/fetch_noise.h"
#include "tools/dcfg/graph/bus_decode.h"
#include "tools/dcfg/graph/bus_runs.h"

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
#define RUNS_MIN    300u
#define RETURNS_MIN 4u
#define LOOP_SHARE  25u

/* Without images, per mille of the runs: at most this many are shorter than the prefetches make
 * them; with noise, after repair, and at most one in REPAIRED_SHARE of those before it. */
#define SHORT_PLAIN    5u
#define SHORT_REPAIRED 60u
#define REPAIRED_SHARE 4u

/* Chunks of four bytes are as short as instructions: runs of one chunk are rare without prefetches,
 * too. There, at most this percentage of the repaired fetches for each prefetched chunk. */
#define SHORT_PERCENT_OF_4 52u

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

/* Whether fetches show loops, which a cache hides. */
enum loops_seen { LOOPS_SHOWN, LOOPS_HIDDEN, LOOPS_UNKNOWN /* too few fetches */ };

static enum loops_seen see_loops(const struct record *fetches, size_t count, uint32_t chunk)
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
    if (returns >= RETURNS_MIN && per_mille(returns, runs) >= LOOP_SHARE)
        return LOOPS_SHOWN;
    return runs >= RUNS_MIN ? LOOPS_HIDDEN : LOOPS_UNKNOWN;
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
    const enum loops_seen loops = see_loops(fetches, count, model->chunk);
    *finding =
        (struct bus_finding){.model = *model, .sample = count, .few = loops == LOOPS_UNKNOWN};
    if (!code) {
        finding->doubt = loops == LOOPS_SHOWN    ? BUS_DOUBT_NONE
                         : loops == LOOPS_HIDDEN ? BUS_DOUBT_CACHE
                                                 : BUS_DOUBT_FEW;
        return find_noise(finding, fetches, count, error);
    }
    for (size_t i = 0; i < count; i++)
        finding->in_code += bus_code_has(code, fetches[i].address, model->chunk);
    struct bus_decode_counts counts = {.unexplained = 0};
    int result = try_model(model, code, fetches, count, &counts, error);
    uint64_t unexplained = per_mille(counts.unexplained, finding->in_code);
    bool explained =
        unexplained <= UNEXPLAINED_CACHED && per_mille(counts.noise, count) <= NOISE_MAX;
    finding->unexplained = counts.unexplained;
    finding->noise = counts.noise;
    finding->verdict = finding->in_code == 0                                   ? BUS_OTHER_CODE
                       : (!explained || model->noise) && loops == LOOPS_HIDDEN ? BUS_CACHED
                       : explained                                             ? BUS_COUNTABLE
                                                                               : BUS_OTHER_CODE;
    return result;
}

/* A fetch without explanation weighs as much as several with wrong address bits. */
static uint64_t weight_of(uint64_t unexplained, uint64_t noise)
{
    return 4 * unexplained + noise;
}

/* The strictest of the models that explain the sample almost as well as the best. */
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
        weights[i] = weight_of(counts.unexplained, counts.noise);
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

/*
 * Whether a bus fetches chunks again, if the shorter sample did not show it: code that is executed
 * once looks alike on both. On the whole sample, six programs of which none does had up to 12 %
 * more weight as such a bus, those of which all do 60 % or more.
 */
static int find_refetch_in_noise(struct bus_finding *finding, struct bus_code *code,
                                 const struct record *fetches, size_t count, struct bt_error *error)
{
    struct bus_finding again;
    struct bus_model model = finding->model;
    if (model.refetch != BUS_REFETCH_NONE)
        return 0;
    model.refetch = BUS_REFETCH_SOME;
    int result = bus_examine(&again, &model, code, fetches, count, error);
    if (result == 0 && weight_of(finding->unexplained, finding->noise) * 10 >
                           weight_of(again.unexplained, again.noise) * 13)
        *finding = again;
    return result;
}

/* --- without images --- */

/* The number of different addresses that come at least so often. */
static size_t count_different(uint32_t *addresses, size_t count, size_t often)
{
    size_t different = 0;
    if (count > 0)
        qsort(addresses, count, sizeof *addresses, bus_runs_compare);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && addresses[end] == addresses[i];)
            end++;
        different += end - i >= often;
    }
    return different;
}

/* Whether a quarter of the chunks that were fetched often follow themselves somewhere, not counting
 * prefetched ones: in code, few chunks have a branch to themselves. */
static int find_refetch(struct bus_model *model, const struct record *fetches, size_t count,
                        struct bt_error *error)
{
    uint32_t *addresses = malloc((count + 1) * sizeof *addresses);
    uint32_t *repeated = malloc((count + 1) * sizeof *repeated);
    uint32_t ahead = model->ahead == BUS_AHEAD_UNKNOWN ? 0 : model->ahead * model->chunk;
    size_t repeats = 0;
    for (size_t i = 0; addresses && repeated && i < count; i++) {
        addresses[i] = fetches[i].address;
        if (i > 0 && fetches[i].address == fetches[i - 1].address - ahead)
            repeated[repeats++] = fetches[i].address;
    }
    if (addresses && repeated &&
        count_different(repeated, repeats, 1) * 4 >
            count_different(addresses, count, BUS_RUNS_OFTEN))
        model->refetch = BUS_REFETCH_SOME;
    int result = addresses && repeated
                     ? 0
                     : bt_fail(error, BT_MEMORY, "no memory to find what a bus refetches");
    free(addresses);
    free(repeated);
    return result;
}

/* Finds the number of prefetched chunks, and noise that only their runs show; BUS_AHEAD_UNKNOWN:
 * none are, or noise hides it. */
static void find_ahead(struct bus_finding *finding, const struct record *fetches,
                       const struct bus_repair *repair, size_t count)
{
    struct bus_model *model = &finding->model;
    const uint64_t wrong = per_mille(repair->count, count);
    model->ahead = BUS_AHEAD_UNKNOWN;
    for (unsigned ahead = 1; ahead < AHEAD_TRIED; ahead++) {
        unsigned before = bus_runs_short(fetches, count, model->chunk, ahead);
        unsigned after = bus_runs_short(repair->fetches, count, model->chunk, ahead);
        bool noise = after <= SHORT_REPAIRED && after * REPAIRED_SHARE <= before;
        if (model->chunk == BUS_CHUNK_MIN)
            noise = noise && after * 100 <= ahead * wrong * SHORT_PERCENT_OF_4;
        if (before > SHORT_PLAIN && !noise)
            continue;
        model->ahead = (uint8_t)ahead;
        if (before > SHORT_PLAIN && repair->count > finding->noise) {
            model->noise = true;
            finding->noise = repair->count;
            finding->noise_mask = repair->mask;
        }
    }
}

static int detect_without_images(struct bus_finding *finding, const struct record *fetches,
                                 size_t count, struct bt_error *error)
{
    struct bus_model *model = &finding->model;
    struct bus_repair repair;
    int result = find_noise(finding, fetches, count, error);
    if (result == 0)
        result = bus_runs_repair(&repair, fetches, count, model->chunk, error);
    if (result != 0)
        return result;
    model->noise = finding->noise > 0;
    find_ahead(finding, fetches, &repair, count);
    const enum loops_seen loops = see_loops(fetches, count, model->chunk);
    finding->verdict = loops == LOOPS_HIDDEN ? BUS_CACHED : BUS_COUNTABLE;
    finding->doubt = loops == LOOPS_UNKNOWN ? BUS_DOUBT_FEW : BUS_DOUBT_NONE;
    bool repaired = model->noise && model->ahead != BUS_AHEAD_UNKNOWN;
    result = find_refetch(model, repaired ? repair.fetches : fetches, count, error);
    free(repair.fetches);
    return result;
}

int bus_detect(struct bus_finding *finding, uint32_t chunk, struct bus_code *code,
               const struct record *fetches, size_t count, struct bt_error *error)
{
    struct bus_finding noisy;
    size_t shorter = count < NOISE_SAMPLE ? count : NOISE_SAMPLE;
    struct bus_model model = {.chunk = chunk};
    if (!code) {
        *finding = (struct bus_finding){.model = model, .sample = count};
        return detect_without_images(finding, fetches, count, error);
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
    if (result == 0)
        result = find_refetch_in_noise(&noisy, code, fetches, count, error);
    if (result == 0 && noisy.unexplained * 4 < finding->unexplained)
        *finding = noisy;
    return result;
}
