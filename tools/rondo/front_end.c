#include "tools/rondo/front_end.h"

#include "tools/rondo/predictor.h"

#include <stdlib.h>

struct front_end {
    struct predictor *predictors[FRONT_END_PREDICTORS_MAX];
    size_t predictor_count, followed;
    struct targets *targets;
    struct branch_table *branches;
    struct front_end_totals totals;
};

struct front_end *front_end_new(const struct front_end_settings *settings, struct bt_error *error)
{
    struct front_end *front_end = calloc(1, sizeof *front_end);
    if (!front_end) {
        bt_fail(error, BT_MEMORY, "no memory for the predictors");
        return NULL;
    }
    front_end->followed = settings->followed;
    front_end->targets = targets_new(&settings->targets, error);
    if (!front_end->targets)
        goto failed;
    if (settings->by_branch) {
        front_end->branches = branch_table_new(settings->predictor_count, error);
        if (!front_end->branches)
            goto failed;
    }
    for (; front_end->predictor_count < settings->predictor_count; front_end->predictor_count++) {
        const size_t number = front_end->predictor_count;
        front_end->predictors[number] = predictor_new(&settings->predictors[number], error);
        if (!front_end->predictors[number])
            goto failed;
    }
    return front_end;
failed:
    front_end_free(front_end);
    return NULL;
}

void front_end_free(struct front_end *front_end)
{
    if (!front_end)
        return;
    for (size_t i = 0; i < front_end->predictor_count; i++)
        predictor_free(front_end->predictors[i]);
    targets_free(front_end->targets);
    branch_table_free(front_end->branches);
    free(front_end);
}

/* Predicts with and trains all predictors. Returns the prediction of the followed one. */
static bool put_conditional(struct front_end *front_end, const struct branch *branch,
                            struct branch_counts *counts)
{
    bool followed = false;
    for (size_t i = 0; i < front_end->predictor_count; i++) {
        struct predictor *predictor = front_end->predictors[i];
        bool taken = predictor_predict(predictor, branch);
        predictor_train(predictor, branch);
        predictor_shift(predictor, branch, branch->taken);
        front_end->totals.wrong[i] += taken != branch->taken;
        if (counts)
            counts->wrong[i] += taken != branch->taken;
        if (i == front_end->followed)
            followed = taken;
    }
    front_end->totals.taken += branch->taken;
    return followed;
}

static void count_target(struct front_end *front_end, const struct branch *branch,
                         const struct targets_answer *answer, struct branch_counts *counts)
{
    struct front_end_totals *totals = &front_end->totals;
    totals->wrong_targets[branch->kind] += answer->target != 0;
    totals->unknown_targets[branch->kind] += answer->target == 0;
    for (size_t i = 0; counts && i < front_end->predictor_count; i++)
        counts->wrong[i]++;
}

static struct front_end_answer put_taken(struct front_end *front_end, const struct branch *branch,
                                         struct branch_counts *counts)
{
    struct front_end_totals *totals = &front_end->totals;
    struct targets_answer answer = targets_put(front_end->targets, branch);
    if (answer.looked_up) {
        totals->looked_up[branch->kind]++;
        totals->btb_miss[branch->kind] += !answer.buffered;
        totals->btb_wrong_target[branch->kind] += answer.buffered && !answer.right;
    }
    struct front_end_answer result = {.goes_on = branch->target};
    if (branch->kind == BRANCH_RETURN || branch_is_indirect(branch)) {
        result.goes_on = answer.target;
        result.wrong = answer.target != branch->target;
        if (result.wrong)
            count_target(front_end, branch, &answer, counts);
    }
    return result;
}

struct front_end_answer front_end_put(struct front_end *front_end, const struct branch *branch)
{
    struct branch_counts *counts =
        front_end->branches ? branch_table_at(front_end->branches, branch) : NULL;
    front_end->totals.executed[branch->kind]++;
    if (counts) {
        counts->executed++;
        counts->taken += branch->taken;
    }
    if (branch->kind != BRANCH_CONDITIONAL)
        return put_taken(front_end, branch, counts);
    bool predicted = put_conditional(front_end, branch, counts);
    if (branch->taken)
        put_taken(front_end, branch, counts);
    return (struct front_end_answer){.wrong = predicted != branch->taken,
                                     .goes_on = predicted ? branch->target : branch->next};
}

void front_end_wrong_begin(struct front_end *front_end, const struct branch *branch,
                           const struct front_end_answer *answer)
{
    struct predictor *predictor = front_end->predictors[front_end->followed];
    predictor_save(predictor);
    if (branch->kind == BRANCH_CONDITIONAL)
        predictor_flip(predictor, branch);
    targets_wrong_begin(front_end->targets, branch, answer->goes_on);
}

uint64_t front_end_wrong(struct front_end *front_end, const struct branch *branch)
{
    if (branch->kind != BRANCH_CONDITIONAL)
        return targets_wrong(front_end->targets, branch);
    struct predictor *predictor = front_end->predictors[front_end->followed];
    bool taken = predictor_predict(predictor, branch);
    predictor_shift(predictor, branch, taken);
    return taken ? branch->target : branch->next;
}

void front_end_wrong_end(struct front_end *front_end)
{
    predictor_restore(front_end->predictors[front_end->followed]);
    targets_wrong_end(front_end->targets);
}

const struct front_end_totals *front_end_totals(const struct front_end *front_end)
{
    return &front_end->totals;
}

const struct branch_table *front_end_branches(const struct front_end *front_end)
{
    return front_end->branches;
}

uint64_t front_end_mispredicted(const struct front_end_totals *totals, size_t predictor)
{
    uint64_t sum = totals->wrong[predictor];
    for (unsigned kind = 0; kind < BRANCH_KINDS; kind++)
        sum += totals->wrong_targets[kind] + totals->unknown_targets[kind];
    return sum;
}
