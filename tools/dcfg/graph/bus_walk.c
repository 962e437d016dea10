#include "tools/dcfg/graph/bus_walk.h"

#include <string.h>

#define TURNS 16u

/* A branch that was not followed to a later chunk of the run. */
struct turn {
    size_t count;
    uint64_t target;
    struct bus_stack stack;
};

/* A walk in progress. It continues past branches that may have left the run, because a later one
 * may have. */
struct way {
    struct bus_walk *walk;
    const struct bus_run *run;
    const struct bus_next *next;
    struct bus_stack stack; /* current stack; walk->stack is that of the explanation */
    size_t count;           /* instructions walked */
    uint64_t at;
    bool optional;    /* has passed a branch that may have left */
    bool left;        /* has an explanation */
    uint64_t left_at; /* chunk of the branch that left */
    struct turn turns[TURNS];
    unsigned turn_count;
};

static bool decode(struct bus_decoder *decoder, uint64_t address,
                   struct image_instruction *instruction)
{
    size_t slot = (size_t)(address % BUS_DECODE_SLOTS);
    if (decoder->slots[slot].address != address + 1) {
        struct image_instruction *made = &decoder->slots[slot].instruction;
        if (!images_instruction(decoder->images, address, made))
            made->size = 0;
        decoder->slots[slot].address = address + 1;
    }
    *instruction = decoder->slots[slot].instruction;
    return instruction->size != 0;
}

/* --- the stack --- */

static void push(struct bus_stack *stack, uint64_t address)
{
    if (stack->depth == BUS_STACK_DEPTH) {
        memmove(stack->addresses, stack->addresses + 1,
                (BUS_STACK_DEPTH - 1) * sizeof *stack->addresses);
        stack->depth--;
        stack->sure -= stack->sure > 0;
    }
    stack->addresses[stack->depth++] = (uint32_t)address;
}

static void pop_to(struct bus_stack *stack, uint32_t depth)
{
    stack->depth = depth;
    if (stack->sure > depth)
        stack->sure = depth;
}

/* --- where an instruction may go --- */

static bool in_next(const struct way *way, uint64_t address)
{
    return way->next->size > 0 && !way->next->follows &&
           address - way->next->address < way->next->size;
}

/* Whether an address is in a chunk of the run after the one that holds the byte before `end`. */
static bool later_in_run(const struct way *way, uint64_t address, uint64_t end)
{
    uint64_t later = (end - 1) / way->run->chunk * way->run->chunk + way->run->chunk;
    return address >= later && (address < way->run->end || way->next->follows);
}

static bool run_goes_on(const struct way *way, uint64_t end)
{
    return later_in_run(way, way->run->end - 1, end) || way->next->follows;
}

/* The walk may have left the run here: keep it as explanation until a later one is found. */
static void leave(struct way *way, bool known, uint64_t target, bool sure)
{
    struct bus_walk *walk = way->walk;
    if (!way->optional)
        walk->sure = way->count;
    /* the first of a chunk, but of the last possible chunk: otherwise that chunk would not have
     * been fetched, unless it was prefetched */
    uint64_t chunk = walk->instructions[way->count - 1].address / way->run->chunk;
    uint64_t ahead = way->run->end / way->run->chunk - way->run->ahead;
    bool better = !way->left || (chunk > way->left_at && chunk < ahead);
    way->optional = way->left = true;
    walk->options++;
    if (!better)
        return;
    way->left_at = chunk;
    walk->count = way->count;
    walk->next = target;
    walk->next_known = known;
    walk->next_sure = known && sure;
    walk->stack = way->stack;
}

/* From here on the explanation is uncertain. */
static void doubt(struct way *way)
{
    if (!way->optional)
        way->walk->sure = way->count;
    way->optional = true;
    way->walk->options++;
}

/* Follows a jump or call with a known target. Returns false at the end of the walk. */
static bool go(struct way *way, uint64_t target, uint64_t end)
{
    if (in_next(way, target))
        leave(way, true, target, true);
    if (target < way->run->end && later_in_run(way, target, end)) {
        way->at = target;
        return true;
    }
    return false;
}

static bool branch(struct way *way, uint64_t target, uint64_t end)
{
    if (in_next(way, target))
        leave(way, true, target, true);
    if (later_in_run(way, target, end)) {
        doubt(way);
        if (way->turn_count < TURNS)
            way->turns[way->turn_count++] =
                (struct turn){.count = way->count, .target = target, .stack = way->stack};
    }
    way->at = end;
    return true;
}

