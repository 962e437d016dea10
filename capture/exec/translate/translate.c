#include "capture/exec/translate/legacy_sse.h"
#include "capture/exec/translate/translate_internal.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12u
#define ROOM       8192u /* generous maximum of code bytes of a block of plain instructions */

/* Never spilled: the stack pointer, and rcx, which indirect branches compare with. */
#define NOT_SPILLED (1u << DECODE_RSP | 1u << DECODE_RCX)

struct translator *translator_new(struct code_cache *cache, enum exec_trace trace,
                                  exec_readable_function *readable, void *context,
                                  struct bt_error *error)
{
    struct translator *translator = calloc(1, sizeof *translator);
    if (!translator || !(translator->forms = decode_forms_new())) {
        free(translator);
        bt_fail(error, BT_MEMORY, "no memory for a translator");
        return NULL;
    }
    translator->cache = cache;
    translator->trace = trace;
    translator->lookup = EXEC_THREAD_LOOKUP;
    translator->targets = EXEC_THREAD_TARGETS;
    translator->readable = readable;
    translator->context = context;
    return translator;
}

void translator_define(struct translator *translator, translator_defined_function *defined,
                       void *context)
{
    translator->defined = defined;
    translator->defined_context = context;
}

void translator_verify_code(struct translator *translator, exec_unseen_function *unseen)
{
    translator->unseen = unseen;
}

void translator_free(struct translator *translator)
{
    if (translator)
        decode_forms_free(translator->forms);
    free(translator);
}

void translator_set_trace(struct translator *translator, enum exec_trace trace)
{
    translator->trace = trace;
}

enum exec_trace translator_trace(const struct translator *translator)
{
    return translator->trace;
}

void translator_count_turns(struct translator *translator, bool counts)
{
    translator->counts_turns = counts;
}

void translator_trap_clock(struct translator *translator, bool traps)
{
    translator->traps_clock = traps;
}

void translator_set_breakpoint(struct translator *translator, uint64_t address)
{
    translator->breakpoint = address;
}

void translator_find_breakpoints(struct translator *translator,
                                 translator_breakpoint_function *find_breakpoint, void *context)
{
    translator->find_breakpoint = find_breakpoint;
    translator->breakpoint_context = context;
}

void translator_set_side(struct translator *translator, unsigned side)
{
    translator->lookup = EXEC_THREAD_LOOKUP + (int32_t)(side * EXEC_LOOKUP_BYTES);
    translator->targets = EXEC_THREAD_TARGETS + (int32_t)(side * EXEC_TARGETS_BYTES);
}

static bool is_breakpoint(const struct translator *translator, uint64_t address, size_t readable)
{
    return translator->find_breakpoint &&
           translator->find_breakpoint(translator->breakpoint_context, address,
                                       (const uint8_t *)(uintptr_t)address, readable);
}

/* Whether the block executes the instruction, and its trace includes it. */
static bool is_executed(const struct decode_instruction *instruction)
{
    return instruction->kind != DECODE_TRAP && instruction->kind != DECODE_DEFINED &&
           instruction->kind != DECODE_REFUSED;
}

static unsigned registers_of(const struct decode_instruction *instruction)
{
    unsigned registers = instruction->registers_read | instruction->registers_written;
    if (instruction->adjusted != DECODE_NONE)
        registers |= 1u << instruction->adjusted;
    return registers;
}

static unsigned free_count(unsigned used)
{
    return DECODE_REGISTERS - (unsigned)__builtin_popcount(used | NOT_SPILLED);
}

static void decode_any(const struct translator *translator, struct decode_instruction *instruction,
                       uint64_t address, size_t readable)
{
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)address;
    unsigned size =
        translator->defined ? translator->defined(translator->defined_context, bytes, readable) : 0;
    if (size == 0) {
        decode_form(translator->forms, instruction, bytes, readable, address);
        if (translator->traps_clock && decode_reads_clock(instruction))
            instruction->kind = DECODE_TRAP;
        return;
    }
    *instruction = (struct decode_instruction){.address = address,
                                               .size = (uint8_t)size,
                                               .kind = DECODE_DEFINED,
                                               .branch_register = DECODE_NONE,
                                               .adjusted = DECODE_NONE};
    memcpy(instruction->bytes, bytes, size);
}

