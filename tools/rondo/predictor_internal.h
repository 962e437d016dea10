/* What the kinds of predictors share. */
#ifndef TOOLS_RONDO_PREDICTOR_INTERNAL_H
#define TOOLS_RONDO_PREDICTOR_INTERNAL_H

#include "formats/base/named_fields.h"
#include "tools/rondo/predictor.h"

struct NAMED_FIELDS predictor_operations {
    bool (*predict)(struct predictor *predictor, const struct branch *branch);
    /* NULL where there is nothing to do, as is each of those that follow */
    void (*train)(struct predictor *predictor, const struct branch *branch);
    void (*shift)(struct predictor *predictor, const struct branch *branch, bool taken);
    void (*flip)(struct predictor *predictor, const struct branch *branch);
    void (*save)(struct predictor *predictor);
    void (*restore)(struct predictor *predictor);
    void (*clear)(struct predictor *predictor); /* frees what it has beside itself */
};

/* The first member of every predictor. Its history of 64 outcomes, newest lowest, is kept by
 * predictor.c; longer and local ones by their predictors. */
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

/* The xor of the pieces of `bits` bits of a history of at most 64; bits may be 0. */
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
