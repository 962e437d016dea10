/*
 * A second implementation of doc/predictors.md, written from that document alone, slow and
 * obvious: histories are lists of outcomes, folded bit by bit when needed.
 */
#ifndef TESTS_SUPPORT_SLOW_PREDICTORS_H
#define TESTS_SUPPORT_SLOW_PREDICTORS_H

#include "tools/rondo/branch.h"
#include "tools/rondo/predictor_settings.h"

/* --- one predictor of direction --- */

struct slow_predictor;

struct slow_predictor *slow_predictor_new(const struct predictor_settings *settings);
void slow_predictor_free(struct slow_predictor *predictor);

/* Predicts, trains, and adds the outcome to the histories. Returns the prediction. */
bool slow_predictor_put(struct slow_predictor *predictor, const struct branch *branch);

/* The wrong path after the misprediction of `branch`: takes its branches as predicted, and restores
 * the state at its end. */
void slow_predictor_wrong_begin(struct slow_predictor *predictor, const struct branch *branch);
bool slow_predictor_wrong(struct slow_predictor *predictor, const struct branch *branch);
void slow_predictor_wrong_end(struct slow_predictor *predictor);

/* --- return stack, target buffer, target cache --- */

struct slow_targets;

struct slow_targets *slow_targets_new(unsigned places, unsigned entries, unsigned ways,
                                      unsigned cache_entries, unsigned cache_history);
void slow_targets_free(struct slow_targets *targets);

/* Predicted target of a taken branch; 0 for none. */
uint64_t slow_targets_put(struct slow_targets *targets, const struct branch *branch);

void slow_targets_wrong_begin(struct slow_targets *targets, const struct branch *branch,
                              uint64_t predicted);
uint64_t slow_targets_wrong(struct slow_targets *targets, const struct branch *branch);
void slow_targets_wrong_end(struct slow_targets *targets);

#endif
