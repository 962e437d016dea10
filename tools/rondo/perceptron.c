/* The perceptron predictor: a weight for each outcome of the history (Jimenez and Lin, 2001). */
#include "tools/rondo/predictor_internal.h"

#include <stdlib.h>

struct perceptron {
    struct predictor predictor;
    int16_t *weights; /* history + 1 for each perceptron */
    uint64_t mask;    /* number of perceptrons - 1 */
    unsigned history;
    int threshold; /* correct predictions with |y| up to this still train */
    int largest;   /* largest weight */
    int y;         /* output of the last prediction */
};

static int16_t *weights_of(const struct perceptron *perceptron, const struct branch *branch)
{
    return &perceptron->weights[(branch->address & perceptron->mask) * (perceptron->history + 1)];
}

static bool perceptron_predict(struct predictor *predictor, const struct branch *branch)
{
    struct perceptron *perceptron = (struct perceptron *)predictor;
    const int16_t *weights = weights_of(perceptron, branch);
    uint64_t outcomes = predictor->history;
    int y = weights[0];
    for (unsigned j = 0; j < perceptron->history; j++)
        y += (outcomes >> j & 1) != 0 ? weights[j + 1] : -weights[j + 1];
    perceptron->y = y;
    return y >= 0;
}

static int16_t moved(const struct perceptron *perceptron, int weight, bool up)
{
    if (up)
        return (int16_t)(weight + (weight < perceptron->largest));
    return (int16_t)(weight - (weight >= -perceptron->largest));
}

static void perceptron_train(struct predictor *predictor, const struct branch *branch)
{
    const struct perceptron *perceptron = (const struct perceptron *)predictor;
    if ((perceptron->y >= 0) == branch->taken && abs(perceptron->y) > perceptron->threshold)
        return;
    int16_t *weights = weights_of(perceptron, branch);
    weights[0] = moved(perceptron, weights[0], branch->taken);
    for (unsigned j = 0; j < perceptron->history; j++) {
        bool outcome = (predictor->history >> j & 1) != 0;
        weights[j + 1] = moved(perceptron, weights[j + 1], outcome == branch->taken);
    }
}

static void perceptron_clear(struct predictor *predictor)
{
    free(((struct perceptron *)predictor)->weights);
}

struct predictor *perceptron_new(const struct predictor_settings *settings)
{
    static const struct predictor_operations operations = {
        .predict = perceptron_predict, .train = perceptron_train, .clear = perceptron_clear};
    struct perceptron *perceptron = calloc(1, sizeof *perceptron);
    if (!perceptron)
        return NULL;
    perceptron->predictor.operations = &operations;
    perceptron->history = settings->history;
    perceptron->mask = settings->entries - 1;
    perceptron->threshold = (int)((193 * settings->history + 1400) / 100);
    perceptron->largest = (1 << (settings->bits - 1)) - 1;
    perceptron->weights =
        calloc((size_t)settings->entries * (settings->history + 1), sizeof *perceptron->weights);
    if (perceptron->weights)
        return &perceptron->predictor;
    free(perceptron);
    return NULL;
}
