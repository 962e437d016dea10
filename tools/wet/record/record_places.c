#include "tools/wet/record/record_places.h"

#include "capture/exec/translate/decode.h"
#include "tools/wet/record/record_places_internal.h"

#include <string.h>

void record_places_clear(struct record_places *places)
{
    for (size_t i = 0; i < places->function_capacity; i++)
        free(places->by_number[i].entries);
    free(places->by_number);
    free(places->files);
    free(places->owners);
    free(places->next_instruction);
    free(places->next_edge);
    free(places->stored);
    free(places->entered);
    hash_index_clear(&places->by_address);
    hash_index_clear(&places->by_stored);
}

/* Makes an array have an element `number`, new ones zeroed. NULL: no memory. */
static void *room(void *array, size_t *capacity, size_t number, size_t size)
{
    const size_t before = *capacity;
    uint8_t *larger = grow_array(array, capacity, number + 1, size);
    if (larger)
        memset(larger + before * size, 0, (*capacity - before) * size);
    return larger;
}

/* --- places ------------------------------------------------------------------------------------
 */

/* The number of a function in the code; 0: unknown. */
static int name_function(struct record_places *places, struct wet_code *code, uint32_t number,
                         uint32_t *named)
{
    struct record_function *larger =
        room(places->by_number, &places->function_capacity, number, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    places->by_number = larger;
    if (larger[number].named == 0) {
        const struct function *function = functions_get(places->functions, number);
        const int64_t added =
            wet_code_add_function(code, function->start, function->symbol ? function->name : NULL);
        if (added < 0)
            return BT_MEMORY;
        larger[number].named = (uint32_t)added;
    }
    *named = larger[number].named;
    return 0;
}

static int name_line(struct record_places *places, struct wet_code *code,
                     struct wet_instruction *instruction)
{
    const struct module *module = functions_module(places->functions, instruction->address);
    const struct function_line line =
        functions_line(places->functions, module, instruction->address);
    if (!line.file)
        return 0;
    uint32_t *larger = room(places->files, &places->file_capacity, line.number, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    places->files = larger;
    if (larger[line.number] == 0) {
        const int64_t added = wet_code_add_file(code, line.file);
        if (added < 0)
            return BT_MEMORY;
        larger[line.number] = (uint32_t)added;
    }
    instruction->file = larger[line.number];
    instruction->line = line.line;
    return 0;
}

int record_places_find(struct record_places *places, struct wet_code *code,
                       struct wet_instruction *instruction)
{
    const uint32_t number =
        functions_at(places->functions, instruction->address, false, FUNCTION_NONE);
    if (number == FUNCTION_NONE || name_function(places, code, number, &instruction->function) < 0)
        return BT_MEMORY;
    return name_line(places, code, instruction);
}

/* --- what is new -------------------------------------------------------------------------------
 */

/* Makes room for all instructions and edges. */
static int reserve(struct record_places *places, const struct wet_code *code)
{
    const size_t ids = code->instruction_count;
    uint32_t *owners = room(places->owners, &places->owner_capacity, ids, sizeof *owners);
    if (owners)
        places->owners = owners;
    uint32_t *next =
        room(places->next_instruction, &places->next_instruction_capacity, ids, sizeof *next);
    if (next)
        places->next_instruction = next;
    uint8_t *entered = room(places->entered, &places->entered_capacity, ids, 1);
    if (entered)
        places->entered = entered;
    uint32_t *edges =
        room(places->next_edge, &places->next_edge_capacity, code->edge_count, sizeof *edges);
    if (edges)
        places->next_edge = edges;
    return owners && next && entered && edges ? 0 : BT_MEMORY;
}

static bool is_call(const struct wet_instruction *instruction)
{
    const enum decode_kind kind = record_places_kind(instruction);
    return kind == DECODE_CALL || kind == DECODE_CALL_INDIRECT;
}

static void note_entered(const struct record_places *places, const struct wet_code *code)
{
    for (size_t i = places->edge_count; i < code->edge_count; i++)
        if (code->edges[i].from > 0 && is_call(&code->instructions[code->edges[i].from]))
            places->entered[code->edges[i].to] = 1;
}

static int add_instruction(struct record_places *places, struct wet_code *code, uint32_t id)
{
    struct wet_instruction *instruction = &code->instructions[id];
    const uint32_t before = id > 1 ? places->owners[id - 1] : FUNCTION_NONE;
    const uint32_t number =
        functions_at(places->functions, instruction->address, places->entered[id], before);
    if (number == FUNCTION_NONE)
        return BT_MEMORY;
    places->owners[id] = number;
    if (name_function(places, code, number, &instruction->function) < 0 ||
        name_line(places, code, instruction) < 0 ||
        hash_index_add(&places->by_address, hash_number(instruction->address), id) < 0)
        return BT_MEMORY;
    struct record_function *function = &places->by_number[number];
    places->next_instruction[id] = function->instruction;
    function->instruction = id;
    function->is_new = true;
    return 0;
}

static void add_edge(const struct record_places *places, const struct wet_code *code, size_t edge)
{
    struct record_function *function = &places->by_number[places->owners[code->edges[edge].to]];
    places->next_edge[edge] = function->edge;
    function->edge = (uint32_t)edge + 1;
    function->is_new = true;
}

int record_places_describe(struct record_places *places, struct wet_code *code)
{
    int result = reserve(places, code);
    if (result < 0)
        return result;
    if (places->owner_count == 0)
        places->owner_count = 1;
    note_entered(places, code);
    for (; places->owner_count < code->instruction_count && result == 0; places->owner_count++)
        result = add_instruction(places, code, (uint32_t)places->owner_count);
    for (; places->edge_count < code->edge_count && result == 0; places->edge_count++)
        add_edge(places, code, places->edge_count);
    for (size_t i = 0; i < places->function_capacity && result == 0; i++)
        if (places->by_number[i].is_new)
            result = record_places_walk(places, code, (uint32_t)i);
    return result;
}
