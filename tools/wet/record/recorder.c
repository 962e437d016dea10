#include "tools/wet/record/recorder_internal.h"

#include <inttypes.h>
#include <string.h>

#define ADDRESS_BITS 32u /* of the program */

/* --- beginning and end -------------------------------------------------------------------------
 */

static int begin_values(struct recorder *recorder)
{
    struct bt_error error;
    struct record_values *values = record_values_new(&error);
    recorder->code.values = values;
    if (!values)
        return BT_MEMORY;
    value_coder_write_to(values->coder, &recorder->chunk.streams[WET_STREAM_VALUES]);
    return 0;
}

struct recorder *recorder_new(const struct recorder_settings *settings, struct bt_error *error)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder) {
        recorder->settings = *settings;
        if (settings->chunk_blocks == 0)
            recorder->settings.chunk_blocks = RECORDER_BLOCKS;
        if (settings->chunk_bytes == 0)
            recorder->settings.chunk_bytes = RECORDER_BYTES;
        recorder->records = calloc(TRACE_EXPAND_RECORDS_MIN, sizeof *recorder->records);
        recorder->left = recorder->left_checked = 1;
        if (recorder->records && record_code_init(&recorder->code) == 0 &&
            wet_sequence_init(&recorder->sequence) == 0 &&
            wet_sequence_reserve(&recorder->sequence, WET_FIRST_BLOCK) == 0 &&
            shadow_init(&recorder->shadow, ADDRESS_BITS, error) == 0 &&
            (!settings->has_values || begin_values(recorder) == 0))
            return recorder;
    }
    recorder_free(recorder);
    bt_fail(error, BT_MEMORY, "no memory to record a program");
    return NULL;
}

static void forget_blocks(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->block_capacity; i++)
        record_block_free(recorder->blocks[i]);
    if (recorder->block_capacity > 0)
        memset(recorder->blocks, 0, recorder->block_capacity * sizeof(struct record_block *));
}

void recorder_free(struct recorder *recorder)
{
    if (!recorder)
        return;
    forget_blocks(recorder);
    for (size_t i = 0; i < recorder->thread_count; i++)
        free(recorder->threads[i]);
    free(recorder->threads);
    free(recorder->blocks);
    free(recorder->records);
    free(recorder->ranges.ranges);
    record_texts_clear(&recorder->texts);
    wet_chunk_clear(&recorder->chunk);
    wet_sequence_clear(&recorder->sequence);
    shadow_clear(&recorder->shadow);
    record_values_free(recorder->code.values);
    record_code_clear(&recorder->code);
    free(recorder);
}

int recorder_stop(struct recorder *recorder, const struct bt_error *error)
{
    if (!recorder->is_stopped) {
        if (error)
            recorder->error = *error;
        else
            bt_fail(&recorder->error, BT_MEMORY, "no memory for the trace");
        recorder->is_stopped = true;
    }
    return recorder->error.code;
}

const struct bt_error *recorder_error(const struct recorder *recorder)
{
    return recorder->is_stopped ? &recorder->error : NULL;
}

struct recorder_totals recorder_totals(const struct recorder *recorder)
{
    return (struct recorder_totals){.instructions = recorder->instructions,
                                    .blocks = recorder->blocks_executed,
                                    .unknown_calls = recorder->unknown_calls,
                                    .threads = recorder->thread_count};
}

struct wet_code *recorder_code(struct recorder *recorder)
{
    return &recorder->code.code;
}

/* --- one execution -----------------------------------------------------------------------------
 */

static inline void read_bytes(struct recorder *recorder, const struct record_operation *operation,
                              uint32_t address)
{
    const uint64_t *counts = recorder->code.counts;
    const uint64_t reader = counts[operation->id] - 1;
    struct wet_port *port = &operation->port->port;
    shadow_entry entry;
    if (shadow_sole(&recorder->shadow, address, operation->size, &entry)) {
        const uint32_t id = shadow_context(entry);
        const uint64_t instance = shadow_time(entry);
        if (wet_port_is_predicted(port, reader, id, instance, counts)) {
            wet_port_hit(port, reader, instance, counts[id] - instance);
            return;
        }
    }
    recorder_read(recorder, operation, address);
}

static inline void write_bytes(struct recorder *recorder, const struct record_operation *operation,
                               uint32_t address)
{
    const uint64_t instance = recorder->code.counts[operation->id] - 1;
    if (!shadow_put(&recorder->shadow, address, operation->size,
                    shadow_entry_of(operation->id, instance)))
        recorder_write(recorder, operation->id, instance, address, operation->size);
}

static inline void note_outcome(struct recorder *recorder, struct record_outcome *outcome,
                                bool is_true)
{
    if (outcome->outcomes.has_run && outcome->outcomes.current == is_true) {
        outcome->outcomes.run++;
        return;
    }
    wet_outcomes_put(&outcome->outcomes, is_true, &outcome->bytes);
    recorder->port_bytes++;
}