/* Whether any byte of the longest block at this address may. */
static bool may_change_unseen(const struct translator *translator, uint64_t address)
{
    uint64_t last = address + CODE_CACHE_INSTRUCTIONS * DECODE_BYTES_MAX - 1;
    return translator->unseen && (translator->unseen(translator->context, address) ||
                                  (last >> PAGE_SHIFT != address >> PAGE_SHIFT &&
                                   translator->unseen(translator->context, last)));
}

/* Whether it may write to code. The stack is assumed to hold none. */
static bool may_write(const struct decode_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->access_count; i++)
        if (instruction->accesses[i].write && instruction->accesses[i].base != DECODE_RSP)
            return true;
    return false;
}

/* A block ends after an instruction that may set the trap flag, so that the flag takes effect at a
 * block's begin (executor_single.c). */
static bool may_set_trap_flag(const struct decode_instruction *instruction)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_POPF ||
           instruction->mnemonic == ZYDIS_MNEMONIC_POPFQ;
}

/* Whether a block needs to spill registers. */
static bool needs_registers(const struct translator *translator, const struct block *block)
{
    return translator->trace != EXEC_TRACE_NONE || translator->counts_turns || block->verify_code;
}

/* Decodes the block's instructions; returns the set of registers that they use. */
static unsigned gather(struct translator *translator, uint64_t address, unsigned limit)
{
    const bool spills = needs_registers(translator, translator->block);
    unsigned used = 0, slots = 1, records = 0;
    size_t readable = 0;
    translator->count = 0;
    while (translator->count < limit &&
           (translator->count == 0 || address != translator->breakpoint)) {
        if (readable < DECODE_BYTES_MAX)
            readable = translator->readable(translator->context, address);
        if (readable == 0)
            break;
        bool breakpoint = is_breakpoint(translator, address, readable);
        if (breakpoint && translator->count > 0)
            break;
        translator->block->breakpoint |= breakpoint;
        struct decode_instruction *instruction = &translator->instructions[translator->count];
        decode_any(translator, instruction, address, readable);
        if (!emit_can(instruction))
            instruction->kind = DECODE_REFUSED;
        if (translator->count > 0 && instruction->saves_x87)
            break;
        slots += translate_trace_slots(instruction);
        if (translator->trace == EXEC_TRACE_VALUES)
            slots += TRANSLATE_VALUE_SLOTS;
        records += translate_trace_records(instruction);
        unsigned more = used | registers_of(instruction);
        if (translator->count > 0 && ((spills && free_count(more) < 2) ||
                                      slots > CODE_CACHE_SLOTS || records > TRANSLATE_RECORDS))
            break;
        used = more;
        translator->count++;
        address += instruction->size;
        readable -= instruction->size;
        if (decode_ends_block(instruction) || may_set_trap_flag(instruction) ||
            (translator->block->verify_code && may_write(instruction)))
            break;
    }
    return used;
}

/* Chooses two registers that the block does not use: those of the previous block if possible, so
 * that a link between the two needs no reload. */
static void choose_registers(struct block *block, unsigned used, const struct block *before)
{
    if (before && !translate_spills(before))
        before = NULL;
    static const uint8_t order[] = {CODE_CACHE_POINTER, CODE_CACHE_SCRATCH, DECODE_R13, DECODE_R12,
                                    DECODE_R11,         DECODE_R10,         DECODE_R9,  DECODE_R8,
                                    DECODE_RBX,         DECODE_RBP,         DECODE_RDI, DECODE_RSI,
                                    DECODE_RDX,         DECODE_RAX};
    uint8_t chosen[2];
    unsigned count = 0;
    used |= NOT_SPILLED;
    if (before && !(used >> before->pointer & 1) && !(used >> before->scratch & 1)) {
        block->pointer = before->pointer;
        block->scratch = before->scratch;
        return;
    }
    for (size_t i = 0; i < sizeof order && count < 2; i++)
        if (!(used >> order[i] & 1))
            chosen[count++] = order[i];
    block->pointer = chosen[0];
    block->scratch = chosen[1];
}

