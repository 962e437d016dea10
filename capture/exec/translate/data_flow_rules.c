/* Where the operands that Zydis names are not the whole truth. */
#include "capture/exec/translate/data_flow_internal.h"

static bool is_among(ZydisMnemonic mnemonic, const ZydisMnemonic *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == mnemonic)
            return true;
    return false;
}

#define IS_AMONG(mnemonic, list) is_among(mnemonic, list, sizeof(list) / sizeof *(list))

/* --- idioms ------------------------------------------------------------------------------------
 */

/* The result does not depend on a register that is both sources. */
static const ZydisMnemonic constant_results[] = {
    ZYDIS_MNEMONIC_XOR,      ZYDIS_MNEMONIC_SUB,      ZYDIS_MNEMONIC_PXOR,
    ZYDIS_MNEMONIC_VPXOR,    ZYDIS_MNEMONIC_VPXORD,   ZYDIS_MNEMONIC_VPXORQ,
    ZYDIS_MNEMONIC_XORPS,    ZYDIS_MNEMONIC_VXORPS,   ZYDIS_MNEMONIC_XORPD,
    ZYDIS_MNEMONIC_VXORPD,   ZYDIS_MNEMONIC_PSUBB,    ZYDIS_MNEMONIC_VPSUBB,
    ZYDIS_MNEMONIC_PSUBW,    ZYDIS_MNEMONIC_VPSUBW,   ZYDIS_MNEMONIC_PSUBD,
    ZYDIS_MNEMONIC_VPSUBD,   ZYDIS_MNEMONIC_PSUBQ,    ZYDIS_MNEMONIC_VPSUBQ,
    ZYDIS_MNEMONIC_PSUBSB,   ZYDIS_MNEMONIC_VPSUBSB,  ZYDIS_MNEMONIC_PSUBSW,
    ZYDIS_MNEMONIC_VPSUBSW,  ZYDIS_MNEMONIC_PSUBUSB,  ZYDIS_MNEMONIC_VPSUBUSB,
    ZYDIS_MNEMONIC_PSUBUSW,  ZYDIS_MNEMONIC_VPSUBUSW, ZYDIS_MNEMONIC_PCMPGTB,
    ZYDIS_MNEMONIC_VPCMPGTB, ZYDIS_MNEMONIC_PCMPGTW,  ZYDIS_MNEMONIC_VPCMPGTW,
    ZYDIS_MNEMONIC_PCMPGTD,  ZYDIS_MNEMONIC_VPCMPGTD, ZYDIS_MNEMONIC_PCMPGTQ,
    ZYDIS_MNEMONIC_VPCMPGTQ, ZYDIS_MNEMONIC_PCMPEQB,  ZYDIS_MNEMONIC_VPCMPEQB,
    ZYDIS_MNEMONIC_PCMPEQW,  ZYDIS_MNEMONIC_VPCMPEQW, ZYDIS_MNEMONIC_PCMPEQD,
    ZYDIS_MNEMONIC_VPCMPEQD, ZYDIS_MNEMONIC_PCMPEQQ,  ZYDIS_MNEMONIC_VPCMPEQQ,
    ZYDIS_MNEMONIC_KXORB,    ZYDIS_MNEMONIC_KXORW,    ZYDIS_MNEMONIC_KXORD,
    ZYDIS_MNEMONIC_KXORQ};

static const ZydisMnemonic no_results[] = {ZYDIS_MNEMONIC_NOP,     ZYDIS_MNEMONIC_ENDBR32,
                                           ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_FNOP,
                                           ZYDIS_MNEMONIC_FFREE,   ZYDIS_MNEMONIC_FFREEP};

bool data_flow_is_idiom(const struct data_flow_making *making)
{
    const ZydisDecodedInstruction *instruction = &making->instruction;
    ZydisRegister sources[2] = {ZYDIS_REGISTER_NONE, ZYDIS_REGISTER_NONE};
    unsigned count = 0;
    if (IS_AMONG(instruction->mnemonic, no_results))
        return true;
    if (!IS_AMONG(instruction->mnemonic, constant_results) ||
        instruction->avx.mask.reg > ZYDIS_REGISTER_K0)
        return false;
    for (unsigned i = 0; i < instruction->operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &making->operands[i];
        if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) ||
            operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || count == 2)
            return false;
        sources[count++] = operand->reg.value;
    }
    return count == 2 && sources[0] == sources[1];
}

