#include "capture/exec/aria/not_taken_internal.h"

#include "capture/exec/aria/define.h"
#include "capture/exec/dispatch/far_branch.h"
#include "capture/exec/dispatch/privileged.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/translate/emit.h"

#include <Zydis/Zydis.h>
#include <signal.h>
#include <string.h>

#define ROOM 8192u /* upper bound of the code of a block, in bytes */

#define GS              0x65u
#define REX             0x40u
#define MOVE_TO_SEGMENT 0x8eu
#define REX_W_AND_R     0x4cu
#define NOT_INDEX       0x40u /* of VEX, EVEX and XOP: no index beyond the first eight registers */
#define SIB             4u    /* as rm: a SIB byte follows */
#define SIB_NONE        0x25u /* neither base nor index */
#define SIB_INDEX       0x38u

/* --- choosing the action -----------------------------------------------------------------------
 */

/* Instructions that wait, access more than memory and registers, or change what no state contains.
 */
static bool is_forbidden(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_WRPKRU:
    case ZYDIS_MNEMONIC_ENCLU:
    case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_VMMCALL:
    case ZYDIS_MNEMONIC_VMFUNC:
    case ZYDIS_MNEMONIC_UMONITOR:
    case ZYDIS_MNEMONIC_UMWAIT:
    case ZYDIS_MNEMONIC_TPAUSE:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_CLZERO:
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_ENQCMD:
    case ZYDIS_MNEMONIC_SENDUIPI:
    case ZYDIS_MNEMONIC_CLUI:
    case ZYDIS_MNEMONIC_STUI:
    case ZYDIS_MNEMONIC_TESTUI:
        return true;
    default:
        break;
    }
    switch (instruction->meta.isa_ext) {
    case ZYDIS_ISA_EXT_AMX_BF16:
    case ZYDIS_ISA_EXT_AMX_INT8:
    case ZYDIS_ISA_EXT_AMX_TILE:
        return true;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_PADLOCK ||
               instruction->meta.category == ZYDIS_CATEGORY_AMX_TILE;
    }
}

/* Port access and privileged instructions: a general protection fault. */
static bool is_protected(const ZydisDecodedInstruction *instruction)
{
    return instruction->meta.category == ZYDIS_CATEGORY_IO ||
           instruction->meta.category == ZYDIS_CATEGORY_IOSTRINGOP ||
           instruction->mnemonic == ZYDIS_MNEMONIC_CLI ||
           instruction->mnemonic == ZYDIS_MNEMONIC_STI ||
           (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED);
}

/* Instructions with implicit memory operands, and other emulated ones; NATIVE: neither. */
static enum not_taken_action action_of_mnemonic(const ZydisDecodedInstruction *instruction,
                                                const struct decode_instruction *decoded)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
        return NOT_TAKEN_PUSH;
    case ZYDIS_MNEMONIC_POP:
        return NOT_TAKEN_POP;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
        return NOT_TAKEN_POP_FLAGS;
    case ZYDIS_MNEMONIC_ENTER:
        return NOT_TAKEN_ENTER;
    case ZYDIS_MNEMONIC_LEAVE:
        return NOT_TAKEN_LEAVE;
    case ZYDIS_MNEMONIC_XLAT:
        return NOT_TAKEN_LOAD_A;
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        return NOT_TAKEN_RESTORE;
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        return NOT_TAKEN_SAVE;
    case ZYDIS_MNEMONIC_MASKMOVQ:
        return NOT_TAKEN_SCRATCH;
    default:
        break;
    }
    if (instruction->meta.category == ZYDIS_CATEGORY_STRINGOP)
        return NOT_TAKEN_STRING;
    return decoded->access_count > 0 && decoded->accesses[0].form == DECODE_BITS ? NOT_TAKEN_BIT
                                                                                 : NOT_TAKEN_NATIVE;
}

