/* One table of counters, indexed by address (bimodal) or by address and history (gshare). */
#include "formats/base/power.h"
#include "tools/rondo/counters.h"
#include "tools/rondo/predictor_internal.h"

struct gshare {
    struct predictor predictor;
    struct counters counters;
    unsigned history;     /* number of outcomes */
    unsigned folded_bits; /* log2 of the entries */
};

static uint64_t index_of(const struct gshare *gshare, const struct branch *branch)
{
    uint64_t outcomes = predictor_newest(gshare->predictor.history, gshare->history);
    return branch->address ^ predictor_fold(outcomes, gshare->folded_bits);
}

static bool gshare_predict(struct predictor *predictor, const struct branch *branch)
{
    const struct gshare *gshare = (const struct gshare *)predictor;
    return counters_predict(&gshare->counters, index_of(gshare, branch));
}

static void gshare_train(struct predictor *predictor, const struct branch *branch)
{
    struct gshare *gshare = (struct gshare *)predictor;
    counters_train(&gshare->counters, index_of(gshare, branch), branch->taken);
}

static bool bimodal_predict(struct predictor *predictor, const struct branch *branch)
{
    return counters_predict(&((const struct gshare *)predictor)->counters, branch->address);
}

static void bimodal_train(struct predictor *predictor, const struct branch *branch)
{
    counters_train(&((struct gshare *)predictor)->counters, branch->address, branch->taken);
}

static void gshare_clear(struct predictor *predictor)
{
    free(((struct gshare *)predictor)->counters.values);
}

static struct predictor *make(const struct predictor_settings *settings,
                              const struct predictor_operations *operations)
{
    struct gshare *gshare = calloc(1, sizeof *gshare);
    if (!gshare)
        return NULL;
    gshare->predictor.operations = operations;
    gshare->history = settings->history;
    gshare->folded_bits = power_log2(settings->entries);
    if (counters_make(&gshare->counters, settings->entries, settings->bits))
        return &gshare->predictor;
    free(gshare);
    return NULL;
}

struct predictor *bimodal_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {
        .predict = bimodal_predict, .train = bimodal_train, .clear = gshare_clear};
    return make(settings, &operations);
}

struct predictor *gshare_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {
        .predict = gshare_predict, .train = gshare_train, .clear = gshare_clear};
    return make(settings, &operations);
}
