#include "tests/support/wet_flow.h"

#include <string.h>

#define CF            0x1u
#define PF            0x4u
#define ZF            0x40u
#define SF            0x80u
#define OF            0x800u
#define RESULTS       0x8d5u /* CF PF AF ZF SF OF */
#define READS         (ZYDIS_OPERAND_ACTION_MASK_READ)
#define WRITES        (ZYDIS_OPERAND_ACTION_MASK_WRITE)
#define ALL_OF_VECTOR UINT64_MAX

static bool starts(const struct random_instruction *made, const char *prefix)
{
    const char *name = ZydisMnemonicGetString(made->instruction.mnemonic);
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Whether the mnemonic is one of a list of words with a blank after each. */
static bool is_one_of(const struct random_instruction *made, const char *words)
{
    const char *name = ZydisMnemonicGetString(made->instruction.mnemonic);
    const size_t size = strlen(name);
    for (const char *at = words; (at = strstr(at, name)) != NULL; at += size)
        if ((at == words || at[-1] == ' ') && at[size] == ' ')
            return true;
    return false;
}

static bool is_legacy(const struct random_instruction *made)
{
    return made->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
           made->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW;
}

static bool is_repeated(const struct random_instruction *made)
{
    return (made->instruction.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

/* --- parts ------------------------------------------------------------------------------------ */

static uint64_t first_bytes(unsigned count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static void add_read(struct wet_flow *flow, enum wet_flow_kind kind, unsigned number,
                     uint64_t bytes)
{
    unsigned at = 0;
    while (at < flow->read_count &&
           (flow->reads[at].kind < kind ||
            (flow->reads[at].kind == kind && flow->reads[at].number < number)))
        at++;
    if (at < flow->read_count && flow->reads[at].kind == kind && flow->reads[at].number == number) {
        flow->reads[at].bytes |= bytes;
        return;
    }
    memmove(flow->reads + at + 1, flow->reads + at, (flow->read_count - at) * sizeof *flow->reads);
    flow->reads[at] = (struct wet_flow_part){kind, number, bytes};
    flow->read_count++;
}

static void define(struct wet_flow *flow, struct wet_flow_part part,
                   enum wet_flow_condition condition)
{
    flow->definitions[flow->definition_count++] = (struct wet_flow_definition){part, condition};
}

/* The part of a machine that a register is; false: it is not followed. */
static bool part_of(ZydisRegister name, unsigned size, struct wet_flow_part *part)
{
    const unsigned number = (unsigned)ZydisRegisterGetId(name);
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_GPR8:
        if (name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH)
            *part = (struct wet_flow_part){WET_GENERAL, name - ZYDIS_REGISTER_AH, 2};
        else
            *part = (struct wet_flow_part){
                WET_GENERAL,
                (unsigned)ZydisRegisterGetId(
                    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name)),
                1};
        return true;
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        *part = (struct wet_flow_part){
            WET_GENERAL, number,
            first_bytes(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) / 8u)};
        return true;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        *part = (struct wet_flow_part){WET_VECTOR, number, first_bytes(size)};
        return true;
    case ZYDIS_REGCLASS_X87:
        *part = (struct wet_flow_part){WET_X87, number, first_bytes(10)};
        return true;
    case ZYDIS_REGCLASS_MMX:
        *part = (struct wet_flow_part){WET_MMX, number, first_bytes(size)};
        return true;
    case ZYDIS_REGCLASS_MASK:
        *part = (struct wet_flow_part){WET_MASK, number, first_bytes(8)};
        return true;
    default:
        return false;
    }
}

/* The upper eight bytes of vector registers, which are operands of eight bytes. */
static bool is_upper_half(const struct random_instruction *made, unsigned operand)
{
    if (is_legacy(made))
        return is_one_of(made, "movhps movhpd ") || (is_one_of(made, "movlhps ") && operand == 0) ||
               (is_one_of(made, "movhlps ") && operand == 1);
    return (is_one_of(made, "vmovhps vmovhpd ") && made->instruction.operand_count_visible == 2 &&
            operand == 1) ||
           (is_one_of(made, "vmovlps vmovlpd ") && made->instruction.operand_count_visible == 3 &&
            operand == 1) ||
           (is_one_of(made, "vmovhlps ") && operand > 0);
}

static bool part_of_operand(const struct random_instruction *made, unsigned index,
                            struct wet_flow_part *part)
{
    const ZydisDecodedOperand *operand = &made->operands[index];
    if (!part_of(operand->reg.value, operand->size / 8u, part))
        return false;
    if (part->kind == WET_VECTOR && is_upper_half(made, index))
        part->bytes = 0xff00;
    return true;
}

/* The bytes of a general register that a result of some bytes defines. */
static uint64_t written(struct wet_flow_part part)
{
    return part.kind == WET_GENERAL && part.bytes == 0xf ? 0xff : part.bytes;
}

/* The pointers that cmps and scas move, which Zydis does not list: bits of register numbers. */
static unsigned pointers_of(const struct random_instruction *made)
{
    if (made->instruction.meta.category != ZYDIS_CATEGORY_STRINGOP)
        return 0;
    return starts(made, "cmps") ? 1u << 6 | 1u << 7 : starts(made, "scas") ? 1u << 7 : 0;
}

/* --- reads ------------------------------------------------------------------------------------ */

/* Two equal sources on which the result does not depend. */
static bool is_idiom(const struct random_instruction *made)
{
    static const char *const prefixes[] = {"pcmpgt",  "pcmpeq", "psub", "vpcmpgt",
                                           "vpcmpeq", "vpsub",  "kxor"};
    static const char words[] = "xor sub pxor xorps xorpd vpxor vpxord vpxorq vxorps vxorpd ";
    bool is_listed = is_one_of(made, words);
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        is_listed = is_listed || starts(made, prefixes[i]);
    const ZydisRegister mask = made->instruction.avx.mask.reg;
    if (!is_listed || (mask != ZYDIS_REGISTER_NONE && mask != ZYDIS_REGISTER_K0))
        return false;
    const ZydisDecodedOperand *sources[8];
    unsigned count = 0;
    for (unsigned i = 0; i < made->instruction.operand_count_visible && count < 8; i++)
        if ((made->operands[i].actions & READS) &&
            made->operands[i].encoding != ZYDIS_OPERAND_ENCODING_MASK)
            sources[count++] = &made->operands[i];
    return count == 2 && sources[0]->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           sources[1]->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           sources[0]->reg.value == sources[1]->reg.value;
}

/* Nothing of it matters to its result. */
static bool reads_nothing(const struct random_instruction *made)
{
    switch (made->instruction.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
        return true;
    default:
        return is_one_of(made, "endbr64 endbr32 ffree ffreep ");
    }
}

/* Whether a memory operand is only an address. */
static bool is_address_only(const struct random_instruction *made,
                            const ZydisDecodedOperand *operand)
{
    switch (made->instruction.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
        return true;
    default:
        return operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
               made->instruction.mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
    }
}

static void read_memory(struct wet_flow *flow, const struct random_instruction *made,
                        const ZydisDecodedOperand *operand, unsigned *count)
{
    struct wet_flow_part part;
    if (part_of(operand->mem.base, 8, &part))
        add_read(flow, part.kind, part.number, part.bytes);
    if (part_of(operand->mem.index,
                ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.index) / 8u, &part))
        add_read(flow, part.kind, part.number, part.bytes);
    if (!is_address_only(made, operand) && (operand->actions & READS))
        add_read(flow, WET_MEMORY, (*count)++, 0);
}

