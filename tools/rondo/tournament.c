/* Predictors with local histories: alone, or combined with a global predictor by a choice table. */
#include "tools/rondo/local_histories.h"
#include "tools/rondo/predictor_internal.h"

struct tournament {
    struct predictor predictor;
    struct local_histories local;
    struct counters global; /* unused by a local predictor */
    struct counters choice; /* unused by a local predictor */
};

static bool local_predict(struct predictor *predictor, const struct branch *branch)
{
    return local_histories_predict(&((struct tournament *)predictor)->local, branch);
}

static void local_train(struct predictor *predictor, const struct branch *branch)
{
    local_histories_train(&((struct tournament *)predictor)->local, branch);
}

static bool tournament_predict(struct predictor *predictor, const struct branch *branch)
{
    const struct tournament *tournament = (const struct tournament *)predictor;
    if (counters_predict(&tournament->choice, predictor->history))
        return counters_predict(&tournament->global, predictor->history);
    return local_histories_predict(&tournament->local, branch);
}

static void tournament_train(struct predictor *predictor, const struct branch *branch)
{
    struct tournament *tournament = (struct tournament *)predictor;
    bool global = counters_predict(&tournament->global, predictor->history);
    bool local = local_histories_predict(&tournament->local, branch);
    if (global != local)
        counters_train(&tournament->choice, predictor->history, global == branch->taken);
    counters_train(&tournament->global, predictor->history, branch->taken);
    local_histories_train(&tournament->local, branch);
}

static void shift(struct predictor *predictor, const struct branch *branch, bool taken)
{
    local_histories_shift(&((struct tournament *)predictor)->local, branch, taken);
}

static void flip(struct predictor *predictor, const struct branch *branch)
{
    local_histories_flip(&((struct tournament *)predictor)->local, branch);
}

static void save(struct predictor *predictor)
{
    local_histories_save(&((struct tournament *)predictor)->local);
}

static void restore(struct predictor *predictor)
{
    local_histories_restore(&((struct tournament *)predictor)->local);
}

static void clear(struct predictor *predictor)
{
    struct tournament *tournament = (struct tournament *)predictor;
    local_histories_clear(&tournament->local);
    free(tournament->global.values);
    free(tournament->choice.values);
}

struct predictor *local_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {.predict = local_predict,
                                                           .train = local_train,
                                                           .shift = shift,
                                                           .flip = flip,
                                                           .save = save,
                                                           .restore = restore,
                                                           .clear = clear};
    struct tournament *tournament = calloc(1, sizeof *tournament);
    if (!tournament)
        return NULL;
    tournament->predictor.operations = &operations;
    if (local_histories_make(&tournament->local, settings->histories, settings->history,
                             settings->bits))
        return &tournament->predictor;
    predictor_free(&tournament->predictor);
    return NULL;
}

struct predictor *tournament_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {.predict = tournament_predict,
                                                           .train = tournament_train,
                                                           .shift = shift,
                                                           .flip = flip,
                                                           .save = save,
                                                           .restore = restore,
                                                           .clear = clear};
    struct tournament *tournament = calloc(1, sizeof *tournament);
    if (!tournament)
        return NULL;
    tournament->predictor.operations = &operations;
    if (local_histories_make(&tournament->local, settings->histories, settings->local_history,
                             settings->local_bits) &&
        counters_make(&tournament->global, 1ull << settings->history, settings->bits) &&
        counters_make(&tournament->choice, 1ull << settings->history, settings->bits))
        return &tournament->predictor;
    predictor_free(&tournament->predictor);
    return NULL;
}
