#include "tools/wet/slice/slice_pass.h"

#include "formats/base/grow.h"

#include <string.h>

#define ENTRIES_MAX (UINT32_C(1) << 26) /* of a chunk */

/* --- threads -----------------------------------------------------------------------------------
 */

static void clear_thread(struct slice_thread *thread)
{
    if (!thread)
        return;
    wet_calls_clear(&thread->calls);
    free(thread->saved);
    free(thread);
}

void slice_state_clear(struct slice_state *state)
{
    for (size_t i = 0; i < state->count; i++)
        clear_thread(state->threads[i]);
    free(state->threads);
    *state = (struct slice_state){.threads = NULL};
}

/* The thread with a number, which may be new. NULL: no memory. */
static struct slice_thread *thread_of(struct slice_state *state, uint32_t number)
{
    const size_t before = state->capacity;
    struct slice_thread **larger =
        grow_array(state->threads, &state->capacity, (size_t)number + 1, sizeof *larger);
    if (!larger)
        return NULL;
    state->threads = larger;
    memset(larger + before, 0, (state->capacity - before) * sizeof *larger);
    if (larger[number])
        return larger[number];
    struct slice_thread *thread = calloc(1, sizeof *thread);
    if (!thread || wet_calls_init(&thread->calls, (struct wet_instance){.id = 0}) < 0) {
        clear_thread(thread);
        return NULL;
    }
    if (number >= state->count)
        state->count = (size_t)number + 1;
    return larger[number] = thread;
}

static int copy_thread(struct slice_state *to, uint32_t number, const struct slice_thread *from)
{
    struct slice_thread *thread = thread_of(to, number);
    if (!thread || wet_calls_copy(&thread->calls, &from->calls) < 0)
        return BT_MEMORY;
    thread->last = from->last;
    thread->top = from->top;
    thread->saved = malloc((from->saved_count + 1) * sizeof *thread->saved);
    if (!thread->saved)
        return BT_MEMORY;
    thread->saved_capacity = from->saved_count + 1;
    thread->saved_count = from->saved_count;
    if (from->saved_count > 0)
        memcpy(thread->saved, from->saved, from->saved_count * sizeof *thread->saved);
    return 0;
}

int slice_pass_save(const struct slice_pass *pass, struct slice_state *to)
{
    int result = 0;
    for (uint32_t i = 0; i < pass->state.count && result == 0; i++)
        if (pass->state.threads[i])
            result = copy_thread(to, i, pass->state.threads[i]);
    return result;
}

void slice_pass_restore(struct slice_pass *pass, struct slice_state *from)
{
    slice_state_clear(&pass->state);
    pass->state = *from;
    *from = (struct slice_state){.threads = NULL};
}

/* --- events ------------------------------------------------------------------------------------
 */

static struct slice_thread *current(const struct slice_pass *pass)
{
    return pass->state.threads[pass->thread];
}

static int take_switch(struct slice_pass *pass, uint64_t number)
{
    if (number >= WET_THREADS)
        return BT_DATA;
    pass->thread = (uint32_t)number;
    return thread_of(&pass->state, (uint32_t)number) ? 0 : BT_MEMORY;
}

static int take_clone(struct slice_pass *pass, uint64_t number, struct slice_event *event)
{
    if (number >= WET_THREADS)
        return BT_DATA;
    struct slice_thread *thread = thread_of(&pass->state, (uint32_t)number);
    if (!thread)
        return BT_MEMORY;
    event->number = number;
    event->last = current(pass)->last;
    thread->top = current(pass)->top;
    thread->calls.frames[0].call = event->last;
    return 0;
}