/* Chooses by the operands: none in memory, one of ModRM, or an implicit one. */
static enum not_taken_action action_of_operands(const ZydisDecodedInstruction *instruction,
                                                const struct decode_instruction *decoded)
{
    bool has_operand = (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
                       instruction->raw.modrm.mod != 3 &&
                       instruction->mnemonic != ZYDIS_MNEMONIC_LEA;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV && !has_operand && decoded->access_count == 1)
        return decoded->accesses[0].read ? NOT_TAKEN_LOAD_A : NOT_TAKEN_NOTHING;
    if (!has_operand)
        return decoded->access_count > 0 ? NOT_TAKEN_NOTHING : NOT_TAKEN_NATIVE;
    if (decoded->access_count > 0 && (decoded->accesses[0].form == DECODE_GATHER ||
                                      decoded->accesses[0].form == DECODE_GATHER_VECTOR))
        return NOT_TAKEN_GATHER;
    /* prefetches of gathers */
    if (decoded->access_count == 0 && (instruction->meta.category == ZYDIS_CATEGORY_GATHER ||
                                       instruction->meta.category == ZYDIS_CATEGORY_SCATTER))
        return NOT_TAKEN_NOTHING;
    return NOT_TAKEN_SCRATCH;
}

static enum not_taken_action action_of_trap(struct not_taken_instruction *instruction)
{
    switch (instruction->decoded.mnemonic) {
    case 0:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_UIRET:
        return NOT_TAKEN_NOTHING;
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
        instruction->signal = SIGTRAP;
        return NOT_TAKEN_SIGNAL;
    default:
        instruction->signal = privileged_is_invalid(&instruction->decoded) ? SIGILL : SIGSEGV;
        return NOT_TAKEN_SIGNAL;
    }
}

static enum not_taken_action action_of_emulated(const struct decode_instruction *known)
{
    if (far_branch_is(known))
        return NOT_TAKEN_FAR;
    switch (known->mnemonic) {
    case ZYDIS_MNEMONIC_XBEGIN:
        return NOT_TAKEN_ABORT;
    case ZYDIS_MNEMONIC_WRFSBASE:
        return NOT_TAKEN_FS_BASE;
    case ZYDIS_MNEMONIC_RDGSBASE:
        return NOT_TAKEN_GS_BASE;
    default:
        return NOT_TAKEN_NOTHING;
    }
}

static enum not_taken_action action_of(struct not_taken_instruction *instruction,
                                       const ZydisDecodedInstruction *decoded)
{
    const struct decode_instruction *known = &instruction->decoded;
    switch (known->kind) {
    case DECODE_TRAP:
        return action_of_trap(instruction);
    case DECODE_REFUSED:
        instruction->decoded.access_count = 0;
        return NOT_TAKEN_NOTHING;
    case DECODE_SYSTEM_CALL:
        return NOT_TAKEN_SYSTEM_CALL;
    case DECODE_EMULATED:
        return action_of_emulated(known);
    case DECODE_STRAIGHT:
        break;
    default:
        return NOT_TAKEN_BRANCH;
    }
    if (is_protected(decoded)) {
        instruction->signal = SIGSEGV;
        return NOT_TAKEN_SIGNAL;
    }
    if (is_forbidden(decoded) ||
        (decoded->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && decoded->opcode == MOVE_TO_SEGMENT))
        return NOT_TAKEN_NOTHING;
    enum not_taken_action action = action_of_mnemonic(decoded, known);
    return action == NOT_TAKEN_NATIVE ? action_of_operands(decoded, known) : action;
}

/* --- code --------------------------------------------------------------------------------------
 */

static bool is_prefix(uint8_t byte)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
                                       0x36, 0x3e, 0x26, 0x64, 0x65};
    return (byte & 0xf0) == REX || memchr(prefixes, byte, sizeof prefixes) != NULL;
}

