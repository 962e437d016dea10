/*
 * Blocks that outlast a run (capture/exec/store). A block's translation follows from its address,
 * its bytes, and what store_key() and the store's owner contain; its code is the same at any place
 * of the code cache but for its relocations and its exits' stubs, which are emitted again.
 */
#include "capture/exec/store/block_store.h"
#include "capture/exec/translate/translate_internal.h"

#include <string.h>

#define CODE_BYTES 8192u /* maximum of a block's code */
#define NO_OFFSET  UINT16_MAX

/* An exit's offsets are from the block's first byte. */
struct stored_exit {
    uint64_t target, branch_address, branch_target;
    uint16_t jump; /* or NO_OFFSET */
    uint16_t stub; /* of an exit whose stub is in the code; else NO_OFFSET */
    uint8_t kind, branch, branch_kind, branch_size;
};

/* Precedes, of each block: its exits, the arrays of arrays_of(), relocations, the program's code,
 * and the translated code up to the stubs. Blocks use the arrays where they are. */
struct stored_block {
    uint16_t code_size, size;
    uint16_t code, inner, indirect; /* offsets; indirect: or NO_OFFSET */
    uint16_t instructions, slots, advance, bytes;
    uint16_t records, patches, through_fs, specials, pc_map, outcomes, values; /* numbers */
    uint8_t exits, relocations;                                                /* numbers */
    uint8_t has_stubs;
    uint8_t vector, fs, pointer, scratch, ending; /* vector: bit 1 is beyond_sse */
};

_Static_assert(sizeof(struct stored_block) % 8 == 0 && sizeof(struct stored_exit) % 8 == 0,
               "arrays are aligned");

/* A new member of these must be restored, too. */
_Static_assert(sizeof(struct block) == 200, "members of a block: stored_block");
_Static_assert(sizeof(struct exit) == 88, "members of an exit: stored_exit");

#define ARRAYS 7u

/* An array of a block's metadata: where the block has it, its number and the size of a member. The
 * largest alignment comes first. */
struct array {
    void **place;
    const void *from; /* of the translator */
    uint16_t count;
    size_t size;
    unsigned limit;
};

static void arrays_of(struct translator *translator, struct block *block,
                      const struct stored_block *stored, struct array arrays[ARRAYS])
{
    const struct array all[ARRAYS] = {
        {(void **)&block->specials, translator->specials, stored->specials, sizeof(struct special),
         TRANSLATE_SPECIALS},
        {(void **)&block->pc_map, translator->pc_map, stored->pc_map, sizeof(struct pc_map_entry),
         CODE_CACHE_INSTRUCTIONS},
        {(void **)&block->records, translator->records, stored->records, sizeof(struct record),
         TRANSLATE_RECORDS},
        {(void **)&block->patches, translator->patches, stored->patches, sizeof(struct patch),
         TRANSLATE_RECORDS},
        {(void **)&block->outcomes, translator->outcomes, stored->outcomes,
         sizeof(struct outcome_slot), CODE_CACHE_INSTRUCTIONS},
        {(void **)&block->values, translator->values, stored->values, sizeof(struct value_slot),
         CODE_CACHE_INSTRUCTIONS},
        {(void **)&block->through_fs, translator->through_fs, stored->through_fs, sizeof(uint16_t),
         TRANSLATE_RECORDS}};
    memcpy(arrays, all, sizeof all);
}

void translator_use_store(struct translator *translator, struct block_store *store,
                          exec_stored_function *stored)
{
    translator->store = store;
    translator->stored = stored;
}

void translate_relocate(struct translator *translator, enum translate_relocation_kind kind)
{
    if (translator->relocation_count < TRANSLATE_RELOCATIONS)
        translator->relocations[translator->relocation_count] = (struct translate_relocation){
            .at = (uint16_t)(translator->emitter.at - translator->begin - 4),
            .kind = (uint8_t)kind};
    translator->relocation_count++;
}

