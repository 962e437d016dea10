#define _GNU_SOURCE /* CLONE_THREAD */
/* Threads, signals and system calls of a recording. */
#include "tools/wet/record/recorder_internal.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/kernel/system_call_effects.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#define ADDRESSES (UINT64_C(1) << 32) /* of the program */

/* A signal's frame: arch/x86/include/uapi/asm/sigcontext.h */
#define FRAME_VECTOR    232u /* offset of the address of the vector state, which ends the frame */
#define VECTOR_BYTES    512u
#define VECTOR_MAGIC_AT 464u /* offset of a magic number in the vector state; then its bytes */
#define VECTOR_MAGIC    0x46505853u

/* --- threads -----------------------------------------------------------------------------------
 */

/* A new thread. NULL: recording has stopped. */
static struct record_thread *add_thread(struct recorder *recorder)
{
    struct bt_error error;
    if (recorder->thread_count == WET_THREADS) {
        bt_fail(&error, BT_USAGE, "the program has made more than %u threads", WET_THREADS);
        recorder_stop(recorder, &error);
        return NULL;
    }
    struct record_thread **larger = grow_array(recorder->threads, &recorder->thread_capacity,
                                               recorder->thread_count + 1, sizeof *larger);
    if (larger)
        recorder->threads = larger;
    struct record_thread *thread = larger ? calloc(1, sizeof *thread) : NULL;
    if (!thread) {
        recorder_stop(recorder, NULL);
        return NULL;
    }
    thread->number = (uint32_t)recorder->thread_count;
    thread->has_event = true;
    return larger[recorder->thread_count++] = thread;
}

/* The thread that runs for the first time is the first of those that have not run. */
struct record_thread *recorder_thread_of(struct recorder *recorder, unsigned processor)
{
    struct record_thread **known = &recorder->by_processor[processor % RECORDER_PROCESSORS];
    if (!*known) {
        if (recorder->threads_run == recorder->thread_count && !add_thread(recorder))
            return NULL;
        *known = recorder->threads[recorder->threads_run++];
    }
    return *known;
}

void recorder_thread_ended(struct recorder *recorder, unsigned processor)
{
    recorder->by_processor[processor % RECORDER_PROCESSORS] = NULL;
}

uint32_t recorder_thread(const struct recorder *recorder, unsigned processor)
{
    const struct record_thread *thread =
        processor < RECORDER_PROCESSORS ? recorder->by_processor[processor] : NULL;
    if (!thread)
        thread = recorder->current;
    return thread ? thread->number : 0;
}

/* --- events ------------------------------------------------------------------------------------
 */

static void put_number(struct recorder *recorder, struct record_thread *thread,
                       enum wet_event event)
{
    wet_sequence_put(&recorder->sequence, &thread->context, event,
                     &recorder->chunk.streams[WET_STREAM_SEQUENCE]);
    thread->has_event = true;
}

void recorder_switch(struct recorder *recorder, struct record_thread *thread)
{
    if (recorder->current != thread) {
        struct record_thread *before = recorder->current ? recorder->current : recorder->threads[0];
        recorder->current = thread;
        if (before == thread)
            return;
        if (recorder->code.values &&
            value_coder_switch(recorder->code.values->coder, thread->number) < 0)
            recorder->out_of_memory = true;
        put_number(recorder, before, WET_EVENT_SWITCH);
        wet_bytes_put(&recorder->chunk.streams[WET_STREAM_EVENTS], thread->number);
    }
}

static void put_event(struct recorder *recorder, struct record_thread *thread, enum wet_event event,
                      uint64_t argument)
{
    recorder_switch(recorder, thread);
    put_number(recorder, thread, event);
    wet_bytes_put(&recorder->chunk.streams[WET_STREAM_EVENTS], argument);
}

static void begin_handler(struct recorder *recorder, struct record_thread *thread, uint64_t frame)
{
    put_event(recorder, thread, WET_EVENT_SIGNAL, frame);
    if (thread->frame_count == RECORDER_SIGNALS) /* handlers that were left by longjmp() */
        memmove(thread->frames, thread->frames + 1, --thread->frame_count * sizeof *thread->frames);
    thread->frames[thread->frame_count++] =
        (struct record_frame){.address = frame, .last_id = thread->last_id};
    thread->last_id = 0;
}

static void end_handler(struct recorder *recorder, struct record_thread *thread, uint64_t frame)
{
    unsigned at = thread->frame_count;
    put_event(recorder, thread, WET_EVENT_RETURN, frame);
    while (at > 0 && thread->frames[at - 1].address != frame)
        at--;
    thread->last_id = at > 0 ? thread->frames[at - 1].last_id : 0;
    thread->frame_count = at > 0 ? at - 1 : 0;
}

void recorder_arrive(struct recorder *recorder, struct record_thread *thread)
{
    recorder_switch(recorder, thread);
    if (recorder->has_gap)
        put_number(recorder, thread, WET_EVENT_GAP);
    recorder->has_gap = false;
    for (unsigned i = 0; i < thread->signal_count; i++)
        begin_handler(recorder, thread, thread->signals[i]);
    thread->signal_count = 0;
    thread->has_call = false;
}

