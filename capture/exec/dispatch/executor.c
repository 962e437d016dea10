#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/dispatch/executor_state.h"

#include "capture/exec/dispatch/mark_of.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/trace/trace_compile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BUFFER_BYTES ((size_t)256 << 10) /* fits in the L2 cache */
#define VALUES_BYTES ((size_t)CODE_CACHE_SLOTS * 4)

/* Updates `steps` after a change of what it depends on. */
static void note_steps(struct executor *executor)
{
    executor->steps = executor->settings.stepping && executor->settings.trace != EXEC_TRACE_NONE &&
                      executor->settings.trace != EXEC_TRACE_COUNT && !executor->expander.take &&
                      !executor->breakpoint;
}

/* The side for a trace: with `keeps` one each for a trace, none and counting, else one for all. */
static unsigned side_of(const struct executor *executor, enum exec_trace trace)
{
    return !executor->settings.keeps   ? 0
           : trace == EXEC_TRACE_NONE  ? 1
           : trace == EXEC_TRACE_COUNT ? 2
                                       : 0;
}

static void use_side(struct executor *executor, unsigned side)
{
    executor->side = side;
    executor->cache = executor->sides[side].cache;
    executor->translator = executor->sides[side].translator;
    executor->hash = code_cache_hash(executor->cache);
    if (executor->thread)
        exec_thread_use(executor->thread, side);
}

/* For the translator. */
static bool is_breakpoint(void *context, uint64_t address, const uint8_t *bytes, size_t size)
{
    const struct executor *executor = context;
    return breakpoints_has(&executor->sides[executor->side].breakpoints, address) ||
           (executor->settings.markers && mark_of(bytes, size) != MARK_NONE);
}

static int make_side(struct executor *executor, unsigned number, struct bt_error *error)
{
    const struct executor_settings *settings = &executor->settings;
    struct executor_side *side = &executor->sides[number];
    side->cache = code_cache_new(settings->cache_bytes, error);
    if (side->cache)
        side->translator = translator_new(side->cache,
                                          number == 0   ? settings->trace
                                          : number == 1 ? EXEC_TRACE_NONE
                                                        : EXEC_TRACE_COUNT,
                                          settings->operations->readable, settings->context, error);
    if (!side->translator)
        return BT_MEMORY;
    translator_verify_code(side->translator, settings->operations->unseen);
    translator_set_side(side->translator, number);
    if (settings->markers)
        translator_find_breakpoints(side->translator, is_breakpoint, executor);
    return 0;
}

struct executor *executor_new(const struct executor_settings *settings, struct bt_error *error)
{
    struct executor *executor = calloc(1, sizeof *executor);
    if (!executor) {
        bt_fail(error, BT_MEMORY, "no memory to execute a program");
        return NULL;
    }
    executor->settings = *settings;
    if (settings->cache_bytes == 0)
        executor->settings.cache_bytes = EXECUTOR_CACHE_BYTES;
    if (settings->buffer_bytes == 0)
        executor->settings.buffer_bytes = BUFFER_BYTES;
    if (settings->trace == EXEC_TRACE_VALUES && executor->settings.buffer_bytes < VALUES_BYTES)
        executor->settings.buffer_bytes = VALUES_BYTES;
    if (make_side(executor, 0, error) != 0 ||
        (settings->keeps &&
         (make_side(executor, 1, error) != 0 || make_side(executor, 2, error) != 0))) {
        executor_free(executor);
        return NULL;
    }
    use_side(executor, 0);
    if (executor_trace_new(executor, error) != 0) {
        executor_free(executor);
        return NULL;
    }
    use_side(executor, side_of(executor, settings->trace));
    note_steps(executor);
    return executor;
}

void executor_free(struct executor *executor)
{
    if (!executor)
        return;
    executor_trace_free(executor);
    for (unsigned side = 0; side < EXEC_SIDES; side++) {
        translator_free(executor->sides[side].translator);
        if (executor->sides[side].cache)
            code_cache_free(executor->sides[side].cache);
        breakpoints_clear(&executor->sides[side].breakpoints);
    }
    free(executor);
}

/* Clears the lookup tables of all threads; those of other threads when they run next. */
static void forget_targets(struct executor *executor, unsigned side)
{
    executor->sides[side].generation++;
    if (!executor->thread)
        return;
    exec_thread_forget(executor->thread, side);
    executor->thread->generation[side] = executor->sides[side].generation;
}

