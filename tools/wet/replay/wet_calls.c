#include "tools/wet/replay/wet_calls.h"

#include "formats/base/grow.h"

#include <string.h>

#define PARTITION_NONE UINT32_MAX

/* --- memory ------------------------------------------------------------------------------------
 */

static int push_frame(struct wet_calls *calls, const struct wet_frame *frame)
{
    if (calls->count == calls->capacity) {
        const uint32_t capacity = calls->capacity ? 2 * calls->capacity : 16;
        struct wet_frame *larger = realloc(calls->frames, capacity * sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        calls->frames = larger;
        calls->capacity = capacity;
    }
    calls->frames[calls->count] = *frame;
    calls->frames[calls->count++].base = calls->branch_count;
    return 0;
}

static int push_branch(struct wet_calls *calls, const struct wet_deciding *branch)
{
    if (calls->branch_count == calls->branch_capacity) {
        const uint32_t capacity = calls->branch_capacity ? 2 * calls->branch_capacity : 16;
        struct wet_deciding *larger = realloc(calls->branches, capacity * sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        calls->branches = larger;
        calls->branch_capacity = capacity;
    }
    calls->branches[calls->branch_count++] = *branch;
    return 0;
}

int wet_calls_init(struct wet_calls *calls, struct wet_instance call)
{
    const struct wet_frame frame = {.call = call, .partition = PARTITION_NONE};
    *calls = (struct wet_calls){.ending = DECODE_STRAIGHT};
    return push_frame(calls, &frame);
}

void wet_calls_clear(struct wet_calls *calls)
{
    free(calls->frames);
    free(calls->branches);
    *calls = (struct wet_calls){.frames = NULL};
}

int wet_calls_copy(struct wet_calls *to, const struct wet_calls *from)
{
    struct wet_calls copy = *from;
    copy.capacity = from->count;
    copy.branch_capacity = from->branch_count;
    copy.frames = malloc((from->count + 1) * sizeof *copy.frames);
    copy.branches = malloc((from->branch_count + 1) * sizeof *copy.branches);
    if (!copy.frames || !copy.branches) {
        wet_calls_clear(&copy);
        return BT_MEMORY;
    }
    memcpy(copy.frames, from->frames, from->count * sizeof *copy.frames);
    if (from->branch_count > 0)
        memcpy(copy.branches, from->branches, from->branch_count * sizeof *copy.branches);
    wet_calls_clear(to);
    *to = copy;
    return 0;
}

/* --- frames ------------------------------------------------------------------------------------
 */

/* Ends all frames after the first `count`. */
static void end_frames(struct wet_calls *calls, uint32_t count)
{
    if (count >= calls->count)
        return;
    calls->branch_count = calls->frames[count].base;
    calls->count = count;
}

/* Execution has returned to an address: the latest call that returns there has ended. */
static bool return_to(struct wet_calls *calls, uint64_t address)
{
    for (uint32_t i = calls->count; i-- > 1;)
        if (!calls->frames[i].is_signal && calls->frames[i].back == address) {
            end_frames(calls, i);
            return true;
        }
    return false;
}

/* A jump leads into the middle of another function. If that has made a call which has not returned,
 * this is longjmp() or an exception: the calls since then have ended. */
static void unwind(struct wet_calls *calls, uint32_t partition)
{
    for (uint32_t i = calls->count; i-- > 0;)
        if (calls->frames[i].partition == partition) {
            end_frames(calls, i + 1);
            return;
        }
}

void wet_calls_arrive(struct wet_calls *calls, const struct wet_graph *graph,
                      const struct wet_code *code, uint32_t id)
{
    const struct wet_instruction *instruction = &code->instructions[id];
    const uint32_t partition = graph->partitions[instruction->function];
    struct wet_frame *top = &calls->frames[calls->count - 1];
    const bool has_jumped = calls->ending == DECODE_RETURN || calls->ending == DECODE_JUMP_INDIRECT;
    if (calls->ending == DECODE_RETURN && return_to(calls, instruction->address))
        return;
    if (top->partition == partition)
        return;
    if (has_jumped && top->partition != PARTITION_NONE &&
        code->functions[instruction->function].start != instruction->address)
        unwind(calls, partition);
    top = &calls->frames[calls->count - 1];
    if (top->partition == partition)
        return;
    top->partition = partition; /* a call's first instruction, or a jump to another function */
    calls->branch_count = top->base;
}

/* --- branches ----------------------------------------------------------------------------------
 */

/* In a function where paths do not end, regions do not end either: the definition is applied. */
static struct wet_instance find_deciding(const struct wet_calls *calls,
                                         const struct wet_graph *graph, uint32_t node)
{
    const struct wet_frame *top = &calls->frames[calls->count - 1];
    for (uint32_t i = calls->branch_count; node && i-- > top->base;)
        if (wet_graph_decides(graph, calls->branches[i].node, node))
            return calls->branches[i].branch;
    return top->call;
}

struct wet_instance wet_calls_decided(struct wet_calls *calls, const struct wet_graph *graph,
                                      uint32_t node, bool begins_node)
{
    if (node && graph->functions[graph->nodes[node].function].is_endless)
        return find_deciding(calls, graph, node);
    return wet_calls_decided_in(calls, node, begins_node);
}

/* Forgets an earlier instance of the branch. */
static void forget_branch(struct wet_calls *calls, uint32_t node)
{
    for (uint32_t i = calls->branch_count; i-- > calls->frames[calls->count - 1].base;)
        if (calls->branches[i].node == node) {
            calls->branch_count--;
            memmove(&calls->branches[i], &calls->branches[i + 1],
                    (calls->branch_count - i) * sizeof *calls->branches);
            return;
        }
}

/* Where the branch of a node no longer decides. */
static uint32_t end_of(const struct wet_graph *graph, uint32_t node)
{
    const struct wet_node *deciding = &graph->nodes[node];
    return node && graph->functions[deciding->function].is_endless ? WET_NODE_NONE : deciding->next;
}

/* A branch decides up to its node's nearest post-dominator. One that decides as long as the one
 * before it takes its place. */
static int decide(struct wet_calls *calls, const struct wet_graph *graph, uint32_t node,
                  struct wet_instance branch)
{
    const struct wet_deciding deciding = {
        .node = node, .next = end_of(graph, node), .branch = branch};
    const uint32_t base = calls->frames[calls->count - 1].base;
    if (graph->functions[graph->nodes[node].function].is_endless) {
        forget_branch(calls, node);
    } else if (calls->branch_count > base &&
               calls->branches[calls->branch_count - 1].next == deciding.next) {
        calls->branches[calls->branch_count - 1] = deciding;
        return 0;
    }
    return push_branch(calls, &deciding);
}

int wet_calls_leave(struct wet_calls *calls, const struct wet_graph *graph,
                    const struct wet_flow *flow, const struct wet_instruction *instruction,
                    struct wet_instance last)
{
    calls->ending = flow->kind;
    calls->address = instruction->address;
    if (flow->kind == DECODE_CALL || flow->kind == DECODE_CALL_INDIRECT) {
        const struct wet_frame frame = {.call = last,
                                        .back = instruction->address + instruction->size,
                                        .partition = PARTITION_NONE};
        return push_frame(calls, &frame);
    }
    const uint32_t node = graph->node_of[last.id];
    if ((flow->kind == DECODE_CONDITIONAL || flow->kind == DECODE_JUMP_INDIRECT) &&
        graph->nodes[node].decides)
        return decide(calls, graph, node, last);
    return 0;
}

void wet_calls_renumber(struct wet_calls *calls, const struct wet_graph *graph)
{
    for (uint32_t i = 0; i < calls->branch_count; i++) {
        struct wet_deciding *deciding = &calls->branches[i];
        deciding->node = graph->node_of[deciding->branch.id];
        deciding->next = end_of(graph, deciding->node);
    }
}

/* --- signals -----------------------------------------------------------------------------------
 */

int wet_calls_signal(struct wet_calls *calls, uint64_t stack)
{
    const struct wet_frame frame = {
        .partition = PARTITION_NONE, .is_signal = true, .ending = calls->ending, .stack = stack};
    calls->ending = DECODE_STRAIGHT;
    return push_frame(calls, &frame);
}

bool wet_calls_return(struct wet_calls *calls, uint64_t stack)
{
    calls->ending = DECODE_STRAIGHT;
    for (uint32_t i = calls->count; i-- > 1;)
        if (calls->frames[i].is_signal && calls->frames[i].stack == stack) {
            calls->ending = calls->frames[i].ending;
            end_frames(calls, i);
            return true;
        }
    return false;
}
