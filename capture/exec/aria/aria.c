#define _GNU_SOURCE /* si_code's values */
#include "capture/exec/aria/aria_internal.h"

#include "capture/exec/aria/define.h"
#include "capture/exec/aria/not_taken.h"
#include "capture/exec/dispatch/executor_step.h"
#include "capture/exec/memory/program_memory.h"

#include "capture/exec/dispatch/trap.h"
#include <signal.h>

#include <stdlib.h>
#include <string.h>

#define RECORDS_MIN 4096u

#define NO_LIMIT UINT64_MAX

/* The flags that a program may set; with the trap flag in taken steps. */
#define ARIA_FLAGS  0x244ed7u
#define TAKEN_FLAGS (ARIA_FLAGS | TRAP_FLAG)

/* --- records -----------------------------------------------------------------------------------
 */

static bool make_room(struct aria *aria, size_t count)
{
    size_t capacity = aria->record_capacity;
    if (aria->record_capacity - aria->record_count >= count)
        return true;
    while (capacity - aria->record_count < count)
        capacity = capacity ? 2 * capacity : RECORDS_MIN;
    struct record *records = realloc(aria->records, capacity * sizeof *records);
    if (!records)
        return false;
    aria->records = records;
    aria->record_capacity = capacity;
    return true;
}

static void set_processor(struct record *records, size_t count, uint8_t processor)
{
    for (size_t i = 0; i < count; i++)
        records[i].processor = processor;
}

bool aria_add_records(struct aria *aria, const struct record *records, size_t count)
{
    if (!make_room(aria, count))
        return false;
    struct record *to = aria->records + aria->record_count;
    memcpy(to, records, count * sizeof *records);
    set_processor(to, count, (uint8_t)aria_thread(aria));
    aria->record_count += count;
    return true;
}

/* May run on the signal stack; the interrupted code is then the program's, never the C library. */
static int put(void *context, struct record *records, size_t count)
{
    struct aria *aria = context;
    if (aria->is_child || aria->process->is_child)
        return 0;
    if (aria->put)
        return aria->put(aria->put_context, records, count);
    return aria_add_records(aria, records, count) ? 0 : BT_MEMORY;
}

static const struct aria_operations *operations_of(const struct aria *aria)
{
    static const struct aria_operations none = {.forked = NULL};
    return aria->settings.operations ? aria->settings.operations : &none;
}

static void forked(void *context, bool shares_files)
{
    const struct aria *aria = context;
    if (operations_of(aria)->forked)
        operations_of(aria)->forked(aria->settings.context, shares_files);
}

static void executing(void *context, const char *path)
{
    const struct aria *aria = context;
    if (operations_of(aria)->executing)
        operations_of(aria)->executing(aria->settings.context, path);
}

static void notice(void *context, const char *what)
{
    const struct aria *aria = context;
    if (operations_of(aria)->notice)
        operations_of(aria)->notice(aria->settings.context, what);
}

static const struct process_operations process_operations = {
    .put = put, .forked = forked, .executing = executing, .notice = notice};

/* --- beginning and end -------------------------------------------------------------------------
 */

static void set_stepping(struct aria *aria, bool stepping)
{
    if (aria->stepping != stepping)
        executor_set_stepping(aria->process->executor, stepping);
    aria->stepping = stepping;
}

/* The state's vector area gets the next thread's registers; the current thread's are saved. */
static void switching(void *context, struct exec_thread *next)
{
    struct aria *aria = context;
    struct exec_thread *now = aria->process->thread;
    uint8_t *saved = exec_thread_own_vector(now), *state_vector = now->vector;
    if (state_vector == saved)
        return;
    vector_state_copy(&aria->layout, saved, state_vector);
    vector_state_copy(&aria->layout, state_vector, next->vector);
    now->vector = saved;
    next->vector = state_vector;
}

static void changed(void *context, uint64_t start, uint64_t end)
{
    struct aria *aria = context;
    if (aria->not_taken)
        not_taken_invalidate(aria->not_taken, start, end);
}

/* Executes a new instruction, before which a block has ended. */
static int do_defined(void *context, struct executor_stop *stop, struct bt_error *error)
{
    struct aria *aria = context;
    struct exec_thread *thread = aria->process->thread;
    struct definitions_done done;
    struct record records[1 + DEFINE_REFERENCES];
    if (executor_is_at_limit(aria->process->executor))
        return 0;
    definitions_do(aria->definitions, ARIA_TAKEN, &done);
    if (done.signal != 0) {
        *stop = (struct executor_stop){.reason = EXECUTOR_FAULT,
                                       .signal = done.signal,
                                       .code = done.signal == SIGSEGV ? SEGV_MAPERR : SI_KERNEL,
                                       .fault_address = done.fault_address};
        return 0;
    }
    size_t count = definitions_records(&done, thread->rip, aria->settings.only_fetches, records);
    set_processor(records, count, (uint8_t)aria_thread(aria));
    int result = put(aria, records, count);
    executor_count_one(aria->process->executor);
    thread->rip += done.size;
    return result < 0 ? bt_fail(error, result, "the records were not accepted") : 0;
}

