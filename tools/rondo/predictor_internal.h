/* Interface between predictor.c and the kinds of predictors. */
#ifndef TOOLS_RONDO_PREDICTOR_INTERNAL_H
#define TOOLS_RONDO_PREDICTOR_INTERNAL_H

#include "formats/base/named_fields.h"
#include "tools/rondo/predictor.h"

struct NAMED_FIELDS predictor_operations {
    bool (*predict)(struct predictor *predictor, const struct branch *branch);
    /* this and all following may be NULL: nothing to do */
    void (*train)(struct predictor *predictor, const struct branch *branch);
    void (*shift)(struct predictor *predictor, const struct branch *branch, bool taken);
    void (*flip)(struct predictor *predictor, const struct branch *branch);
    void (*save)(struct predictor *predictor);
    void (*restore)(struct predictor *predictor);
    void (*clear)(struct predictor *predictor); /* frees what the predictor owns */
};

/* The first member of every predictor. predictor.c keeps the history of 64 outcomes, newest in bit
 * 0; predictors keep longer and local histories themselves. */
struct predictor {
    const struct predictor_operations *operations;
    uint64_t history, saved_history;
};

/* NULL without memory. */
struct predictor *direction_static_new(const struct predictor_settings *settings);
struct predictor *bimodal_new(const struct predictor_settings *settings);
struct predictor *gshare_new(const struct predictor_settings *settings);
struct predictor *local_new(const struct predictor_settings *settings);
struct predictor *tournament_new(const struct predictor_settings *settings);
struct predictor *tage_new(const struct predictor_settings *settings);
struct predictor *perceptron_new(const struct predictor_settings *settings);

/* Folds a history to `bits` bits, which may be 0: the xor of its pieces. */
static inline uint64_t predictor_fold(uint64_t history, unsigned bits)
{
    uint64_t folded = 0;
    if (bits == 0)
        return 0;
    for (; history != 0; history = bits < 64 ? history >> bits : 0)
        folded ^= history;
    return bits < 64 ? folded & ((1ull << bits) - 1) : folded;
}

/* The newest `bits` outcomes of a history. */
static inline uint64_t predictor_newest(uint64_t history, unsigned bits)
{
    return bits < 64 ? history & ((1ull << bits) - 1) : history;
}

#endif
