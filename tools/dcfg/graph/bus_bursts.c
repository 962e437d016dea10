#include "tools/dcfg/graph/bus_bursts.h"

struct finder {
    const struct bus_model *model;
    struct burst *burst;
};

static uint32_t chunk_of(const struct bus_model *model, uint32_t address)
{
    return address & ~(model->chunk - 1);
}

static bool add_exit(struct burst *burst, const struct burst_exit *exit)
{
    if (burst->count == BURST_EXITS)
        return false;
    burst->exits[burst->count++] = *exit;
    return true;
}

/* An exit to an address; false without room, or if the address is in the chunk and needs no fetch.
 */
static bool add_target(const struct finder *finder, uint32_t end, uint32_t at, uint8_t branch)
{
    const struct burst_exit exit = {
        .end = end, .at = at, .needed = chunk_of(finder->model, at), .branch = branch};
    if (finder->model->refetch == BUS_REFETCH_SOME && exit.needed == finder->burst->needed)
        return false;
    return add_exit(finder->burst, &exit);
}

enum step { STEP_NEXT /* the next instruction is executed as well */, STEP_END, STEP_UNKNOWN };

static enum step end_if(bool added)
{
    return added ? STEP_END : STEP_UNKNOWN;
}

/* Adds the exits at an instruction that ends at `end`. */
static enum step follow(const struct finder *finder, const struct bus_instruction *instruction,
                        uint32_t end)
{
    switch (instruction->branch) {
    case IMAGE_JUMP:
    case IMAGE_CALL:
        return end_if(add_target(finder, end, instruction->target, instruction->branch));
    case IMAGE_RETURN:
    case IMAGE_SYSTEM_RETURN:
    case IMAGE_CONTEXT_RETURN:
        finder->burst->returns = true;
        return end_if(add_exit(finder->burst,
                               &(struct burst_exit){.end = end, .branch = instruction->branch}));
    case IMAGE_INDIRECT_JUMP:
    case IMAGE_INDIRECT_CALL:
        return STEP_UNKNOWN;
    case IMAGE_CONDITIONAL:
        if (!add_target(finder, end, instruction->target, instruction->branch))
            return STEP_UNKNOWN;
        break;
    default:
        break;
    }
    if (finder->model->refetch == BUS_REFETCH_EACH)
        return end_if(add_target(finder, end, end, IMAGE_PLAIN));
    return STEP_NEXT;
}

/* Whether the exits depend on nothing but the code. */
static bool find_exits(const struct finder *finder, struct bus_code *code)
{
    enum step step = STEP_NEXT;
    for (uint32_t at = finder->burst->at; step == STEP_NEXT;) {
        const struct bus_instruction *instruction = bus_code_at(code, at);
        if (!instruction)
            return false;
        uint32_t end = at + instruction->size;
        uint32_t limit = finder->burst->needed + finder->model->chunk;
        if (end - finder->burst->needed > finder->model->chunk)
            return add_exit(
                finder->burst,
                &(struct burst_exit){.end = at, .at = at, .needed = limit, .branch = IMAGE_PLAIN});
        step = follow(finder, instruction, end);
        at = end;
    }
    return step == STEP_END;
}

const struct burst *bus_bursts_find(struct bus_bursts *bursts, const struct bus_model *model,
                                    struct bus_code *code, uint32_t at, uint32_t needed)
{
    /* an instruction that ends in the next chunk has two */
    uint32_t slot = (at ^ at >> 12) << 1 | (at < needed);
    struct burst *burst = &bursts->table[slot & (BURSTS - 1)];
    if (burst->at == at && burst->needed == needed)
        return burst;
    *burst = (struct burst){.at = at, .needed = needed};
    if (!find_exits(&(struct finder){model, burst}, code))
        burst->count = 0;
    return burst;
}