static const struct process_control process_control = {
    .changed = changed, .switching = switching, .define = do_defined};

static int begin(struct aria *aria, const char *path, const char *const *arguments,
                 struct bt_error *error)
{
    const struct aria_settings *settings = &aria->settings;
    const struct process_settings process = {.trace = settings->only_fetches ? EXEC_TRACE_FETCHES
                                                                             : EXEC_TRACE_ALL,
                                             .cache_bytes = settings->cache_bytes,
                                             .buffer_bytes = settings->buffer_bytes,
                                             .stack = settings->stack,
                                             .operations = &process_operations,
                                             .context = aria};
    aria->process = process_new(path, arguments, &process, error);
    if (!aria->process)
        return BT_USAGE;
    vector_layout_init(&aria->layout, aria->process->thread->vector_mask);
    aria->process->control_context = aria;
    aria->process->control = &process_control;
    aria->initial = aria_state_of_thread(aria, error);
    if (!aria->initial || !make_room(aria, RECORDS_MIN))
        return bt_fail(error, BT_MEMORY, "no memory to execute a program");
    int result = process_begin(aria->process, error);
    aria->begun = result == 0;
    if (aria->begun)
        set_stepping(aria, true);
    return result;
}

struct aria *aria_new(const char *path, const char *const *arguments,
                      const struct aria_settings *settings, struct bt_error *error)
{
    struct aria *aria = calloc(1, sizeof *aria);
    if (!aria) {
        bt_fail(error, BT_MEMORY, "no memory to execute a program");
        return NULL;
    }
    aria->settings = *settings;
    if (begin(aria, path, arguments, error) != 0) {
        aria_free(aria);
        return NULL;
    }
    return aria;
}

void aria_free(struct aria *aria)
{
    if (!aria)
        return;
    if (aria->begun)
        process_finish(aria->process);
    aria_state_free(aria->initial);
    process_free(aria->process);
    not_taken_free(aria->not_taken);
    definitions_free(aria->definitions);
    free(aria->records);
    free(aria);
}

int aria_hide(struct aria *aria, int descriptor, struct bt_error *error)
{
    return process_hide(aria->process, descriptor, error);
}

const struct modules *aria_modules(const struct aria *aria)
{
    return process_modules(aria->process);
}

/* --- taken -------------------------------------------------------------------------------------
 */

/* Load the registers of a state into the thread, which then uses the state's vector area; and store
 * them back. */
static void load(struct aria *aria, const struct aria_state *state, uint64_t flags)
{
    struct exec_thread *thread = aria->process->thread;
    memcpy(thread->registers, state->registers, sizeof thread->registers);
    thread->rip = state->rip;
    thread->flags = state->flags & flags;
    thread->fs_base = state->fs_base;
    thread->vector = state->vector;
}

static void store(const struct aria *aria, struct aria_state *state)
{
    struct exec_thread *thread = aria->process->thread;
    memcpy(state->registers, thread->registers, sizeof state->registers);
    state->rip = thread->rip;
    state->flags = thread->flags;
    state->fs_base = thread->fs_base;
    thread->vector = exec_thread_own_vector(thread);
}

static inline enum aria_branch branch_of(uint8_t kind)
{
    static const uint8_t branches[] = {[DECODE_CONDITIONAL] = ARIA_CONDITIONAL,
                                       [DECODE_JUMP] = ARIA_JUMP,
                                       [DECODE_CALL] = ARIA_CALL,
                                       [DECODE_RETURN] = ARIA_RETURN,
                                       [DECODE_JUMP_INDIRECT] = ARIA_INDIRECT_JUMP,
                                       [DECODE_CALL_INDIRECT] = ARIA_INDIRECT_CALL};
    return kind < sizeof branches ? branches[kind] : ARIA_JUMP;
}

static inline void describe_branch(struct aria_step *step, uint8_t kind, uint64_t address,
                                   unsigned size, uint64_t target, uint64_t rip)
{
    step->reason = ARIA_BRANCH;
    step->branch = branch_of(kind);
    step->branch_address = address;
    step->next = address + size;
    step->target = target ? target : rip;
    step->taken = rip != step->next;
}