void executor_switch(struct executor *executor, struct exec_thread *thread, uint8_t processor)
{
    executor->thread = thread;
    executor->expander.processor = processor;
    if (!thread)
        return;
    thread->executor = executor;
    thread->find = exec_find_target;
    thread->pointer = (uint64_t)(uintptr_t)executor->buffer;
    exec_thread_use(thread, executor->side);
    for (unsigned side = 0; side < EXEC_SIDES; side++) {
        if (thread->generation[side] != executor->sides[side].generation)
            exec_thread_forget(thread, side);
        thread->generation[side] = executor->sides[side].generation;
    }
}

int executor_begin(struct executor *executor, struct exec_thread *thread, struct bt_error *error)
{
    executor_switch(executor, thread, 0);
    for (unsigned side = 0; side < EXEC_SIDES; side++) /* entries may be of another executor */
        exec_thread_forget(thread, side);
    int result = exec_thread_bind(thread, error);
    return result == 0 ? executor_signals_begin(executor, error) : result;
}

void executor_end(struct executor *executor)
{
    executor_flush(executor);
    executor_signals_end(executor);
    executor->thread->executor = NULL;
    executor->thread = NULL;
}

void executor_unlink(struct executor *executor)
{
    struct executor_side *side = &executor->sides[executor->side];
    if (!side->linked)
        return;
    side->linked = false;
    code_cache_unlink_all(executor->cache);
    forget_targets(executor, executor->side);
}

static void forget_all(struct executor *executor)
{
    if (executor->thread) {
        executor_consume_all(executor); /* entries name blocks */
        executor_settle_x87(executor);
    }
    code_cache_flush(executor->cache);
    if (executor->expander.code && executor->side == 0) /* other sides have no records */
        trace_code_forget(executor->expander.code);
    forget_targets(executor, executor->side);
}

size_t executor_readable(const struct executor *executor, uint64_t address)
{
    return executor->settings.operations->readable(executor->settings.context, address);
}

bool executor_fix_fault(const struct executor *executor, uint64_t address, uint32_t access)
{
    const struct executor_operations *operations = executor->settings.operations;
    return operations->fix_fault &&
           operations->fix_fault(executor->settings.context, address, access);
}

/* translate(), again with an empty cache if the cache is full. */
static struct block *translate_anyway(struct executor *executor, uint64_t address, unsigned limit,
                                      const struct block *before)
{
    struct block *block = translate(executor->translator, address, limit, before);
    if (!block) {
        forget_all(executor);
        block = translate(executor->translator, address, limit, NULL);
    }
    if (block && executor->settings.operations->translated)
        executor->settings.operations->translated(executor->settings.context, block);
    return block;
}

/* Translates the block at an address. */
static struct block *make_block(struct executor *executor, uint64_t address,
                                const struct block *before)
{
    struct block *block = translate_anyway(executor, address, 0, before);
    if (block)
        code_cache_enter(executor->cache, block);
    return block;
}

static void stop_with(struct executor *executor, enum executor_reason reason)
{
    executor->stop.reason = reason; /* other fields are for faults */
    executor->stop.exit = NULL;
}

/* Discards a block that cannot detect a change of its code: an invalid instruction counts as one
 * byte, and later bytes may make it valid. */
static void forget_uncertain(struct executor *executor, const struct block *block)
{
    if (block->verify_code)
        executor_invalidate(executor, block->address, block->address + block->size);
}

/* Handles an exit. True: the run ends, and `stop` has the reason. */
static bool handle_exit(struct executor *executor, const struct exit *exit)
{
    struct exec_thread *thread = executor->thread;
    thread->rip = exit->kind == EXIT_INDIRECT ? thread->jump : exit->target;
    if (exit->kind >= EXIT_CHANGED)
        forget_uncertain(executor, exit->from);
    switch (exit->kind) {
    case EXIT_INDIRECT:
        if (!executor_can_go(executor, exit))
            return true;
        /* fall through */
    case EXIT_DIRECT:
        if (!executor->settings.stepping || !exit->branch)
            return false;
        stop_with(executor, EXECUTOR_BRANCH);
        executor->stop.exit = exit;
        return true;
    case EXIT_SYSTEM_CALL:
        thread->registers[DECODE_RCX] = thread->rip;
        thread->registers[DECODE_R11] = thread->flags;
        stop_with(executor, EXECUTOR_SYSTEM_CALL);
        return true;
    case EXIT_EMULATED:
        return !executor_emulate(executor, exit);
    case EXIT_X87:
        executor_settle_environment(executor, exit->from);
        return false;
    case EXIT_CHANGED:
        return false;
    case EXIT_TRAP:
        stop_with(executor, EXECUTOR_TRAP);
        return true;
    case EXIT_DEFINED:
        stop_with(executor, EXECUTOR_DEFINED);
        return true;
    default:
        stop_with(executor, EXECUTOR_REFUSED);
        return true;
    }
}

