/*
 * The predicting part of a processor's front end: several direction predictors side by side, one of
 * which wrong paths follow, and one set of target predictors; doc/predictors.md, "The front end".
 */
#ifndef TOOLS_RONDO_FRONT_END_H
#define TOOLS_RONDO_FRONT_END_H

#include "tools/rondo/branch_table.h"
#include "tools/rondo/predictor_settings.h"
#include "tools/rondo/targets.h"

#define FRONT_END_PREDICTORS_MAX 16u

struct front_end_settings {
    struct predictor_settings predictors[FRONT_END_PREDICTORS_MAX];
    size_t predictor_count; /* at least 1 */
    size_t followed;        /* index of the predictor that wrong paths follow */
    struct targets_settings targets;
    bool by_branch; /* counts each branch separately */
};

struct front_end_totals {
    uint64_t executed[BRANCH_KINDS];
    uint64_t taken; /* conditional branches taken */
    uint64_t wrong[FRONT_END_PREDICTORS_MAX];
    /* returns, indirect jumps and indirect calls: predicted target is wrong, or no target is
     * predicted */
    uint64_t wrong_targets[BRANCH_KINDS];
    uint64_t unknown_targets[BRANCH_KINDS];
    /* branch target buffer (BTB): look-ups, misses, and hits with a wrong target */
    uint64_t looked_up[BRANCH_KINDS];
    uint64_t btb_miss[BRANCH_KINDS];
    uint64_t btb_wrong_target[BRANCH_KINDS];
};

/* The prediction of the followed predictor, or of the target predictors. */
struct front_end_answer {
    bool wrong;
    uint64_t goes_on; /* predicted next address; 0: none, the front end waits */
};

struct front_end;

/* The settings are copied. NULL and *error without memory. */
struct front_end *front_end_new(const struct front_end_settings *settings, struct bt_error *error);
void front_end_free(struct front_end *front_end);

/* Predicts the program's next branch, and trains. */
struct front_end_answer front_end_put(struct front_end *front_end, const struct branch *branch);

/*
 * Begins the wrong path after the last branch, which was mispredicted as *answer says.
 * front_end_wrong then predicts each branch on it and returns the next address, 0 if the front end
 * waits.
 */
void front_end_wrong_begin(struct front_end *front_end, const struct branch *branch,
                           const struct front_end_answer *answer);
uint64_t front_end_wrong(struct front_end *front_end, const struct branch *branch);
void front_end_wrong_end(struct front_end *front_end);

const struct front_end_totals *front_end_totals(const struct front_end *front_end);

/* NULL without by_branch. */
const struct branch_table *front_end_branches(const struct front_end *front_end);

/* Mispredicted branches of all kinds if this predictor were followed. */
uint64_t front_end_mispredicted(const struct front_end_totals *totals, size_t predictor);

#endif
