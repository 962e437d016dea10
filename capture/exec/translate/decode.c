#include "capture/exec/translate/decode.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define FRAMES       32u    /* enter takes its level modulo this */
#define REX          0x40u  /* and 15 more */
#define STATUS_FLAGS 0x8d5u /* CF, PF, AF, ZF, SF, OF */
#define REPEATS      (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)
#define OPERANDS_MIN 3u /* operands that are read without checking operand_count */

/* rax, rcx, rdx, rbx, rbp, rsi and rdi: parameters and results of hypervisors. */
#define REGISTERS_ELSEWHERE 0xefu

/* An instruction as Zydis decodes it. */
struct decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Whether a register is between first and last; *number is then its number, counted from `from`. */
static bool is_among(ZydisRegister name, ZydisRegister first, ZydisRegister last, unsigned from,
                     uint8_t *number)
{
    if (name < first || name > last)
        return false;
    *number = (uint8_t)(from + (unsigned)(name - first));
    return true;
}

/* The general register that a name denotes, in whole or in part; else DECODE_NONE. Called several
 * times for each instruction, and so without calls of Zydis; its names are in encoding order. */
static uint8_t general_number(ZydisRegister name)
{
    uint8_t number = DECODE_NONE;
    if (name <= ZYDIS_REGISTER_NONE || name > ZYDIS_REGISTER_R15 ||
        is_among(name, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, 0, &number) ||
        is_among(name, ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, 0, &number) ||
        is_among(name, ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, 0, &number) ||
        is_among(name, ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, 0, &number) ||
        is_among(name, ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, 0, &number))
        return number;
    is_among(name, ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, DECODE_RSP, &number);
    return number;
}

static bool is_vector_register(ZydisRegister name)
{
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return true;
    default:
        return false;
    }
}

static bool writes(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

static bool reads(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}

/* --- control flow ------------------------------------------------------------------------------
 */

static bool is_through_gs(const struct decoded *decoded)
{
    for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && operand->mem.segment == ZYDIS_REGISTER_GS)
            return true;
    }
    return false;
}

static bool loads_segment(const struct decoded *decoded)
{
    for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && writes(operand) &&
            ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return true;
    }
    return false;
}

/* Loads of ds, es and ss have no effect; loads of fs and gs also set their bases. */
static uint8_t kind_of_load(const struct decoded *decoded)
{
    const ZydisDecodedOperand *operands = decoded->operands;
    if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_MOV)
        return DECODE_REFUSED;
    if (operands[0].reg.value != ZYDIS_REGISTER_FS && operands[0].reg.value != ZYDIS_REGISTER_GS)
        return DECODE_STRAIGHT;
    return operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? DECODE_EMULATED : DECODE_REFUSED;
}

static uint8_t kind_of_branch(const struct decoded *decoded)
{
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    bool direct = decoded->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return DECODE_EMULATED;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return direct ? DECODE_CALL : DECODE_CALL_INDIRECT;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct ? DECODE_JUMP : DECODE_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_COND_BR:
        return DECODE_CONDITIONAL;
    case ZYDIS_CATEGORY_RET:
        return DECODE_RETURN;
    default:
        return DECODE_REFUSED;
    }
}

