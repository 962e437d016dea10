#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "capture/exec/dispatch/executor_state.h"

#include "capture/exec/trace/trace_compile.h"

#include "capture/exec/dispatch/trampoline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GUARD_BYTES    ((size_t)64 << 10) /* more than a block's entries */
#define FLAG_DIRECTION 0x400u
#define RECORDS        3584u /* 42 KiB: fits in an L1 cache of 48 KiB */

_Static_assert(CODE_CACHE_SLOTS * 4 < GUARD_BYTES, "entries cannot jump the guard");

static uint8_t *map_buffer(size_t bytes)
{
    uint8_t *buffer =
        mmap(NULL, bytes + GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        return NULL;
    if (mprotect(buffer, bytes, PROT_READ | PROT_WRITE) == 0)
        return buffer;
    munmap(buffer, bytes + GUARD_BYTES);
    return NULL;
}

int executor_trace_new(struct executor *executor, struct bt_error *error)
{
    const struct executor_settings *settings = &executor->settings;
    struct trace_expander *expander = &executor->expander;
    expander->cache = executor->cache;
    expander->capacity = RECORDS;
    expander->records = malloc(RECORDS * sizeof *expander->records);
    expander->code = trace_code_new(settings->cache_bytes, executor->cache);
    expander->put = settings->operations->put;
    expander->context = settings->context;
    expander->take = settings->operations->take;
    expander->repetitions = settings->repetitions;
    trace_expander_init(expander);
    executor->buffer = map_buffer(settings->buffer_bytes);
    if (!expander->records || !executor->buffer)
        return bt_fail_errno(error, "no memory for a trace");
    return 0;
}

void executor_trace_free(struct executor *executor)
{
    size_t bytes = executor->settings.buffer_bytes + GUARD_BYTES;
    if (executor->buffer)
        munmap(executor->buffer, bytes);
    free(executor->expander.records);
    trace_code_free(executor->expander.code);
}

bool executor_has_pointer(const struct executor *executor)
{
    return translator_trace(executor->translator) != EXEC_TRACE_NONE;
}

static bool has_entries(const struct executor *executor)
{
    return executor->settings.trace == EXEC_TRACE_FETCHES ||
           exec_trace_has_addresses(executor->settings.trace);
}

void executor_consume(struct executor *executor, const uint8_t *end)
{
    struct trace_expander *expander = &executor->expander;
    const uint32_t *entries = (const uint32_t *)(const void *)executor->buffer;
    size_t count = (size_t)(end - executor->buffer) / 4;
    if (executor->settings.trace == EXEC_TRACE_COUNT)
        expander->instructions += (size_t)(end - executor->buffer);
    if (!has_entries(executor) || executor->result != 0)
        return;
    expander->fs_base = executor->fs_base;
    executor->result = trace_expand(expander, entries, count);
}

void executor_consume_all(struct executor *executor)
{
    executor_consume(executor, (const uint8_t *)(uintptr_t)executor->thread->pointer);
    executor->thread->pointer = (uint64_t)(uintptr_t)executor->buffer;
}

/* A string instruction that a fault or signal has interrupted counts as executed, with the value of
 * its last repetition: writes the entries that follow it. */
static void store_repeated_value(const struct executor *executor, const struct block *block,
                                 unsigned instruction, uint32_t *entries)
{
    const uint64_t *registers = executor->thread->registers;
    const struct special *special = &block->specials[block->pc_map[instruction].specials];
    const struct decode_access *access = &special->access[special->accesses - 1];
    const struct value_slot *value = block->values, *end = value + block->value_count;
    while (value < end && value->instruction != instruction)
        value++;
    if (value == end)
        return;
    if (access->write) { /* stos, movs */
        const uint64_t after = registers[access->base];
        const bool is_downward = executor->thread->flags & FLAG_DIRECTION;
        exec_copy(
            &entries[value->slot],
            (const void *)(uintptr_t)(is_downward ? after + access->size : after - access->size),
            access->size);
        return;
    }
    /* lods, and scas and cmps */
    const bool is_load = special->accesses == 1 && access->base == DECODE_RSI;
    memcpy(&entries[value->slot], &registers[is_load ? DECODE_RAX : DECODE_RCX], value->size);
}

void executor_settle_part(struct executor *executor)
{
    uint32_t *entries = (uint32_t *)(uintptr_t)executor->thread->pointer;
    const unsigned executed = executor->fault_instructions;
    const struct block *block = executor->fault_block;
    executor_consume_all(executor);
    executor->fault_recorded =
        executed > 0 &&
        block->address + block->pc_map[executed - 1].offset == executor->thread->rip;
    if (executor->fault_recorded && executor->settings.trace == EXEC_TRACE_VALUES)
        store_repeated_value(executor, block, executed - 1, entries);
    if (executor->settings.trace == EXEC_TRACE_COUNT)
        executor->expander.instructions += executor->fault_instructions;
    if (has_entries(executor) && executor->result == 0)
        executor->result = trace_expand_part(&executor->expander, executor->fault_block, entries,
                                             executor->fault_instructions);
}

int executor_flush(struct executor *executor)
{
    if (executor->settings.trace == EXEC_TRACE_NONE || !executor->thread)
        return 0;
    executor_consume_all(executor);
    if (executor->result == 0)
        executor->result = trace_expander_flush(&executor->expander);
    return executor->result;
}

void executor_put_fault(struct executor *executor, uint64_t address, uint8_t size)
{
    struct trace_expander *expander = &executor->expander;
    if (!has_entries(executor) || !expander->put || executor->fault_recorded)
        return;
    expander->records[expander->count++] = (struct record){.address = (uint32_t)address,
                                                           .type = REQUEST_FETCH,
                                                           .size = size,
                                                           .attribute = ATTRIBUTE_WRITE_BACK,
                                                           .processor = expander->processor};
    executor_flush(executor);
}

void executor_suspend(struct executor *executor)
{
    executor_flush(executor);
    executor->before = executor->expander.instructions;
    executor->before_ran = executor->ran;
}

void executor_resume(struct executor *executor)
{
    executor->thread->pointer = (uint64_t)(uintptr_t)executor->buffer;
    executor->expander.count = 0;
    executor->expander.instructions = executor->before;
    executor->ran = executor->before_ran;
}

/* --- limits ------------------------------------------------------------------------------------
 */

bool executor_is_near(struct executor *executor)
{
    uint64_t horizon = executor->settings.trace == EXEC_TRACE_COUNT
                           ? executor->settings.buffer_bytes + CODE_CACHE_INSTRUCTIONS
                           : executor->settings.buffer_bytes / 4 * CODE_CACHE_INSTRUCTIONS;
    if (!executor->limit || executor->counts_limits)
        return false;
    return executor->limit < executor->expander.instructions + horizon;
}

/* Without a trace instructions are not counted. */
static bool counts_by_turn(const struct executor *executor)
{
    return executor->counts_limits && executor->settings.trace != EXEC_TRACE_NONE;
}

void executor_turn_begin(struct executor *executor)
{
    struct exec_thread *thread = executor->thread;
    const uint64_t limit = executor->limit, ran = executor->ran;
    if (!counts_by_turn(executor))
        return;
    const uint64_t left = limit > ran ? limit - ran : 0;
    executor->turn_rest = 0;
    if (limit && thread->turn > 0 && (uint64_t)thread->turn > left) {
        executor->turn_rest = thread->turn - (int64_t)left;
        thread->turn = (int64_t)left;
    }
    executor->turn_begun = thread->turn;
}

static uint64_t ran_so_far(const struct executor *executor)
{
    return executor->ran + (uint64_t)(executor->turn_begun - executor->thread->turn);
}

void executor_turn_end(struct executor *executor)
{
    if (!counts_by_turn(executor))
        return;
    executor->ran = ran_so_far(executor);
    executor->thread->turn += executor->turn_rest;
}

bool executor_turn_is_limit(const struct executor *executor)
{
    return counts_by_turn(executor) && executor->limit && ran_so_far(executor) >= executor->limit;
}

uint64_t executor_instructions(struct executor *executor)
{
    if (executor->counts_limits)
        return executor->ran;
    const struct executor_operations *operations = executor->settings.operations;
    const uint64_t counted = operations->count ? operations->count(executor->settings.context) : 0;
    return executor->expander.instructions + counted;
}
