/*
 * Direction predictors: doc/predictors.md is the exact definition.
 *
 * For each conditional branch call predict, train and shift, in this order. On a wrong path call
 * save; flip, if the mispredicted branch was conditional; then predict, and shift with the
 * prediction, for each branch; and restore.
 */
#ifndef TOOLS_RONDO_PREDICTOR_H
#define TOOLS_RONDO_PREDICTOR_H

#include "tools/rondo/branch.h"
#include "tools/rondo/predictor_settings.h"

struct predictor;

/* settings come from predictor_settings_read. NULL and *error without memory. */
struct predictor *predictor_new(const struct predictor_settings *settings, struct bt_error *error);
void predictor_free(struct predictor *predictor);

/* Predicts whether the branch is taken; does not read branch->taken. */
bool predictor_predict(struct predictor *predictor, const struct branch *branch);

/* Trains the tables with the outcome of the branch predicted last. */
void predictor_train(struct predictor *predictor, const struct branch *branch);

/* Shifts an outcome of a branch into the histories. */
void predictor_shift(struct predictor *predictor, const struct branch *branch, bool taken);

/* Inverts the newest outcome in the histories, which belongs to this branch. */
void predictor_flip(struct predictor *predictor, const struct branch *branch);

/* Saves the histories, one level deep. Do not train before predictor_restore. */
void predictor_save(struct predictor *predictor);
void predictor_restore(struct predictor *predictor);

#endif