static uint8_t kind_of(const struct decoded *decoded)
{
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
        return DECODE_SYSTEM_CALL;
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_RDGSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_XBEGIN:
        return DECODE_EMULATED;
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_UIRET: /* user interrupts are not enabled */
        return DECODE_TRAP;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_SYSENTER:
        return DECODE_REFUSED;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
        return DECODE_EMULATED;
    case ZYDIS_MNEMONIC_XABORT: /* outside of a transaction it does nothing */
        return DECODE_STRAIGHT;
    default:
        break;
    }
    if (decoded->instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
        return DECODE_TRAP;
    if (loads_segment(decoded))
        return kind_of_load(decoded);
    if (decoded->instruction.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
        return kind_of_branch(decoded);
    return DECODE_STRAIGHT;
}

/* --- registers and flags -----------------------------------------------------------------------
 */

static bool is_vector_extension(ZydisISAExt extension)
{
    switch (extension) {
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_AMD3DNOW:
    case ZYDIS_ISA_EXT_AMX_BF16:
    case ZYDIS_ISA_EXT_AMX_INT8:
    case ZYDIS_ISA_EXT_AMX_TILE:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
    case ZYDIS_ISA_EXT_AVXAES:
    case ZYDIS_ISA_EXT_AVX_VNNI:
    case ZYDIS_ISA_EXT_F16C:
    case ZYDIS_ISA_EXT_FMA:
    case ZYDIS_ISA_EXT_FMA4:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_KEYLOCKER:
    case ZYDIS_ISA_EXT_KEYLOCKER_WIDE:
    case ZYDIS_ISA_EXT_MMX:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSE4A:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_VAES:
    case ZYDIS_ISA_EXT_VPCLMULQDQ:
    case ZYDIS_ISA_EXT_X87:
    case ZYDIS_ISA_EXT_XOP:
    case ZYDIS_ISA_EXT_XSAVE:
    case ZYDIS_ISA_EXT_XSAVEC:
    case ZYDIS_ISA_EXT_XSAVEOPT:
    case ZYDIS_ISA_EXT_XSAVES:
        return true;
    default:
        return false;
    }
}

/* Instructions of vector extensions that use no vector registers. */
static bool is_general(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_CRC32:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_POPCNT:
    case ZYDIS_MNEMONIC_SFENCE:
        return true;
    default:
        return instruction->meta.category == ZYDIS_CATEGORY_PREFETCH;
    }
}

static void note_general(uint16_t *registers, ZydisRegister name)
{
    uint8_t number = general_number(name);
    if (number != DECODE_NONE)
        *registers |= (uint16_t)(1u << number);
}

/* Whether the destination, or a part of it, may be unchanged although Zydis reports a write. */
static bool may_keep_destination(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_BSF: /* of 0 */
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_LZCNT: /* older processors execute them as bsr and bsf */
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_RDSSPD: /* no-ops without a shadow stack */
    case ZYDIS_MNEMONIC_RDSSPQ:
    case ZYDIS_MNEMONIC_SLDT: /* Linux' emulation writes 16 bits only */
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR:
        return true;
    default:
        return false;
    }
}

/* Shifts by 0 and string instructions with rcx = 0 leave all flags unchanged. */
static bool may_keep_flags(const ZydisDecodedInstruction *instruction)
{
    return instruction->meta.category == ZYDIS_CATEGORY_SHIFT ||
           instruction->meta.category == ZYDIS_CATEGORY_ROTATE ||
           (instruction->attributes & REPEATS) || may_keep_destination(instruction->mnemonic);
}

static void find_flags(struct decode_instruction *instruction, const struct decoded *decoded)
{
    const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;
    if (!flags)
        return;
    instruction->flags_written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
    instruction->flags_read = flags->tested | flags->undefined;
    if (may_keep_flags(&decoded->instruction))
        instruction->flags_read |= instruction->flags_written;
}

/* Whether a hypervisor, an enclave or a device executes it, using general registers that Zydis does
 * not report, or not completely. */
static bool is_done_elsewhere(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_PADLOCK:
        return true;
    default:
        return instruction->mnemonic == ZYDIS_MNEMONIC_VMCALL ||
               instruction->mnemonic == ZYDIS_MNEMONIC_VMMCALL ||
               instruction->mnemonic == ZYDIS_MNEMONIC_ENCLU;
    }
}

/* Adds registers and flags that Zydis 4.0 omits. */
static void add_implicit(struct decode_instruction *instruction, const struct decoded *decoded)
{
    unsigned changed = 0;
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
        instruction->registers_read |= 1u << DECODE_RAX;
        break;
    case ZYDIS_MNEMONIC_MWAITX: /* the time */
        instruction->registers_read |= 1u << DECODE_RBX;
        break;
    case ZYDIS_MNEMONIC_PAUSE: /* with REX.B it is xchg r8, rax */
        if (decoded->instruction.raw.rex.B)
            changed = 1u << DECODE_RAX | 1u << DECODE_R8;
        break;
    case ZYDIS_MNEMONIC_VPTEST:
    case ZYDIS_MNEMONIC_VTESTPD:
    case ZYDIS_MNEMONIC_VTESTPS:
        instruction->flags_written |= STATUS_FLAGS;
        break;
    default:
        if (is_done_elsewhere(&decoded->instruction))
            changed = REGISTERS_ELSEWHERE;
        break;
    }
    instruction->registers_read |= (uint16_t)changed;
    instruction->registers_written |= (uint16_t)changed;
}