/* Operands that Zydis calls read, but on which the result does not depend, and the other way. */
static bool is_read(const struct random_instruction *made, unsigned index)
{
    const ZydisDecodedOperand *operand = &made->operands[index];
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK && operand->reg.value == ZYDIS_REGISTER_K0)
        return false;
    if (index == 0 && is_legacy(made) && is_one_of(made, "cvtsi2sd cvtsi2ss "))
        return false;
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE && made->instruction.operand_width == 64)
        return operand->reg.value == ZYDIS_REGISTER_RBP; /* it becomes rsp */
    return (operand->actions & READS) != 0;
}

static void read_flags(struct wet_flow *flow, const struct random_instruction *made)
{
    uint64_t tested = made->instruction.cpu_flags ? made->instruction.cpu_flags->tested : 0;
    if (is_repeated(made)) /* it tests its own result */
        tested &= ~(uint64_t)ZF;
    if (tested)
        add_read(flow, WET_FLAGS, 0, tested);
}

static void find_reads(struct wet_flow *flow, const struct random_instruction *made)
{
    struct wet_flow_part part;
    unsigned memory = 0;
    if (reads_nothing(made))
        return;
    const bool idiom = is_idiom(made);
    for (unsigned i = 0; i < made->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            read_memory(flow, made, operand, &memory);
        else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && is_read(made, i) && !idiom &&
                 part_of_operand(made, i, &part))
            add_read(flow, part.kind, part.number,
                     i == 0 && made->instruction.mnemonic == ZYDIS_MNEMONIC_CMPXCHG ? written(part)
                                                                                    : part.bytes);
    }
    read_flags(flow, made);
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_XLAT)
        add_read(flow, WET_GENERAL, 0, 1);
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_ENTER &&
        made->operands[1].imm.value.u % 32 > 1)
        add_read(flow, WET_MEMORY, 0, 0);
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
        for (unsigned i = 0; i < 7; i++)
            add_read(flow, WET_GENERAL, (const unsigned[]){0, 2, 6, 7, 8, 9, 10}[i], 0xff);
    if (is_one_of(made, "fnstsw fnstenv fnsave "))
        add_read(flow, WET_CODES, 0, 1);
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool is_shift(const struct random_instruction *made)
{
    return is_one_of(made, "shl shr sar rol ror rcl rcr shld shrd ");
}

