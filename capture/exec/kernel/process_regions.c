#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/mark_of.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

/* With several regions, translated code is kept for inside and outside. */
bool process_regions_repeat(const struct process_regions *regions)
{
    return regions->repeats || regions->calls || regions->markers || regions->off > 0;
}

static struct region_call *call_of(const struct process *process)
{
    return &process_thread_self(process)->call;
}

static uint64_t known(uint64_t place)
{
    return place == PROCESS_ADDRESS_UNKNOWN ? 0 : place;
}

static void stop_also(struct process *process, uint64_t address)
{
    if (known(address))
        executor_add_breakpoint(process->executor, address);
}

/* Sets the breakpoints of the executor for this state. A single region has one breakpoint at a
 * time; several regions have several, which stay set. */
static void set_stops(struct process *process, enum region_state state)
{
    const struct process_regions *regions = &process->settings.regions;
    if (state == REGION_ENDED) {
        executor_set_breakpoint(process->executor, 0);
        executor_clear_breakpoints(process->executor);
    } else if (!regions->repeats && !regions->calls) {
        executor_set_breakpoint(process->executor, state == REGION_OUTSIDE ? known(regions->from)
                                                   : state == REGION_CAPTURED
                                                       ? known(regions->until)
                                                       : 0);
    } else if (state == REGION_OUTSIDE) {
        stop_also(process, regions->from);
    } else if (regions->calls) {
        stop_also(process, regions->from);
        stop_also(process, call_of(process)->back);
    } else {
        stop_also(process, regions->until);
    }
}

/* Breakpoints may be of one trace only, and are lost when another one is set. */
static void set_watches(struct process *process, enum region_state state)
{
    for (size_t i = 0; i < process->watched.count && state != REGION_ENDED; i++)
        executor_add_breakpoint(process->executor, process->watched.addresses[i]);
}

int process_watch(struct process *process, uint64_t address)
{
    if (breakpoints_has(&process->watched, address))
        return 0;
    if (!breakpoints_add(&process->watched, address))
        return BT_MEMORY;
    if (process->threads && !process->regions.ended)
        executor_add_breakpoint(process->executor, address);
    return 0;
}

static void set_trace(struct process *process, enum region_state state)
{
    struct executor *executor = process->executor;
    if (state == REGION_SKIPPED)
        executor_set_trace(executor, EXEC_TRACE_COUNT);
    else if (state == REGION_CAPTURED)
        executor_set_trace(executor, process->settings.trace);
    else
        executor_set_trace(executor, EXEC_TRACE_NONE);
}

/* Reports a gap: of one thread if regions are per thread and not sampled, else of all. */
static void report_gap(struct process *process)
{
    const struct process_regions *regions = &process->settings.regions;
    bool own = regions->calls && regions->off == 0;
    if (process->operations->gap)
        process->operations->gap(process->settings.context,
                                 own ? process_thread_self(process)->processor : -1);
}

void process_regions_apply(struct process *process)
{
    uint64_t until;
    enum region_state state = regions_state(&process->regions, call_of(process), &until);
    set_trace(process, state);
    executor_limit(process->executor, until);
    set_stops(process, state);
    set_watches(process, state);
    if (state == REGION_CAPTURED && regions_begin_piece(&process->regions, call_of(process)))
        report_gap(process);
}

uint64_t process_regions_limit(const struct process *process)
{
    uint64_t until;
    regions_state(&process->regions, call_of(process), &until);
    return until;
}

void process_regions_switch(struct process *process)
{
    if (process->settings.regions.calls && !process->shares)
        process_regions_apply(process);
}

void process_regions_begin(struct process *process)
{
    const struct process_regions *regions = &process->settings.regions;
    const bool places = regions->from || regions->until || regions->repeats;
    const struct region_rules rules = {.gate = regions->markers ? REGION_MARKERS
                                               : regions->calls ? REGION_CALLS
                                               : places         ? REGION_ADDRESSES
                                                                : REGION_ALWAYS,
                                       .once = !regions->repeats,
                                       .open = places && !regions->from,
                                       .skip = regions->skip,
                                       .on = regions->on,
                                       .off = regions->off,
                                       .limit = regions->limit};
    regions_begin(&process->regions, &rules);
    if (regions->off > 0)
        scheduler_count_limits(process);
    process_regions_apply(process);
}

/* The executor has stopped at a breakpoint, before the instruction at rip. */
static void handle_stop(struct process *process, uint64_t rip)
{
    const struct process_regions *regions = &process->settings.regions;
    const uint64_t stack = process->thread->registers[DECODE_RSP];
    struct region_call *call = call_of(process);
    uint8_t bytes[MARK_BYTES];
    uint64_t back;
    switch (process->regions.rules.gate) {
    case REGION_MARKERS:
        if (program_read(process->space, bytes, rip, sizeof bytes) == 0 &&
            mark_of(bytes, sizeof bytes) != MARK_NONE)
            regions_mark(&process->regions, mark_of(bytes, sizeof bytes) == MARK_BEGIN);
        break;
    case REGION_CALLS:
        regions_returned(call, rip, stack);
        if (rip == regions->from && program_read(process->space, &back, stack, sizeof back) == 0)
            regions_called(&process->regions, call, stack, back);
        break;
    case REGION_ADDRESSES:
        regions_reach(&process->regions, rip == regions->until, rip == regions->from);
        break;
    case REGION_ALWAYS:
        break;
    }
}

void process_regions_update(struct process *process, bool at_place)
{
    if (process->shares) /* the regions are the parent's */
        return;
    regions_count(&process->regions, executor_instructions(process->executor));
    if (at_place)
        handle_stop(process, process->thread->rip);
    process_regions_apply(process);
}

void process_set_region(struct process *process, uint64_t from, uint64_t until)
{
    process->settings.regions.from = from;
    process->settings.regions.until = until;
    if (process->threads) /* else it has not started */
        process_regions_apply(process);
}

void process_close_regions(struct process *process)
{
    regions_end(&process->regions);
    process_regions_apply(process);
}

bool process_has_opened(const struct process *process)
{
    return process->regions.regions > 0;
}

uint64_t process_instructions(const struct process *process)
{
    struct regions regions = process->regions;
    regions_count(&regions, executor_instructions(process->executor));
    return regions_captured(&regions);
}