/* Copies the mandatory prefixes; returns the size of all prefixes. */
static unsigned emit_prefixes(struct emitter *emitter, const uint8_t *bytes)
{
    unsigned count = 0;
    uint8_t repeat = 0, rex = 0;
    bool narrow = false;
    for (; is_prefix(bytes[count]); count++) {
        narrow |= bytes[count] == 0x66;
        if (bytes[count] == 0xf2 || bytes[count] == 0xf3)
            repeat = bytes[count];
        rex = (bytes[count] & 0xf0) == REX ? bytes[count] : 0;
    }
    emit8(emitter, GS);
    if (narrow)
        emit8(emitter, 0x66);
    if (repeat)
        emit8(emitter, repeat);
    if (rex)
        emit8(emitter, rex & REX_W_AND_R);
    return count;
}

static unsigned operand_bytes(const uint8_t *modrm)
{
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    bool sib = rm == SIB;
    bool whole = mod == 2 || (mod == 0 && (rm == 5 || (sib && (modrm[1] & 7) == 5)));
    return 1u + sib + (whole ? 4 : mod == 1 ? 1 : 0);
}

/* Emits the instruction with the scratch area as its operand; the index of a gather is in bytes. */
static void emit_on_scratch(struct emitter *emitter, const struct decode_instruction *decoded,
                            unsigned modrm_at, bool gather)
{
    uint8_t bytes[DECODE_BYTES_MAX + 8] = {0};
    memcpy(bytes, decoded->bytes, decoded->size);
    unsigned at = emit_prefixes(emitter, bytes);
    const uint8_t *modrm = bytes + modrm_at;
    unsigned after = modrm_at + operand_bytes(modrm);
    if (!gather && (bytes[at] == 0xc4 || bytes[at] == 0x62 || bytes[at] == 0x8f) &&
        modrm_at > at + 2)
        bytes[at + 1] |= NOT_INDEX;
    emit_bytes(emitter, bytes + at, modrm_at - at);
    emit8(emitter, (uint8_t)((modrm[0] & 0x38) | SIB));
    emit8(emitter, gather ? (uint8_t)((modrm[1] & SIB_INDEX) | 5) : SIB_NONE);
    emit32(emitter, (uint32_t)offsetof(struct exec_thread, scratch));
    emit_bytes(emitter, bytes + after, decoded->size - after);
}

/* Emits lea of an address that emit_verbatim() cannot encode: a constant. */
static void emit_constant_lea(struct emitter *emitter, const struct decode_instruction *decoded,
                              const ZydisDecodedInstruction *raw)
{
    uint8_t reg = (uint8_t)(raw->raw.modrm.reg | (raw->raw.rex.R ? 8 : 0));
    uint64_t value = decoded->address + decoded->size + (uint64_t)raw->raw.disp.value;
    if (raw->address_width == 32)
        value = (uint32_t)value;
    if (raw->operand_width == 16) {
        emit8(emitter, 0x66);
        emit8(emitter, (uint8_t)(REX | (reg >> 3)));
        emit8(emitter, (uint8_t)(0xb8 | (reg & 7)));
        emit_bytes(emitter, (const uint8_t *)&value, 2);
    } else {
        emit_constant(emitter, reg, raw->operand_width == 32 ? (uint32_t)value : value);
    }
}

static bool is_native(enum not_taken_action action)
{
    return action == NOT_TAKEN_NATIVE || action == NOT_TAKEN_SCRATCH ||
           action == NOT_TAKEN_GATHER || action == NOT_TAKEN_RESTORE || action == NOT_TAKEN_SAVE;
}