bool data_flow_is_string(const struct data_flow_making *making)
{
    const ZydisDecodedInstruction *instruction = &making->instruction;
    const uint8_t opcode = instruction->opcode;
    return instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
           instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
           ((opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf));
}

/* --- halves of vector registers ----------------------------------------------------------------
 */

#define UPPER_HALF (DATA_FLOW_BYTES(16) & ~DATA_FLOW_BYTES(8))

static const ZydisMnemonic to_upper_half[] = {ZYDIS_MNEMONIC_MOVHPS, ZYDIS_MNEMONIC_MOVHPD,
                                              ZYDIS_MNEMONIC_MOVLHPS};

static const ZydisMnemonic moves_of_upper_half[] = {
    ZYDIS_MNEMONIC_MOVHPS, ZYDIS_MNEMONIC_MOVHPD, ZYDIS_MNEMONIC_MOVHLPS, ZYDIS_MNEMONIC_VMOVHLPS};

/* To memory; with a first source, this one is the lower half. */
static const ZydisMnemonic moves_to_memory[] = {ZYDIS_MNEMONIC_VMOVHPS, ZYDIS_MNEMONIC_VMOVHPD};

/* From memory to the lower half; the upper one is that of the first source. */
static const ZydisMnemonic moves_to_lower_half[] = {ZYDIS_MNEMONIC_VMOVLPS, ZYDIS_MNEMONIC_VMOVLPD};

/* They read upper parts; which ones is not told. */
static const ZydisMnemonic from_upper_parts[] = {
    ZYDIS_MNEMONIC_UNPCKHPS,  ZYDIS_MNEMONIC_UNPCKHPD,  ZYDIS_MNEMONIC_PUNPCKHBW,
    ZYDIS_MNEMONIC_PUNPCKHWD, ZYDIS_MNEMONIC_PUNPCKHDQ, ZYDIS_MNEMONIC_PUNPCKHQDQ,
    ZYDIS_MNEMONIC_PEXTRB,    ZYDIS_MNEMONIC_PEXTRW,    ZYDIS_MNEMONIC_PEXTRD,
    ZYDIS_MNEMONIC_PEXTRQ,    ZYDIS_MNEMONIC_EXTRACTPS, ZYDIS_MNEMONIC_INSERTPS,
    ZYDIS_MNEMONIC_VINSERTPS, ZYDIS_MNEMONIC_VPEXTRB,   ZYDIS_MNEMONIC_VPEXTRW,
    ZYDIS_MNEMONIC_VPEXTRD,   ZYDIS_MNEMONIC_VPEXTRQ,   ZYDIS_MNEMONIC_VEXTRACTPS};

/* Their upper halves are undefined. */
static const ZydisMnemonic undefined_upper_half[] = {ZYDIS_MNEMONIC_INSERTQ, ZYDIS_MNEMONIC_EXTRQ};

static bool reads_upper_half(const struct data_flow_making *making)
{
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    const unsigned operands = making->instruction.operand_count_visible;
    return IS_AMONG(mnemonic, moves_of_upper_half) ||
           (operands == 2 && IS_AMONG(mnemonic, moves_to_memory)) ||
           (operands == 3 && IS_AMONG(mnemonic, moves_to_lower_half));
}

uint64_t data_flow_vector_bytes(const struct data_flow_making *making,
                                const ZydisDecodedOperand *operand, bool writes)
{
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    const bool is_legacy = making->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    if (writes && !is_legacy)
        return UINT64_MAX;
    if (writes && IS_AMONG(mnemonic, undefined_upper_half))
        return DATA_FLOW_BYTES(16);
    if (writes)
        return IS_AMONG(mnemonic, to_upper_half) ? UPPER_HALF : DATA_FLOW_BYTES(operand->size / 8u);
    if (reads_upper_half(making))
        return UPPER_HALF;
    if (operand->size < 128 && IS_AMONG(mnemonic, from_upper_parts))
        return DATA_FLOW_BYTES(16);
    return DATA_FLOW_BYTES(operand->size / 8u);
}

