/*
 * Reads a WET file from begin to end, and checks that each chunk is what its blocks need: labels
 * and outcomes are read to their ends, writers exist and are not the reader, edges are known, and
 * the numbers of executions, instructions and blocks are those that are stored.
 *
 * usage: read_wet FILE [-l]
 *
 * Prints one line: ending, value, instructions, blocks, threads, instructions and blocks that are
 * different, chunks, events by kind. -l: before it the memory labels, a line for each that is not
 * empty: address#instance/operand, then address#first+count of each range.
 */
#include "formats/base/hash_index.h"
#include "formats/wet/wet_file.h"
#include "formats/wet/wet_labels.h"
#include "formats/wet/wet_sequence.h"
#include "tools/wet/replay/wet_flows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "read_wet: " __VA_ARGS__), fputc('\n', stderr), exit(1))

struct port {
    struct wet_port state;
    struct wet_cursor from;
};

struct outcome {
    struct wet_outcomes state;
    struct wet_cursor from;
};

struct thread {
    struct wet_context context;
    uint32_t last;
    bool is_after_event; /* no edge is checked */
};

struct reading {
    struct wet_file file;
    struct wet_flows flows;
    struct wet_sequence sequence;
    struct wet_chunk chunk;
    uint64_t *counts, *executions;
    struct port **ports; /* by id, then operand */
    struct outcome *outcomes;
    struct thread *threads;
    uint32_t thread, thread_count;
    struct wet_cursor numbers, events;
    struct wet_ranges ranges;
    uint64_t blocks, instructions, event_counts[WET_FIRST_BLOCK];
    bool prints;
    struct hash_index by_edge;
};

static bool has_edge(const struct reading *reading, uint32_t from, uint32_t to)
{
    const struct wet_code *code = &reading->file.code;
    struct hash_search search = hash_search(&reading->by_edge, hash_pair(from, to));
    while (hash_search_next(&search))
        if (code->edges[search.number].from == from && code->edges[search.number].to == to)
            return true;
    return false;
}

static void print(const struct reading *reading, uint32_t id, unsigned operand)
{
    const struct wet_instruction *code = reading->file.code.instructions;
    if (!reading->prints || reading->ranges.count == 0)
        return;
    printf("%" PRIx64 "#%" PRIu64 "/%u", code[id].address, reading->counts[id] - 1, operand);
    for (size_t i = 0; i < reading->ranges.count; i++) {
        const struct wet_writers *range = &reading->ranges.ranges[i];
        printf(" %" PRIx64 "#%" PRIu64 "+%" PRIu64, code[range->id].address, range->first,
               range->count);
    }
    printf("\n");
}

static void execute(struct reading *reading, uint32_t id)
{
    const struct wet_flow *flow = &reading->flows.flows[id];
    const uint32_t ids = (uint32_t)reading->file.code.instruction_count - 1;
    for (unsigned k = 0; k < flow->memory_ports; k++) {
        struct port *port = &reading->ports[id][k];
        if (wet_port_get(&port->state, reading->counts[id] - 1, ids, reading->counts, &port->from,
                         &reading->ranges) < 0)
            FAIL("%" PRIu32 " has no label", id);
        for (size_t i = 0; i < reading->ranges.count; i++) {
            const struct wet_writers *range = &reading->ranges.ranges[i];
            if (range->id == id && range->first + range->count == reading->counts[id])
                FAIL("%" PRIu32 " depends on itself", id);
        }
        print(reading, id, k);
    }
    bool outcome;
    if (flow->has_outcome &&
        wet_outcomes_get(&reading->outcomes[id].state, &reading->outcomes[id].from, &outcome) < 0)
        FAIL("%" PRIu32 " has no outcome", id);
}

static void execute_block(struct reading *reading, struct thread *thread, uint32_t number)
{
    const struct wet_code *code = &reading->file.code;
    const struct wet_block *block = &code->blocks[number];
    const uint32_t *ids = wet_code_ids(code, number);
    if (!thread->is_after_event && !has_edge(reading, thread->last, ids[0]))
        FAIL("there is no edge %" PRIu32 " %" PRIu32, thread->last, ids[0]);
    thread->is_after_event = false;
    thread->last = ids[block->count - 1];
    for (uint32_t i = 0; i < block->count; i++)
        reading->counts[ids[i]]++;
    for (uint32_t i = 0; i < block->count; i++)
        execute(reading, ids[i]);
    reading->executions[number]++;
    reading->instructions += block->count;
    reading->blocks++;
}