static void emit_one(struct emitter *emitter, const struct not_taken_instruction *instruction,
                     const ZydisDecodedInstruction *raw)
{
    const struct decode_instruction *decoded = &instruction->decoded;
    if (raw->mnemonic == ZYDIS_MNEMONIC_MASKMOVQ) { /* also switches from x87 to MMX */
        const uint8_t modrm = decoded->bytes[decoded->size - 1];
        const uint8_t store_mmx[] = {GS, 0x0f, 0x7f, (uint8_t)((modrm & 0x38) | SIB), SIB_NONE};
        emit_bytes(emitter, store_mmx, sizeof store_mmx); /* movq [scratch], mm */
        emit32(emitter, (uint32_t)offsetof(struct exec_thread, scratch));
    } else if (instruction->action != NOT_TAKEN_NATIVE) {
        emit_on_scratch(emitter, decoded, raw->raw.modrm.offset,
                        instruction->action == NOT_TAKEN_GATHER);
    } else if (raw->mnemonic == ZYDIS_MNEMONIC_LEA && decoded->rip_displacement) {
        emit_constant_lea(emitter, decoded, raw);
    } else {
        emit_bytes(emitter, decoded->bytes, decoded->size);
    }
}

static void emit_leave(struct emitter *emitter, const struct code_cache *cache)
{
    emit_save32_constant(emitter, EXEC_THREAD_EXIT, 0);
    emit_jump(emitter, code_cache_leave(cache));
}

/* --- blocks ------------------------------------------------------------------------------------
 */

/* The decoded instructions of a block, before it is allocated. */
struct gathered_code {
    struct not_taken_instruction instructions[CODE_CACHE_INSTRUCTIONS];
    ZydisDecodedInstruction raw[CODE_CACHE_INSTRUCTIONS];
    struct pc_map_entry pc_map[CODE_CACHE_INSTRUCTIONS];
    unsigned count;
};

static void decode_one(struct not_taken_instruction *instruction, ZydisDecodedInstruction *raw,
                       const uint8_t *bytes, uint64_t address, size_t readable)
{
    ZydisDecoder decoder;
    *instruction = (struct not_taken_instruction){.action = NOT_TAKEN_NOTHING};
    decode(&instruction->decoded, bytes, readable, address);
    memset(raw, 0, sizeof *raw);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (instruction->decoded.mnemonic != 0)
        ZydisDecoderDecodeInstruction(&decoder, NULL, instruction->decoded.bytes,
                                      instruction->decoded.size, raw);
    instruction->action = (uint8_t)action_of(instruction, raw);
    instruction->vector = instruction->decoded.vector || instruction->action == NOT_TAKEN_SAVE;
}

static bool ends(const struct not_taken_instruction *instruction)
{
    return instruction->action == NOT_TAKEN_BRANCH || instruction->action == NOT_TAKEN_ABORT ||
           instruction->action == NOT_TAKEN_FAR || instruction->action == NOT_TAKEN_SYSTEM_CALL ||
           instruction->action == NOT_TAKEN_SIGNAL;
}

/* Runs of native instructions, from the last to the first. */
static void find_runs(struct gathered_code *work)
{
    for (unsigned i = work->count; i-- > 0;) {
        struct not_taken_instruction *instruction = &work->instructions[i];
        const struct not_taken_instruction *next = instruction + 1;
        instruction->run = 1;
        if (instruction->action == NOT_TAKEN_NATIVE && i + 1 < work->count &&
            next->action == NOT_TAKEN_NATIVE) {
            instruction->run = (uint8_t)(next->run + 1);
            instruction->vector |= next->vector;
        }
    }
}

/* New instructions take precedence. */
static void decode_any(const struct not_taken *not_taken, struct not_taken_instruction *instruction,
                       ZydisDecodedInstruction *raw, uint64_t address, size_t readable)
{
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)address;
    struct definitions *definitions = not_taken->aria->definitions;
    unsigned size = definitions ? definitions_find(definitions, bytes, readable) : 0;
    if (size == 0) {
        decode_one(instruction, raw, bytes, address, readable);
        return;
    }
    *instruction = (struct not_taken_instruction){
        .action = NOT_TAKEN_DEFINED,
        .decoded = {.address = address, .size = (uint8_t)size, .kind = DECODE_DEFINED}};
}