static void find_registers(struct decode_instruction *instruction, const struct decoded *decoded)
{
    /* string instructions change their pointers; Zydis 4.0 omits that for scas and cmps */
    bool moves = decoded->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
    bool keeps = may_keep_destination(decoded->instruction.mnemonic);
    instruction->vector = is_vector_extension(decoded->instruction.meta.isa_ext) &&
                          !is_general(&decoded->instruction);
    for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            note_general(&instruction->registers_read, operand->mem.base);
            note_general(&instruction->registers_read, operand->mem.index);
            if (moves)
                note_general(&instruction->registers_written, operand->mem.base);
        }
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if (is_vector_register(operand->reg.value))
            instruction->vector = true;
        if (writes(operand))
            note_general(&instruction->registers_written, operand->reg.value);
        /* a partial or conditional write keeps the rest of the register */
        if (reads(operand) || operand->size < 32 || keeps ||
            (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE))
            note_general(&instruction->registers_read, operand->reg.value);
    }
    find_flags(instruction, decoded);
    add_implicit(instruction, decoded);
}

/* Registers changed by a constant: later addresses from them follow from earlier entries. */
static void find_adjustment(struct decode_instruction *instruction, const struct decoded *decoded)
{
    const ZydisDecodedOperand *operands = decoded->operands;
    uint8_t first = operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER
                        ? general_number(operands[0].reg.value)
                        : DECODE_NONE;
    bool whole = first != DECODE_NONE && operands[0].size == 64;
    bool constant = operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    uint8_t number = DECODE_NONE;
    int64_t by = 0;
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (whole && constant) {
            number = first;
            by = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_ADD ? operands[1].imm.value.s
                                                                     : -operands[1].imm.value.s;
        }
        break;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        if (whole) {
            number = first;
            by = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        }
        break;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
        number = DECODE_RSP;
        by = -(int64_t)(decoded->instruction.operand_width / 8);
        break;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPFQ:
        number = first == DECODE_RSP ? DECODE_NONE : DECODE_RSP;
        by = decoded->instruction.operand_width / 8;
        break;
    default:
        break;
    }
    if (number == DECODE_NONE)
        return;
    instruction->adjusted = number;
    instruction->adjustment = by;
    instruction->registers_written &= (uint16_t) ~(1u << number);
}

/* --- memory accesses ---------------------------------------------------------------------------
 */

/* Memory operands that are not accessed, or whose instruction only moves a cache line. */
static bool touches_nothing(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_MPX:
        return true;
    default:
        return instruction->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
               (instruction->mnemonic >= ZYDIS_MNEMONIC_VGATHERPF0DPD &&
                instruction->mnemonic <= ZYDIS_MNEMONIC_VGATHERPF1QPS) ||
               (instruction->mnemonic >= ZYDIS_MNEMONIC_VSCATTERPF0DPD &&
                instruction->mnemonic <= ZYDIS_MNEMONIC_VSCATTERPF1QPS);
    }
}

/* The first vector register, whose elements the bits of a mask stand for. */
static const ZydisDecodedOperand *first_vector(const struct decoded *decoded)
{
    for (unsigned i = 0; i < decoded->instruction.operand_count; i++)
        if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            is_vector_register(decoded->operands[i].reg.value))
            return &decoded->operands[i];
    return NULL;
}

static bool index_has_quadwords(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_VGATHERQPD:
    case ZYDIS_MNEMONIC_VGATHERQPS:
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VSCATTERQPD:
    case ZYDIS_MNEMONIC_VSCATTERQPS:
    case ZYDIS_MNEMONIC_VPSCATTERQD:
    case ZYDIS_MNEMONIC_VPSCATTERQQ:
        return true;
    default:
        return false;
    }
}

