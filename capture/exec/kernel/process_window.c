#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/mark_of.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

/* Regions come and go: translated code is kept for both. */
bool process_window_repeats(const struct process_window *window)
{
    return window->repeats || window->calls || window->markers || window->off > 0;
}

static struct window_call *call_of(const struct process *process)
{
    return &process_thread_self(process)->call;
}

static uint64_t known(uint64_t place)
{
    return place == PROCESS_SOMEWHERE ? 0 : place;
}

static void stop_also(struct process *process, uint64_t address)
{
    if (known(address))
        executor_stop_also(process->executor, address);
}

/* Where the executor is to stop in this state. What opens once, and closes once, has one place at a
 * time; else there are several, and those that code is left at often stay. */
static void set_stops(struct process *process, enum window_state state)
{
    const struct process_window *window = &process->settings.window;
    if (state == WINDOW_BEHIND) {
        executor_stop_at(process->executor, 0);
        executor_stop_nowhere(process->executor);
    } else if (!window->repeats && !window->calls) {
        executor_stop_at(process->executor, state == WINDOW_OUT  ? known(window->from)
                                            : state == WINDOW_IN ? known(window->until)
                                                                 : 0);
    } else if (state == WINDOW_OUT) {
        stop_also(process, window->from);
    } else if (window->calls) {
        stop_also(process, window->from);
        stop_also(process, call_of(process)->back);
    } else {
        stop_also(process, window->until);
    }
}

static void set_trace(struct process *process, enum window_state state)
{
    struct executor *executor = process->executor;
    if (state == WINDOW_COUNT)
        executor_set_trace(executor, EXEC_TRACE_COUNT);
    else if (state == WINDOW_IN)
        executor_set_trace(executor, process->settings.trace);
    else
        executor_set_trace(executor, EXEC_TRACE_NONE);
}

/* Something before was left out. Of one thread where regions are a thread's own, and whole. */
static void tell_gap(struct process *process)
{
    const struct process_window *window = &process->settings.window;
    bool own = window->calls && window->off == 0;
    if (process->operations->gap)
        process->operations->gap(process->settings.context,
                                 own ? process_thread_self(process)->processor : -1);
}

void process_window_apply(struct process *process)
{
    uint64_t until;
    enum window_state state = window_state(&process->window, call_of(process), &until);
    set_trace(process, state);
    executor_limit(process->executor, until);
    set_stops(process, state);
    if (state == WINDOW_IN && window_captures(&process->window, call_of(process)))
        tell_gap(process);
}

uint64_t process_window_limit(const struct process *process)
{
    uint64_t until;
    window_state(&process->window, call_of(process), &until);
    return until;
}

void process_window_switch(struct process *process)
{
    if (process->settings.window.calls && !process->shares)
        process_window_apply(process);
}

void process_window_begin(struct process *process)
{
    const struct process_window *window = &process->settings.window;
    const bool places = window->from || window->until || window->repeats;
    const struct window_rules rules = {.gate = window->markers ? WINDOW_MARKERS
                                               : window->calls ? WINDOW_CALLS
                                               : places        ? WINDOW_PLACES
                                                               : WINDOW_ALWAYS,
                                       .once = !window->repeats,
                                       .open = places && !window->from,
                                       .skip = window->skip,
                                       .on = window->on,
                                       .off = window->off,
                                       .limit = window->limit};
    window_begin(&process->window, &rules);
    if (window->off > 0)
        process_turn_count_limits(process);
    process_window_apply(process);
}

/* The thread is about to execute the instruction at rip, where the executor was to stop. */
static void come_to(struct process *process, uint64_t rip)
{
    const struct process_window *window = &process->settings.window;
    const uint64_t stack = process->thread->registers[DECODE_RSP];
    struct window_call *call = call_of(process);
    uint8_t bytes[MARK_BYTES];
    uint64_t back;
    switch (process->window.rules.gate) {
    case WINDOW_MARKERS:
        if (program_read(process->space, bytes, rip, sizeof bytes) == 0)
            window_mark(&process->window, mark_of(bytes, sizeof bytes) == MARK_BEGIN);
        break;
    case WINDOW_CALLS:
        window_returned(call, rip, stack);
        if (rip == window->from && program_read(process->space, &back, stack, sizeof back) == 0)
            window_called(&process->window, call, stack, back);
        break;
    case WINDOW_PLACES:
        window_place(&process->window, rip == window->until, rip == window->from);
        break;
    case WINDOW_ALWAYS:
        break;
    }
}

void process_window_go_on(struct process *process, bool at_place)
{
    if (process->shares) /* it is the parent's */
        return;
    window_count(&process->window, executor_instructions(process->executor));
    if (at_place)
        come_to(process, process->thread->rip);
    process_window_apply(process);
}

void process_place(struct process *process, uint64_t from, uint64_t until)
{
    process->settings.window.from = from;
    process->settings.window.until = until;
    if (process->threads) /* else it has not begun */
        process_window_apply(process);
}

void process_close(struct process *process)
{
    window_end(&process->window);
    process_window_apply(process);
}

bool process_has_opened(const struct process *process)
{
    return process->window.regions > 0;
}

uint64_t process_instructions(const struct process *process)
{
    struct window window = process->window;
    window_count(&window, executor_instructions(process->executor));
    return window_captured(&window);
}