/* The two entries of a block without a trace, and its arrival. */
static void emit_untraced_entries(struct translator *translator, bool arrives)
{
    struct emitter *emitter = &translator->emitter;
    struct block *block = translator->block;
    if (arrives) {
        block->indirect = emitter->at;
        translate_arrive(translator, block->address);
    }
    block->code = emitter->at;
    if (translate_spills(block)) {
        emit_save(emitter, 8u * block->pointer, block->pointer);
        emit_save(emitter, 8u * block->scratch, block->scratch);
    }
    block->inner = emitter->at;
}

/* The three entries: `code` spills the registers, `indirect` is for indirect branches, `inner` for
 * blocks that have spilled the same registers. */
static void emit_entries(struct translator *translator)
{
    struct emitter *emitter = &translator->emitter;
    struct block *block = translator->block;
    bool usual = block->pointer == CODE_CACHE_POINTER && block->scratch == CODE_CACHE_SCRATCH;
    if (!usual) {
        block->indirect = emitter->at;
        emit_restore(emitter, CODE_CACHE_POINTER, 8 * CODE_CACHE_POINTER);
        emit_restore(emitter, CODE_CACHE_SCRATCH, 8 * CODE_CACHE_SCRATCH);
    }
    block->code = emitter->at;
    emit_save(emitter, 8u * block->pointer, block->pointer);
    emit_save(emitter, 8u * block->scratch, block->scratch);
    if (usual)
        block->indirect = emitter->at;
    emit_restore(emitter, block->pointer, EXEC_THREAD_POINTER);
    block->inner = emitter->at;
}

static void note_pc(struct translator *translator, struct pc_map_entry *entry,
                    const struct decode_instruction *instruction)
{
    entry->traced = translate_offset(translator);
    entry->records = (uint16_t)translator->record_count;
    entry->specials = (uint16_t)translator->special_count;
    entry->repeated = instruction->repeated;
    entry->offset = (uint32_t)(instruction->address - translator->block->address);
}

/* The prefix 0x64 or rdfsbase. Other bytes of the same values are false positives. */
static bool may_use_fs(const struct decode_instruction *instruction)
{
    return memchr(instruction->bytes, 0x64, instruction->size) ||
           memchr(instruction->bytes, 0xae, instruction->size);
}

/* Counts down the turn without changing flags: the upper half of the turn is 0, or -1 if the turn
 * is below 0. It indexes a load, which faults at the fence if it is -1. */
static void emit_count(struct translator *translator)
{
    struct emitter *emitter = &translator->emitter;
    uint8_t scratch = translator->block->scratch;
    int32_t count = 0;
    for (unsigned i = 0; i < translator->count; i++)
        count += is_executed(&translator->instructions[i]);
    const struct emit_memory less = {
        .base = scratch, .index = DECODE_NONE, .scale = 1, .displacement = -count};
    const struct emit_memory upper = {.base = DECODE_NONE,
                                      .index = DECODE_NONE,
                                      .scale = 1,
                                      .displacement = EXEC_THREAD_TURN + 4};
    const struct emit_memory fence = {
        .base = DECODE_NONE, .index = scratch, .scale = 8, .displacement = 0};
    if (!translator->counts_turns || count == 0)
        return;
    emit_restore(emitter, scratch, EXEC_THREAD_TURN);
    emit_lea(emitter, scratch, &less);
    emit_save(emitter, EXEC_THREAD_TURN, scratch);
    emit8(emitter, 0x65);
    emit_with_memory(emitter, 0x63, true, scratch, &upper); /* movsxd */
    emit8(emitter, 0x65);
    emit_with_memory(emitter, 0x8b, false, scratch, &fence);
}