/* Follows a branch to an unknown target. */
static bool go_anywhere(struct way *way, uint64_t end)
{
    if (way->next->size > 0 && !way->next->follows)
        leave(way, false, 0, false);
    if (run_goes_on(way, end))
        doubt(way);
    return false;
}

static bool come_back(struct way *way, uint64_t end)
{
    struct bus_stack *stack = &way->stack;
    if (stack->depth == 0)
        return go_anywhere(way, end);
    uint32_t depth = stack->depth - 1;
    bool sure = depth >= stack->sure;
    uint64_t target = stack->addresses[depth];
    if (sure && target < way->run->end && later_in_run(way, target, end)) {
        pop_to(stack, depth);
        return go(way, target, end);
    }
    while (depth > 0 && !in_next(way, stack->addresses[depth]))
        depth--;
    target = stack->addresses[depth];
    if (!in_next(way, target)) {
        if (sure)
            doubt(way);
        return go_anywhere(way, end);
    }
    sure = sure && depth == stack->depth - 1;
    pop_to(stack, depth);
    leave(way, true, target, sure);
    if (!sure && run_goes_on(way, end))
        doubt(way);
    return false;
}

static bool step(struct way *way, const struct image_instruction *instruction)
{
    uint64_t end = way->at + instruction->size;
    switch (instruction->branch) {
    case IMAGE_CONDITIONAL:
        return branch(way, instruction->target, end);
    case IMAGE_CALL:
        push(&way->stack, end);
        return go(way, instruction->target, end);
    case IMAGE_JUMP:
        return go(way, instruction->target, end);
    case IMAGE_INDIRECT_CALL:
        push(&way->stack, end);
        return go_anywhere(way, end);
    case IMAGE_INDIRECT_JUMP:
        return go_anywhere(way, end);
    case IMAGE_RETURN:
    case IMAGE_SYSTEM_RETURN:
    case IMAGE_CONTEXT_RETURN:
        return come_back(way, end);
    case IMAGE_SYSTEM_CALL:
        push(&way->stack, end);
        if (way->next->size > 0 && !way->next->follows)
            leave(way, false, 0, false);
        pop_to(&way->stack, way->stack.depth - 1);
        way->at = end;
        return true;
    default:
        way->at = end;
        return true;
    }
}

/* Walks on. Returns false at an instruction that must leave the run, true where the chunks or the
 * code end. */
static bool follow(struct way *way, struct bus_decoder *decoder)
{
    const struct bus_run *run = way->run;
    struct image_instruction instruction;
    bool going = true;
    while (going && way->count < BUS_RUN_BYTES && way->at < run->end) {
        if (!decode(decoder, way->at, &instruction))
            return false;
        if (way->at + instruction.size > run->end)
            return true;
        way->walk->instructions[way->count++] =
            (struct bus_instruction){.address = (uint32_t)way->at, .size = instruction.size};
        going = step(way, &instruction);
    }
    return going;
}

/* Without an explanation so far: takes the last branch that was not taken. */
static bool take_turn(struct way *way)
{
    if (way->turn_count == 0)
        return false;
    const struct turn *turn = &way->turns[--way->turn_count];
    way->count = turn->count;
    way->at = turn->target;
    way->stack = turn->stack;
    return true;
}

void bus_walk(struct bus_walk *walk, struct bus_decoder *decoder, const struct bus_run *run,
              const struct bus_next *next, uint64_t entry, const struct bus_stack *stack)
{
    struct way way = {.walk = walk, .run = run, .next = next, .stack = *stack, .at = entry};
    walk->count = walk->sure = 0;
    walk->options = 0;
    walk->next = 0;
    walk->next_known = walk->next_sure = false;
    walk->stack = *stack;
    bool going = follow(&way, decoder);
    while (!way.left && next->size > 0 && !(next->follows && going) && take_turn(&way))
        going = follow(&way, decoder);
    if (next->follows && going) { /* all instructions up to the first that needs more chunks */
        if (!way.optional)
            walk->sure = way.count;
        walk->options++;
        walk->count = way.count;
        walk->next = way.at;
        walk->next_known = walk->next_sure = true;
        walk->stack = way.stack;
    } else if (next->size == 0) { /* end of the stream: the run may end anywhere */
        walk->sure = way.count > 0;
        walk->options = way.count > 0 ? 2 : 0;
        walk->count = way.count;
    } else if (walk->count == 0) { /* no explanation: all instructions are assumptions */
        walk->options = 0;
        walk->sure = 0;
        walk->count = way.count;
    }
    walk->possible = walk->options > 0 || way.optional || next->follows;
}