static unsigned shift_mask(const struct random_instruction *made)
{
    return made->operands[0].size == 64 ? 63 : 31;
}

/* The operand that says how far a shift goes. */
static const ZydisDecodedOperand *shift_count(const struct random_instruction *made)
{
    return &made->operands[made->instruction.mnemonic == ZYDIS_MNEMONIC_SHLD ||
                                   made->instruction.mnemonic == ZYDIS_MNEMONIC_SHRD
                               ? 2
                               : 1];
}

static enum wet_flow_condition condition_of(const struct random_instruction *made, unsigned operand)
{
    if (is_repeated(made))
        return WET_IF_REPEATED;
    if (starts(made, "cmov") || starts(made, "fcmov"))
        return WET_IF_MOVED;
    if (is_one_of(made, "bsf bsr "))
        return WET_IF_FOUND;
    if (starts(made, "cmpxchg") && operand > 0)
        return WET_IF_FAILED;
    return WET_ALWAYS;
}

/* What is written of a register. */
static void widen(const struct random_instruction *made, struct wet_flow_part *part)
{
    part->bytes = written(*part);
    if (part->kind == WET_VECTOR && !is_legacy(made))
        part->bytes = ALL_OF_VECTOR;
    if (part->kind == WET_MMX)
        part->bytes = first_bytes(10);
}

