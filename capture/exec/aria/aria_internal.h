/* What the parts of capture/exec/aria share; for nobody else. */
#ifndef CAPTURE_EXEC_ARIA_ARIA_INTERNAL_H
#define CAPTURE_EXEC_ARIA_ARIA_INTERNAL_H

#include "capture/exec/aria/aria.h"
#include "capture/exec/aria/store_buffer.h"
#include "capture/exec/kernel/process_state.h"
#include "capture/exec/translate/vector_state.h"

struct aria {
    struct aria_settings settings;
    struct process *process;
    struct vector_layout layout;
    struct aria_state *initial;
    bool begun;
    bool stepping;
    bool is_child; /* forked by the program: nothing is recorded any more */

    struct not_taken *not_taken;     /* made when it is first needed; */
    struct definitions *definitions; /* the same */
    struct store_buffer *stores;     /* of the path that is not taken just now; NULL: none */
    uint64_t stop_at;

    struct record *records; /* of a step */
    size_t record_count, record_capacity;

    executor_put_function *put; /* free running */
    void *put_context;
};

/* The thread's registers as a new state. */
struct aria_state *aria_state_of_thread(const struct aria *aria, struct bt_error *error);

/* More records of a step. False: no memory. */
bool aria_add_records(struct aria *aria, const struct record *records, size_t count);

/* Whether the base of fs can be this: the system allows no others, and executor_step() wants one of
 * a user's addresses. */
static inline bool aria_is_canonical(uint64_t address)
{
    return address >> 47 == 0;
}

/* A branch (enum decode_kind) to target, 0 for indirect ones, that led to rip. */
void aria_describe_branch(struct aria_step *step, uint8_t kind, uint64_t address, unsigned size,
                          uint64_t target, uint64_t rip);

#endif
