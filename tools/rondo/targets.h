/*
 * What predicts where branches go: return stack, target buffer, target cache, as doc/predictors.md
 * defines them. An address of 0 is none.
 */
#ifndef TOOLS_RONDO_TARGETS_H
#define TOOLS_RONDO_TARGETS_H

#include "formats/base/error.h"
#include "tools/rondo/branch.h"

#define RETURN_STACK_MAX   4096u
#define TARGET_BUFFER_MAX  (1u << 22) /* entries, of the target cache too */
#define TARGET_WAYS_MAX    1024u
#define TARGET_HISTORY_MAX 64u

struct targets_settings {
    uint32_t return_stack;    /* entries; 0: none */
    uint32_t buffer_entries;  /* 0: none */
    uint32_t buffer_ways;     /* entries / ways is a power of two */
    uint32_t cache_entries;   /* a power of two; 0: none */
    uint32_t cache_histories; /* targets that choose from it */
};

/* What is known of a branch's target before it is executed, and in the buffer. */
struct targets_answer {
    uint64_t target; /* 0: nothing */
    bool looked_up;  /* in the target buffer, */
    bool buffered;   /* which has the branch, */
    bool right;      /* and its target */
};

struct targets;

/* 0 where these can be, or BT_USAGE. */
int targets_check(const struct targets_settings *settings, struct bt_error *error);

/* Settings that have been checked. NULL and *error without memory. */
struct targets *targets_new(const struct targets_settings *settings, struct bt_error *error);
void targets_free(struct targets *targets);

/* Predicts a taken branch's target, and learns it. */
struct targets_answer targets_put(struct targets *targets, const struct branch *branch);

/*
 * A wrong path begins, behind a branch; if that is indirect, `predicted` is where it went instead
 * of its target. Until it ends, once: what targets_wrong says of each taken branch; 0 for a target
 * that nobody knows, direct branches have theirs.
 */
void targets_wrong_begin(struct targets *targets, const struct branch *branch, uint64_t predicted);
uint64_t targets_wrong(struct targets *targets, const struct branch *branch);
void targets_wrong_end(struct targets *targets);

#endif