static void define_flags(struct wet_flow *flow, const struct random_instruction *made)
{
    const ZydisAccessedFlags *flags = made->instruction.cpu_flags;
    uint64_t bits = flags ? flags->modified | flags->set_0 | flags->set_1 | flags->undefined : 0;
    enum wet_flow_condition condition = is_repeated(made) ? WET_IF_REPEATED : WET_ALWAYS;
    if (is_one_of(made, "vptest vtestps vtestpd ")) /* Zydis leaves out those that become 0 */
        bits = RESULTS;
    if (is_shift(made)) {
        const ZydisDecodedOperand *count = shift_count(made);
        if (count->type == ZYDIS_OPERAND_TYPE_REGISTER)
            condition = WET_IF_COUNTED;
        else if ((count->imm.value.u & shift_mask(made)) == 0)
            return;
    }
    if (bits && made->instruction.mnemonic != ZYDIS_MNEMONIC_SYSCALL)
        define(flow, (struct wet_flow_part){WET_FLAGS, 0, bits}, condition);
}

static void find_definitions(struct wet_flow *flow, const struct random_instruction *made)
{
    static const char codes[] = "fcom fcomp fcompp fucom fucomp fucompp ficom ficomp ftst fxam "
                                "fprem fprem1 fldenv fninit fnsave ";
    struct wet_flow_part part;
    for (unsigned i = 0; i < made->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (!(operand->actions & WRITES) || reads_nothing(made))
            continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            define(flow, (struct wet_flow_part){WET_MEMORY, 0, 0},
                   is_repeated(made) ? WET_IF_REPEATED : WET_ALWAYS);
        } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   part_of_operand(made, i, &part)) {
            widen(made, &part);
            define(flow, part, condition_of(made, i));
        }
    }
    for (unsigned i = 6; i < 8; i++)
        if (pointers_of(made) >> i & 1)
            define(flow, (struct wet_flow_part){WET_GENERAL, i, 0xff}, condition_of(made, i));
    define_flags(flow, made);
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
        define(flow, (struct wet_flow_part){WET_GENERAL, 0, 0xff}, WET_ALWAYS);
    if (is_one_of(made, codes))
        define(flow, (struct wet_flow_part){WET_CODES, 0, 1}, WET_ALWAYS);
    for (unsigned i = 0; i < 16 && starts(made, "vzero"); i++)
        define(flow,
               (struct wet_flow_part){WET_VECTOR, i,
                                      starts(made, "vzeroall") ? UINT64_MAX : ~first_bytes(16)},
               WET_ALWAYS);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Elements that may not be written. */
static bool stores_some(const struct random_instruction *made)
{
    const char *name = ZydisMnemonicGetString(made->instruction.mnemonic);
    const ZydisRegister mask = made->instruction.avx.mask.reg;
    return (mask != ZYDIS_REGISTER_NONE && mask != ZYDIS_REGISTER_K0) || strstr(name, "maskmov") ||
           strstr(name, "compress") || strstr(name, "scatter");
}

static bool set_value(struct wet_flow *flow, const struct random_instruction *made, unsigned index)
{
    const ZydisDecodedOperand *operand = &made->operands[index];
    struct wet_flow_part part = {WET_MEMORY, 0, 0};
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && !part_of_operand(made, index, &part))
        return false;
    flow->value.part = part;
    flow->value.condition = part.kind == WET_MEMORY
                                ? (is_repeated(made) ? WET_IF_REPEATED : WET_ALWAYS)
                                : condition_of(made, index);
    flow->value_first = part.bytes ? (unsigned)__builtin_ctzll(part.bytes) : 0;
    flow->value_size =
        part.kind == WET_MEMORY ? operand->size / 8u : (unsigned)__builtin_popcountll(part.bytes);
    flow->has_value = flow->value_size <= 64 && !(part.kind == WET_MEMORY && stores_some(made));
    return true;
}

static bool is_written(const struct random_instruction *made, unsigned operand,
                       ZydisOperandType type)
{
    return (made->operands[operand].actions & WRITES) && made->operands[operand].type == type;
}