static inline void operate(const struct record_execution *execution)
{
    struct recorder *recorder = execution->recorder;
    const struct record_block *block = execution->block;
    const uint32_t *entries = execution->entries;
    const struct record_operation *end = block->operations + block->operation_count;
    for (const struct record_operation *operation = block->operations; operation < end;
         operation++) {
        if (operation->kind == RECORD_READ)
            read_bytes(recorder, operation,
                       operation->addend + (entries[operation->slot] & operation->mask));
        else if (operation->kind == RECORD_WRITE)
            write_bytes(recorder, operation,
                        operation->addend + (entries[operation->slot] & operation->mask));
        else if (operation->kind == RECORD_OUTCOME)
            note_outcome(recorder, operation->outcome,
                         (entries[operation->slot] & operation->mask) != 0);
        else if (operation->kind == RECORD_ZERO_OUTCOME)
            note_outcome(recorder, operation->outcome,
                         (entries[operation->slot] & operation->mask) == 0);
        else
            recorder_rare(execution, operation);
    }
}

/* Notes how execution passed to a block; the sequence tells only that this is the case often. */
static void note_edge(struct recorder *recorder, struct record_thread *thread,
                      const struct record_block *block)
{
    thread->has_event = false;
    if (record_code_edge(&recorder->code, thread->last_id, block->first_id) < 0)
        recorder->out_of_memory = true;
}

