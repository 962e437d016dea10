#include "tools/rondo/predictor_internal.h"

#include <stdlib.h>

static struct predictor *make(const struct predictor_settings *settings)
{
    switch (settings->kind) {
    case PREDICTOR_BIMODAL:
        return bimodal_new(settings);
    case PREDICTOR_GSHARE:
        return gshare_new(settings);
    case PREDICTOR_LOCAL:
        return local_new(settings);
    case PREDICTOR_TOURNAMENT:
        return tournament_new(settings);
    case PREDICTOR_TAGE:
        return tage_new(settings);
    case PREDICTOR_PERCEPTRON:
        return perceptron_new(settings);
    default:
        return direction_static_new(settings);
    }
}

struct predictor *predictor_new(const struct predictor_settings *settings, struct bt_error *error)
{
    struct predictor *predictor = make(settings);
    if (!predictor) {
        char text[PREDICTOR_TEXT_BYTES];
        bt_fail(error, BT_MEMORY, "no memory for the predictor %s",
                predictor_settings_text(text, settings));
    }
    return predictor;
}

void predictor_free(struct predictor *predictor)
{
    if (predictor && predictor->operations->clear)
        predictor->operations->clear(predictor);
    free(predictor);
}

bool predictor_predict(struct predictor *predictor, const struct branch *branch)
{
    return predictor->operations->predict(predictor, branch);
}

void predictor_train(struct predictor *predictor, const struct branch *branch)
{
    if (predictor->operations->train)
        predictor->operations->train(predictor, branch);
}

void predictor_shift(struct predictor *predictor, const struct branch *branch, bool taken)
{
    predictor->history = predictor->history << 1 | taken;
    if (predictor->operations->shift)
        predictor->operations->shift(predictor, branch, taken);
}

void predictor_flip(struct predictor *predictor, const struct branch *branch)
{
    predictor->history ^= 1;
    if (predictor->operations->flip)
        predictor->operations->flip(predictor, branch);
}

void predictor_save(struct predictor *predictor)
{
    predictor->saved_history = predictor->history;
    if (predictor->operations->save)
        predictor->operations->save(predictor);
}

void predictor_restore(struct predictor *predictor)
{
    predictor->history = predictor->saved_history;
    if (predictor->operations->restore)
        predictor->operations->restore(predictor);
}
