/*
 * Predictors of a branch's direction: doc/predictors.md says exactly what they do.
 *
 * Of each conditional branch: predict, train, shift, in this order. On a wrong path: save, flip if
 * the mispredicted branch was conditional, then predict and shift what was predicted, and restore.
 */
#ifndef TOOLS_RONDO_PREDICTOR_H
#define TOOLS_RONDO_PREDICTOR_H

#include "tools/rondo/branch.h"
#include "tools/rondo/predictor_settings.h"

struct predictor;

/* Settings that predictor_settings_read gave. NULL and *error without memory. */
struct predictor *predictor_new(const struct predictor_settings *settings, struct bt_error *error);
void predictor_free(struct predictor *predictor);

/* Whether it will be taken; branch->taken is not looked at. */
bool predictor_predict(struct predictor *predictor, const struct branch *branch);

/* Tables learn what came of the branch that was predicted last. */
void predictor_train(struct predictor *predictor, const struct branch *branch);

/* Histories take an outcome of a branch. */
void predictor_shift(struct predictor *predictor, const struct branch *branch, bool taken);

/* Turns over what the histories took last, which was of this branch. */
void predictor_flip(struct predictor *predictor, const struct branch *branch);

/* Remembers the histories, once; nothing is trained until they are restored. */
void predictor_save(struct predictor *predictor);
void predictor_restore(struct predictor *predictor);

#endif