/* Returns the next block, translated if necessary, and links the exit just taken to it. */
static struct block *next_block(struct executor *executor, struct exit *exit, struct block *block)
{
    unsigned flushes = code_cache_flushes(executor->cache);
    const bool is_new = !block;
    if (is_new)
        block = make_block(executor, executor->thread->rip,
                           exit && exit->kind == EXIT_DIRECT ? exit->from : NULL);
    if (!exit || !block || block->breakpoint || executor->settings.stepping ||
        flushes != code_cache_flushes(executor->cache))
        return block;
    executor->sides[executor->side].linked = true;
    if (exit->kind == EXIT_DIRECT)
        code_cache_link(exit, block);
    else if (exit->kind == EXIT_INDIRECT)
        executor_remember(executor, block);
    if (is_new)
        executor_continue(executor, block);
    return block;
}

/* Number of instructions left to a near limit; UINT64_MAX: not near. Near the limit blocks are
 * unlinked, because instructions are counted after each block. */
static uint64_t count_left(struct executor *executor)
{
    if (!executor_is_near(executor))
        return UINT64_MAX;
    executor_consume_all(executor);
    if (!executor->settings.stepping) /* when stepping nothing is linked */
        executor_unlink(executor);
    return executor->limit > executor->expander.instructions
               ? executor->limit - executor->expander.instructions
               : 0;
}

/* Instructions left of the thread's turn, which may end at the limit. */
static uint64_t turn_left(const struct executor *executor)
{
    const int64_t turn = executor->thread->turn;
    return !executor->counts_turns ? UINT64_MAX : turn > 0 ? (uint64_t)turn : 0;
}

/* Translates a block of at most `left` instructions, without entering it into the hash table. */
static struct block *make_cut(struct executor *executor, uint64_t left)
{
    return translate_anyway(executor, executor->thread->rip, (unsigned)left, NULL);
}

/* The same for the begin of a longer block. Cuts are kept, because turns often end at the same
 * instructions. */
static struct block *cut_block(struct executor *executor, struct block *block, uint64_t left)
{
    struct block *cut = block->cuts;
    while (cut && cut->instructions != left)
        cut = cut->next_at_hash;
    if (cut)
        return cut;
    unsigned flushes = code_cache_flushes(executor->cache);
    cut = make_cut(executor, left);
    if (cut && flushes == code_cache_flushes(executor->cache)) {
        cut->next_at_hash = block->cuts;
        block->cuts = cut;
    }
    return cut;
}

/* Whether rip is at the breakpoint; the next run then executes one instruction separately. */
static bool is_at_breakpoint(struct executor *executor)
{
    return executor->breakpoint && executor->thread->rip == executor->breakpoint;
}

/* Whether the run ends after a block was left early. It continues after an interruption, and after
 * a block that is longer than the turn. */
static bool is_over(struct executor *executor)
{
    if (executor->stop.reason != EXECUTOR_INTERRUPTED && executor->stop.reason != EXECUTOR_TURN)
        return true;
    executor_settle_part(executor);
    executor->faulted = false;
    return false;
}

/* Whether the run ends before the next block; NULL: not translated yet, or no code. */
static bool stops_before(struct executor *executor, const struct block *block, uint64_t left)
{
    const uint64_t rip = executor->thread->rip;
    if (left == 0) {
        stop_with(executor, EXECUTOR_LIMIT);
    } else if (turn_left(executor) == 0) {
        stop_with(executor, executor_turn_is_limit(executor) ? EXECUTOR_LIMIT : EXECUTOR_TURN);
    } else if (!block && executor_readable(executor, rip) == 0) {
        executor->stop = trap_page_fault(rip, TRAP_USER_FETCH);
    } else if (is_at_breakpoint(executor) && executor->reported_at != rip) {
        executor->reported_at = rip;
        stop_with(executor, EXECUTOR_BREAKPOINT);
    } else {
        return false;
    }
    return true;
}