void aria_describe_branch(struct aria_step *step, uint8_t kind, uint64_t address, unsigned size,
                          uint64_t target, uint64_t rip)
{
    describe_branch(step, kind, address, size, target, rip);
}

/* Fills in the step from the reason why the executor stopped. */
static void describe(const struct aria *aria, const struct executor_stop *stop,
                     struct aria_step *step)
{
    const struct exit *exit = stop->exit;
    switch (stop->reason) {
    case EXECUTOR_BRANCH:
        aria_describe_branch(step, exit->branch_kind, exit->branch_address, exit->branch_size,
                             exit->branch_target, aria->process->thread->rip);
        break;
    case EXECUTOR_SYSTEM_CALL:
        step->reason = ARIA_SYSTEM_CALL;
        break;
    case EXECUTOR_LIMIT:
        step->reason = ARIA_LIMIT;
        break;
    case EXECUTOR_BREAKPOINT:
        step->reason = ARIA_BREAKPOINT;
        break;
    case EXECUTOR_TURN:
        step->reason = ARIA_TURN;
        break;
    default:
        step->reason = ARIA_SIGNAL;
        step->signal = stop->signal;
        break;
    }
    if (aria->process->ended) {
        step->reason = ARIA_EXIT;
        step->end = aria->process->end;
    }
}

/* Runs a child that the program forked to its end, without control program. */
_Noreturn static void run_without_control(struct aria *aria)
{
    struct bt_error error;
    struct process *process = aria->process;
    aria->is_child = true;
    executor_limit(process->executor, 0);
    executor_set_stepping(process->executor, false);
    process_loop(process, &error);
    process_exit(&process->end);
}

static int execute(struct aria *aria, uint64_t limit, struct executor_stop *stop,
                   struct bt_error *error)
{
    struct process *process = aria->process;
    executor_limit(process->executor,
                   limit == NO_LIMIT ? 0 : executor_instructions(process->executor) + limit);
    int result = process_step(process, stop, error);
    if (process->is_child)
        run_without_control(aria);
    return result;
}

/* Rejects or corrects values that the processor does not accept. */
static int check_state(const struct aria *aria, const struct aria_state *state,
                       struct bt_error *error)
{
    if (!aria_is_user_address(state->fs_base))
        return bt_fail(error, BT_USAGE, "a state's fs_base is 0x%llx, which is not a user address",
                       (unsigned long long)state->fs_base);
    vector_state_normalize(&aria->layout, state->vector);
    return 0;
}

/* Whether the step continues: a new instruction, or a turn that ended before the step. */
static bool continues_step(const struct executor_stop *stop, uint64_t done)
{
    return stop->reason == EXECUTOR_DEFINED || (stop->reason == EXECUTOR_TURN && done == 0);
}

static int execute_taken(struct aria *aria, uint64_t limit, struct aria_step *step,
                         struct bt_error *error)
{
    struct executor *executor = aria->process->executor;
    struct executor_stop stop = {.reason = EXECUTOR_REFUSED};
    uint64_t before = executor_instructions(executor), done = 0;
    int result = 0;
    do {
        step->thread = aria_thread(aria);
        result = execute(aria, limit ? limit - done : NO_LIMIT, &stop, error);
        done = executor_instructions(executor) - before;
    } while (result == 0 && continues_step(&stop, done) && !aria->process->ended);
    describe(aria, &stop, step);
    step->instructions = done;
    return result;
}

static int execute_not_taken(struct aria *aria, struct store_buffer *stores, uint64_t limit,
                             struct aria_step *step, struct bt_error *error)
{
    if (!aria->not_taken)
        aria->not_taken = not_taken_new(aria, error);
    if (!aria->not_taken)
        return BT_MEMORY;
    aria->stores = stores;
    int result = not_taken_execute(aria->not_taken, limit, step, error);
    aria->stores = NULL;
    return result;
}

_Static_assert(offsetof(struct aria_state, rip) == EXEC_THREAD_RIP &&
                   offsetof(struct aria_state, flags) == EXEC_THREAD_FLAGS &&
                   offsetof(struct aria_state, fs_base) == EXEC_THREAD_FS_BASE,
               "executor_step()");

/* Set field by field: clearing the whole step first takes a sixth of a step's time. */
static void describe_usual(const struct executor_step *done, const struct aria_state *state,
                           struct aria_step *step)
{
    const struct exit *exit = done->exit;
    step->thread = done->block->step_processor;
    step->records = done->block->step_records;
    step->record_count = done->block->record_count;
    step->instructions = done->block->instructions;
    step->own_reads = 0;
    step->signal = 0;
    step->end = (struct process_end){.value = 0};
    describe_branch(step, exit->branch_kind, exit->branch_address, exit->branch_size,
                    exit->branch_target, state->rip);
}

