/*
 * What carried dependences mean for loops (depend_report.h), by the values that their machine code
 * passes on (loop_values.h).
 */
#ifndef TOOLS_DEPEND_LOOP_JUDGE_H
#define TOOLS_DEPEND_LOOP_JUDGE_H

#include "capture/depend/depend_report.h"
#include "tools/depend/code_places.h"
#include "tools/depend/feed_flow.h"
#include "tools/depend/loop_values.h"

struct loop_judge {
    const struct depend *depend; /* these three are set by the caller */
    struct feed_flow *flow;
    struct code_places *places;
    /* private */
    struct judged_loop **loops; /* by loop; NULL: not analysed yet */
    size_t count;
    struct judged_call *calls; /* direct ones of executed code */
    size_t call_count, call_capacity;
    bool has_calls; /* they are collected */
    bool out_of_memory;
};

void loop_judge_clear(struct loop_judge *judge);

/* depend_report.carry and .values. */
enum depend_carry loop_judge_carry(struct loop_judge *judge, const struct depend_pair *pair);
int loop_judge_values(struct loop_judge *judge, uint32_t loop, depend_value_function *add, void *to,
                      struct bt_error *error);

#endif