static inline void execute(const struct record_execution *execution, struct record_thread *thread,
                           struct record_block *block)
{
    struct recorder *recorder = execution->recorder;
    uint64_t *counts = recorder->code.counts;
    /* where the block before was followed by this one last, the edge is known */
    if (recorder->sequence.by_number[thread->context.before[0]] != block->number)
        note_edge(recorder, thread, block);
    wet_sequence_put(&recorder->sequence, &thread->context, block->number,
                     &recorder->chunk.streams[WET_STREAM_SEQUENCE]);
    block->executions++;
    for (unsigned i = 0; i < block->run_count; i++)
        for (uint32_t id = block->runs[i].first, end = id + block->runs[i].count; id < end; id++)
            counts[id]++;
    operate(execution);
    if (block->value_count > 0 && record_values_put(recorder->code.values, block->values,
                                                    block->value_count, execution->entries) < 0)
        recorder->out_of_memory = true;
    thread->last_id = block->last_id;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

void recorder_translated(struct recorder *recorder, const struct block *block)
{
    const struct recorder_settings *settings = &recorder->settings;
    const size_t size = recorder->is_stopped ? 0 : record_block_text(block);
    if (size == 0) /* not for a trace */
        return;
    uint8_t *bytes = malloc(size);
    if (!bytes) {
        recorder->out_of_memory = true;
    } else if (settings->read(settings->context, bytes, block->address, size) != 0) {
        free(bytes);
    } else if (record_texts_add(&recorder->texts, block, bytes) < 0) {
        recorder->out_of_memory = true;
    }
}

/* The machine code of a block, which the caller frees. NULL with *error. */
static uint8_t *take_text(struct recorder *recorder, const struct block *block,
                          struct bt_error *error)
{
    const struct recorder_settings *settings = &recorder->settings;
    const size_t size = record_block_text(block);
    uint8_t *text = record_texts_take(&recorder->texts, block);
    if (text)
        return text;
    text = malloc(size + 1);
    if (!text) {
        bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    } else if (settings->read(settings->context, text, block->address, size) != 0) {
        bt_fail(error, BT_USAGE, "the code at 0x%" PRIx64 " is gone", block->address);
        free(text);
        return NULL;
    }
    return text;
}

/* Makes what the first instructions of a translated block do. NULL: recording has stopped. */
static struct record_block *make_block(struct recorder *recorder, const struct block *block,
                                       unsigned instructions)
{
    struct bt_error error;
    uint8_t *text = take_text(recorder, block, &error);
    struct record_block *made =
        text ? record_block_new(&recorder->code, block, instructions, text, &error) : NULL;
    if (text && instructions < block->instructions)
        recorder->out_of_memory |= record_texts_add(&recorder->texts, block, text) < 0;
    else
        free(text);
    if (made && wet_sequence_reserve(&recorder->sequence, made->number) == 0)
        return made;
    recorder_stop(recorder, made ? NULL : &error);
    record_block_free(made);
    return NULL;
}

static struct record_block *find_block(struct recorder *recorder, const struct block *block)
{
    if (block->number >= recorder->block_capacity) {
        const size_t before = recorder->block_capacity;
        struct record_block **larger = grow_array(recorder->blocks, &recorder->block_capacity,
                                                  (size_t)block->number + 1, sizeof *larger);
        if (!larger) {
            recorder_stop(recorder, NULL);
            return NULL;
        }
        recorder->blocks = larger;
        memset(larger + before, 0, (recorder->block_capacity - before) * sizeof *larger);
    }
    struct record_block **found = &recorder->blocks[block->number];
    if (!*found)
        *found = make_block(recorder, block, block->instructions);
    return *found;
}

/* The block of the first instructions of a block. NULL: recording has stopped. */
static struct record_block *find_part(struct recorder *recorder, struct record_block *whole,
                                      unsigned instructions)
{
    const struct wet_code *code = &recorder->code.code;
    const struct block *block = whole->block;
    struct bt_error error;
    struct record_block *part = whole->parts;
    while (part && part->instruction_count != instructions)
        part = part->next;
    if (part || instructions == whole->instruction_count)
        return part ? part : whole;
    uint8_t *text = calloc(1, record_block_text(block) + WET_INSTRUCTION_BYTES);
    const uint32_t *ids = wet_code_ids(code, whole->number - WET_FIRST_BLOCK + 1);
    for (unsigned i = 0; i < instructions && text; i++) {
        const struct wet_instruction *known = &code->instructions[ids[i]];
        memcpy(text + (known->address - block->address), known->bytes, known->size);
    }
    if (text)
        part = record_block_new(&recorder->code, block, instructions, text, &error);
    else
        bt_fail(&error, BT_MEMORY, "no memory for the program's blocks");
    free(text);
    if (!part || wet_sequence_reserve(&recorder->sequence, part->number) < 0) {
        recorder_stop(recorder, part ? NULL : &error);
        record_block_free(part);
        return NULL;
    }
    part->next = whole->parts;
    return whole->parts = part;
}

/* --- entries -----------------------------------------------------------------------------------
 */

/* Executes a block; then, if it is time, ends the chunk. 0 or negative. */
static inline int execute_next(struct record_execution *execution, struct record_thread *thread,
                               struct record_block *block)
{
    struct recorder *recorder = execution->recorder;
    execution->block = block;
    execute(execution, thread, block);
    recorder->chunk_instructions += block->instruction_count;
    if (--recorder->left > 0)
        return 0;
    const int result = recorder_check(recorder);
    if (result == 0)
        recorder_switch(recorder, thread);
    return result;
}

/* The last block ends with a system call, or not: then none is being made. */
static void note_call(const struct recorder *recorder, struct record_thread *thread,
                      const struct record_block *last)
{
    thread->has_call = last->ends_with_call;
    thread->call_id = last->last_id;
    thread->call_instance = recorder->code.counts[last->last_id] - 1;
}

static int take_whole(struct record_execution *execution, struct record_thread *thread,
                      size_t count)
{
    struct recorder *recorder = execution->recorder;
    const uint32_t *end = execution->entries + count;
    const struct record_block *block = NULL;
    int result = 0;
    while (execution->entries < end && result == 0) {
        const uint32_t number = *execution->entries;
        struct record_block *next =
            number < recorder->block_capacity ? recorder->blocks[number] : NULL;
        if (!next)
            next = find_block(recorder, code_cache_block(execution->expander->cache, number));
        if (!next)
            return recorder->error.code;
        if (thread->has_event && next->instruction_count > 0)
            note_edge(recorder, thread, next);
        if (next->instruction_count > 0) {
            result = execute_next(execution, thread, next);
            block = next;
        }
        execution->entries += next->slots;
    }
    if (block)
        note_call(recorder, thread, block);
    return result;
}

/* A part of a block was executed, up to a fault or a signal. */
static int take_part(struct record_execution *execution, struct record_thread *thread,
                     const struct block *part, unsigned instructions)
{
    struct recorder *recorder = execution->recorder;
    const bool is_known = code_cache_block(execution->expander->cache, part->number) == part;
    if (instructions > part->instructions)
        instructions = part->instructions;
    if (instructions == 0)
        return 0;
    /* as long as the whole block was not executed, its other instructions have no ids */
    struct record_block *whole =
        is_known && part->number < recorder->block_capacity ? recorder->blocks[part->number] : NULL;
    struct record_block *block =
        whole ? find_part(recorder, whole, instructions) : make_block(recorder, part, instructions);
    int result = recorder->error.code;
    if (block) {
        if (!whole) /* recorder_fold() does not find it */
            recorder->code.code.blocks[block->number - WET_FIRST_BLOCK + 1].executions++;
        note_edge(recorder, thread, block);
        result = execute_next(execution, thread, block);
        note_call(recorder, thread, block);
    }
    if (!whole)
        record_block_free(block);
    return result;
}

int recorder_take(struct recorder *recorder, struct trace_expander *expander,
                  const uint32_t *entries, size_t count, const struct block *part,
                  unsigned instructions)
{
    if (recorder->is_stopped || (count == 0 && (!part || instructions == 0)))
        return 0;
    struct record_thread *thread = recorder_thread_of(recorder, expander->processor);
    if (!thread)
        return 0;
    const uint64_t before = recorder->instructions + recorder->chunk_instructions;
    struct record_execution execution = {
        .recorder = recorder, .expander = expander, .entries = entries};
    if (recorder->flushes != code_cache_flushes(expander->cache)) {
        recorder_fold(recorder);
        forget_blocks(recorder);
        recorder->flushes = code_cache_flushes(expander->cache);
    }
    recorder_arrive(recorder, thread);
    int result = take_whole(&execution, thread, count);
    if (result == 0 && part && instructions > 0)
        take_part(&execution, thread, part, instructions);
    expander->instructions += recorder->instructions + recorder->chunk_instructions - before;
    return 0;
}
