#define _GNU_SOURCE /* aligned_alloc under -std=c11 with POSIX only */
#include "capture/exec/aria/aria_internal.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u /* of XSAVE */

static struct aria_state *make(const struct aria *aria, struct bt_error *error)
{
    size_t bytes = (aria_vector_bytes(aria) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct aria_state *state = calloc(1, sizeof *state);
    if (state && !(state->vector = aligned_alloc(ALIGNMENT, bytes))) {
        free(state);
        state = NULL;
    }
    if (state && aria->settings.store_buffer && !(state->stores = store_buffer_new())) {
        aria_state_free(state);
        state = NULL;
    }
    if (!state)
        bt_fail(error, BT_MEMORY, "no memory for a state of the program");
    return state;
}

struct aria_state *aria_initial(const struct aria *aria, struct bt_error *error)
{
    struct aria_state *state = make(aria, error);
    if (state)
        aria_state_assign(aria, state, aria->initial);
    return state;
}

struct aria_state *aria_state_copy(const struct aria *aria, const struct aria_state *state,
                                   struct bt_error *error)
{
    struct aria_state *copy = make(aria, error);
    if (copy)
        aria_state_assign(aria, copy, state);
    return copy;
}

struct aria_state *aria_state_of_thread(const struct aria *aria, struct bt_error *error)
{
    const struct exec_thread *thread = aria->process->thread;
    struct aria_state *state = make(aria, error);
    if (!state)
        return NULL;
    memcpy(state->registers, thread->registers, sizeof state->registers);
    state->rip = thread->rip;
    state->flags = thread->flags;
    state->fs_base = thread->fs_base;
    memcpy(state->vector, thread->vector, thread->vector_bytes);
    return state;
}

void aria_state_assign(const struct aria *aria, struct aria_state *to,
                       const struct aria_state *from)
{
    uint8_t *vector = to->vector;
    struct store_buffer *stores = to->stores;
    *to = *from;
    to->vector = vector;
    to->stores = stores;
    if (stores)
        store_buffer_assign(stores, from->stores);
    vector_state_copy(&aria->layout, vector, from->vector);
}

void aria_state_free(struct aria_state *state)
{
    if (state) {
        free(state->vector);
        store_buffer_free(state->stores);
    }
    free(state);
}

size_t aria_vector_bytes(const struct aria *aria)
{
    return aria->process->thread->vector_bytes;
}
