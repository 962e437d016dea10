#include "tools/wet/record/record_code.h"

#include "capture/depend/shadow.h"

#include <string.h>

#define PAGE_BYTES 4096u
#define PAGES      (UINT32_C(1) << 20) /* of the program's addresses */

int record_code_init(struct record_code *code)
{
    if (wet_code_init(&code->code) < 0 || wet_flows_update(&code->flows, &code->code) < 0)
        return BT_MEMORY;
    code->instructions =
        grow_array(NULL, &code->instruction_capacity, 1, sizeof *code->instructions);
    code->counts = grow_array(NULL, &code->count_capacity, 1, sizeof *code->counts);
    code->pages = calloc(PAGES / 8, 1);
    if (!code->instructions || !code->counts || !code->pages)
        return BT_MEMORY;
    code->instructions[0] = (struct record_instruction){.port = 0};
    code->counts[0] = 0;
    return 0;
}

void record_code_clear(struct record_code *code)
{
    wet_code_clear(&code->code);
    wet_flows_clear(&code->flows);
    record_ports_clear(&code->ports);
    free(code->instructions);
    free(code->counts);
    free(code->pages);
    hash_index_clear(&code->by_bytes);
    hash_index_clear(&code->by_ids);
    hash_index_clear(&code->by_edge);
    *code = (struct record_code){.counts = NULL};
}

/* --- instructions ------------------------------------------------------------------------------
 */

static uint32_t hash_instruction(uint64_t address, const uint8_t *bytes, unsigned size)
{
    uint8_t padded[16] = {0};
    uint64_t words[2];
    memcpy(padded, bytes, size);
    memcpy(words, padded, sizeof words);
    return hash_pair(address, words[0] ^ words[1] << 1);
}

/* Makes room for one more. */
static int reserve(struct record_code *code, size_t id)
{
    struct record_instruction *instructions =
        grow_array(code->instructions, &code->instruction_capacity, id + 1, sizeof *instructions);
    if (!instructions)
        return BT_MEMORY;
    code->instructions = instructions;
    uint64_t *counts = grow_array(code->counts, &code->count_capacity, id + 1, sizeof *counts);
    if (!counts)
        return BT_MEMORY;
    code->counts = counts;
    return 0;
}

/* Adds the ports of an instruction that is new. */
static int add_ports(struct record_code *code, uint32_t id)
{
    const struct wet_flow *flow = &code->flows.flows[id];
    code->counts[id] = 0;
    code->instructions[id] = (struct record_instruction){
        .port = (uint32_t)code->ports.port_count, .outcome = (uint32_t)code->ports.outcome_count};
    for (unsigned i = 0; i < flow->memory_ports; i++)
        if (!record_ports_add(&code->ports, id, i))
            return BT_MEMORY;
    return flow->has_outcome && !record_ports_add_outcome(&code->ports, id) ? BT_MEMORY : 0;
}

/* --- pages that have code ----------------------------------------------------------------------
 */

static void note_page(struct record_code *code, uint64_t address)
{
    const uint64_t page = address / PAGE_BYTES;
    if (page < PAGES)
        code->pages[page / 8] |= (uint8_t)(1u << page % 8);
}

static bool has_pages(const struct record_code *code, uint64_t first, uint64_t last)
{
    for (uint64_t page = first / PAGE_BYTES; page <= last / PAGE_BYTES && page < PAGES; page++)
        if (code->pages[page / 8] >> page % 8 & 1)
            return true;
    return false;
}

static int64_t add_instruction(struct record_code *code, const struct wet_instruction *instruction,
                               uint32_t hash)
{
    const size_t next = code->code.instruction_count;
    if (reserve(code, next) < 0 || hash_index_reserve(&code->by_bytes, 1) < 0)
        return BT_MEMORY;
    const int64_t id = wet_code_add_instruction(&code->code, instruction);
    if (id < 0 || wet_flows_update(&code->flows, &code->code) < 0 ||
        add_ports(code, (uint32_t)id) < 0)
        return BT_MEMORY;
    hash_index_add(&code->by_bytes, hash, (uint32_t)id);
    note_page(code, instruction->address);
    note_page(code, instruction->address + instruction->size - 1);
    return id;
}

/* The bytes of an instruction no longer lead to its id. */
static void forget_instruction(struct record_code *code, uint32_t id)
{
    const struct wet_instruction *known = &code->code.instructions[id];
    const uint32_t hash = hash_instruction(known->address, known->bytes, known->size);
    struct hash_search search = hash_search(&code->by_bytes, hash);
    while (hash_search_next(&search))
        if (search.number == id) {
            hash_index_remove(&code->by_bytes, hash, id);
            return;
        }
}

void record_code_forget(struct record_code *code, uint64_t address, uint64_t size)
{
    if (size == 0 || !has_pages(code, address, address + size - 1))
        return;
    for (uint32_t id = 1; id < code->code.instruction_count; id++) {
        const struct wet_instruction *known = &code->code.instructions[id];
        if (known->address < address + size && known->address + known->size > address)
            forget_instruction(code, id);
    }
}

int64_t record_code_instruction(struct record_code *code, uint64_t address, const uint8_t *bytes,
                                unsigned size, struct bt_error *error)
{
    const uint32_t hash = hash_instruction(address, bytes, size);
    struct hash_search search = hash_search(&code->by_bytes, hash);
    while (hash_search_next(&search)) {
        const struct wet_instruction *known = &code->code.instructions[search.number];
        if (known->address == address && known->size == size &&
            memcmp(known->bytes, bytes, size) == 0)
            return search.number;
    }
    if (code->code.instruction_count > SHADOW_CONTEXT_MAX)
        return bt_fail(error, BT_USAGE,
                       "the program has executed more than %u instructions of "
                       "different addresses or bytes",
                       SHADOW_CONTEXT_MAX);
    struct wet_instruction instruction = {.address = address, .size = (uint8_t)size};
    memcpy(instruction.bytes, bytes, size);
    const int64_t id = add_instruction(code, &instruction, hash);
    return id < 0 ? bt_fail(error, BT_MEMORY, "no memory for the program's instructions") : id;
}

/* --- blocks and edges --------------------------------------------------------------------------
 */

int64_t record_code_block(struct record_code *code, const uint32_t *ids, uint32_t count,
                          struct bt_error *error)
{
    uint32_t hash = count;
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        hash = hash_pair(hash, ids[i]);
    struct hash_search search = hash_search(&code->by_ids, hash);
    while (hash_search_next(&search))
        if (code->code.blocks[search.number].count == count &&
            memcmp(wet_code_ids(&code->code, search.number), ids, count * sizeof *ids) == 0)
            return search.number;
    const bool is_reserved = hash_index_reserve(&code->by_ids, 1) == 0;
    const int64_t number = is_reserved ? wet_code_add_block(&code->code, ids, count) : BT_MEMORY;
    if (number < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    hash_index_add(&code->by_ids, hash, (uint32_t)number);
    return number;
}

int record_code_edge(struct record_code *code, uint32_t from, uint32_t to)
{
    const uint32_t hash = hash_pair(from, to);
    struct hash_search search = hash_search(&code->by_edge, hash);
    while (hash_search_next(&search))
        if (code->code.edges[search.number].from == from &&
            code->code.edges[search.number].to == to)
            return 0;
    if (hash_index_reserve(&code->by_edge, 1) < 0)
        return BT_MEMORY;
    const int64_t number = wet_code_add_edge(&code->code, from, to);
    if (number < 0)
        return BT_MEMORY;
    return hash_index_add(&code->by_edge, hash, (uint32_t)number);
}
