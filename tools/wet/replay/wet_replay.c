#include "tools/wet/replay/wet_replay.h"

#include "formats/base/grow.h"
#include "formats/wet/wet_sequence.h"
#include "tools/wet/replay/wet_registers.h"
#include "tools/wet/replay/wet_replay_internal.h"

#include <string.h>

/* --- the file ----------------------------------------------------------------------------------
 */

static int number_ports(struct wet_trace *trace, struct bt_error *error)
{
    const size_t count = trace->file.code.instruction_count;
    uint32_t ports = 0;
    trace->first_port = malloc((count + 1) * sizeof *trace->first_port);
    if (!trace->first_port)
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    for (size_t id = 0; id <= count; id++) {
        trace->first_port[id] = ports;
        ports += id < count ? trace->flows.flows[id].memory_ports : 0;
    }
    return 0;
}

/* Prepares the code of the file. */
static int prepare(struct wet_trace *trace, struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    if (wet_flows_update(&trace->flows, code) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    const int result = wet_graph_make(&trace->graph, code, &trace->flows, error);
    if (result < 0)
        return result;
    if (wet_plans_make(&trace->plans, code, &trace->flows, &trace->graph) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's code");
    return number_ports(trace, error);
}

int wet_trace_open(struct wet_trace *trace, const char *path, struct bt_error *error)
{
    *trace = (struct wet_trace){.first_port = NULL};
    const int result = wet_file_open(&trace->file, path, error);
    return result == 0 ? prepare(trace, error) : result;
}

int wet_trace_borrow(struct wet_trace *trace, const struct wet_code *code, struct wet_place *places,
                     size_t count, struct bt_error *error)
{
    *trace = (struct wet_trace){.first_port = NULL};
    wet_file_borrow(&trace->file, code, places, count);
    return prepare(trace, error);
}

void wet_trace_close(struct wet_trace *trace)
{
    wet_file_close(&trace->file);
    wet_flows_clear(&trace->flows);
    wet_graph_clear(&trace->graph);
    wet_plans_clear(&trace->plans);
    free(trace->first_port);
}

/* --- threads -----------------------------------------------------------------------------------
 */

static void clear_thread(struct wet_replay_thread *thread)
{
    wet_registers_clear(&thread->registers);
    wet_calls_clear(&thread->calls);
    while (thread->saved_count > 0)
        wet_registers_clear(&thread->saved[--thread->saved_count].registers);
    free(thread->saved);
    free(thread);
}

/* The thread with a number, which may be new. NULL: no memory. */
static struct wet_replay_thread *thread_of(struct wet_replay *replay, uint32_t number)
{
    const size_t before = replay->thread_capacity;
    struct wet_replay_thread **larger =
        grow_array(replay->threads, &replay->thread_capacity, (size_t)number + 1, sizeof *larger);
    if (!larger)
        return NULL;
    replay->threads = larger;
    memset(larger + before, 0, (replay->thread_capacity - before) * sizeof *larger);
    if (larger[number])
        return larger[number];
    struct wet_replay_thread *thread = calloc(1, sizeof *thread);
    if (!thread || wet_calls_init(&thread->calls, (struct wet_instance){.id = 0}) < 0) {
        free(thread);
        return NULL;
    }
    thread->number = number;
    if (number >= replay->thread_count)
        replay->thread_count = number + 1;
    return larger[number] = thread;
}

/* The kernel writes a register. */
static int write_general(struct wet_replay_thread *thread, unsigned number,
                         struct wet_instance writer)
{
    return wet_register_write(&thread->registers.registers[WET_GENERAL + number], UINT64_MAX,
                              writer.id, writer.instance);
}

/* A new thread has the registers of the one that made it, but for those that the system call
 * defines, and its stack pointer. */
static int begin_thread(struct wet_replay *replay, uint32_t number)
{
    static const uint8_t defined[] = {DECODE_RAX, DECODE_RCX, DECODE_R11, DECODE_RSP};
    const struct wet_instance clone = replay->thread->last;
    struct wet_replay_thread *parent = replay->thread, *thread = thread_of(replay, number);
    if (!thread || wet_registers_copy(&thread->registers, &parent->registers) < 0)
        return BT_MEMORY;
    thread->calls.frames[0].call = clone;
    for (size_t i = 0; i < sizeof defined; i++)
        if (write_general(thread, defined[i], clone) < 0)
            return BT_MEMORY;
    return wet_values_fork(replay, number, parent->number);
}

/* --- events ------------------------------------------------------------------------------------
 */

/* A handler begins: the kernel sets its arguments and its stack pointer. */
static int begin_handler(struct wet_replay_thread *thread, uint64_t stack)
{
    static const uint8_t set[] = {DECODE_RAX, DECODE_RDI, DECODE_RSI, DECODE_RDX, DECODE_RSP};
    struct wet_saved *larger =
        grow_array(thread->saved, &thread->saved_capacity, thread->saved_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    thread->saved = larger;
    struct wet_saved *saved = &larger[thread->saved_count++];
    *saved = (struct wet_saved){.stack = stack, .last = thread->last};
    if (wet_registers_copy(&saved->registers, &thread->registers) < 0)
        return BT_MEMORY;
    for (size_t i = 0; i < sizeof set; i++)
        if (write_general(thread, set[i], (struct wet_instance){.id = 0}) < 0)
            return BT_MEMORY;
    return wet_calls_signal(&thread->calls, stack);
}

/* A handler has ended: what it interrupted continues with its own registers. */
static int end_handler(struct wet_replay_thread *thread, uint64_t stack)
{
    int result = 0;
    size_t found = thread->saved_count;
    wet_calls_return(&thread->calls, stack);
    while (found > 0 && thread->saved[found - 1].stack != stack)
        found--;
    if (found == 0)
        return 0;
    result = wet_registers_copy(&thread->registers, &thread->saved[found - 1].registers);
    thread->last = thread->saved[found - 1].last;
    while (thread->saved_count >= found)
        wet_registers_clear(&thread->saved[--thread->saved_count].registers);
    return result;
}

/* What follows does not follow from what was before. */
static int begin_anew(struct wet_replay *replay)
{
    for (size_t i = 0; i < replay->thread_count; i++) {
        struct wet_replay_thread *thread = replay->threads[i];
        if (!thread)
            continue;
        wet_registers_clear(&thread->registers);
        while (thread->saved_count > 0)
            wet_registers_clear(&thread->saved[--thread->saved_count].registers);
        wet_calls_clear(&thread->calls);
        if (wet_calls_init(&thread->calls, (struct wet_instance){.id = 0}) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int take_result(struct wet_replay *replay, uint64_t value)
{
    const struct wet_instance call = replay->thread->last;
    int result = wet_values_result(replay, value);
    if (result == 0 && replay->operations->result && call.id)
        result = replay->operations->result(replay->context, replay->thread->number, call, value);
    return result;
}

static int take_switch(struct wet_replay *replay, uint64_t number)
{
    if (number >= WET_THREADS)
        return BT_DATA;
    replay->thread = thread_of(replay, (uint32_t)number);
    return replay->thread ? wet_values_switch(replay, (uint32_t)number) : BT_MEMORY;
}

static int take_event(struct wet_replay *replay, enum wet_event event)
{
    const uint64_t argument = event == WET_EVENT_GAP ? 0 : wet_cursor_get(&replay->events);
    int result = replay->events.failed ? BT_DATA : 0;
    if (result < 0)
        return result;
    switch (event) {
    case WET_EVENT_SWITCH:
        result = take_switch(replay, argument);
        break;
    case WET_EVENT_CLONE:
        result = argument < WET_THREADS ? begin_thread(replay, (uint32_t)argument) : BT_DATA;
        break;
    case WET_EVENT_SIGNAL:
        result = begin_handler(replay->thread, argument);
        break;
    case WET_EVENT_RETURN:
        result = end_handler(replay->thread, argument);
        break;
    case WET_EVENT_RESULT:
        result = take_result(replay, argument);
        break;
    case WET_EVENT_GAP:
        /* two in a row say nothing, and might be predicted without end */
        result = replay->has_gap ? BT_DATA : begin_anew(replay);
        replay->has_gap = true;
        break;
    default:
        return BT_DATA;
    }
    if (result == 0 && replay->operations->event)
        result =
            replay->operations->event(replay->context, replay->thread->number, event, argument);
    return result;
}

/* --- instructions ------------------------------------------------------------------------------
 */

static int read_label(struct wet_replay *replay, uint32_t id, uint32_t operand, uint64_t instance)
{
    const uint32_t port = replay->trace->first_port[id] + operand;
    struct wet_cursor *from = &replay->label_cursors[port];
    struct wet_ranges *label = &replay->label, *writers = &replay->writers;
    const int result =
        wet_port_get(&replay->ports[port], instance, replay->last_id, replay->counts, from, label);
    if (result < 0 || label->count == 0)
        return result;
    struct wet_writers *larger = grow_array(writers->ranges, &writers->capacity,
                                            writers->count + label->count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    writers->ranges = larger;
    memcpy(larger + writers->count, label->ranges, label->count * sizeof *larger);
    writers->count += label->count;
    return 0;
}

/* Finds the writers of the data ports. */
static int read_ports(struct wet_replay *replay, const struct wet_flow *flow, uint32_t id,
                      uint64_t instance)
{
    const struct data_flow_part *ports = wet_flows_ports(&replay->trace->flows, flow);
    const struct wet_registers *registers = &replay->thread->registers;
    uint32_t operand = 0;
    int result = 0;
    replay->writers.count = 0;
    for (unsigned i = 0; i < flow->port_count && result == 0; i++) {
        if (ports[i].kind == DATA_FLOW_MEMORY)
            result = replay->reads_labels ? read_label(replay, id, operand++, instance) : 0;
        else if (replay->wanted & WET_WANTS_REGISTERS)
            result =
                wet_register_read(&registers->registers[wet_register_of(&ports[i], registers->top)],
                                  ports[i].bytes, &replay->writers);
        replay->ends[i] = (uint32_t)replay->writers.count;
    }
    return result;
}

static int write_registers(struct wet_replay *replay, const struct wet_flow *flow, uint32_t id,
                           uint64_t instance, bool outcome)
{
    const struct data_flow_part *definitions = wet_flows_definitions(&replay->trace->flows, flow);
    struct wet_registers *registers = &replay->thread->registers;
    registers->top = flow->resets_x87 ? 0 : (uint8_t)((registers->top - flow->x87_pushes) & 7);
    for (unsigned i = 0; i < flow->definition_count; i++) {
        const struct data_flow_part *part = &definitions[i];
        if (part->kind == DATA_FLOW_MEMORY || (part->condition != DATA_FLOW_ALWAYS && !outcome))
            continue;
        struct wet_register *reg = &registers->registers[wet_register_of(part, registers->top)];
        if (wet_register_write(reg, part->bytes, id, instance) < 0)
            return BT_MEMORY;
    }
    return 0;
}

static int read_outcome(struct wet_replay *replay, uint32_t id, bool *outcome)
{
    return wet_outcomes_get(&replay->outcomes[id], &replay->outcome_cursors[id], outcome);
}

/* Executes the instruction at a place in wet_code.ids. */
static int execute(struct wet_replay *replay, uint32_t at)
{
    const struct wet_trace *trace = replay->trace;
    const uint32_t id = trace->file.code.ids[at];
    const struct wet_flow *flow = &trace->flows.flows[id];
    struct wet_replay_thread *thread = replay->thread;
    struct wet_step step = {.thread = thread->number,
                            .id = id,
                            .instance = replay->counts[id] - 1,
                            .number = replay->instructions++,
                            .frame = thread->calls.count - 1,
                            .defines = true};
    int result = flow->has_outcome ? read_outcome(replay, id, &step.defines) : 0;
    if (result == 0 && flow->port_count > 0)
        result = read_ports(replay, flow, id, step.instance);
    if (result == 0 && replay->wanted & WET_WANTS_REGISTERS)
        result = write_registers(replay, flow, id, step.instance, step.defines);
    if (result == 0 && replay->wanted & WET_WANTS_VALUES)
        result = wet_values_get(replay, at, step.defines || !flow->value_is_outcome, &step.value);
    if (result < 0)
        return result;
    if (replay->wanted & WET_WANTS_CONTROL)
        step.control = wet_calls_decided(&thread->calls, &trace->graph, trace->graph.node_of[id],
                                         trace->graph.begins_node[id]);
    step.writers = replay->writers.ranges;
    step.port_count = flow->port_count;
    step.ends = replay->ends;
    thread->last = (struct wet_instance){.id = id, .instance = step.instance};
    return replay->operations->step ? replay->operations->step(replay->context, &step) : 0;
}

/* Looks at each instruction of a block. */
static int execute_instructions(struct wet_replay *replay, const struct wet_block *block)
{
    int result = 0;
    for (uint32_t i = 0; i < block->count && result == 0; i++)
        result = execute(replay, block->first + i);
    return result;
}

/* Looks at each instruction as far as registers need it. */
static int define_registers(struct wet_replay *replay, const uint32_t *ids, uint32_t count)
{
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const struct wet_flow *flow = &replay->trace->flows.flows[ids[i]];
        bool outcome = true;
        result = flow->has_outcome ? read_outcome(replay, ids[i], &outcome) : 0;
        if (result == 0)
            result = write_registers(replay, flow, ids[i], replay->counts[ids[i]] - 1, outcome);
    }
    return result;
}

/* Executes a block of which no instruction is reported. */
static int pass_block(struct wet_replay *replay, const struct wet_plan *plan, const uint32_t *ids,
                      uint32_t count)
{
    const struct wet_plans *plans = &replay->trace->plans;
    struct wet_replay_thread *thread = replay->thread;
    const uint32_t last = ids[count - 1];
    int result = 0;
    replay->instructions += count;
    thread->last = (struct wet_instance){.id = last, .instance = replay->counts[last] - 1};
    if (replay->wanted & WET_WANTS_CONTROL)
        for (uint32_t i = 0; i < plan->node_count; i++)
            wet_calls_pass(&thread->calls, plans->nodes[plan->first_node + i]);
    if (!(replay->wanted & WET_WANTS_REGISTERS))
        return 0;
    if (!plan->is_plain)
        return define_registers(replay, ids, count);
    for (uint32_t i = 0; i < plan->write_count && result == 0; i++) {
        const struct wet_plan_write *write = &plans->writes[plan->first_write + i];
        result = wet_register_write(&thread->registers.registers[write->reg], write->bytes,
                                    ids[write->index], replay->counts[ids[write->index]] - 1);
    }
    return result;
}

static int execute_block(struct wet_replay *replay, uint32_t number)
{
    const struct wet_trace *trace = replay->trace;
    const struct wet_code *code = &trace->file.code;
    const struct wet_block *block = &code->blocks[number];
    const uint32_t *ids = wet_code_ids(code, number);
    struct wet_replay_thread *thread = replay->thread;
    const uint32_t last = ids[block->count - 1];
    if (replay->left[number]-- == 0)
        return BT_DATA;
    replay->has_gap = false;
    if (replay->wanted & WET_WANTS_CONTROL)
        wet_calls_arrive(&thread->calls, &trace->graph, code, ids[0]);
    for (uint32_t i = 0; i < block->count; i++)
        replay->counts[ids[i]]++;
    const int result = replay->operations->step || replay->values
                           ? execute_instructions(replay, block)
                           : pass_block(replay, &trace->plans.plans[number], ids, block->count);
    if (result < 0 || !(replay->wanted & WET_WANTS_CONTROL))
        return result;
    return wet_calls_leave(&thread->calls, &trace->graph, &trace->flows.flows[last],
                           &code->instructions[last], thread->last);
}

/* --- chunks ------------------------------------------------------------------------------------
 */

/* Sets the cursors of labels or outcomes to those of the chunk. */
static int set_cursors(struct wet_replay *replay, bool labels, struct bt_error *error)
{
    const struct wet_trace *trace = replay->trace;
    const struct wet_bytes *bytes =
        &replay->chunk.streams[labels ? WET_STREAM_LABELS : WET_STREAM_OUTCOMES];
    struct wet_extent *extents;
    size_t count;
    int result =
        wet_chunk_index(&replay->chunk, labels, replay->last_id + 1, &extents, &count, error);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct wet_extent *extent = &extents[i];
        const struct wet_flow *flow = &trace->flows.flows[extent->id];
        if (labels ? extent->operand >= flow->memory_ports : !flow->has_outcome)
            result = bt_fail(error, BT_DATA, "a chunk describes a port that does not exist");
        else if (labels)
            replay->label_cursors[trace->first_port[extent->id] + extent->operand] =
                wet_cursor_at(bytes, extent->offset, extent->size);
        else
            replay->outcome_cursors[extent->id] =
                wet_cursor_at(bytes, extent->offset, extent->size);
    }
    free(extents);
    return result;
}

/* Forgets what the chunk before has left. */
static void forget_chunk(struct wet_replay *replay)
{
    const struct wet_trace *trace = replay->trace;
    const size_t ids = trace->file.code.instruction_count;
    for (size_t i = 0; i < trace->first_port[ids]; i++) {
        wet_port_reset(&replay->ports[i]);
        replay->label_cursors[i] = (struct wet_cursor){.at = NULL};
    }
    memset(replay->outcomes, 0, ids * sizeof *replay->outcomes);
    memset(replay->outcome_cursors, 0, ids * sizeof *replay->outcome_cursors);
    memset(replay->left, 0, trace->file.code.block_count * sizeof *replay->left);
    wet_sequence_reset(&replay->sequence);
    for (size_t i = 0; i < replay->thread_count; i++)
        if (replay->threads[i])
            replay->threads[i]->context = (struct wet_context){{0}};
}

static int begin_chunk(struct wet_replay *replay, struct bt_error *error)
{
    const struct wet_place *place = &replay->trace->file.places[replay->next];
    int result = wet_file_chunk(&replay->trace->file, replay->next, &replay->chunk, error);
    if (result < 0)
        return result;
    replay->last_id = (uint32_t)place->instruction_count - 1;
    forget_chunk(replay);
    for (size_t i = 0; i < place->execution_count; i++)
        replay->left[place->executions[i].block] = place->executions[i].count;
    const struct wet_bytes *streams = replay->chunk.streams;
    replay->events = wet_cursor_of(&streams[WET_STREAM_EVENTS]);
    result = set_cursors(replay, true, error);
    if (result == 0)
        result = set_cursors(replay, false, error);
    if (result == 0 && wet_values_begin(replay) < 0)
        result = bt_fail(error, BT_MEMORY, "no memory for the values of a chunk");
    if (result == 0 && take_switch(replay, 0) < 0)
        result = bt_fail(error, BT_MEMORY, "no memory for the program's threads");
    return result;
}

static int replay_sequence(struct wet_replay *replay, uint32_t last)
{
    const struct wet_bytes *bytes = &replay->chunk.streams[WET_STREAM_SEQUENCE];
    struct wet_cursor from = wet_cursor_of(bytes);
    int result = 0;
    while (result == 0 && (from.at < from.end || replay->sequence.run > 0)) {
        uint32_t number = 0;
        result =
            wet_sequence_get(&replay->sequence, &replay->thread->context, last, &from, &number);
        if (result == 0 && number >= WET_FIRST_BLOCK)
            result = execute_block(replay, number - WET_FIRST_BLOCK + 1);
        else if (result == 0)
            result = take_event(replay, (enum wet_event)number);
    }
    return result;
}

int wet_replay_next(struct wet_replay *replay, struct bt_error *error)
{
    const struct wet_file *file = &replay->trace->file;
    if (replay->next == file->place_count)
        return 0;
    const struct wet_place *place = &file->places[replay->next];
    int result = begin_chunk(replay, error);
    if (result < 0)
        return result;
    *error = (struct bt_error){.code = 0};
    result = replay_sequence(replay, (uint32_t)place->block_count + WET_FIRST_BLOCK - 2);
    if (result == 0 && replay->instructions != place->first + place->instructions)
        result = BT_DATA;
    if (result == BT_MEMORY && error->code == 0)
        bt_fail(error, BT_MEMORY, "no memory to replay the trace");
    else if (result == BT_DATA && error->code == 0)
        bt_fail(error, BT_DATA, "chunk %zu, at byte %llu: it is damaged: what it says of its %s",
                replay->next + 1, (unsigned long long)place->offset,
                "instructions contradicts itself");
    replay->next++;
    return result < 0 ? result : 1;
}

int wet_replay_all(struct wet_replay *replay, struct bt_error *error)
{
    int result;
    do
        result = wet_replay_next(replay, error);
    while (result > 0);
    return result;
}

/* --- interface ---------------------------------------------------------------------------------
 */

static int allocate(struct wet_replay *replay)
{
    const struct wet_trace *trace = replay->trace;
    const size_t ids = trace->file.code.instruction_count, ports = trace->first_port[ids];
    replay->id_count = ids;
    replay->port_count = ports;
    replay->counts = calloc(ids + 1, sizeof *replay->counts);
    replay->outcomes = calloc(ids + 1, sizeof *replay->outcomes);
    replay->outcome_cursors = calloc(ids + 1, sizeof *replay->outcome_cursors);
    replay->ports = calloc(ports + 1, sizeof *replay->ports);
    replay->label_cursors = calloc(ports + 1, sizeof *replay->label_cursors);
    replay->left = calloc(trace->file.code.block_count + 1, sizeof *replay->left);
    return replay->counts && replay->outcomes && replay->outcome_cursors && replay->ports &&
                   replay->label_cursors && replay->left
               ? wet_sequence_init(&replay->sequence)
               : BT_MEMORY;
}

struct wet_replay *wet_replay_new(struct wet_trace *trace, unsigned wanted,
                                  const struct wet_replay_operations *operations, void *context,
                                  struct bt_error *error)
{
    struct wet_replay *replay = calloc(1, sizeof *replay);
    if (replay) {
        if (!trace->file.header.has_values)
            wanted &= ~(unsigned)WET_WANTS_VALUES;
        replay->trace = trace;
        replay->wanted = wanted;
        replay->reads_labels = wanted & WET_WANTS_MEMORY;
        replay->operations = operations;
        replay->context = context;
        if (allocate(replay) == 0 && wet_values_new(replay) == 0)
            return replay;
    }
    wet_replay_free(replay);
    bt_fail(error, BT_MEMORY, "no memory to replay the trace");
    return NULL;
}

void wet_replay_free(struct wet_replay *replay)
{
    if (!replay)
        return;
    for (size_t i = 0; i < replay->thread_count; i++)
        if (replay->threads[i])
            clear_thread(replay->threads[i]);
    for (size_t i = 0; replay->ports && i < replay->port_count; i++)
        wet_port_clear(&replay->ports[i]);
    free(replay->threads);
    free(replay->counts);
    free(replay->outcomes);
    free(replay->outcome_cursors);
    free(replay->ports);
    free(replay->label_cursors);
    free(replay->left);
    free(replay->writers.ranges);
    free(replay->label.ranges);
    wet_sequence_clear(&replay->sequence);
    wet_chunk_clear(&replay->chunk);
    wet_values_free(replay);
    free(replay);
}

uint64_t wet_replay_instructions(const struct wet_replay *replay)
{
    return replay->instructions;
}

static int copy_thread(struct wet_replay *to, const struct wet_replay_thread *from)
{
    struct wet_replay_thread *thread = thread_of(to, from->number);
    if (!thread || wet_registers_copy(&thread->registers, &from->registers) < 0 ||
        wet_calls_copy(&thread->calls, &from->calls) < 0)
        return BT_MEMORY;
    thread->last = from->last;
    for (size_t i = 0; i < from->saved_count; i++) {
        struct wet_saved *larger = grow_array(thread->saved, &thread->saved_capacity,
                                              thread->saved_count + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        thread->saved = larger;
        struct wet_saved *saved = &larger[thread->saved_count++];
        *saved = (struct wet_saved){.stack = from->saved[i].stack, .last = from->saved[i].last};
        if (wet_registers_copy(&saved->registers, &from->saved[i].registers) < 0)
            return BT_MEMORY;
    }
    return 0;
}

/* A replay of a trace in the state of another one. */
static struct wet_replay *copy_state(const struct wet_replay *replay, struct wet_trace *trace,
                                     unsigned wanted,
                                     const struct wet_replay_operations *operations, void *context,
                                     struct bt_error *error)
{
    struct wet_replay *copy =
        wet_replay_new(trace, wanted & ~(unsigned)WET_WANTS_VALUES, operations, context, error);
    if (!copy)
        return NULL;
    int result = 0;
    memcpy(copy->counts, replay->counts, replay->id_count * sizeof *copy->counts);
    copy->instructions = replay->instructions;
    for (size_t i = 0; i < replay->thread_count && result == 0; i++)
        result = replay->threads[i] ? copy_thread(copy, replay->threads[i]) : 0;
    if (result == 0)
        return copy;
    wet_replay_free(copy);
    bt_fail(error, BT_MEMORY, "no memory to replay the trace");
    return NULL;
}

struct wet_replay *wet_replay_copy(const struct wet_replay *replay, unsigned wanted,
                                   const struct wet_replay_operations *operations, void *context,
                                   struct bt_error *error)
{
    struct wet_replay *copy = copy_state(replay, replay->trace, wanted, operations, context, error);
    if (copy)
        copy->next = replay->next;
    return copy;
}

struct wet_replay *wet_replay_continue(const struct wet_replay *replay, struct wet_trace *trace,
                                       unsigned wanted,
                                       const struct wet_replay_operations *operations,
                                       void *context, struct bt_error *error)
{
    struct wet_replay *copy = copy_state(replay, trace, wanted, operations, context, error);
    for (size_t i = 0; copy && i < copy->thread_count; i++)
        if (copy->threads[i])
            wet_calls_renumber(&copy->threads[i]->calls, &trace->graph);
    return copy;
}