/* --- other operands ----------------------------------------------------------------------------
 */

bool data_flow_only_writes(const struct data_flow_making *making,
                           const ZydisDecodedOperand *operand)
{
    static const ZydisMnemonic conversions[] = {ZYDIS_MNEMONIC_CVTSI2SD, ZYDIS_MNEMONIC_CVTSI2SS};
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    if (IS_AMONG(mnemonic, conversions))
        return operand == making->operands;
    return mnemonic == ZYDIS_MNEMONIC_LEAVE && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand->reg.value == ZYDIS_REGISTER_RSP;
}

/* With REX.B it is an exchange of r8 and rax. */
static void add_exchange(struct data_flow_making *making)
{
    static const uint8_t registers[] = {DECODE_RAX, DECODE_R8};
    const unsigned width = making->instruction.operand_width / 8u;
    for (size_t i = 0; i < sizeof registers; i++) {
        data_flow_read(making, DATA_FLOW_GENERAL, registers[i], DATA_FLOW_BYTES(width));
        data_flow_define(making, DATA_FLOW_GENERAL, registers[i],
                         DATA_FLOW_BYTES(width == 4 ? 8 : width), DATA_FLOW_ALWAYS);
    }
}

static void read_general(struct data_flow_making *making, const ZydisDecodedOperand *operand)
{
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value);
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        data_flow_read(making, DATA_FLOW_GENERAL, (unsigned)ZydisRegisterGetId(whole),
                       DATA_FLOW_BYTES(8));
}

void data_flow_other_operands(struct data_flow_making *making)
{
    const ZydisDecodedOperand *first = &making->operands[0];
    switch (making->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PAUSE:
        if (making->instruction.raw.rex.B)
            add_exchange(making);
        break;
    case ZYDIS_MNEMONIC_LEAVE: /* with 16-bit operands some processors keep parts of rsp */
        if (making->instruction.operand_width != 64)
            data_flow_read(making, DATA_FLOW_GENERAL, DECODE_RSP, DATA_FLOW_BYTES(8));
        break;
    case ZYDIS_MNEMONIC_INSERTQ:
    case ZYDIS_MNEMONIC_EXTRQ:
        data_flow_read(making, DATA_FLOW_VECTOR, (unsigned)ZydisRegisterGetId(first->reg.value),
                       DATA_FLOW_BYTES(8));
        break;
    case ZYDIS_MNEMONIC_CMPXCHG: /* after an unequal comparison the upper half stays */
        if (first->size == 32)
            read_general(making, first);
        break;
    case ZYDIS_MNEMONIC_RDSSPD: /* no-ops without a shadow stack */
    case ZYDIS_MNEMONIC_RDSSPQ:
    case ZYDIS_MNEMONIC_SLDT: /* Linux' emulation writes 16 bits only */
    case ZYDIS_MNEMONIC_SMSW:
    case ZYDIS_MNEMONIC_STR:
        read_general(making, first);
        break;
    default:
        break;
    }
}

/* --- flags -------------------------------------------------------------------------------------
 */

/* Shifts and rotates by a constant of which all bits that count are 0. */
static bool shifts_by_nothing(const struct data_flow_making *making)
{
    static const ZydisMnemonic shifts[] = {
        ZYDIS_MNEMONIC_SHL, ZYDIS_MNEMONIC_SHR,  ZYDIS_MNEMONIC_SAR,
        ZYDIS_MNEMONIC_ROL, ZYDIS_MNEMONIC_ROR,  ZYDIS_MNEMONIC_RCL,
        ZYDIS_MNEMONIC_RCR, ZYDIS_MNEMONIC_SHLD, ZYDIS_MNEMONIC_SHRD};
    const ZydisDecodedInstruction *instruction = &making->instruction;
    if (!IS_AMONG(instruction->mnemonic, shifts) || instruction->operand_count_visible == 0)
        return false;
    const ZydisDecodedOperand *count = &making->operands[instruction->operand_count_visible - 1];
    return count->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
           (count->imm.value.u & (making->operands[0].size == 64 ? 63 : 31)) == 0;
}