static int take_signal(struct slice_pass *pass, uint64_t stack, struct slice_event *event)
{
    struct slice_thread *thread = current(pass);
    struct slice_saved *larger =
        grow_array(thread->saved, &thread->saved_capacity, thread->saved_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    thread->saved = larger;
    larger[thread->saved_count++] =
        (struct slice_saved){.stack = stack, .last = thread->last, .top = thread->top};
    event->number = thread->saved_count;
    return wet_calls_signal(&thread->calls, stack);
}

static void take_return(struct slice_pass *pass, uint64_t stack, struct slice_event *event)
{
    struct slice_thread *thread = current(pass);
    size_t found = thread->saved_count;
    wet_calls_return(&thread->calls, stack);
    while (found > 0 && thread->saved[found - 1].stack != stack)
        found--;
    event->number = found;
    if (found == 0)
        return;
    thread->last = thread->saved[found - 1].last;
    thread->top = thread->saved[found - 1].top;
    thread->saved_count = found - 1;
}

static int take_gap(struct slice_pass *pass)
{
    for (size_t i = 0; i < pass->state.count; i++) {
        struct slice_thread *thread = pass->state.threads[i];
        if (!thread)
            continue;
        thread->top = 0;
        thread->saved_count = 0;
        wet_calls_clear(&thread->calls);
        if (wet_calls_init(&thread->calls, (struct wet_instance){.id = 0}) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int note_event(struct slice_record *record, const struct slice_event *event)
{
    struct slice_event *larger = grow_array(record->events, &record->event_capacity,
                                            record->event_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    record->events = larger;
    larger[record->event_count++] = *event;
    return 0;
}

static int take_event(struct slice_pass *pass, enum wet_event kind)
{
    struct slice_event event = {.thread = pass->thread};
    const uint64_t argument = kind == WET_EVENT_GAP ? 0 : wet_cursor_get(&pass->events);
    int result = pass->events.failed ? BT_DATA : 0;
    if (result < 0)
        return result;
    switch (kind) {
    case WET_EVENT_SWITCH:
        result = take_switch(pass, argument);
        break;
    case WET_EVENT_CLONE:
        result = take_clone(pass, argument, &event);
        break;
    case WET_EVENT_SIGNAL:
        result = take_signal(pass, argument, &event);
        break;
    case WET_EVENT_RETURN:
        take_return(pass, argument, &event);
        break;
    case WET_EVENT_RESULT:
        break;
    case WET_EVENT_GAP:
        result = take_gap(pass);
        break;
    default:
        return BT_DATA;
    }
    return result == 0 && pass->record ? note_event(pass->record, &event) : result;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

/* The top of the x87 stack after a block. */
static uint8_t pass_top(const struct wet_trace *trace, uint32_t number, uint8_t top)
{
    const uint32_t *ids = wet_code_ids(&trace->file.code, number);
    for (uint32_t i = 0; i < trace->file.code.blocks[number].count; i++) {
        const struct wet_flow *flow = &trace->flows.flows[ids[i]];
        top = flow->resets_x87 ? 0 : (uint8_t)((top - flow->x87_pushes) & 7);
    }
    return top;
}

static int note_top(struct slice_record *record, uint8_t top)
{
    uint8_t *larger = grow_array(record->tops, &record->top_capacity, record->top_count + 1, 1);
    if (!larger)
        return BT_MEMORY;
    record->tops = larger;
    larger[record->top_count++] = top;
    return 0;
}

/* Makes room for what decided about the sections of a block. NULL: no memory. */
static struct wet_instance *note_controls(struct slice_record *record, unsigned count)
{
    const size_t end = record->control_count + count;
    if (end > record->control_capacity) {
        struct wet_instance *larger =
            grow_array(record->controls, &record->control_capacity, end, sizeof *larger);
        if (!larger)
            return NULL;
        record->controls = larger;
    }
    record->control_count = end;
    return record->controls + end - count;
}

/* Finds what decided about each section of a block. */
static int pass_sections(struct slice_pass *pass, const struct slice_block *block,
                         struct wet_calls *calls)
{
    const struct slice_section *sections = pass->code->sections + block->first_section;
    struct wet_instance *to = NULL;
    if (pass->record && !(to = note_controls(pass->record, block->section_count)))
        return BT_MEMORY;
    for (unsigned i = 0; i < block->section_count; i++) {
        const struct slice_section *one = &sections[i];
        if (!to && (!one->begins || one->is_endless))
            continue;
        const struct wet_instance decided =
            one->is_endless ? wet_calls_decided(calls, &pass->trace->graph, one->node, one->begins)
                            : wet_calls_decided_in(calls, one->node, one->begins);
        if (to)
            to[i] = decided;
    }
    return 0;
}

static int pass_control(struct slice_pass *pass, const struct slice_block *block, uint32_t first,
                        struct slice_thread *thread)
{
    const struct wet_trace *trace = pass->trace;
    const struct wet_code *code = &trace->file.code;
    struct wet_calls *calls = &thread->calls;
    const uint32_t last = thread->last.id;
    if (calls->ending == DECODE_RETURN || calls->ending == DECODE_JUMP_INDIRECT ||
        calls->frames[calls->count - 1].partition != block->partition)
        wet_calls_arrive(calls, &trace->graph, code, first);
    const int result = pass_sections(pass, block, calls);
    if (result < 0)
        return result;
    if (!block->is_plain)
        return wet_calls_leave(calls, &trace->graph, &trace->flows.flows[last],
                               &code->instructions[last], thread->last);
    calls->ending = block->kind;
    return 0;
}

static int note_block(struct slice_pass *pass, const struct slice_block *block, const uint32_t *ids,
                      uint32_t count)
{
    int result = block->has_x87 ? note_top(pass->record, current(pass)->top) : 0;
    for (uint32_t i = 0; block->has_memory && i < count && result == 0; i++)
        if (pass->code->operations[ids[i]].memory_ports > 0)
            result = slice_labels_pass(pass->labels, ids[i], pass->counts);
    return result;
}

static int pass_block(struct slice_pass *pass, uint32_t number)
{
    const struct wet_code *code = &pass->trace->file.code;
    const struct slice_block *block = &pass->code->blocks[number];
    const uint32_t *ids = wet_code_ids(code, number), count = code->blocks[number].count;
    const uint32_t last = ids[count - 1];
    struct slice_thread *thread = current(pass);
    int result = 0;
    if (pass->left[number]-- == 0)
        return BT_DATA;
    if (!pass->record && pass->code->ends_are_ends)
        pass->counts[last]++; /* others are only needed with a record */
    else
        for (uint32_t i = 0; i < count; i++)
            pass->counts[ids[i]]++;
    pass->instructions += count;
    thread->last = (struct wet_instance){.id = last, .instance = pass->counts[last] - 1};
    if (pass->record)
        result = note_block(pass, block, ids, count);
    if (block->has_x87)
        thread->top = pass_top(pass->trace, number, thread->top);
    return result == 0 && pass->wants_control ? pass_control(pass, block, ids[0], thread) : result;
}

/* --- chunks ------------------------------------------------------------------------------------
 */

static int note_entry(struct slice_record *record, uint32_t number)
{
    if (record->entry_count == record->entry_capacity) {
        uint32_t *larger = grow_array(record->entries, &record->entry_capacity,
                                      record->entry_count + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        record->entries = larger;
    }
    record->entries[record->entry_count++] = number;
    return record->entry_count <= ENTRIES_MAX ? 0 : BT_MEMORY;
}

static int pass_sequence(struct slice_pass *pass, uint32_t last)
{
    const struct wet_bytes *bytes = &pass->chunk.streams[WET_STREAM_SEQUENCE];
    struct wet_cursor from = wet_cursor_of(bytes);
    int result = 0;
    while (result == 0 && (from.at < from.end || pass->sequence.run > 0)) {
        uint32_t number = 0;
        result = wet_sequence_get(&pass->sequence, &current(pass)->context, last, &from, &number);
        if (result == 0 && pass->record)
            result = note_entry(pass->record, number);
        if (result == 0 && number >= WET_FIRST_BLOCK)
            result = pass_block(pass, number - WET_FIRST_BLOCK + 1);
        else if (result == 0)
            result = take_event(pass, (enum wet_event)number);
    }
    return result;
}

static int begin_chunk(struct slice_pass *pass, size_t number, struct bt_error *error)
{
    const struct wet_place *place = &pass->trace->file.places[number];
    int result = wet_file_chunk(&pass->trace->file, number, &pass->chunk, error);
    if (result < 0)
        return result;
    const struct wet_bytes *events = &pass->chunk.streams[WET_STREAM_EVENTS];
    pass->events = wet_cursor_of(events);
    pass->instructions = 0;
    memset(pass->left, 0, pass->trace->file.code.block_count * sizeof *pass->left);
    for (size_t i = 0; i < place->execution_count; i++)
        pass->left[place->executions[i].block] = place->executions[i].count;
    wet_sequence_reset(&pass->sequence);
    for (size_t i = 0; i < pass->state.count; i++)
        if (pass->state.threads[i])
            pass->state.threads[i]->context = (struct wet_context){{0}};
    if (take_switch(pass, 0) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's threads");
    if (!pass->record)
        return 0;
    return slice_labels_begin(pass->labels, &pass->chunk, (uint32_t)place->instruction_count - 1,
                              error);
}

int slice_pass_chunk(struct slice_pass *pass, size_t number, struct slice_record *record,
                     struct bt_error *error)
{
    const struct wet_place *place = &pass->trace->file.places[number];
    pass->record = record;
    if (record)
        record->entry_count = record->event_count = record->control_count = record->top_count = 0;
    int result = begin_chunk(pass, number, error);
    if (result < 0)
        return result;
    result = pass_sequence(pass, (uint32_t)place->block_count + WET_FIRST_BLOCK - 2);
    if (result == 0 && pass->instructions != place->instructions)
        result = BT_DATA;
    if (record)
        record->thread = pass->thread;
    if (result == BT_MEMORY)
        bt_fail(error, BT_MEMORY, "no memory for chunk %zu of the trace", number + 1);
    else if (result < 0)
        bt_fail(error, BT_DATA, "chunk %zu, at byte %llu: it is damaged: what it says of its %s",
                number + 1, (unsigned long long)place->offset, "instructions contradicts itself");
    return result;
}

/* --- interface ---------------------------------------------------------------------------------
 */

void slice_record_clear(struct slice_record *record)
{
    free(record->entries);
    free(record->events);
    free(record->controls);
    free(record->tops);
    *record = (struct slice_record){.entries = NULL};
}

int slice_pass_init(struct slice_pass *pass, struct wet_trace *trace, const struct slice_code *code,
                    struct slice_labels *labels, bool wants_control)
{
    *pass = (struct slice_pass){
        .trace = trace, .code = code, .labels = labels, .wants_control = wants_control};
    pass->counts = calloc(trace->file.code.instruction_count + 1, sizeof *pass->counts);
    pass->left = calloc(trace->file.code.block_count + 1, sizeof *pass->left);
    if (!pass->counts || !pass->left || wet_sequence_init(&pass->sequence) < 0)
        return BT_MEMORY;
    return take_switch(pass, 0);
}

void slice_pass_clear(struct slice_pass *pass)
{
    slice_state_clear(&pass->state);
    wet_sequence_clear(&pass->sequence);
    wet_chunk_clear(&pass->chunk);
    free(pass->counts);
    free(pass->left);
    *pass = (struct slice_pass){.trace = NULL};
}
