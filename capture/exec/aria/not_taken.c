#include "capture/exec/aria/not_taken_internal.h"

#include "capture/exec/dispatch/trampoline.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BYTES ((size_t)16 << 20)

struct not_taken *not_taken_new(struct aria *aria, struct bt_error *error)
{
    struct not_taken *not_taken = calloc(1, sizeof *not_taken);
    const struct executor_settings *taken = &aria->process->executor->settings;
    const struct executor_settings settings = {
        .trace = EXEC_TRACE_NONE,
        .cache_bytes = aria->settings.cache_bytes ? aria->settings.cache_bytes : CACHE_BYTES,
        .operations = &not_taken->operations,
        .context = taken->context};
    if (!not_taken) {
        bt_fail(error, BT_MEMORY, "no memory for not-taken paths");
        return NULL;
    }
    not_taken->operations.readable = taken->operations->readable;
    not_taken->operations.note = taken->operations->note;
    not_taken->aria = aria;
    not_taken->executor = executor_new(&settings, error);
    if (!not_taken->executor) {
        free(not_taken);
        return NULL;
    }
    return not_taken;
}

void not_taken_free(struct not_taken *not_taken)
{
    if (!not_taken)
        return;
    executor_free(not_taken->executor);
    free(not_taken);
}

/* Keeps a signal of the program pending during the path. */
static void put_off(struct not_taken *not_taken)
{
    if (not_taken->thread->interrupt) {
        not_taken->interrupted = true;
        not_taken->thread->interrupt = 0;
    }
}

/* Runs instructions [from, to) of a block natively. Returns the first one not executed: `to`, or
 * the one that raises *raised. Instructions that this processor does not support do nothing. */
static unsigned run_native(struct not_taken *not_taken, const struct not_taken_block *block,
                           unsigned from, unsigned to, int *raised)
{
    struct exec_thread *thread = not_taken->thread;
    struct executor *executor = not_taken->executor;
    bool vector = block->instructions[from].vector;
    *raised = 0;
    while (from < to) {
        put_off(not_taken);
        executor->faulted = false;
        exec_enter(thread, block->block.code + block->block.pc_map[from].code, vector);
        if (executor->faulted) {
            from = executor->fault_instructions;
            if (executor->stop.reason == EXECUTOR_INTERRUPTED)
                continue;
            if (executor->stop.signal != SIGILL) {
                *raised = executor->stop.signal;
                break;
            }
            not_taken->unknown = true;
            from++;
        } else if (thread->exit != EXEC_NOT_ENTERED) {
            from = to;
        }
    }
    executor->faulted = false;
    return from;
}

/* Copies the whole area in memory to the scratch area: xrstor's may have another format than the
 * references show, and xsave keeps the bytes that it does not write. */
static void load_area(struct not_taken *not_taken)
{
    for (unsigned at = 0; at < EXEC_THREAD_SCRATCH_BYTES; at += VECTOR_STATE_BYTES)
        not_taken_load(not_taken, not_taken->thread->scratch + at,
                       not_taken->references[0].address + at, VECTOR_STATE_BYTES);
}

/* Copies the bytes that the operand reads to the scratch area; for a store buffer also the old
 * value of what it writes, because a mask may keep a part. */
static void load_scratch(struct not_taken *not_taken, const struct decode_instruction *decoded)
{
    uint8_t *scratch = not_taken->thread->scratch;
    size_t size = VECTOR_STATE_BYTES;
    for (unsigned i = 0; i < decoded->access_count; i++)
        if (decoded->accesses[i].size > size)
            size = decoded->accesses[i].size;
    uint64_t whole;
    memset(scratch, 0, size < EXEC_THREAD_SCRATCH_BYTES ? size : EXEC_THREAD_SCRATCH_BYTES);
    if (decoded->access_count > 0 &&
        not_taken_find_whole(not_taken, &decoded->accesses[0], &whole)) {
        not_taken_load(not_taken, scratch, whole, decoded->accesses[0].size);
        return;
    }
    for (unsigned i = 0; i < not_taken->reference_count; i++) {
        const struct not_taken_reference *reference = &not_taken->references[i];
        if ((!reference->write || not_taken->aria->stores) &&
            reference->offset + reference->size <= EXEC_THREAD_SCRATCH_BYTES)
            not_taken_load(not_taken, scratch + reference->offset, reference->address,
                           reference->size);
    }
}

/* Replaces the index register of a gather by byte offsets of its lanes in the scratch area. */
static void set_lanes(struct not_taken *not_taken, const struct decode_access *access,
                      uint8_t before[VECTOR_STATE_BYTES])
{
    const struct vector_layout *layout = &not_taken->aria->layout;
    uint8_t lanes[VECTOR_STATE_BYTES] = {0};
    vector_state_get(layout, not_taken->thread->vector, access->index, before);
    for (unsigned lane = 0; lane < access->lanes; lane++)
        lanes[lane * access->index_size] = (uint8_t)(lane * access->element);
    vector_state_set(layout, not_taken->thread->vector, access->index, lanes);
}

