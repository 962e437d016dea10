/*
 * Backward slices: everything that the criterion depends on, directly or not. All dependences point
 * backwards in time, so one walk from the criterion to the start of the trace finds them; of each
 * chunk that is needed the state at its begin is found by a pass forwards before.
 */
#ifndef TOOLS_WET_SLICE_SLICE_WALK_H
#define TOOLS_WET_SLICE_SLICE_WALK_H

#include "tools/wet/replay/wet_replay.h"
#include "tools/wet/slice/slice_plain.h"

#define SLICE_DEPTH_ALL UINT32_MAX

/* Where a slice begins. */
struct slice_criterion {
    struct wet_instance *instances;
    size_t count, capacity;
    bool is_fault; /* instead: the instruction that raised the signal which ended the recording */
    bool is_end;   /* instead: the last instruction executed by the thread that ended it */
};

void slice_criterion_clear(struct slice_criterion *criterion);
int slice_criterion_add(struct slice_criterion *criterion, uint32_t id, uint64_t instance);

struct slice_settings {
    const struct slice_form *forms;  /* by id: plain dependences; NULL: all */
    bool data;                       /* no control dependences */
    uint32_t depth;                  /* at most so many dependences away, or SLICE_DEPTH_ALL */
    bool keeps_members;              /* slice_result.members */
    bool keeps_links;                /* slice_result.links */
    const struct slice_set *targets; /* NULL, or to which nearest one a chain is sought */
    const bool *target_ids;          /* NULL, or the same: any instance of these ids */
    /* NULL, or how much of the work is done. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* What is in a slice. Zeroed, then clear it in any case. */
struct slice_result {
    uint64_t *counts; /* by id: number of instances; NULL: nothing was found out */
    uint64_t *last;   /* by id: the latest of these instances */
    uint64_t instances;
    struct slice_set members;      /* if kept: all instances */
    struct slice_map links;        /* if kept: of all instances */
    struct slice_link target;      /* the nearest of the targets; instance.id 0: none was found */
    struct wet_instance criterion; /* of is_end: that instance */
};

/* Makes a backward slice. 0, BT_MEMORY, or BT_DATA: a chunk is damaged. */
int slice_backward(struct wet_trace *trace, const struct slice_criterion *criterion,
                   const struct slice_settings *settings, struct slice_result *result,
                   struct bt_error *error);

/* Makes a forward slice: everything that depends on one of the criterion's instances, which are in
 * it. Settings: data, depth, keeps_members. */
int slice_forward(struct wet_trace *trace, const struct slice_criterion *criterion,
                  const struct slice_settings *settings, struct slice_result *result,
                  struct bt_error *error);

int slice_result_init(struct slice_result *result, const struct wet_trace *trace);
void slice_result_clear(struct slice_result *result);

#endif