/* The written register of the lowest number of a kind. */
static bool set_value_register(struct wet_flow *flow, const struct random_instruction *made,
                               enum wet_flow_kind kind)
{
    struct wet_flow_part part, least = {kind, UINT32_MAX, 0};
    unsigned index = 0;
    for (unsigned i = 0; i < made->instruction.operand_count; i++)
        if (is_written(made, i, ZYDIS_OPERAND_TYPE_REGISTER) && part_of_operand(made, i, &part) &&
            part.kind == kind && part.number < least.number) {
            least = part;
            index = i;
        }
    return least.bytes && set_value(flow, made, index);
}

static void find_value(struct wet_flow *flow, const struct random_instruction *made)
{
    if (reads_nothing(made))
        return;
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
        flow->has_value = true;
        flow->value = (struct wet_flow_definition){{WET_GENERAL, 0, 0xff}, WET_ALWAYS};
        flow->value_size = 8;
        return;
    }
    for (unsigned i = 0; i < made->instruction.operand_count_visible; i++)
        if ((is_written(made, i, ZYDIS_OPERAND_TYPE_REGISTER) ||
             is_written(made, i, ZYDIS_OPERAND_TYPE_MEMORY)) &&
            set_value(flow, made, i))
            return;
    for (unsigned i = 0; i < made->instruction.operand_count; i++)
        if (is_written(made, i, ZYDIS_OPERAND_TYPE_MEMORY) && set_value(flow, made, i))
            return;
    const unsigned pointers = pointers_of(made);
    if (pointers && !is_repeated(made)) {
        const unsigned number = (unsigned)__builtin_ctz(pointers);
        flow->has_value = true;
        flow->value.part = (struct wet_flow_part){WET_GENERAL, number, 0xff};
        flow->value_size = made->instruction.address_width / 8u;
    } else if (!set_value_register(flow, made, WET_GENERAL)) {
        set_value_register(flow, made, WET_X87);
    }
}

void wet_flow_of(struct wet_flow *flow, const struct random_instruction *made)
{
    memset(flow, 0, sizeof *flow);
    find_reads(flow, made);
    find_definitions(flow, made);
    find_value(flow, made);
}

/* --- executions ------------------------------------------------------------------------------- */

unsigned wet_flow_top(const struct machine *machine)
{
    return machine->vector[3] >> 3 & 7;
}

/* A condition as jcc encodes it. */
static bool is_true(unsigned code, uint64_t flags)
{
    const bool less = !(flags & SF) != !(flags & OF);
    const bool truths[] = {(flags & OF) != 0,
                           (flags & CF) != 0,
                           (flags & ZF) != 0,
                           (flags & (CF | ZF)) != 0,
                           (flags & SF) != 0,
                           (flags & PF) != 0,
                           less,
                           less || (flags & ZF) != 0};
    return truths[code >> 1] != (code & 1);
}

static unsigned code_of(const struct random_instruction *made)
{
    static const char *const names[] = {"fcmovb",  "fcmovnb",  "fcmove", "fcmovne",
                                        "fcmovbe", "fcmovnbe", "fcmovu", "fcmovnu"};
    static const uint8_t codes[] = {2, 3, 4, 5, 6, 7, 10, 11};
    const char *name = ZydisMnemonicGetString(made->instruction.mnemonic);
    for (unsigned i = 0; i < sizeof codes; i++)
        if (strcmp(name, names[i]) == 0)
            return codes[i];
    return made->instruction.opcode & 15;
}

bool wet_flow_happens(const struct random_instruction *made, enum wet_flow_condition condition,
                      const struct machine *before, const struct machine *after)
{
    switch (condition) {
    case WET_IF_MOVED:
        return is_true(code_of(made), before->flags);
    case WET_IF_FOUND:
    case WET_IF_FAILED:
        return !(after->flags & ZF);
    case WET_IF_COUNTED:
        return (before->registers[1] & shift_mask(made)) != 0;
    case WET_IF_REPEATED:
        return (made->instruction.address_width == 32 ? (uint32_t)before->registers[1]
                                                      : before->registers[1]) != 0;
    default:
        return true;
    }
}