static void describe_gather(struct decode_access *access, const struct decoded *decoded,
                            const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperand *data = first_vector(decoded);
    ZydisRegister index = operand->mem.index;
    access->index = ZydisRegisterGetId(index) < 0 ? 0 : (uint8_t)ZydisRegisterGetId(index);
    access->index_size = index_has_quadwords(decoded->instruction.mnemonic) ? 8 : 4;
    access->vector = (uint16_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, index) / 8);
    access->element = (uint8_t)(data->element_size / 8);
    access->size = access->element;
    unsigned lanes = access->vector / access->index_size;
    access->lanes = (uint8_t)(lanes < data->element_count ? lanes : data->element_count);
    if (decoded->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        access->form = DECODE_GATHER;
        access->mask = (uint8_t)(decoded->instruction.avx.mask.reg - ZYDIS_REGISTER_K0);
    } else {
        access->form = DECODE_GATHER_VECTOR;
        access->mask = (uint8_t)ZydisRegisterGetId(decoded->operands[2].reg.value);
    }
}

/* Whether the instruction accesses its whole memory operand whatever the mask holds: the manuals'
 * exception types with the suffix NF (no fault suppression). Zydis 4.0 has E4 for four instructions
 * that the manuals and processors have as E4NF. */
static bool lacks_fault_suppression(const ZydisDecodedInstruction *instruction)
{
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_VCVTNE2PS2BF16:
    case ZYDIS_MNEMONIC_VDBPSADBW:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
        return true;
    default:
        break;
    }
    switch (instruction->meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_E1NF:
    case ZYDIS_EXCEPTION_CLASS_E2NF:
    case ZYDIS_EXCEPTION_CLASS_E3NF:
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF:
    case ZYDIS_EXCEPTION_CLASS_E9NF:
    case ZYDIS_EXCEPTION_CLASS_E10NF:
    case ZYDIS_EXCEPTION_CLASS_E11NF:
        return true;
    default:
        return false;
    }
}

/* Number of significant bits of an opmask. Zydis reports vpshufbitqmb's vectors as quadwords; an
 * instruction that writes an opmask has the elements of its memory operand. */
static unsigned opmask_lanes(const struct decoded *decoded, const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperand *data = first_vector(decoded);
    unsigned lanes = (unsigned)decoded->instruction.avx.vector_length / operand->element_size;
    bool to_opmask = decoded->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                     ZydisRegisterGetClass(decoded->operands[0].reg.value) == ZYDIS_REGCLASS_MASK;
    if (data && !to_opmask && data->element_count < lanes)
        lanes = data->element_count;
    if (decoded->instruction.avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID &&
        operand->element_count < lanes)
        lanes = operand->element_count;
    return lanes;
}

/* A memory operand of an instruction with an opmask. */
static void describe_opmask(struct decode_access *access, const struct decoded *decoded,
                            const ZydisDecodedOperand *operand)
{
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    ZydisRegister mask = instruction->avx.mask.reg;
    if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || mask <= ZYDIS_REGISTER_K0 ||
        mask > ZYDIS_REGISTER_K7 || lacks_fault_suppression(instruction))
        return;
    bool packed = instruction->meta.category == ZYDIS_CATEGORY_EXPAND ||
                  instruction->meta.category == ZYDIS_CATEGORY_COMPRESS;
    bool broadcast = instruction->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID;
    access->form = packed ? DECODE_OPMASK_PACKED : DECODE_OPMASK;
    access->mask = (uint8_t)(mask - ZYDIS_REGISTER_K0);
    access->lanes = (uint8_t)opmask_lanes(decoded, operand);
    access->element =
        (uint8_t)(access->size / (broadcast ? operand->element_count : access->lanes));
    switch (instruction->meta.isa_set) { /* four steps, each of which uses all lanes */
    case ZYDIS_ISA_SET_AVX512_4FMAPS_512:
    case ZYDIS_ISA_SET_AVX512_4FMAPS_SCALAR:
    case ZYDIS_ISA_SET_AVX512_4VNNIW_512:
        access->lanes = instruction->avx.vector_length == 512 ? 16 : 1;
        access->element = (uint8_t)access->size;
        return;
    default:
        return;
    }
}

static void describe_vector_mask(struct decode_access *access, const ZydisDecodedOperand *mask,
                                 unsigned element)
{
    access->form = DECODE_VECTOR_MASK;
    access->mask = (uint8_t)ZydisRegisterGetId(mask->reg.value);
    access->element = (uint8_t)element;
    access->lanes = (uint8_t)(access->size / element);
    access->vector = (uint16_t)(mask->size / 8);
}