/* Emits all instructions and the exits. */
static bool emit_block(struct translator *translator, bool arrives)
{
    struct block *block = translator->block;
    if (translator->trace == EXEC_TRACE_NONE)
        emit_untraced_entries(translator, arrives);
    else
        emit_entries(translator);
    block->saves_x87 = translator->instructions[0].saves_x87;
    if ((block->verify_code && !translate_verify_code(translator)) ||
        (block->saves_x87 && !translate_check_x87(translator)))
        return false;
    emit_count(translator);
    translate_trace_begin(translator);
    for (unsigned i = 0; i < translator->count; i++) {
        const struct decode_instruction *instruction = &translator->instructions[i];
        struct pc_map_entry *entry = &translator->pc_map[i];
        uint64_t end = instruction->address + instruction->size;
        bool last = i + 1 == translator->count;
        note_pc(translator, entry, instruction);
        if (is_executed(instruction)) {
            translate_trace_before(translator, instruction);
            block->instructions++;
        }
        block->vector |= instruction->vector;
        block->beyond_sse |= instruction->vector && !legacy_sse(instruction);
        block->fs |= may_use_fs(instruction);
        block->ending = instruction->kind;
        entry->code = translate_offset(translator);
        if (!decode_ends_block(instruction)) {
            emit_verbatim(&translator->emitter, instruction);
            entry->end = translate_offset(translator);
            translate_trace_after(translator, instruction);
        }
        if (last && !translate_end(translator, instruction, entry, end))
            return false;
        block->size = (uint32_t)(end - block->address);
    }
    block->slots = (uint16_t)translator->slots;
    block->pc_map_count = (uint16_t)translator->count;
    return !translator->emitter.full;
}

/* Copies metadata into the cache. */
static void *copy(struct code_cache *cache, const void *from, unsigned count, size_t size)
{
    void *to = code_cache_allocate(cache, count * size);
    return to ? memcpy(to, from, count * size) : NULL;
}

static bool keep_knowledge(struct translator *translator)
{
    struct block *block = translator->block;
    struct code_cache *cache = translator->cache;
    block->record_count = (uint16_t)translator->record_count;
    block->patch_count = (uint16_t)translator->patch_count;
    block->through_fs_count = (uint16_t)translator->through_fs_count;
    block->special_count = (uint16_t)translator->special_count;
    block->outcome_count = (uint16_t)translator->outcome_count;
    block->value_count = (uint16_t)translator->value_count;
    block->records =
        copy(cache, translator->records, translator->record_count, sizeof(struct record));
    block->patches =
        copy(cache, translator->patches, translator->patch_count, sizeof(struct patch));
    block->through_fs =
        copy(cache, translator->through_fs, translator->through_fs_count, sizeof(uint16_t));
    block->specials =
        copy(cache, translator->specials, translator->special_count, sizeof(struct special));
    block->pc_map = copy(cache, translator->pc_map, translator->count, sizeof(struct pc_map_entry));
    block->outcomes =
        copy(cache, translator->outcomes, translator->outcome_count, sizeof(struct outcome_slot));
    block->values =
        copy(cache, translator->values, translator->value_count, sizeof(struct value_slot));
    return block->records && block->patches && block->through_fs && block->specials &&
           block->outcomes && block->values && block->pc_map;
}

/* Keeps the code of the current block. */
static struct block *keep_block(struct translator *translator)
{
    translator->block->code_end = translator->emitter.at;
    code_cache_keep(translator->cache, translator->emitter.at);
    return translator->block;
}

struct block *translate(struct translator *translator, uint64_t address, unsigned limit,
                        const struct block *before)
{
    struct code_cache *cache = translator->cache;
    struct block *block = code_cache_allocate(cache, sizeof *block);
    struct emitter *emitter = &translator->emitter;
    emitter->at = code_cache_room(cache, &emitter->end);
    emitter->full = false;
    if (!block || (size_t)(emitter->end - emitter->at) < ROOM ||
        code_cache_add_block(cache, block) != 0)
        return NULL;
    block->address = address;
    translator->block = block;
    translator->pushed = NULL;
    translator->begin = emitter->at;
    translator->stubs = NULL;
    translator->relocation_count = 0;
    block->pointer = block->scratch = DECODE_NONE;
    block->code = block->code_end = emitter->end; /* valid if the rest fails */
    const bool whole = limit == 0 && !translator->traps_clock;
    const int restored = whole ? translate_from_store(translator) : 0;
    if (restored != 0)
        return restored > 0 ? keep_block(translator) : NULL;
    block->verify_code = may_change_unseen(translator, address);
    if (limit == 0 || limit > CODE_CACHE_INSTRUCTIONS)
        limit = CODE_CACHE_INSTRUCTIONS;
    const unsigned used = gather(translator, address, limit);
    if (needs_registers(translator, block))
        choose_registers(block, used, before);
    if (!emit_block(translator, !before) || !keep_knowledge(translator))
        return NULL;
    keep_block(translator);
    if (whole)
        translate_store(translator);
    return block;
}