/* The block to enter next, possibly cut; NULL: no memory. */
static struct block *choose(struct executor *executor, struct exit *exit, struct block *block,
                            uint64_t left, bool *is_cut)
{
    const uint64_t most = turn_left(executor) < left ? turn_left(executor) : left;
    if (is_at_breakpoint(executor) || (executor->thread->flags & TRAP_FLAG))
        return make_cut(executor, 1);
    block = next_block(executor, left == UINT64_MAX ? exit : NULL, block);
    *is_cut = block && block->instructions > most;
    return *is_cut ? cut_block(executor, block, most) : block;
}

/* Executes a block and those linked to it. Returns the exit taken, or NULL after a fault. */
static struct exit *enter(struct executor *executor, const struct block *block,
                          struct executor_single *single)
{
    struct exec_thread *thread = executor->thread;
    executor_single_begin(executor, single);
    exec_enter(thread, block->code, !executor->settings.stepping || block->vector);
    struct exit *exit = executor->faulted ? NULL : code_cache_exit(executor->cache, thread->exit);
    if (single->on || executor->traps)
        executor_single_end(executor, single, exit);
    return exit;
}

/* Whether the run ends at the breakpoint of a block. */
static bool is_at_block_breakpoint(struct executor *executor, const struct block *block)
{
    if (!block->breakpoint || executor->reported_at == block->address)
        return false;
    executor->reported_at = block->address;
    stop_with(executor, EXECUTOR_BREAKPOINT);
    return true;
}

/* Executes blocks until the run ends. */
static int run(struct executor *executor, struct bt_error *error)
{
    struct exec_thread *thread = executor->thread;
    struct executor_single single;
    struct exit *exit = NULL;
    uint64_t left = count_left(executor);
    while (executor->result == 0) {
        if (thread->trap_due) {
            thread->trap_due = false;
            executor->stop = trap_step(thread->rip);
            return 0;
        }
        if (thread->interrupt) {
            stop_with(executor, EXECUTOR_INTERRUPTED);
            return 0;
        }
        if (left == UINT64_MAX && executor_is_near(executor)) {
            left = count_left(executor);
            exit = NULL;
        }
        struct block *block = code_cache_find(executor->cache, thread->rip);
        if (stops_before(executor, block, left))
            return 0;
        bool is_cut = false;
        block = choose(executor, exit, block, left, &is_cut);
        if (!block)
            return bt_fail(error, BT_MEMORY, "the memory for translated code is too small");
        if (is_at_block_breakpoint(executor, block))
            return 0;
        if (executor->reported_at == thread->rip)
            executor->reported_at = 0;
        exit = enter(executor, block, &single);
        if (executor->faulted) {
            if (is_over(executor))
                return 0;
            left = count_left(executor);
            exit = NULL;
            continue;
        }
        if (!exit)
            continue;
        bool done = exit->kind != EXIT_CHANGED && exit->kind != EXIT_X87;
        if (left != UINT64_MAX && done)
            left -= block->instructions;
        if (handle_exit(executor, exit)) {
            thread->trap_due = thread->trap_due && executor->stop.reason == EXECUTOR_BRANCH;
            return 0;
        }
        if (single.back)
            thread->rip = single.back;
        if (exit->kind == EXIT_EMULATED || !done || is_cut)
            exit = NULL;
    }
    return 0;
}

int executor_run(struct executor *executor, struct executor_stop *stop, struct bt_error *error)
{
    bool over = false;
    executor->result = 0;
    executor->fault_recorded = false;
    executor->thread->x87_unsettled = 1;
    if (executor->begun) {
        executor->begun = false;
        over = is_over(executor);
    } else {
        executor->faulted = false;
        stop_with(executor, EXECUTOR_INTERRUPTED); /* if put() fails */
        if (executor->fs_base != executor->thread->fs_base)
            executor_consume_all(executor);
        executor->fs_base = executor->thread->fs_base;
    }
    executor_turn_begin(executor);
    if (!executor_has_pointer(executor))
        exec_thread_prepare(executor->thread);
    int result = over ? 0 : run(executor, error);
    executor_turn_end(executor);
    if (executor->faulted)
        executor_settle_part(executor);
    if (executor->stop.reason != EXECUTOR_BRANCH)
        executor_settle_x87(executor);
    executor_flush(executor);
    if (result == 0 && executor->result != 0)
        result = bt_fail(error, executor->result, "the records of the program were not accepted");
    if (executor->stop.reason == EXECUTOR_FAULT) {
        *stop = executor->stop;
    } else {
        stop->reason = executor->stop.reason;
        stop->exit = executor->stop.exit;
    }
    return result;
}