static void handle_event(struct reading *reading, struct thread *thread, uint32_t event)
{
    const uint64_t argument = event == WET_EVENT_GAP ? 0 : wet_cursor_get(&reading->events);
    reading->event_counts[event]++;
    if (event == WET_EVENT_SWITCH) {
        if (argument >= WET_THREADS)
            FAIL("there is no thread %" PRIu64, argument);
        reading->thread = (uint32_t)argument;
        if (argument >= reading->thread_count)
            reading->thread_count = (uint32_t)argument + 1;
    } else if (event == WET_EVENT_SIGNAL || event == WET_EVENT_RETURN) {
        thread->is_after_event = true;
    } else if (event == WET_EVENT_GAP) {
        for (uint32_t i = 0; i < WET_THREADS; i++)
            reading->threads[i].is_after_event = true;
    }
    if (event == WET_EVENT_SIGNAL)
        thread->last = 0;
}

static bool is_at_end(const struct reading *reading)
{
    return reading->numbers.at == reading->numbers.end &&
           (!reading->sequence.has_run || reading->sequence.run == 0);
}

static struct wet_cursor cursor_of(const struct wet_bytes *bytes, size_t offset, size_t size)
{
    return (struct wet_cursor){.at = bytes->bytes + offset, .end = bytes->bytes + offset + size};
}

static void set_slices(struct reading *reading, bool labels)
{
    struct wet_extent *extents;
    size_t count;
    struct bt_error error;
    const uint32_t ids = (uint32_t)reading->file.code.instruction_count;
    const struct wet_bytes *bytes =
        &reading->chunk.streams[labels ? WET_STREAM_LABELS : WET_STREAM_OUTCOMES];
    if (wet_chunk_index(&reading->chunk, labels, ids, &extents, &count, &error) < 0)
        FAIL("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        const struct wet_cursor from = cursor_of(bytes, extents[i].offset, extents[i].size);
        if (!labels)
            reading->outcomes[extents[i].id].from = from;
        else if (extents[i].operand < reading->flows.flows[extents[i].id].memory_ports)
            reading->ports[extents[i].id][extents[i].operand].from = from;
        else
            FAIL("%" PRIu32 " has no operand %" PRIu32, extents[i].id, extents[i].operand);
    }
    free(extents);
}

static void check_rests(struct reading *reading)
{
    const size_t ids = reading->file.code.instruction_count;
    for (size_t id = 1; id < ids; id++) {
        struct outcome *outcome = &reading->outcomes[id];
        for (unsigned k = 0; k < reading->flows.flows[id].memory_ports; k++) {
            struct port *port = &reading->ports[id][k];
            if (port->from.at != port->from.end || port->state.run != 0)
                FAIL("%zu has more labels", id);
            wet_port_reset(&port->state);
        }
        if (outcome->from.at != outcome->from.end || outcome->state.run != 0)
            FAIL("%zu has more outcomes", id);
        outcome->state = (struct wet_outcomes){.run = 0};
    }
    if (reading->events.at != reading->events.end || reading->events.failed)
        FAIL("the number of events is wrong");
}

