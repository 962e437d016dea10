/* An aria of tests/capture/programs/ground.c, a program that only has memory for a test's code and
 * data. Needs a separate process: exec_child_run(). */
#ifndef TESTS_SUPPORT_ARIA_GROUND_H
#define TESTS_SUPPORT_ARIA_GROUND_H

#include "capture/exec/aria/aria.h"
#include "tests/support/native_run.h"

#define ARIA_GROUND_CODE       0x20000000u
#define ARIA_GROUND_CODE_BYTES (8u << 20)
#define ARIA_GROUND_DATA       0x30000000u
#define ARIA_GROUND_DATA_BYTES 0x4000u

struct aria_ground {
    struct aria *aria;
    struct aria_state *state; /* state after the last step */
};

/* store_buffer: states have one. Does not return on failure. */
void aria_ground_begin(struct aria_ground *ground, const char *program, bool store_buffer);
void aria_ground_end(struct aria_ground *ground);

/* Copies registers to and from a state; fs_base stays the program's. */
void aria_ground_load(const struct aria_ground *ground, struct aria_state *state,
                      const struct machine *machine);
void aria_ground_save(const struct aria_state *state, struct machine *machine);

/* A hash of all of the program's memory. */
uint64_t aria_ground_sum(struct aria *aria);

#endif