/* What the code depends on besides the owner of the store and the program's bytes. */
static uint64_t store_key(const struct translator *translator, uint64_t address)
{
    const uint64_t side =
        (uint64_t)(translator->targets - (int32_t)EXEC_THREAD_TARGETS) / EXEC_TARGETS_BYTES;
    return address |
           ((uint64_t)translator->trace | (uint64_t)translator->counts_turns << 3 | side << 4)
               << 32;
}

/* Whether blocks at an address are stored: control programs and breakpoints change translations. */
static bool is_stored(const struct translator *translator, uint64_t address)
{
    return translator->store && !translator->defined && !translator->find_breakpoint &&
           !translator->breakpoint && address <= UINT32_MAX &&
           translator->stored(translator->context, address);
}

/* --- adding ----------------------------------------------------------------------------------- */

static uint16_t offset_of(const struct translator *translator, const uint8_t *code)
{
    return code ? (uint16_t)(code - translator->begin) : NO_OFFSET;
}

static void describe_exits(const struct translator *translator, struct stored_exit *stored)
{
    const struct block *block = translator->block;
    memset(stored, 0, block->exit_count * sizeof *stored);
    for (unsigned i = 0; i < block->exit_count; i++) {
        const struct exit *exit = &block->exits[i];
        stored[i].target = exit->target;
        stored[i].branch_address = exit->branch_address;
        stored[i].branch_target = exit->branch_target;
        stored[i].jump = offset_of(translator, exit->jump);
        stored[i].stub = translator->stubs ? NO_OFFSET : offset_of(translator, exit->stub);
        stored[i].kind = exit->kind;
        stored[i].branch = exit->branch;
        stored[i].branch_kind = exit->branch_kind;
        stored[i].branch_size = exit->branch_size;
    }
}

static struct stored_block describe(const struct translator *translator)
{
    const struct block *block = translator->block;
    const uint8_t *end = translator->stubs ? translator->stubs : block->code_end;
    return (struct stored_block){.code_size = (uint16_t)(end - translator->begin),
                                 .size = (uint16_t)block->size,
                                 .code = offset_of(translator, block->code),
                                 .inner = offset_of(translator, block->inner),
                                 .indirect = offset_of(translator, block->indirect),
                                 .instructions = block->instructions,
                                 .slots = block->slots,
                                 .advance = block->advance,
                                 .bytes = block->bytes,
                                 .records = block->record_count,
                                 .patches = block->patch_count,
                                 .through_fs = block->through_fs_count,
                                 .specials = block->special_count,
                                 .pc_map = block->pc_map_count,
                                 .outcomes = block->outcome_count,
                                 .values = block->value_count,
                                 .exits = block->exit_count,
                                 .relocations = (uint8_t)translator->relocation_count,
                                 .has_stubs = translator->stubs != NULL,
                                 .vector = (uint8_t)(block->vector | block->beyond_sse << 1),
                                 .fs = block->fs,
                                 .pointer = block->pointer,
                                 .scratch = block->scratch,
                                 .ending = block->ending};
}

/* An invalid instruction depends on whether the bytes after it can be read. */
static bool may_be_stored(const struct translator *translator)
{
    const struct block *block = translator->block;
    return !block->verify_code && !block->saves_x87 && !block->breakpoint &&
           block->ending < DECODE_TRAP && block->code_end - translator->begin <= CODE_BYTES &&
           translator->relocation_count <= TRANSLATE_RELOCATIONS;
}

void translate_store(struct translator *translator)
{
    struct block *block = translator->block;
    if (!is_stored(translator, block->address) || !may_be_stored(translator))
        return;
    uint8_t program[CODE_CACHE_INSTRUCTIONS * DECODE_BYTES_MAX];
    unsigned size = 0;
    for (unsigned i = 0; i < translator->count; i++) {
        memcpy(program + size, translator->instructions[i].bytes, translator->instructions[i].size);
        size += translator->instructions[i].size;
    }
    struct stored_exit exits[2];
    struct array arrays[ARRAYS];
    const struct stored_block stored = describe(translator);
    struct block_store_part parts[ARRAYS + 5];
    describe_exits(translator, exits);
    arrays_of(translator, block, &stored, arrays);
    parts[0] = (struct block_store_part){&stored, sizeof stored};
    parts[1] = (struct block_store_part){exits, block->exit_count * sizeof *exits};
    for (unsigned i = 0; i < ARRAYS; i++)
        parts[2 + i] = (struct block_store_part){arrays[i].from, arrays[i].count * arrays[i].size};
    parts[ARRAYS + 2] = (struct block_store_part){
        translator->relocations, translator->relocation_count * sizeof *translator->relocations};
    parts[ARRAYS + 3] = (struct block_store_part){program, size};
    parts[ARRAYS + 4] = (struct block_store_part){translator->begin, stored.code_size};
    block_store_add(translator->store, store_key(translator, block->address), parts, ARRAYS + 5);
}