static void gather(struct not_taken *not_taken, struct gathered_code *work, uint64_t address,
                   uint64_t limit)
{
    const struct executor *taken = not_taken->aria->process->executor;
    size_t readable = 0;
    work->count = 0;
    while (work->count < CODE_CACHE_INSTRUCTIONS && work->count < limit) {
        struct not_taken_instruction *instruction = &work->instructions[work->count];
        if (readable < DECODE_BYTES_MAX)
            readable = executor_readable(taken, address);
        if (readable == 0)
            break;
        decode_any(not_taken, instruction, &work->raw[work->count++], address, readable);
        address += instruction->decoded.size;
        readable -= instruction->decoded.size;
        if (ends(instruction))
            break;
    }
    find_runs(work);
}

static void emit_all(struct gathered_code *work, struct emitter *emitter,
                     const struct code_cache *cache, const uint8_t *begin, uint64_t address)
{
    for (unsigned i = 0; i < work->count; i++) {
        const struct not_taken_instruction *instruction = &work->instructions[i];
        bool native = is_native((enum not_taken_action)instruction->action);
        struct pc_map_entry *entry = &work->pc_map[i];
        *entry =
            (struct pc_map_entry){.traced = (uint16_t)(emitter->at - begin),
                                  .offset = (uint32_t)(instruction->decoded.address - address)};
        entry->code = entry->traced;
        if (native)
            emit_one(emitter, instruction, &work->raw[i]);
        entry->end = (uint16_t)(emitter->at - begin);
        if (native && instruction->run == 1)
            emit_leave(emitter, cache);
    }
}

static struct not_taken_block *make(struct not_taken *not_taken, struct gathered_code *work,
                                    uint64_t address)
{
    struct code_cache *cache = executor_cache(not_taken->executor);
    struct not_taken_block *made = code_cache_allocate(cache, sizeof *made);
    size_t bytes = work->count * sizeof *work->pc_map;
    size_t instructions = work->count * sizeof *work->instructions;
    struct emitter emitter = {.full = false};
    emitter.at = code_cache_room(cache, &emitter.end);
    if (!made || (size_t)(emitter.end - emitter.at) < ROOM)
        return NULL;
    made->block = (struct block){.address = address,
                                 .pointer = DECODE_NONE,
                                 .scratch = DECODE_NONE,
                                 .code = emitter.at,
                                 .code_end = emitter.end,
                                 .pc_map_count = (uint16_t)work->count};
    made->block.pc_map = code_cache_allocate(cache, bytes);
    made->instructions = code_cache_allocate(cache, instructions);
    if (!made->block.pc_map || !made->instructions ||
        code_cache_add_block(cache, &made->block) != 0)
        return NULL;
    emit_all(work, &emitter, cache, made->block.code, address);
    memcpy(made->block.pc_map, work->pc_map, bytes);
    memcpy(made->instructions, work->instructions, instructions);
    made->count = work->count;
    const struct decode_instruction *last = &made->instructions[made->count - 1].decoded;
    made->block.size = (uint32_t)(last->address + last->size - address);
    made->block.code_end = emitter.at;
    code_cache_keep(cache, emitter.at);
    return made;
}

/* Whether code that may change undetected still equals the block's. Undecodable bytes count as
 * changed: the block has only the first one of them. */
static bool is_as_it_was(const struct not_taken_block *block)
{
    for (unsigned i = 0; block->block.verify_code && i < block->count; i++) {
        const struct decode_instruction *decoded = &block->instructions[i].decoded;
        uint8_t bytes[DECODE_BYTES_MAX];
        if (decoded->mnemonic == 0 ||
            exec_copy(bytes, (const void *)(uintptr_t)decoded->address, decoded->size) != 0 ||
            memcmp(decoded->bytes, bytes, decoded->size) != 0)
            return false;
    }
    return true;
}