static unsigned run_on_scratch(struct not_taken *not_taken, const struct not_taken_block *block,
                               unsigned at, int *raised)
{
    const struct not_taken_instruction *instruction = &block->instructions[at];
    const struct decode_instruction *decoded = &instruction->decoded;
    struct exec_thread *thread = not_taken->thread;
    const uint64_t a = thread->registers[DECODE_RAX], d = thread->registers[DECODE_RDX];
    uint8_t index[VECTOR_STATE_BYTES];
    unsigned end;
    not_taken->unknown = false;
    if (instruction->action == NOT_TAKEN_RESTORE || instruction->action == NOT_TAKEN_SAVE)
        load_area(not_taken);
    else
        load_scratch(not_taken, decoded);
    switch (instruction->action) {
    case NOT_TAKEN_GATHER:
        set_lanes(not_taken, &decoded->accesses[0], index);
        end = run_native(not_taken, block, at, at + 1, raised);
        vector_state_set(&not_taken->aria->layout, thread->vector, decoded->accesses[0].index,
                         index);
        return end;
    case NOT_TAKEN_RESTORE:
    case NOT_TAKEN_SAVE:
        thread->registers[DECODE_RAX] &= thread->vector_mask;
        thread->registers[DECODE_RDX] = 0;
        end = run_native(not_taken, block, at, at + 1, raised);
        thread->registers[DECODE_RAX] = a;
        thread->registers[DECODE_RDX] = d;
        return end;
    default:
        return run_native(not_taken, block, at, at + 1, raised);
    }
}

static enum not_taken_result execute_native(struct not_taken *not_taken,
                                            const struct not_taken_block *block, unsigned at,
                                            struct aria_step *step)
{
    const struct not_taken_instruction *first = &block->instructions[at];
    bool plain = first->action == NOT_TAKEN_NATIVE;
    int raised;
    unsigned end = plain ? run_native(not_taken, block, at, at + first->run, &raised)
                         : run_on_scratch(not_taken, block, at, &raised);
    if (not_taken->aria->stores && !plain && end > at && !not_taken->unknown)
        not_taken_store_scratch(not_taken);
    not_taken->done += end - at;
    for (; at < end; at++) {
        const struct decode_instruction *decoded = &block->instructions[at].decoded;
        if (!not_taken_record(not_taken, decoded))
            return NOT_TAKEN_NO_MEMORY;
        not_taken->thread->rip = decoded->address + decoded->size;
    }
    if (!raised)
        return NOT_TAKEN_WENT_ON;
    not_taken->thread->rip = block->instructions[end].decoded.address;
    step->reason = ARIA_SIGNAL;
    step->signal = raised;
    return NOT_TAKEN_STOPPED;
}

static enum not_taken_result execute_block(struct not_taken *not_taken,
                                           const struct not_taken_block *block,
                                           struct aria_step *step)
{
    enum not_taken_result result = NOT_TAKEN_WENT_ON;
    for (unsigned i = 0; i < block->count && result == NOT_TAKEN_WENT_ON;) {
        const struct not_taken_instruction *instruction = &block->instructions[i];
        not_taken_find_references(not_taken, &instruction->decoded);
        if (instruction->action <= NOT_TAKEN_RESTORE ||
            (instruction->action == NOT_TAKEN_SAVE && not_taken->aria->stores)) {
            result = execute_native(not_taken, block, i, step);
            i += instruction->action == NOT_TAKEN_NATIVE ? instruction->run : 1;
        } else {
            result = not_taken_emulate(not_taken, instruction, step);
            i++;
        }
    }
    return result;
}

static enum not_taken_result execute(struct not_taken *not_taken, uint64_t limit,
                                     struct aria_step *step)
{
    enum not_taken_result result = NOT_TAKEN_WENT_ON;
    while (result == NOT_TAKEN_WENT_ON && not_taken->done < limit) {
        uint64_t rip = not_taken->thread->rip;
        const struct not_taken_block *block =
            not_taken_block(not_taken, rip, limit - not_taken->done);
        if (block)
            result = execute_block(not_taken, block, step);
        else if (executor_readable(not_taken->executor, rip) != 0)
            return NOT_TAKEN_NO_MEMORY;
        else {
            step->reason = ARIA_SIGNAL;
            step->signal = SIGSEGV;
            return NOT_TAKEN_STOPPED;
        }
    }
    if (result == NOT_TAKEN_WENT_ON)
        step->reason = ARIA_LIMIT;
    return result;
}

/* The thread whose turn it is. */
static struct exec_thread *take_thread(struct not_taken *not_taken)
{
    not_taken->thread = not_taken->executor->thread = not_taken->aria->process->thread;
    return not_taken->thread;
}

int not_taken_execute(struct not_taken *not_taken, uint64_t limit, struct aria_step *step,
                      struct bt_error *error)
{
    struct exec_thread *thread = take_thread(not_taken);
    struct executor *taken = thread->executor;
    thread->executor = not_taken->executor;
    not_taken->done = not_taken->own_reads = 0;
    enum not_taken_result result = execute(not_taken, limit ? limit : NOT_TAKEN_LIMIT, step);
    thread->executor = taken;
    if (not_taken->interrupted)
        thread->interrupt = 1;
    not_taken->interrupted = false;
    step->instructions = not_taken->done;
    step->own_reads = not_taken->own_reads;
    if (not_taken->aria->stores && store_buffer_failed(not_taken->aria->stores))
        result = NOT_TAKEN_NO_MEMORY;
    return result == NOT_TAKEN_NO_MEMORY
               ? bt_fail(error, BT_MEMORY, "no memory to execute a not-taken path")
               : 0;
}

int not_taken_run(struct not_taken *not_taken, const struct not_taken_block *block)
{
    struct exec_thread *thread = take_thread(not_taken);
    struct executor *taken = thread->executor;
    const uint64_t rip = thread->rip;
    int raised;
    thread->executor = not_taken->executor;
    run_native(not_taken, block, 0, block->count, &raised);
    thread->executor = taken;
    thread->rip = rip;
    if (not_taken->interrupted)
        thread->interrupt = 1;
    not_taken->interrupted = false;
    return raised;
}