/* --- using ------------------------------------------------------------------------------------ */

/* The parts of a record; all sizes and offsets are valid. */
struct view {
    struct stored_block block;
    struct stored_exit exits[2];
    struct translate_relocation relocations[TRANSLATE_RELOCATIONS];
    const uint8_t *arrays, *program, *code;
};

static bool is_jump(uint16_t offset, uint16_t code_size)
{
    return offset == NO_OFFSET || (size_t)offset + 4 <= code_size;
}

static bool are_offsets_valid(const struct view *view)
{
    const struct stored_block *block = &view->block;
    const uint16_t end = block->code_size;
    bool valid = block->code <= end && block->inner <= end &&
                 (block->indirect <= end || block->indirect == NO_OFFSET);
    for (unsigned i = 0; i < block->exits; i++)
        valid = valid && is_jump(view->exits[i].jump, end) &&
                (view->exits[i].stub <= end || view->exits[i].stub == NO_OFFSET) &&
                (block->has_stubs || view->exits[i].stub != NO_OFFSET);
    for (unsigned i = 0; i < block->relocations; i++)
        valid = valid && (size_t)view->relocations[i].at + 4 <= end &&
                view->relocations[i].kind < TRANSLATE_RELOCATION_KINDS;
    return valid;
}

static bool view_record(struct translator *translator, struct view *view, const uint8_t *bytes,
                        size_t size)
{
    struct array arrays[ARRAYS];
    struct block unused;
    const struct stored_block *block = &view->block;
    if (size < sizeof *block)
        return false;
    memcpy(&view->block, bytes, sizeof *block);
    if (block->exits < 1 || block->exits > 2 || block->relocations > TRANSLATE_RELOCATIONS ||
        block->code_size > CODE_BYTES || block->size > CODE_CACHE_INSTRUCTIONS * DECODE_BYTES_MAX ||
        block->pc_map == 0)
        return false;
    const size_t exits = block->exits * sizeof *view->exits;
    const size_t relocations = block->relocations * sizeof *view->relocations;
    size_t metadata = 0;
    arrays_of(translator, &unused, block, arrays);
    for (unsigned i = 0; i < ARRAYS; i++) {
        metadata += arrays[i].count * arrays[i].size;
        if (arrays[i].count > arrays[i].limit)
            return false;
    }
    if (size != sizeof *block + exits + relocations + metadata + block->size + block->code_size)
        return false;
    bytes += sizeof *block;
    memcpy(view->exits, bytes, exits);
    view->arrays = bytes + exits;
    memcpy(view->relocations, view->arrays + metadata, relocations);
    view->program = view->arrays + metadata + relocations;
    view->code = view->program + block->size;
    return are_offsets_valid(view);
}

/* The block uses the arrays in the file, which nothing changes. */
static void restore_arrays(struct translator *translator, struct block *block,
                           const struct view *view)
{
    struct array arrays[ARRAYS];
    const uint8_t *from = view->arrays;
    arrays_of(translator, block, &view->block, arrays);
    for (unsigned i = 0; i < ARRAYS; i++) {
        memcpy(arrays[i].place, &from, sizeof from);
        from += arrays[i].count * arrays[i].size;
    }
}