/* The trace that blocks write for a setting. */
static enum exec_trace written_for(const struct executor *executor, enum exec_trace trace)
{
    return trace == EXEC_TRACE_COUNT && executor->counts_limits ? EXEC_TRACE_NONE : trace;
}

void executor_set_trace(struct executor *executor, enum exec_trace trace)
{
    if (trace == executor->settings.trace)
        return;
    executor_flush(executor);
    use_side(executor, side_of(executor, trace));
    const enum exec_trace written = written_for(executor, trace);
    if (written != translator_trace(executor->translator))
        forget_all(executor);
    executor->settings.trace = trace;
    translator_set_trace(executor->translator, written);
    note_steps(executor);
}

void executor_set_breakpoint(struct executor *executor, uint64_t address)
{
    if (address == executor->breakpoint)
        return;
    executor->breakpoint = address;
    executor->reported_at = 0;
    note_steps(executor);
    translator_set_breakpoint(executor->translator, address);
    if (address)
        executor_invalidate(executor, address, address + 1);
}

void executor_add_breakpoint(struct executor *executor, uint64_t address)
{
    struct executor_side *side = &executor->sides[executor->side];
    if (!breakpoints_add(&side->breakpoints, address))
        return;
    translator_find_breakpoints(executor->translator, is_breakpoint, executor);
    executor_invalidate(executor, address, address + 1);
}

void executor_clear_breakpoints(struct executor *executor)
{
    struct executor_side *side = &executor->sides[executor->side];
    if (side->breakpoints.count == 0 && !executor->settings.markers)
        return;
    breakpoints_clear(&side->breakpoints);
    executor->settings.markers = false;
    forget_all(executor);
}

void executor_trap_clock(struct executor *executor, bool traps)
{
    const unsigned before = executor->side;
    for (unsigned side = 0; side < EXEC_SIDES; side++) {
        if (!executor->sides[side].cache)
            continue;
        use_side(executor, side);
        forget_all(executor);
        translator_trap_clock(executor->translator, traps);
    }
    use_side(executor, before);
}

void executor_count_turns(struct executor *executor)
{
    const unsigned before = executor->side;
    if (executor->counts_turns)
        return;
    executor->counts_turns = true;
    for (unsigned side = 0; side < EXEC_SIDES; side++) {
        if (!executor->sides[side].cache)
            continue;
        use_side(executor, side);
        forget_all(executor);
        translator_count_turns(executor->translator, true);
    }
    use_side(executor, before);
}

void executor_count_limits(struct executor *executor)
{
    if (executor->counts_limits)
        return;
    executor->ran = executor_instructions(executor);
    executor_count_turns(executor);
    executor->counts_limits = true;
    for (unsigned side = 0; side < EXEC_SIDES; side++)
        if (executor->sides[side].cache &&
            translator_trace(executor->sides[side].translator) == EXEC_TRACE_COUNT)
            translator_set_trace(executor->sides[side].translator, EXEC_TRACE_NONE);
}

void executor_set_stepping(struct executor *executor, bool stepping)
{
    if (stepping && !executor->settings.stepping)
        executor_unlink(executor);
    executor->settings.stepping = stepping;
    note_steps(executor);
}

void executor_invalidate(struct executor *executor, uint64_t begin, uint64_t end)
{
    for (unsigned side = 0; side < EXEC_SIDES; side++)
        if (executor->sides[side].cache &&
            code_cache_invalidate(executor->sides[side].cache, begin, end) > 0)
            forget_targets(executor, side);
}

struct code_cache *executor_cache(struct executor *executor)
{
    return executor->cache;
}

void executor_use_store(struct executor *executor, struct block_store *store,
                        exec_stored_function *stored)
{
    for (unsigned side = 0; side < EXEC_SIDES; side++)
        if (executor->sides[side].translator)
            translator_use_store(executor->sides[side].translator, store, stored);
}

void executor_limit(struct executor *executor, uint64_t instructions)
{
    executor->limit = instructions;
}

void executor_define(struct executor *executor, translator_defined_function *defined, void *context)
{
    for (unsigned side = 0; side < EXEC_SIDES; side++)
        if (executor->sides[side].translator)
            translator_define(executor->sides[side].translator, defined, context);
    executor_invalidate(executor, 0, UINT64_MAX);
}

void executor_count_one(struct executor *executor)
{
    executor->expander.instructions++;
    executor->ran++;
    executor->thread->turn--;
}

bool executor_is_at_limit(const struct executor *executor)
{
    return executor->limit && executor->expander.instructions >= executor->limit;
}
