#include "tools/depend/feed_block.h"

#include "tools/depend/place_roles.h"

#include <stdlib.h>

/* The block that is being made. */
struct making {
    struct feed_block *made;
    const struct block *block;
    struct feed_flow *flow;
    struct code_places *places;
    uint32_t place;       /* of the current instruction */
    uint16_t instruction; /* number of instructions up to the current one */
    bool is_detail;
};

static struct feed_operation *add(struct making *making, enum feed_operation_kind kind)
{
    struct feed_operation *operation = &making->made->operations[making->made->operation_count++];
    *operation = (struct feed_operation){.kind = (uint8_t)kind,
                                         .instruction = (uint16_t)(making->instruction - 1)};
    depend_site_init(&operation->site, making->place, making->is_detail);
    return operation;
}

/* The role of the current instruction, which is read from memory. */
static void find_role(struct making *making, uint64_t address)
{
    struct code_place *place = &making->places->places[making->place];
    uint8_t code[DECODE_BYTES_MAX];
    size_t size = sizeof code;
    while (size > 0 && making->flow->read(making->flow->context, code, address, size) != 0)
        size--; /* the last page of a mapping */
    place->role = (uint8_t)place_role_of(code, size);
}

static int begin_instruction(struct making *making, uint64_t address)
{
    struct feed_function *function = making->made->function;
    uint32_t number = functions_at(making->flow->functions, address, false, function->number);
    if (number == FUNCTION_NONE)
        number = function->number;
    int result = code_places_add(making->places, address, number, &making->place);
    if (result < 0)
        return result;
    find_role(making, address);
    making->made->origin.place = making->place;
    making->made->origin.jump = address;
    bool is_head, begins_node;
    const uint32_t chain = feed_flow_chain(function, address, &is_head, &begins_node);
    if (making->instruction++ == 0) {
        making->made->chain = chain;
        making->made->is_head = is_head;
    } else if (begins_node) {
        struct feed_operation *loops = add(making, FEED_LOOPS);
        loops->addend = chain;
        loops->is_head = is_head;
    }
    return 0;
}

static void add_reference(struct making *making, const struct record *record)
{
    struct feed_operation *operation =
        add(making, record->type == REQUEST_MEMWRITE ? FEED_WRITE : FEED_READ);
    operation->size = record->size;
    operation->addend = record->address;
}

static void add_special(struct making *making, unsigned number)
{
    add(making, FEED_SPECIAL)->slot = (uint16_t)number;
    add(making, FEED_OTHER);
}

/* Gives the references of records their addresses. by_record: operations + 1; 0: a fetch. */
static void patch(struct making *making, const uint32_t *by_record)
{
    const struct block *block = making->block;
    struct feed_operation *operations = making->made->operations;
    for (unsigned i = 0; i < block->patch_count; i++) {
        const uint32_t number = by_record[block->patches[i].record];
        if (number == 0)
            continue;
        operations[number - 1].slot = block->patches[i].slot;
        operations[number - 1].mask = UINT32_MAX;
        operations[number - 1].addend = block->patches[i].addend;
    }
    for (unsigned i = 0; i < block->through_fs_count; i++) {
        const uint32_t number = by_record[block->through_fs[i]];
        if (number > 0)
            operations[number - 1].kind = operations[number - 1].kind == FEED_WRITE
                                              ? FEED_WRITE_THROUGH_FS
                                              : FEED_READ_THROUGH_FS;
    }
}

static int add_operations(struct making *making)
{
    const struct block *block = making->block;
    uint32_t *by_record = calloc((size_t)block->record_count + 1, sizeof *by_record);
    unsigned special = 0;
    int result = by_record ? 0 : BT_MEMORY;
    for (unsigned i = 0; i <= block->record_count && result == 0; i++) {
        for (; special < block->special_count && block->specials[special].record == i; special++)
            add_special(making, special);
        if (i == block->record_count)
            break;
        if (block->records[i].type == REQUEST_FETCH) {
            result = begin_instruction(making, block->records[i].address);
        } else {
            add_reference(making, &block->records[i]);
            by_record[i] = making->made->operation_count;
        }
    }
    if (result == 0)
        patch(making, by_record);
    free(by_record);
    return result;
}

static enum feed_ending ending_of(const struct block *block)
{
    switch (block->ending) {
    case DECODE_CALL:
    case DECODE_CALL_INDIRECT:
        return FEED_CALLS;
    case DECODE_RETURN:
        return FEED_RETURNS;
    case DECODE_JUMP_INDIRECT:
        return FEED_JUMPS;
    default:
        return FEED_FLOWS;
    }
}

/* The last write of a call, the first read of a return. */
static const struct feed_operation *find_transfer(const struct feed_block *made)
{
    const struct feed_operation *found = NULL;
    for (uint32_t i = 0; i < made->operation_count; i++) {
        const struct feed_operation *operation = &made->operations[i];
        const bool is_last = operation->instruction + 1 == made->instruction_count;
        if (made->origin.ending == FEED_CALLS && is_last && operation->kind == FEED_WRITE)
            found = operation;
        if (made->origin.ending == FEED_RETURNS && is_last && operation->kind == FEED_READ &&
            !found)
            found = operation;
    }
    return found;
}

const struct feed_call *feed_call_of(const struct feed_calls *calls, uint32_t function)
{
    for (size_t i = calls->count; i-- > 0;)
        if (calls->calls[i].function == function)
            return &calls->calls[i];
    return NULL;
}

int feed_block_arrive(struct feed_flow *flow, struct feed_function *function, uint64_t address,
                      const struct feed_origin *origin, const struct feed_calls *calls)
{
    if (origin->ending != FEED_JUMPS)
        return 0;
    if (origin->function == function->number)
        return feed_flow_jump(flow, function, origin->jump, address);
    if (function->version == 0 || code_walk_find(&function->walk, address) != DIGRAPH_NONE)
        return 0;
    /* an exception continues where the call that it leaves does not return */
    const struct feed_call *call = feed_call_of(calls, function->number);
    return call ? feed_flow_jump(flow, function, call->address, address) : 0;
}

struct feed_block *feed_block_new(const struct block *block, struct feed_flow *flow,
                                  struct code_places *places, const struct feed_origin *origin,
                                  const struct feed_calls *calls)
{
    const uint32_t number = functions_at(flow->functions, block->address,
                                         origin->ending == FEED_CALLS, origin->function);
    struct feed_function *function =
        number == FUNCTION_NONE ? NULL : feed_flow_function(flow, number);
    const size_t most = (size_t)block->record_count + 2 * block->special_count;
    struct feed_block *made = malloc(sizeof *made + most * sizeof made->operations[0]);
    if (!function || !made) {
        free(made);
        return NULL;
    }
    *made = (struct feed_block){.address = block->address,
                                .instruction_count = block->instructions,
                                .slots = block->slots,
                                .origin = {.function = number, .ending = (uint8_t)ending_of(block)},
                                .begins_function =
                                    functions_get(flow->functions, number)->start == block->address,
                                .function = function};
    struct making making = {.made = made,
                            .block = block,
                            .flow = flow,
                            .places = places,
                            .is_detail = function->is_detail};
    /* a jump comes first: what is reached otherwise becomes an entry, which no loop contains */
    if (feed_block_arrive(flow, function, block->address, origin, calls) < 0 ||
        feed_flow_reach(flow, function, block->address) < 0 || add_operations(&making) < 0) {
        free(made);
        return NULL;
    }
    made->version = function->version;
    made->transfer = find_transfer(made);
    return made;
}