static struct exit *restore_exits(struct translator *translator, struct block *block,
                                  const struct view *view)
{
    uint8_t *begin = translator->begin;
    struct exit *exits = code_cache_allocate(translator->cache, view->block.exits * sizeof *exits);
    for (unsigned i = 0; exits && i < view->block.exits; i++) {
        const struct stored_exit *stored = &view->exits[i];
        exits[i] = (struct exit){.kind = stored->kind,
                                 .branch = stored->branch,
                                 .branch_kind = stored->branch_kind,
                                 .branch_size = stored->branch_size,
                                 .branch_address = stored->branch_address,
                                 .branch_target = stored->branch_target,
                                 .target = stored->target,
                                 .from = block};
        if (stored->jump != NO_OFFSET)
            exits[i].jump = begin + stored->jump;
        if (stored->stub != NO_OFFSET)
            exits[i].stub = exits[i].leave = begin + stored->stub;
    }
    return exits;
}

static void restore_block(struct block *block, const struct stored_block *stored, uint8_t *begin)
{
    block->code = begin + stored->code;
    block->inner = begin + stored->inner;
    block->indirect = stored->indirect != NO_OFFSET ? begin + stored->indirect : NULL;
    block->size = stored->size;
    block->instructions = stored->instructions;
    block->slots = stored->slots;
    block->advance = stored->advance;
    block->bytes = stored->bytes;
    block->record_count = stored->records;
    block->patch_count = stored->patches;
    block->through_fs_count = stored->through_fs;
    block->special_count = stored->specials;
    block->pc_map_count = stored->pc_map;
    block->outcome_count = stored->outcomes;
    block->value_count = stored->values;
    block->exit_count = stored->exits;
    block->vector = stored->vector & 1;
    block->beyond_sse = stored->vector >> 1 & 1;
    block->fs = stored->fs;
    block->pointer = stored->pointer;
    block->scratch = stored->scratch;
    block->ending = stored->ending;
}

/* Copies the code to its new place. */
static void restore_code(struct translator *translator, const struct view *view)
{
    const struct block *block = translator->block;
    uint8_t *begin = translator->begin;
    memcpy(begin, view->code, view->block.code_size);
    for (unsigned i = 0; i < view->block.relocations; i++) {
        uint8_t *at = begin + view->relocations[i].at;
        switch (view->relocations[i].kind) {
        case TRANSLATE_FIND_TARGET:
            emit_set(at, code_cache_find_target(translator->cache));
            break;
        case TRANSLATE_LOOK_AGAIN:
            emit_set(at, code_cache_look_again(translator->cache));
            break;
        case TRANSLATE_EXIT_NUMBER:
            memcpy(at, &block->first_exit, sizeof block->first_exit);
            break;
        default:
            memcpy(at, &block->number, sizeof block->number);
        }
    }
    translator->emitter.at = begin + view->block.code_size;
}

/* Whether the program's memory has the bytes that the block was translated from. Watches them. */
static bool is_unchanged(const struct translator *translator, const struct view *view,
                         uint64_t address)
{
    return translator->readable(translator->context, address) >= view->block.size &&
           memcmp(view->program, (const void *)(uintptr_t)address, view->block.size) == 0;
}

int translate_restore(struct translator *translator, const uint8_t *record, size_t size)
{
    struct view view;
    struct block *block = translator->block;
    struct code_cache *cache = translator->cache;
    if (!view_record(translator, &view, record, size) ||
        !is_unchanged(translator, &view, block->address))
        return 0;
    restore_block(block, &view.block, translator->begin);
    block->exits = restore_exits(translator, block, &view);
    if (!block->exits)
        return -1;
    restore_arrays(translator, block, &view);
    const int64_t first = code_cache_add_exits(cache, block->exits, block->exit_count);
    if (first < 0)
        return -1;
    block->first_exit = (uint32_t)first;
    restore_code(translator, &view);
    if (view.block.has_stubs && !translate_stubs(translator, block->first_exit))
        return -1;
    return translator->emitter.full ? -1 : 1;
}

int translate_from_store(struct translator *translator)
{
    const uint64_t address = translator->block->address;
    size_t size;
    if (!is_stored(translator, address))
        return 0;
    const uint8_t *record =
        block_store_find(translator->store, store_key(translator, address), &size);
    return record ? translate_restore(translator, record, size) : 0;
}
