/*
 * A processor's front end, as far as it predicts: several predictors of direction side by side,
 * and one set of what predicts targets; doc/predictors.md, "The front end". One of the predictors
 * is followed onto wrong paths.
 */
#ifndef TOOLS_RONDO_FRONT_END_H
#define TOOLS_RONDO_FRONT_END_H

#include "tools/rondo/branch_table.h"
#include "tools/rondo/predictor_settings.h"
#include "tools/rondo/targets.h"

#define FRONT_END_PREDICTORS_MAX 16u

struct front_end_settings {
    struct predictor_settings predictors[FRONT_END_PREDICTORS_MAX];
    size_t predictor_count; /* 1 at least */
    size_t followed;        /* one of them */
    struct targets_settings targets;
    bool by_branch; /* counts each branch */
};

struct front_end_totals {
    uint64_t executed[BRANCH_KINDS];
    uint64_t taken; /* conditional branches */
    uint64_t wrong[FRONT_END_PREDICTORS_MAX];
    /* returns, indirect jumps and calls: another target was predicted, or (unknown) none */
    uint64_t wrong_targets[BRANCH_KINDS];
    uint64_t unknown_targets[BRANCH_KINDS];
    /* look-ups of the branch target buffer; those that miss; those that find a wrong target */
    uint64_t looked_up[BRANCH_KINDS];
    uint64_t btb_miss[BRANCH_KINDS];
    uint64_t btb_wrong_target[BRANCH_KINDS];
};

/* What the followed predictor, or that of targets, made of a branch. */
struct front_end_answer {
    bool wrong;
    uint64_t goes_on; /* where the front end does; 0: it waits */
};

struct front_end;

/* The settings are copied. NULL and *error without memory. */
struct front_end *front_end_new(const struct front_end_settings *settings, struct bt_error *error);
void front_end_free(struct front_end *front_end);

/* The program's next branch. */
struct front_end_answer front_end_put(struct front_end *front_end, const struct branch *branch);

/*
 * The wrong path that begins behind the last branch, mispredicted as answer says. Then each branch
 * on it: where the front end goes on, 0 if it waits; and its end.
 */
void front_end_wrong_begin(struct front_end *front_end, const struct branch *branch,
                           const struct front_end_answer *answer);
uint64_t front_end_wrong(struct front_end *front_end, const struct branch *branch);
void front_end_wrong_end(struct front_end *front_end);

const struct front_end_totals *front_end_totals(const struct front_end *front_end);

/* NULL without by_branch. */
const struct branch_table *front_end_branches(const struct front_end *front_end);

/* Mispredicted branches of all kinds, if a predictor were followed. */
uint64_t front_end_mispredicted(const struct front_end_totals *totals, size_t predictor);

#endif
