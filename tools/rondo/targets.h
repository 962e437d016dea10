/* Target predictors: return stack, branch target buffer, target cache, as doc/predictors.md defines
 * them. Address 0 means no target. */
#ifndef TOOLS_RONDO_TARGETS_H
#define TOOLS_RONDO_TARGETS_H

#include "formats/base/error.h"
#include "tools/rondo/branch.h"

#define RETURN_STACK_MAX   4096u
#define TARGET_BUFFER_MAX  (1u << 22) /* entries; also of the target cache */
#define TARGET_WAYS_MAX    1024u
#define TARGET_HISTORY_MAX 64u

struct targets_settings {
    uint32_t return_stack;    /* number of entries; 0: none */
    uint32_t buffer_entries;  /* 0: no buffer */
    uint32_t buffer_ways;     /* entries / ways is a power of two */
    uint32_t cache_entries;   /* a power of two; 0: no target cache */
    uint32_t cache_histories; /* number of targets in the history */
};

/* A predicted target, and the look-up in the branch target buffer. */
struct targets_answer {
    uint64_t target; /* 0: no target */
    bool looked_up;  /* the branch was looked up in the buffer */
    bool buffered;   /* the buffer holds the branch */
    bool right;      /* the buffer holds the branch with its actual target */
};

struct targets;

/* 0 if the settings are possible, else BT_USAGE. */
int targets_check(const struct targets_settings *settings, struct bt_error *error);

/* Settings must have passed targets_check. NULL and *error without memory. */
struct targets *targets_new(const struct targets_settings *settings, struct bt_error *error);
void targets_free(struct targets *targets);

/* Predicts the target of a taken branch, and trains. */
struct targets_answer targets_put(struct targets *targets, const struct branch *branch);

/*
 * Begins a wrong path after a branch; if the branch is indirect, `predicted` is the predicted
 * target. targets_wrong then returns the predicted target of each taken branch on the path, 0 if
 * there is none; direct branches have their own. targets_wrong_end ends the path.
 */
void targets_wrong_begin(struct targets *targets, const struct branch *branch, uint64_t predicted);
uint64_t targets_wrong(struct targets *targets, const struct branch *branch);
void targets_wrong_end(struct targets *targets);

#endif
