#include "capture/exec/process_inside.h"

/* Where the executor is to stop in this phase. */
static uint64_t stop_of(const struct process *process)
{
    const struct process_window *window = &process->settings.window;
    uint64_t address = process->phase == PROCESS_BEFORE   ? window->from
                       : process->phase == PROCESS_INSIDE ? window->until
                                                          : 0;
    return address == PROCESS_SOMEWHERE ? 0 : address;
}

uint64_t process_window_limit(const struct process *process)
{
    const struct process_window *window = &process->settings.window;
    if (process->phase == PROCESS_SKIPPING)
        return window->skip;
    if (process->phase == PROCESS_INSIDE && window->limit)
        return process->skipped + window->limit;
    return 0;
}

static void enter(struct process *process, enum process_phase phase)
{
    struct executor *executor = process->executor;
    process->phase = phase;
    if (phase == PROCESS_SKIPPING)
        executor_set_trace(executor, EXEC_TRACE_FETCHES, true);
    else if (phase == PROCESS_INSIDE)
        executor_set_trace(executor, process->settings.trace, false);
    else
        executor_set_trace(executor, EXEC_TRACE_NONE, false);
    executor_limit(executor, process_window_limit(process));
    executor_stop_at(executor, stop_of(process));
}

static void open_window(struct process *process)
{
    if (process->settings.window.skip > 0) {
        enter(process, PROCESS_SKIPPING);
        return;
    }
    enter(process, PROCESS_INSIDE);
}

void process_window_begin(struct process *process)
{
    if (process->settings.window.from)
        enter(process, PROCESS_BEFORE);
    else
        open_window(process);
}

void process_window_go_on(struct process *process)
{
    if (process->shares) /* it is the parent's */
        return;
    if (process->phase == PROCESS_BEFORE) {
        open_window(process);
    } else if (process->phase == PROCESS_SKIPPING) {
        process->skipped = process->settings.window.skip;
        enter(process, PROCESS_INSIDE);
    } else {
        enter(process, PROCESS_BEHIND);
    }
}

void process_place(struct process *process, uint64_t from, uint64_t until)
{
    process->settings.window.from = from;
    process->settings.window.until = until;
    executor_stop_at(process->executor, stop_of(process));
}

void process_close(struct process *process)
{
    enter(process, PROCESS_BEHIND);
}

bool process_has_opened(const struct process *process)
{
    return process->phase >= PROCESS_INSIDE;
}