uint64_t data_flow_flags(const struct data_flow_making *making)
{
    const ZydisAccessedFlags *flags = making->instruction.cpu_flags;
    if (!flags || shifts_by_nothing(making))
        return 0;
    static const ZydisMnemonic tests[] = {ZYDIS_MNEMONIC_VPTEST, ZYDIS_MNEMONIC_VTESTPS,
                                          ZYDIS_MNEMONIC_VTESTPD};
    const uint64_t cleared =
        IS_AMONG(making->instruction.mnemonic, tests)
            ? ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF
            : 0;
    return flags->modified | flags->set_0 | flags->set_1 | flags->undefined | cleared;
}

/* --- states ------------------------------------------------------------------------------------
 */

enum state_parts {
    STATE_X87 = 1,
    STATE_SSE = 2,   /* bytes 0 to 15 of the first 16 vector registers */
    STATE_UPPER = 4, /* the rest of all, and mask registers */
    STATE_CODES = 8
};

static const struct {
    ZydisMnemonic mnemonic;
    uint8_t parts;
    bool restores;
} states[] = {{ZYDIS_MNEMONIC_FXSAVE, STATE_X87 | STATE_SSE | STATE_CODES, false},
              {ZYDIS_MNEMONIC_FXSAVE64, STATE_X87 | STATE_SSE | STATE_CODES, false},
              {ZYDIS_MNEMONIC_FXRSTOR, STATE_X87 | STATE_SSE | STATE_CODES, true},
              {ZYDIS_MNEMONIC_FXRSTOR64, STATE_X87 | STATE_SSE | STATE_CODES, true},
              {ZYDIS_MNEMONIC_XSAVE, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XSAVE64, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XSAVEC, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XSAVEC64, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XSAVEOPT, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XSAVEOPT64, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, false},
              {ZYDIS_MNEMONIC_XRSTOR, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, true},
              {ZYDIS_MNEMONIC_XRSTOR64, STATE_X87 | STATE_SSE | STATE_UPPER | STATE_CODES, true},
              {ZYDIS_MNEMONIC_FNSAVE, STATE_X87 | STATE_CODES, false},
              {ZYDIS_MNEMONIC_FRSTOR, STATE_X87 | STATE_CODES, true}};

static void add_state(struct data_flow_making *making, enum data_flow_kind kind, unsigned count,
                      uint64_t bytes, bool restores)
{
    for (unsigned number = 0; number < count; number++)
        if (restores)
            data_flow_define(making, kind, number, bytes, DATA_FLOW_ALWAYS);
        else
            data_flow_read(making, kind, number, bytes);
}

void data_flow_states(struct data_flow_making *making)
{
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_VZEROUPPER)
        add_state(making, DATA_FLOW_VECTOR, 16, ~DATA_FLOW_BYTES(16), true);
    if (mnemonic == ZYDIS_MNEMONIC_VZEROALL)
        add_state(making, DATA_FLOW_VECTOR, 16, UINT64_MAX, true);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (states[i].mnemonic != mnemonic)
            continue;
        const unsigned parts = states[i].parts;
        const bool restores = states[i].restores;
        if (parts & STATE_X87)
            add_state(making, DATA_FLOW_X87, 8, DATA_FLOW_X87_BYTES, restores);
        if (parts & STATE_SSE)
            add_state(making, DATA_FLOW_VECTOR, 16, DATA_FLOW_BYTES(16), restores);
        if (parts & STATE_UPPER) {
            add_state(making, DATA_FLOW_VECTOR, DATA_FLOW_VECTORS, UINT64_MAX, restores);
            add_state(making, DATA_FLOW_MASK, 8, DATA_FLOW_BYTES(8), restores);
        }
        if (parts & STATE_CODES)
            add_state(making, DATA_FLOW_CODES, 1, 1, restores);
    }
}