static void describe_xsave(struct decode_access *access, ZydisMnemonic mnemonic)
{
    access->form = DECODE_XSAVE;
    access->element = mnemonic == ZYDIS_MNEMONIC_XRSTOR || mnemonic == ZYDIS_MNEMONIC_XRSTOR64
                          ? DECODE_XSAVE_RESTORE
                      : mnemonic == ZYDIS_MNEMONIC_XSAVEC || mnemonic == ZYDIS_MNEMONIC_XSAVEC64
                          ? DECODE_XSAVE_COMPACT
                      : mnemonic == ZYDIS_MNEMONIC_XSAVEOPT || mnemonic == ZYDIS_MNEMONIC_XSAVEOPT64
                          ? DECODE_XSAVE_IN_USE
                          : DECODE_XSAVE_ALL;
    access->read = access->element == DECODE_XSAVE_RESTORE;
    access->write = !access->read;
}

/* Special cases of single instructions. */
static void describe_special(struct decode_access *access, const struct decoded *decoded,
                             const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperand *operands = decoded->operands;
    switch (decoded->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        if (operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
            return;
        access->form = DECODE_BITS;
        access->mask = general_number(operands[1].reg.value);
        access->index_size = (uint8_t)(operand->size / 8);
        return;
    case ZYDIS_MNEMONIC_XLAT:
        access->form = DECODE_TABLE;
        return;
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
        describe_vector_mask(access, &operands[1], 1);
        return;
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
        describe_vector_mask(access, &operands[1], 4);
        return;
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        describe_vector_mask(access, &operands[1], 8);
        return;
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
        describe_xsave(access, decoded->instruction.mnemonic);
        return;
    default:
        return;
    }
}

/* Pushes write below rsp; a pop into memory computes its address with the incremented rsp. */
static void describe_stack(struct decode_access *access, const struct decoded *decoded,
                           const ZydisDecodedOperand *operand)
{
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (access->base != DECODE_RSP)
        return;
    if (hidden && access->write)
        access->displacement = -(int64_t)access->size;
    else if (!hidden && decoded->instruction.mnemonic == ZYDIS_MNEMONIC_POP)
        access->displacement += access->size;
}

static struct decode_access describe(const struct decoded *decoded,
                                     const ZydisDecodedOperand *operand, uint64_t address)
{
    const ZydisDecodedInstruction *instruction = &decoded->instruction;
    struct decode_access access = {.form = DECODE_PLAIN,
                                   .base = general_number(operand->mem.base),
                                   .index = general_number(operand->mem.index),
                                   .scale = operand->mem.scale ? operand->mem.scale : 1,
                                   .read = reads(operand),
                                   .write = writes(operand),
                                   .fs = operand->mem.segment == ZYDIS_REGISTER_FS,
                                   .narrow = instruction->address_width == 32 &&
                                             ZydisRegisterGetClass(operand->mem.base) !=
                                                 ZYDIS_REGCLASS_GPR64,
                                   .size = (uint16_t)(operand->size / 8),
                                   .displacement = operand->mem.disp.value};
    if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP) {
        access.displacement += (int64_t)(address + instruction->length);
        if (access.narrow)
            access.displacement = (int64_t)((uint64_t)access.displacement & 0xffffffffu);
    }
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        describe_gather(&access, decoded, operand);
        return access;
    }
    if (instruction->attributes & REPEATS)
        access.form = DECODE_REPEATED;
    describe_stack(&access, decoded, operand);
    describe_opmask(&access, decoded, operand);
    describe_special(&access, decoded, operand);
    return access;
}

/* Reads before writes; cmps reads (rsi) first, as in Zydis. */
static void find_accesses(struct decode_instruction *instruction, const struct decoded *decoded)
{
    if (touches_nothing(&decoded->instruction))
        return;
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
            const ZydisDecodedOperand *operand = &decoded->operands[i];
            if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
                operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || operand->size == 0 ||
                !(reads(operand) || writes(operand)) || reads(operand) != (pass == 0) ||
                instruction->access_count == DECODE_ACCESSES)
                continue;
            instruction->accesses[instruction->access_count++] =
                describe(decoded, operand, instruction->address);
        }
}

/* enter with a level: reads the frame pointers below the current one, and pushes them together with
 * the current and the new one. */