static void read_chunk(struct reading *reading, size_t number)
{
    struct bt_error error;
    const struct wet_place *place = &reading->file.places[number];
    const uint64_t before = reading->instructions;
    if (wet_file_chunk(&reading->file, number, &reading->chunk, &error) < 0)
        FAIL("%s", error.message);
    wet_sequence_reset(&reading->sequence);
    set_slices(reading, false);
    set_slices(reading, true);
    const struct wet_bytes *streams = reading->chunk.streams;
    reading->numbers =
        cursor_of(&streams[WET_STREAM_SEQUENCE], 0, streams[WET_STREAM_SEQUENCE].size);
    reading->events = cursor_of(&streams[WET_STREAM_EVENTS], 0, streams[WET_STREAM_EVENTS].size);
    for (uint32_t i = 0; i < WET_THREADS; i++)
        reading->threads[i].context = (struct wet_context){.before = {0}};
    memset(reading->executions, 0, reading->file.code.block_count * sizeof(uint64_t));
    reading->thread = 0;
    while (!is_at_end(reading)) {
        struct thread *thread = &reading->threads[reading->thread];
        uint32_t next;
        if (wet_sequence_get(&reading->sequence, &thread->context,
                             (uint32_t)place->block_count + WET_FIRST_BLOCK - 2, &reading->numbers,
                             &next) < 0 ||
            next == 0)
            FAIL("the sequence is wrong");
        if (next < WET_FIRST_BLOCK)
            handle_event(reading, thread, next);
        else
            execute_block(reading, thread, next - WET_FIRST_BLOCK + 1);
    }
    check_rests(reading);
    if (place->first != before || place->instructions != reading->instructions - before)
        FAIL("the number of instructions is wrong");
    for (size_t i = 0; i < place->execution_count; i++) {
        const struct wet_execution *execution = &place->executions[i];
        if (reading->executions[execution->block] != execution->count)
            FAIL("block %" PRIu32 " has %" PRIu64 " executions, not %" PRIu64, execution->block,
                 reading->executions[execution->block], execution->count);
        reading->executions[execution->block] = 0;
    }
    for (size_t i = 1; i < reading->file.code.block_count; i++)
        if (reading->executions[i] != 0)
            FAIL("block %zu is executed", i);
}

static void begin(struct reading *reading, const char *path)
{
    struct bt_error error;
    if (wet_file_open(&reading->file, path, &error) < 0)
        FAIL("%s", error.message);
    const struct wet_code *code = &reading->file.code;
    if (reading->file.is_cut)
        fprintf(stderr, "read_wet: cut: %s\n", reading->file.cut.message);
    if (wet_flows_update(&reading->flows, code) < 0 || wet_sequence_init(&reading->sequence) < 0)
        FAIL("no memory");
    reading->counts = calloc(code->instruction_count, sizeof(uint64_t));
    reading->executions = calloc(code->block_count, sizeof(uint64_t));
    reading->ports = calloc(code->instruction_count, sizeof(struct port *));
    reading->outcomes = calloc(code->instruction_count, sizeof(struct outcome));
    reading->threads = calloc(WET_THREADS, sizeof(struct thread));
    reading->thread_count = 1;
    for (size_t id = 1; id < code->instruction_count; id++)
        reading->ports[id] = calloc(DECODE_ACCESSES, sizeof(struct port));
    for (uint32_t i = 0; i < WET_THREADS; i++)
        reading->threads[i].is_after_event = true;
    for (size_t i = 0; i < code->edge_count; i++)
        if (has_edge(reading, code->edges[i].from, code->edges[i].to) ||
            hash_index_add(&reading->by_edge, hash_pair(code->edges[i].from, code->edges[i].to),
                           (uint32_t)i) < 0)
            FAIL("an edge is there twice");
}

int main(int count, char **arguments)
{
    static struct reading reading;
    if (count < 2)
        return 2;
    reading.prints = count > 2 && strcmp(arguments[2], "-l") == 0;
    begin(&reading, arguments[1]);
    for (size_t i = 0; i < reading.file.place_count; i++)
        read_chunk(&reading, i);
    const struct wet_closing *closing = &reading.file.closing;
    const struct wet_code *code = &reading.file.code;
    if (reading.file.is_closed &&
        (closing->instructions != reading.instructions || closing->blocks != reading.blocks))
        FAIL("the closing has other numbers");
    printf("%s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %zu %zu %zu",
           !reading.file.is_closed           ? "open"
           : closing->ending == WET_EXITED   ? "exited"
           : closing->ending == WET_KILLED   ? "killed"
           : closing->ending == WET_LIMITED  ? "limited"
           : closing->ending == WET_EXECUTED ? "executed"
                                             : "failed",
           closing->value, reading.instructions, reading.blocks, reading.thread_count,
           code->instruction_count - 1, code->block_count - 1, reading.file.place_count);
    for (unsigned i = WET_EVENT_SWITCH; i <= WET_EVENT_GAP; i++)
        printf(" %" PRIu64, reading.event_counts[i]);
    if (closing->has_fault)
        printf(" fault %" PRIx64 " %s %s:%" PRIu32, closing->fault.address,
               closing->fault.function && code->functions[closing->fault.function].name
                   ? code->functions[closing->fault.function].name
                   : "?",
               closing->fault.file ? code->files[closing->fault.file] : "?", closing->fault.line);
    printf("\n");
    wet_file_close(&reading.file);
    return 0;
}
