#include "tests/support/aria_ground.h"

#include "capture/exec/aria/aria_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn static void fail(const char *what)
{
    dprintf(2, "%s\n", what);
    _exit(99);
}

void aria_ground_begin(struct aria_ground *ground, const char *program, bool store_buffer)
{
    static const char *const environment[] = {NULL};
    const char *const arguments[] = {program, NULL};
    const struct aria_settings settings = {.stack = {.environment = environment},
                                           .store_buffer = store_buffer};
    struct bt_error error = {.message = ""};
    struct aria_step step;
    uint64_t word;
    ground->aria = aria_new(program, arguments, &settings, &error);
    ground->state = ground->aria ? aria_initial(ground->aria, &error) : NULL;
    if (!ground->state)
        fail(error.message);
    do {
        if (aria_execute(ground->aria, ground->state, ARIA_TAKEN, 0, &step, &error) != 0 ||
            step.reason == ARIA_EXIT)
            fail(error.message);
    } while (step.reason != ARIA_SYSTEM_CALL ||
             aria_read(ground->aria, &word, ARIA_GROUND_CODE, sizeof word) != 0 ||
             aria_read(ground->aria, &word, ARIA_GROUND_DATA, sizeof word) != 0);
}

void aria_ground_end(struct aria_ground *ground)
{
    aria_state_free(ground->state);
    aria_free(ground->aria);
}

void aria_ground_load(const struct aria_ground *ground, struct aria_state *state,
                      const struct machine *machine)
{
    memcpy(state->registers, machine->registers, sizeof state->registers);
    state->rip = machine->rip;
    state->flags = machine->flags;
    state->fs_base = ground->state->fs_base;
    memcpy(state->vector, machine->vector, machine_vector_bytes());
}

void aria_ground_save(const struct aria_state *state, struct machine *machine)
{
    memcpy(machine->registers, state->registers, sizeof state->registers);
    machine->rip = state->rip;
    machine->flags = state->flags;
    memcpy(machine->vector, state->vector, machine_vector_bytes());
}

uint64_t aria_ground_sum(struct aria *aria)
{
    static uint64_t page[SPACE_PAGE / 8];
    struct space_mapping piece;
    uint64_t sum = 0;
    for (uint64_t at = 0; space_next(aria->process->space, &at, SPACE_END, &piece);) {
        /* by pages: translated code splits some into pieces */
        for (uint64_t address = piece.start; address < piece.end; address += SPACE_PAGE) {
            sum = (sum ^ address ^ piece.protection) * 0x9e3779b97f4a7c15u;
            if (aria_read(aria, page, address, sizeof page) != 0)
                continue;
            for (size_t i = 0; i < SPACE_PAGE / 8; i++)
                sum = (sum ^ page[i] ^ sum >> 31) * 0x9e3779b97f4a7c15u;
        }
    }
    return sum;
}
