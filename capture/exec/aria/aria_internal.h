/* Private to capture/exec/aria. */
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
    bool is_child; /* forked by the program: nothing is recorded */

    struct not_taken *not_taken;     /* made when first needed */
    struct definitions *definitions; /* made when first needed */
    struct store_buffer *stores;     /* of the current not-taken path; NULL: none */
    uint64_t stop_at;

    struct record *records; /* of the current step */
    size_t record_count, record_capacity;

    executor_put_function *put; /* of aria_run(); else NULL */
    void *put_context;
};

/* A new state with the thread's registers. */
struct aria_state *aria_state_of_thread(const struct aria *aria, struct bt_error *error);

/* Appends records to the step. False: no memory. */
bool aria_add_records(struct aria *aria, const struct record *records, size_t count);

/* Whether an address is in the lower half. The system and executor_step() accept no other base of
 * fs. */
static inline bool aria_is_user_address(uint64_t address)
{
    return address >> 47 == 0;
}

/* Fills in the branch of a step: kind is an enum decode_kind; target 0: indirect; rip is where it
 * went. */
void aria_describe_branch(struct aria_step *step, uint8_t kind, uint64_t address, unsigned size,
                          uint64_t target, uint64_t rip);

#endif
