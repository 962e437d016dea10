#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, MAP_ANONYMOUS */
#include "tests/support/exec_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

static size_t readable(void *context, uint64_t address)
{
    (void)context;
    if (address < EXEC_RIG_CODE || address >= EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES)
        return 0;
    return EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES - address;
}

static int keep(void *context, struct record *records, size_t count)
{
    struct exec_rig *rig = context;
    size_t room = EXEC_RIG_RECORDS - rig->count;
    rig->total += count;
    if (count > room)
        count = room;
    memcpy(rig->records + rig->count, records, count * sizeof *records);
    rig->count += count;
    return 0;
}

static int keep_entries(void *context, struct trace_expander *expander, const uint32_t *entries,
                        size_t count, const struct block *part, unsigned instructions)
{
    struct exec_rig *rig = context;
    if (count == 0 && !part)
        return 0;
    rig->cache = expander->cache;
    rig->part = part;
    rig->executed = instructions;
    rig->entry_count = part ? part->slots : count;
    if (rig->entry_count > EXEC_RIG_ENTRIES)
        rig->entry_count = EXEC_RIG_ENTRIES;
    memcpy(rig->entries, entries, rig->entry_count * sizeof *entries);
    return 0;
}

/* If each signal takes as long as a timer's interval, the program makes no progress. */
static bool note(void *context, int number, void *information, void *interrupted)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct exec_rig *rig = context;
    (void)number;
    (void)information;
    (void)interrupted;
    if (++rig->interruptions >= EXEC_RIG_INTERRUPTIONS)
        setitimer(ITIMER_REAL, &never, NULL);
    return true;
}

static void *map_at(uintptr_t address, size_t bytes, int protection)
{
    void *memory = mmap((void *)address, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool exec_rig_begin(struct exec_rig *rig, enum exec_trace trace, bool stepping, size_t buffer_bytes,
                    size_t cache_bytes)
{
    struct bt_error error = {.message = ""};
    static const struct executor_operations operations = {
        .readable = readable, .put = keep, .note = note};
    static const struct executor_operations entry_operations = {
        .readable = readable, .take = keep_entries, .note = note};
    struct executor_settings settings = {
        .trace = trace,
        .stepping = stepping,
        .cache_bytes = cache_bytes,
        .buffer_bytes = buffer_bytes,
        .operations = exec_trace_has_outcomes(trace) ? &entry_operations : &operations,
        .context = rig};
    *rig = (struct exec_rig){
        .code = map_at(EXEC_RIG_CODE, EXEC_RIG_CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC),
        .data = map_at(EXEC_RIG_DATA, EXEC_RIG_DATA_BYTES, PROT_READ | PROT_WRITE),
        .records = malloc(EXEC_RIG_RECORDS * sizeof(struct record))};
    rig->thread = exec_thread_new(&error);
    rig->executor = executor_new(&settings, &error);
    if (rig->code && rig->data && rig->records && rig->thread && rig->executor &&
        executor_begin(rig->executor, rig->thread, &error) == 0)
        return true;
    printf("rig: %s\n", error.message);
    return false;
}

void exec_rig_end(struct exec_rig *rig)
{
    executor_end(rig->executor);
    executor_free(rig->executor);
    exec_thread_free(rig->thread);
    munmap(rig->code, EXEC_RIG_CODE_BYTES);
    munmap(rig->data, EXEC_RIG_DATA_BYTES);
    free(rig->records);
}

void exec_rig_load(struct exec_rig *rig, const struct machine *machine)
{
    struct exec_thread *thread = rig->thread;
    memcpy(thread->registers, machine->registers, sizeof thread->registers);
    thread->rip = machine->rip;
    thread->flags = machine->flags;
    memcpy(thread->vector, machine->vector, machine_vector_bytes());
}

void exec_rig_save(const struct exec_rig *rig, struct machine *machine)
{
    const struct exec_thread *thread = rig->thread;
    memcpy(machine->registers, thread->registers, sizeof thread->registers);
    machine->rip = thread->rip;
    machine->flags = thread->flags;
    memcpy(machine->vector, thread->vector, machine_vector_bytes());
}

struct executor_stop exec_rig_run(struct exec_rig *rig)
{
    struct executor_stop stop = {.reason = EXECUTOR_REFUSED};
    struct bt_error error = {.message = ""};
    rig->count = 0;
    rig->total = 0;
    int result = executor_run(rig->executor, &stop, &error);
    if (result == 0)
        result = executor_flush(rig->executor);
    if (result != 0)
        printf("rig: %d %s\n", result, error.message);
    return stop;
}
