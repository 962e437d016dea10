/* Static predictors: taken, not taken, backward taken. */
#include "tools/rondo/predictor_internal.h"

#include <stdlib.h>

static bool predict_taken(struct predictor *predictor, const struct branch *branch)
{
    (void)predictor;
    (void)branch;
    return true;
}

static bool predict_not_taken(struct predictor *predictor, const struct branch *branch)
{
    (void)predictor;
    (void)branch;
    return false;
}

static bool predict_backward(struct predictor *predictor, const struct branch *branch)
{
    (void)predictor;
    return branch->target <= branch->address;
}

struct predictor *direction_static_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations taken = {.predict = predict_taken};
    static const struct predictor_operations not_taken = {.predict = predict_not_taken};
    static const struct predictor_operations backward = {.predict = predict_backward};
    struct predictor *predictor = calloc(1, sizeof *predictor);
    if (predictor)
        predictor->operations = settings->kind == PREDICTOR_TAKEN       ? &taken
                                : settings->kind == PREDICTOR_NOT_TAKEN ? &not_taken
                                                                        : &backward;
    return predictor;
}