void recorder_gap(struct recorder *recorder)
{
    recorder->has_gap = true;
    shadow_forget(&recorder->shadow, 0, ADDRESSES);
    for (size_t i = 0; i < recorder->thread_count; i++) {
        struct record_thread *thread = recorder->threads[i];
        thread->last_id = 0;
        thread->has_event = true;
        thread->has_call = false;
        thread->signal_count = thread->frame_count = 0;
    }
}

/* --- signals -----------------------------------------------------------------------------------
 */

/* The end of a frame; the frame itself if it cannot be read. */
static uint64_t frame_end(const struct recorder *recorder, uint64_t frame)
{
    const struct recorder_settings *settings = &recorder->settings;
    uint64_t vector;
    uint32_t magic[2]; /* with the number of bytes */
    if (settings->read(settings->context, &vector, frame + FRAME_VECTOR, sizeof vector) != 0 ||
        vector < frame ||
        settings->read(settings->context, magic, vector + VECTOR_MAGIC_AT, sizeof magic) != 0)
        return frame;
    return vector + (magic[0] == VECTOR_MAGIC ? magic[1] : VECTOR_BYTES);
}

void recorder_signal(struct recorder *recorder, unsigned processor, uint64_t frame)
{
    struct record_thread *thread =
        recorder->is_stopped ? NULL : recorder_thread_of(recorder, processor);
    if (!thread)
        return;
    shadow_forget(&recorder->shadow, frame, frame_end(recorder, frame) - frame);
    if (thread->signal_count == RECORDER_SIGNALS) /* its instructions are not recorded now */
        thread->signal_count = 0;
    thread->signals[thread->signal_count++] = frame;
}

/* --- system calls ------------------------------------------------------------------------------
 */

struct call_effects {
    struct recorder *recorder;
    const struct record_thread *thread;
};

static void put_effect(void *context, enum system_call_effect effect, uint64_t address,
                       uint64_t size)
{
    const struct call_effects *effects = context;
    struct recorder *recorder = effects->recorder;
    if (address >= ADDRESSES)
        return;
    if (effect == SYSTEM_CALL_WROTE && effects->thread->has_call)
        recorder_write(recorder, effects->thread->call_id, effects->thread->call_instance,
                       (uint32_t)address, size);
    else
        shadow_forget(&recorder->shadow, address, size);
    if (effect == SYSTEM_CALL_RELEASED)
        record_code_forget(&recorder->code, address, size);
}

static void move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    struct recorder *recorder = ((struct call_effects *)context)->recorder;
    if (from >= ADDRESSES || size > ADDRESSES - from || to >= ADDRESSES || size > ADDRESSES - to)
        return;
    shadow_forget(&recorder->shadow, to, size);
    if (shadow_move(&recorder->shadow, from, to, size) < 0)
        recorder->out_of_memory = true;
}

static int read_memory(void *context, void *bytes, uint64_t address, size_t size)
{
    const struct recorder_settings *settings =
        &((struct call_effects *)context)->recorder->settings;
    return settings->read(settings->context, bytes, address, size);
}

/* Whether the call has made a thread. */
static bool makes_thread(const struct recorder *recorder, const struct system_call *call)
{
    const struct recorder_settings *settings = &recorder->settings;
    uint64_t flags = call->arguments[0];
    if (call->result <= 0 || (call->number != SYS_clone && call->number != SYS_clone3))
        return false;
    if (call->number == SYS_clone3 &&
        settings->read(settings->context, &flags, call->arguments[0], sizeof flags) != 0)
        return false;
    return flags & CLONE_THREAD;
}

/* A call that was recorded has returned. Without values its result is not needed. */
static void put_result(struct recorder *recorder, struct record_thread *thread, int64_t result)
{
    if (!recorder->code.values)
        return;
    put_event(recorder, thread, WET_EVENT_RESULT, (uint64_t)result);
    if (value_coder_result(recorder->code.values->coder, thread->number, (uint64_t)result) < 0)
        recorder->out_of_memory = true;
}

static void put_clone(struct recorder *recorder, struct record_thread *thread, uint32_t made)
{
    put_event(recorder, thread, WET_EVENT_CLONE, made);
    if (recorder->code.values &&
        value_coder_fork(recorder->code.values->coder, made, thread->number) < 0)
        recorder->out_of_memory = true;
}

static void note_effects(struct recorder *recorder, const struct record_thread *thread,
                         const struct system_call *call)
{
    struct call_effects effects = {.recorder = recorder, .thread = thread};
    const struct system_call_observer observer = {
        .put = put_effect, .move = move, .read = read_memory, .context = &effects};
    if (!system_call_effects(call, &observer))
        recorder->unknown_calls++;
}

void recorder_called(struct recorder *recorder, unsigned processor, const struct system_call *call,
                     bool returned, uint64_t stack)
{
    struct record_thread *thread =
        recorder->is_stopped ? NULL : recorder_thread_of(recorder, processor);
    if (!thread)
        return;
    if (!returned) {
        if (call->number == SYS_rt_sigreturn && thread->has_call) {
            thread->has_call = false;
            end_handler(recorder, thread, stack - sizeof(uint64_t));
        }
        return;
    }
    note_effects(recorder, thread, call);
    if (thread->has_call && call->result != EXEC_SYSTEM_CALL_AGAIN)
        put_result(recorder, thread, call->result);
    if (makes_thread(recorder, call)) {
        const struct record_thread *made = add_thread(recorder);
        if (made && thread->has_call)
            put_clone(recorder, thread, made->number);
    }
    thread->has_call = false;
}