/* Whether code of the block may change undetected. */
static bool may_change_unseen(const struct not_taken *not_taken, const struct block *block)
{
    const struct executor_settings *code = &not_taken->aria->process->executor->settings;
    exec_unseen_function *unseen = code->operations->unseen;
    return unseen && (unseen(code->context, block->address) ||
                      unseen(code->context, block->address + block->size - 1));
}

static unsigned hash_of(uint64_t address)
{
    return (unsigned)(address ^ address >> 14) % NOT_TAKEN_HASH;
}

struct not_taken_block *not_taken_block(struct not_taken *not_taken, uint64_t address,
                                        uint64_t limit)
{
    struct not_taken_block **first = &not_taken->blocks[hash_of(address)];
    for (struct not_taken_block *block = *first; block; block = block->next)
        if (block->block.address == address &&
            (block->cut ? block->count == limit : block->count <= limit)) {
            if (is_as_it_was(block))
                return block;
            not_taken_invalidate(not_taken, address, address + block->block.size);
            break;
        }
    struct gathered_code work;
    gather(not_taken, &work, address, limit);
    if (work.count == 0)
        return NULL;
    struct not_taken_block *block = make(not_taken, &work, address);
    if (!block) {
        code_cache_flush(executor_cache(not_taken->executor));
        memset(not_taken->blocks, 0, sizeof not_taken->blocks);
        if (!(block = make(not_taken, &work, address)))
            return NULL;
    }
    block->block.verify_code = may_change_unseen(not_taken, &block->block);
    block->cut = block->count == limit && limit < CODE_CACHE_INSTRUCTIONS &&
                 !ends(&block->instructions[block->count - 1]);
    block->next = *first;
    *first = block;
    return block;
}

void not_taken_invalidate(struct not_taken *not_taken, uint64_t begin, uint64_t end)
{
    for (unsigned i = 0; i < NOT_TAKEN_HASH; i++)
        for (struct not_taken_block **at = &not_taken->blocks[i]; *at;) {
            const struct block *block = &(*at)->block;
            if (block->address < end && block->address + block->size > begin)
                *at = (*at)->next;
            else
                at = &(*at)->next;
        }
}

/* --- native sequences of new instructions ------------------------------------------------------
 */

static const char *refuse(const struct not_taken_instruction *instruction)
{
    const struct decode_instruction *decoded = &instruction->decoded;
    unsigned registers = (unsigned)decoded->registers_read | decoded->registers_written;
    if (decoded->adjusted != DECODE_NONE)
        registers |= 1u << decoded->adjusted;
    if (decoded->mnemonic == 0)
        return "has bytes that are not an instruction";
    if (instruction->action == NOT_TAKEN_BRANCH)
        return "has a branch";
    if (decoded->rip_displacement)
        return "depends on its own address";
    if (decoded->access_count > 0)
        return "uses memory";
    if (registers >> DECODE_RSP & 1)
        return "uses rsp";
    return instruction->action == NOT_TAKEN_NATIVE ? NULL
                                                   : "has an instruction that is not allowed";
}

struct not_taken_block *not_taken_compile(struct not_taken *not_taken, const uint8_t *bytes,
                                          size_t size, const char **why)
{
    struct gathered_code work;
    size_t at = 0;
    *why = size ? NULL : "is empty";
    work.count = 0;
    while (at < size && !*why) {
        struct not_taken_instruction *instruction = &work.instructions[work.count];
        decode_one(instruction, &work.raw[work.count], bytes + at, at, size - at);
        at += instruction->decoded.size;
        *why = refuse(instruction);
        if (++work.count == CODE_CACHE_INSTRUCTIONS && at < size && !*why)
            *why = "is too long";
    }
    if (*why)
        return NULL;
    find_runs(&work);
    *why = "does not fit the code cache";
    return make(not_taken, &work, 0);
}
