/* Code that was not executed. */
#include "tools/wet/record/record_places_internal.h"

#include "formats/base/grow.h"
#include "tools/cfg/code_walk.h"

#define INSTRUCTIONS_MAX 100000u /* of a function */
#define WALKS_MAX        4u      /* of a function, to find entries that nothing leads to */

enum decode_kind record_places_kind(const struct wet_instruction *instruction)
{
    struct decode_instruction decoded;
    decode(&decoded, instruction->bytes, instruction->size, instruction->address);
    return (enum decode_kind)decoded.kind;
}

struct walking {
    struct record_places *places;
    uint32_t function;
};

static size_t read_inside(void *context, uint64_t address, const uint8_t **code)
{
    struct record_places *places = ((struct walking *)context)->places;
    return code_window_read(&places->window, places->read, places->context, address, code);
}

static bool is_inside(void *context, uint64_t address)
{
    const struct walking *walking = context;
    struct functions *functions = walking->places->functions;
    return functions_are_one(functions, functions_at(functions, address, false, walking->function),
                             walking->function);
}

/* --- entries and jumps -------------------------------------------------------------------------
 */

static int add_entry(struct record_function *function, uint64_t address)
{
    for (size_t i = 0; i < function->entry_count; i++)
        if (function->entries[i] == address)
            return 0;
    uint64_t *larger = grow_array(function->entries, &function->entry_capacity,
                                  function->entry_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    function->entries = larger;
    larger[function->entry_count++] = address;
    return 0;
}

static int compare_jumps(const void *a, const void *b)
{
    const struct code_jump *left = a, *right = b;
    if (left->jump != right->jump)
        return left->jump < right->jump ? -1 : 1;
    return (left->target > right->target) - (left->target < right->target);
}

/* The edges to a function: calls and jumps from outside lead to entries; its indirect jumps are
 * jumps. Calls in it return to instructions that the walk reaches anyway. */
static int sort_edges(const struct record_places *places, const struct wet_code *code,
                      uint32_t number, struct code_jump **jumps, size_t *count)
{
    struct record_function *function = &places->by_number[number];
    size_t capacity = 0;
    int result = 0;
    for (uint32_t i = function->edge; i > 0 && result == 0; i = places->next_edge[i - 1]) {
        const struct wet_edge *edge = &code->edges[i - 1];
        const struct wet_instruction *from = &code->instructions[edge->from];
        const uint64_t target = code->instructions[edge->to].address;
        const enum decode_kind kind =
            edge->from > 0 ? record_places_kind(from) : DECODE_CALL_INDIRECT;
        if (edge->from == 0 || places->owners[edge->from] != number) {
            result = kind == DECODE_RETURN ? 0 : add_entry(function, target);
        } else if (kind == DECODE_JUMP_INDIRECT) {
            struct code_jump *larger = grow_array(*jumps, &capacity, *count + 1, sizeof *larger);
            if (!larger)
                return BT_MEMORY;
            *jumps = larger;
            larger[(*count)++] = (struct code_jump){.jump = from->address, .target = target};
        }
    }
    if (*count > 0)
        qsort(*jumps, *count, sizeof **jumps, compare_jumps);
    return result;
}

/* Makes instructions that the walk has not reached, although they were executed, entries: those
 * that edges lead to. Their number, or BT_MEMORY. */
static int add_missing(const struct record_places *places, const struct wet_code *code,
                       uint32_t number, const struct code_walk *walk)
{
    struct record_function *function = &places->by_number[number];
    const size_t before = function->entry_count;
    for (uint32_t i = function->edge; i > 0; i = places->next_edge[i - 1]) {
        const uint64_t address = code->instructions[code->edges[i - 1].to].address;
        if (code_walk_find(walk, address) == DIGRAPH_NONE && add_entry(function, address) < 0)
            return BT_MEMORY;
    }
    return (int)(function->entry_count - before);
}

/* --- ranges ------------------------------------------------------------------------------------
 */

static bool is_executed(const struct record_places *places, const struct wet_code *code,
                        uint64_t address)
{
    struct hash_search search = hash_search(&places->by_address, hash_number(address));
    while (hash_search_next(&search))
        if (code->instructions[search.number].address == address)
            return true;
    return false;
}

/* Notes that an instruction is stored. 1: it is new; 0; or BT_MEMORY. */
static int note_stored(struct record_places *places, uint64_t address)
{
    struct hash_search search = hash_search(&places->by_stored, hash_number(address));
    while (hash_search_next(&search))
        if (places->stored[search.number] == address)
            return 0;
    uint64_t *larger = grow_array(places->stored, &places->stored_capacity,
                                  places->stored_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    places->stored = larger;
    if (hash_index_add(&places->by_stored, hash_number(address), (uint32_t)places->stored_count) <
        0)
        return BT_MEMORY;
    larger[places->stored_count++] = address;
    return 1;
}

struct range {
    uint64_t begin, end;
};

static int put_range(struct record_places *places, struct wet_code *code, uint32_t number,
                     const struct range *range)
{
    const size_t size = (size_t)(range->end - range->begin);
    uint8_t *bytes = size > 0 ? malloc(size) : NULL;
    int result = 0;
    if (size > 0 && !bytes)
        return BT_MEMORY;
    if (size > 0 && places->read(places->context, bytes, range->begin, size) == 0 &&
        wet_code_add_range(code, range->begin, places->by_number[number].named, bytes,
                           (uint32_t)size) < 0)
        result = BT_MEMORY;
    free(bytes);
    return result;
}

/* Adds the walked instructions that were not executed. */
static int put_ranges(struct record_places *places, struct wet_code *code, uint32_t number,
                      const struct code_walk *walk)
{
    struct range range = {.begin = 0};
    int result = 0;
    for (uint32_t i = 0; i < walk->instruction_count && result >= 0; i++) {
        const uint64_t address = walk->addresses[i];
        struct decode_instruction decoded;
        const uint8_t *bytes;
        const size_t size =
            code_window_read(&places->window, places->read, places->context, address, &bytes);
        result = size == 0 || is_executed(places, code, address) ? 0 : note_stored(places, address);
        if (result <= 0)
            continue;
        decode(&decoded, bytes, size, address);
        if (address != range.end) {
            result = put_range(places, code, number, &range);
            range.begin = address;
        }
        range.end = address + decoded.size;
    }
    return result < 0 ? result : put_range(places, code, number, &range);
}

int record_places_walk(struct record_places *places, struct wet_code *code, uint32_t number)
{
    struct record_function *function = &places->by_number[number];
    struct walking walking = {.places = places, .function = number};
    struct code_walk walk = {.nodes = NULL};
    struct code_jump *jumps = NULL;
    struct bt_error error;
    size_t jump_count = 0;
    int result = sort_edges(places, code, number, &jumps, &jump_count);
    int missing = 1;
    if (function->entry_count == 0 && result == 0)
        result = add_entry(function, code->instructions[function->instruction].address);
    code_window_forget(&places->window);
    for (unsigned i = 0; i < WALKS_MAX && missing > 0 && result == 0; i++) {
        const struct code_walk_settings settings = {.read = read_inside,
                                                    .is_inside = is_inside,
                                                    .context = &walking,
                                                    .entries = function->entries,
                                                    .entry_count = function->entry_count,
                                                    .jumps = jumps,
                                                    .jump_count = jump_count,
                                                    .instructions_max = INSTRUCTIONS_MAX};
        code_walk_clear(&walk);
        walk = (struct code_walk){.nodes = NULL};
        result = code_walk_make(&walk, &settings, &error);
        missing = result == 0 ? add_missing(places, code, number, &walk) : 0;
    }
    if (result == 0)
        result = missing < 0 ? missing : put_ranges(places, code, number, &walk);
    code_walk_clear(&walk);
    free(jumps);
    places->by_number[number].is_new = false;
    return result;
}
