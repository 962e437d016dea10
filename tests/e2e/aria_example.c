/* A control program: predicts conditional branches, executes some instructions of mispredicted
 * paths. */
#include "capture/exec/aria/aria.h"

#include <stdio.h>

#define DEPTH 32u /* instructions of a mispredicted path */

extern char **environ;
static uint8_t counters[4096]; /* of two bits */
static unsigned long long instructions, branches, mispredicted, astray, reads;

/* Executes the path that the branch did not take. Changes nothing but *copy. */
static int follow(struct aria *aria, const struct aria_state *state, struct aria_state *copy,
                  uint64_t address, struct bt_error *error)
{
    struct aria_step step;
    int result = 0;
    aria_state_assign(aria, copy, state);
    copy->rip = address;
    for (uint64_t left = DEPTH; left > 0 && result == 0; left -= step.instructions) {
        result = aria_execute(aria, copy, ARIA_NOT_TAKEN, left, &step, error);
        astray += step.instructions;
        for (size_t i = 0; i < step.record_count; i++)
            reads += step.records[i].type == REQUEST_MEMREAD;
        if (step.reason == ARIA_SIGNAL || step.reason == ARIA_SYSTEM_CALL)
            break;
    }
    return result;
}

int main(int argc, char **argv)
{
    const struct aria_settings settings = {.stack = {.environment = (const char *const *)environ}};
    const char *const *program = (const char *const *)argv + 1;
    struct bt_error error = {.message = "usage: aria_example PROGRAM [ARGUMENT]..."};
    struct aria_step step = {.reason = ARIA_LIMIT};
    struct aria *aria = argc > 1 ? aria_new(program[0], program, &settings, &error) : NULL;
    struct aria_state *state = aria ? aria_initial(aria, &error) : NULL;
    struct aria_state *copy = state ? aria_state_copy(aria, state, &error) : NULL;
    int result = copy ? 0 : -1;
    while (result == 0 && step.reason != ARIA_EXIT) {
        result = aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error);
        instructions += step.instructions;
        if (result != 0 || step.reason != ARIA_BRANCH || step.branch != ARIA_CONDITIONAL)
            continue;
        uint8_t *counter = &counters[step.branch_address % sizeof counters];
        branches++;
        if ((*counter > 1) != step.taken && ++mispredicted)
            result = follow(aria, state, copy, step.taken ? step.next : step.target, &error);
        *counter += step.taken ? *counter < 3 : -(*counter > 0);
    }
    if (result != 0) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    fprintf(stderr, "%llu instructions, %llu conditional branches, %llu mispredicted\n",
            instructions, branches, mispredicted);
    fprintf(stderr, "%llu instructions and %llu reads astray\n", astray, reads);
    process_exit(&step.end);
}