/* The general case; begun: executor_step() has loaded the state. */
static int execute_unusual(struct aria *aria, struct aria_state *state, enum aria_version version,
                           uint64_t limit, struct aria_step *step, bool begun,
                           struct bt_error *error)
{
    *step = (struct aria_step){.reason = ARIA_EXIT};
    aria->record_count = 0;
    if (version == ARIA_TAKEN && aria->process->ended) {
        step->end = aria->process->end;
        return 0;
    }
    int result = check_state(aria, state, error);
    if (result != 0)
        return result;
    if (begun)
        aria->process->thread->vector = state->vector;
    else
        load(aria, state, version == ARIA_TAKEN ? TAKEN_FLAGS : ARIA_FLAGS);
    result = version == ARIA_TAKEN ? execute_taken(aria, limit, step, error)
                                   : execute_not_taken(aria, state->stores, limit, step, error);
    store(aria, state);
    step->records = aria->records;
    step->record_count = aria->record_count;
    return result;
}

int aria_execute(struct aria *aria, struct aria_state *state, enum aria_version version,
                 uint64_t limit, struct aria_step *step, struct bt_error *error)
{
    struct executor_step done;
    enum executor_stepped stepped = EXECUTOR_STEP_NOT;
    if (version == ARIA_TAKEN && limit == 0 && !aria->process->ended &&
        aria_is_user_address(state->fs_base))
        stepped = executor_step(aria->process->executor, state->registers, state->vector,
                                &aria->layout, &done);
    if (stepped != EXECUTOR_STEP_DONE)
        return execute_unusual(aria, state, version, limit, step, stepped == EXECUTOR_STEP_BEGUN,
                               error);
    if (done.block->vector)
        aria->process->thread->vector = exec_thread_own_vector(aria->process->thread);
    describe_usual(&done, state, step);
    return 0;
}

int aria_run(struct aria *aria, struct aria_state *state, uint64_t limit,
             executor_put_function *put_records, void *put_context, struct aria_step *step,
             struct bt_error *error)
{
    struct process *process = aria->process;
    struct executor_stop stop = {.reason = EXECUTOR_REFUSED};
    uint64_t before = executor_instructions(process->executor), done = 0;
    int result = check_state(aria, state, error);
    *step = (struct aria_step){.reason = ARIA_EXIT};
    if (result != 0)
        return result;
    aria->record_count = 0;
    aria->put = put_records;
    aria->put_context = put_context;
    set_stepping(aria, false);
    load(aria, state, TAKEN_FLAGS);
    executor_set_breakpoint(process->executor, aria->stop_at);
    while (result == 0 && !process->ended && stop.reason != EXECUTOR_LIMIT &&
           stop.reason != EXECUTOR_BREAKPOINT) {
        result = execute(aria, limit ? limit - done : NO_LIMIT, &stop, error);
        done = executor_instructions(process->executor) - before;
    }
    executor_set_breakpoint(process->executor, 0);
    store(aria, state);
    set_stepping(aria, true);
    aria->put = NULL;
    describe(aria, &stop, step);
    step->instructions = done;
    step->thread = aria_thread(aria);
    return result;
}

unsigned aria_thread(const struct aria *aria)
{
    return aria->process->executor->expander.processor;
}

uint64_t aria_switches(const struct aria *aria)
{
    return process_switches(aria->process);
}

void aria_stop_at(struct aria *aria, uint64_t address)
{
    aria->stop_at = address;
}

/* --- new instructions --------------------------------------------------------------------------
 */

int aria_define(struct aria *aria, const struct aria_instruction *instruction,
                struct bt_error *error)
{
    if (!aria->definitions)
        aria->definitions = definitions_new(aria, error);
    if (!aria->definitions)
        return BT_MEMORY;
    int result = definitions_add(aria->definitions, instruction, error);
    if (result != 0)
        return result;
    executor_define(aria->process->executor, definitions_find, aria->definitions);
    if (aria->not_taken)
        not_taken_invalidate(aria->not_taken, 0, UINT64_MAX);
    return 0;
}

/* --- memory ------------------------------------------------------------------------------------
 */

int aria_read(struct aria *aria, void *to, uint64_t address, size_t size)
{
    return program_read(aria->process->space, to, address, size);
}

int aria_read_as(struct aria *aria, const struct aria_state *state, void *to, uint64_t address,
                 size_t size)
{
    int result = aria_read(aria, to, address, size);
    if (result == 0 && state->stores)
        store_buffer_get(state->stores, to, address, size);
    return result;
}

int aria_write(struct aria *aria, uint64_t address, const void *from, size_t size)
{
    return program_write(aria->process->space, address, from, size);
}