static void describe_frames(struct decode_instruction *instruction, const struct decoded *decoded)
{
    unsigned level = decoded->operands[1].imm.value.u % FRAMES;
    struct decode_access push = instruction->accesses[0], read = push;
    if (level == 0 || instruction->access_count == 0)
        return;
    push.form = read.form = DECODE_FRAMES;
    push.lanes = (uint8_t)(level + 1);
    read.lanes = (uint8_t)(level - 1);
    read.base = DECODE_RBP;
    read.read = true;
    read.write = false;
    instruction->access_count = 0;
    if (level > 1)
        instruction->accesses[instruction->access_count++] = read;
    instruction->accesses[instruction->access_count++] = push;
}

static enum decode_x87 saves_x87(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FNSTENV:
        return DECODE_X87_ENVIRONMENT;
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        return DECODE_X87_STATE;
    default:
        return DECODE_X87_NO;
    }
}

/* --- decode() ----------------------------------------------------------------------------------
 */

static void find_branch(struct decode_instruction *instruction, const struct decoded *decoded)
{
    const ZydisDecodedOperand *operand = &decoded->operands[0];
    if (instruction->kind == DECODE_RETURN) {
        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            instruction->stack_release = (uint16_t)operand->imm.value.u;
        return;
    }
    if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative) {
        ZyanU64 target = 0;
        ZydisCalcAbsoluteAddress(&decoded->instruction, operand, instruction->address, &target);
        instruction->target = target;
    } else if (instruction->kind != DECODE_STRAIGHT &&
               operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        instruction->branch_register = general_number(operand->reg.value);
    }
}

static void find_rip(struct decode_instruction *instruction, const struct decoded *decoded)
{
    for (unsigned i = 0; i < decoded->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP))
            instruction->rip_displacement = decoded->instruction.raw.disp.offset;
    }
}

/* Decodes the existing operands, and clears up to three: most instructions have few of the ten
 * possible ones. */
static bool decode_with_zydis(struct decoded *decoded, const uint8_t *bytes, size_t size)
{
    ZydisDecoder decoder;
    ZydisDecoderContext context;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (ZYAN_FAILED(
            ZydisDecoderDecodeInstruction(&decoder, &context, bytes, size, &decoded->instruction)))
        return false;
    unsigned count = decoded->instruction.operand_count;
    if (count < OPERANDS_MIN)
        memset(decoded->operands + count, 0, (OPERANDS_MIN - count) * sizeof *decoded->operands);
    return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, &decoded->instruction,
                                                   decoded->operands, (ZyanU8)count));
}

bool decode_is_prefix(uint8_t byte)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
                                       0x36, 0x3e, 0x26, 0x64, 0x65};
    return (byte & 0xf0) == REX || memchr(prefixes, byte, sizeof prefixes) != NULL;
}

void decode(struct decode_instruction *instruction, const uint8_t *bytes, size_t size,
            uint64_t address)
{
    struct decoded decoded;
    if (size > DECODE_BYTES_MAX)
        size = DECODE_BYTES_MAX;
    *instruction = (struct decode_instruction){.address = address,
                                               .size = 1,
                                               .kind = DECODE_TRAP,
                                               .branch_register = DECODE_NONE,
                                               .adjusted = DECODE_NONE};
    if (!decode_with_zydis(&decoded, bytes, size)) {
        if (size > 0)
            instruction->bytes[0] = bytes[0];
        return;
    }
    instruction->size = decoded.instruction.length;
    memcpy(instruction->bytes, bytes, instruction->size);
    instruction->mnemonic = (uint16_t)decoded.instruction.mnemonic;
    instruction->kind = kind_of(&decoded);
    find_registers(instruction, &decoded);
    find_adjustment(instruction, &decoded);
    find_accesses(instruction, &decoded);
    if (instruction->mnemonic == ZYDIS_MNEMONIC_ENTER)
        describe_frames(instruction, &decoded);
    instruction->gs = is_through_gs(&decoded);
    instruction->saves_x87 = (uint8_t)saves_x87(decoded.instruction.mnemonic);
    find_rip(instruction, &decoded);
    find_branch(instruction, &decoded);
    instruction->repeated =
        instruction->access_count > 0 && instruction->accesses[0].form == DECODE_REPEATED;
}

bool decode_reads_clock(const struct decode_instruction *instruction)
{
    return instruction->mnemonic == ZYDIS_MNEMONIC_RDTSC ||
           instruction->mnemonic == ZYDIS_MNEMONIC_RDTSCP;
}
