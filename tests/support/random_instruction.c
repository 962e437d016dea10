#include "tests/support/random_instruction.h"

#include "tests/support/masked_forms.h"
#include "tests/support/random.h"

#include <cpuid.h>
#include <string.h>

#define XSAVE_HEADER 512u
#define XSAVE_LEGACY 576u           /* with the header */
#define LINE         ((uint64_t)64) /* the alignment of XSAVE's area, too */
/* bounds, tiles and APX's registers: unused; keys: would lock us out */
#define XSAVE_NOT_TRIED (1u << 3 | 1u << 4 | 1u << 9 | 1u << 17 | 1u << 18 | 1u << 19)
#define XSAVE_COMPACT   ((uint64_t)1 << 63)

/* --- bytes ------------------------------------------------------------------------------------ */

static size_t random_encoding(uint64_t *random, uint8_t *bytes)
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x66, 0xf0};
    size_t at = 0;
    uint64_t kind = random_below(random, 8);
    random_fill(random, bytes, 15);
    if (kind == 0) { /* VEX */
        bytes[0] = 0xc4;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (1 + random_below(random, 3)));
        return 15;
    }
    if (kind == 1 || kind == 2) { /* EVEX */
        bytes[0] = 0x62;
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + random_below(random, 3)));
        bytes[2] |= 4;
        return 15;
    }
    if (random_one_in(random, 16))
        bytes[at++] = 0x67;
    if (random_one_in(random, 3))
        bytes[at++] = prefixes[random_below(random, sizeof prefixes)];
    if (random_one_in(random, 2))
        bytes[at++] = (uint8_t)(0x40 | random_below(random, 16));
    if (kind >= 6)
        bytes[at++] = 0x0f;
    if (kind == 7 && random_one_in(random, 2))
        bytes[at++] = random_one_in(random, 3) ? 0x3a : 0x38;
    return 15;
}

/* Results depend on time, place or the machine's history. */
static bool is_excluded_mnemonic(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDPMC:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_FXSAVE: /* store addresses of x87 instructions */
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FNSAVE:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_LAR: /* depend on the system's tables */
    case ZYDIS_MNEMONIC_LSL:
    case ZYDIS_MNEMONIC_VERR:
    case ZYDIS_MNEMONIC_VERW:
    case ZYDIS_MNEMONIC_XBEGIN:
    case ZYDIS_MNEMONIC_PTWRITE:
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_ENQCMD:
    case ZYDIS_MNEMONIC_CLZERO:
        return true;
    default:
        return false;
    }
}

/* Encodings that no compiler emits, and that QEMU's emulation decodes wrongly or rejects: a REX
 * that is void because another prefix follows it, and a VEX.L without meaning. */
static bool is_rare(const struct random_instruction *made)
{
    ZydisMnemonic mnemonic = made->instruction.mnemonic;
    if (mnemonic == ZYDIS_MNEMONIC_VROUNDSS || mnemonic == ZYDIS_MNEMONIC_VROUNDSD)
        return made->instruction.raw.vex.L;
    for (unsigned i = 0; i + 1u < made->instruction.raw.prefix_count; i++)
        if ((made->bytes[i] & 0xf0) == 0x40)
            return true;
    return false;
}

/* Results that depend on time, place or the machine's history, and references outside of the
 * region. */
static bool is_excluded(const struct random_instruction *made)
{
    const ZydisDecodedInstruction *instruction = &made->instruction;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_RDPID:
    case ZYDIS_CATEGORY_WAITPKG:
    case ZYDIS_CATEGORY_PKU:
    case ZYDIS_CATEGORY_CET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_MPX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SEGOP:
        return true;
    default:
        break;
    }
    if (is_excluded_mnemonic(instruction->mnemonic) || (is_rare(made) && native_is_emulated()))
        return true;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return true;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (operand->mem.segment == ZYDIS_REGISTER_FS ||
             operand->mem.segment == ZYDIS_REGISTER_GS))
            return true;
    }
    return instruction->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
           (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0;
}

bool random_instruction_decode(struct random_instruction *made)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, made->bytes, sizeof made->bytes,
                                               &made->instruction, made->operands));
}

static int number_of(ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_NONE || name == ZYDIS_REGISTER_RIP || name == ZYDIS_REGISTER_EIP)
        return -1;
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name) - ZYDIS_REGISTER_RAX;
}

static bool is_xsave(const struct random_instruction *made)
{
    return made->instruction.mnemonic != ZYDIS_MNEMONIC_XGETBV &&
           (made->instruction.meta.category == ZYDIS_CATEGORY_XSAVE ||
            made->instruction.meta.category == ZYDIS_CATEGORY_XSAVEOPT);
}

static uint64_t target_in(const struct region *region, uint64_t *random)
{
    return region->address + region->size / 4 + random_below(random, region->size / 2);
}

/* rip-relative and absolute operands: the displacement alone is the address. */
void random_instruction_move(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region)
{
    for (unsigned i = 0; i < made->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
            operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            continue;
        uint64_t value = target_in(region, random) & ~(is_xsave(made) ? LINE - 1 : 0);
        if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
            value -= address + made->instruction.length;
        else if (operand->mem.base != ZYDIS_REGISTER_NONE ||
                 operand->mem.index != ZYDIS_REGISTER_NONE)
            continue;
        if (made->instruction.raw.disp.size)
            memcpy(made->bytes + made->instruction.raw.disp.offset, &value,
                   made->instruction.raw.disp.size / 8);
    }
    random_instruction_decode(made);
}

void random_instruction_make(struct random_instruction *made, uint64_t *random, uint64_t address,
                             const struct region *region)
{
    do
        random_encoding(random, made->bytes);
    while (!random_instruction_decode(made) || is_excluded(made));
    random_instruction_move(made, random, address, region);
}

/* VEX or EVEX, of map 2 with 66, and a SIB byte (Intel SDM, volume 2, VPGATHERDD and others). */
static void gather_encoding(uint64_t *random, uint8_t *bytes)
{
    random_fill(random, bytes, 15);
    bool evex = random_one_in(random, 2);
    uint8_t *opcode = bytes + (evex ? 4 : 3);
    bytes[0] = evex ? 0x62 : 0xc4;
    bytes[1] = (uint8_t)((bytes[1] & (evex ? 0xf0 : 0xe0)) | 2);
    bytes[2] = (uint8_t)(evex ? (bytes[2] & 0x80) | 0x7d : (bytes[2] & 0xfc) | 1);
    if (evex)
        bytes[3] &= 0x6f; /* neither zeroing nor broadcast */
    opcode[0] = (uint8_t)(0x90 | (opcode[0] & (evex ? 0x23 : 0x03)));
    opcode[1] = (uint8_t)((opcode[1] & 0x78) | 4);
}

void random_instruction_make_gather(struct random_instruction *made, uint64_t *random,
                                    uint64_t address, const struct region *region)
{
    do
        gather_encoding(random, made->bytes);
    while (!random_instruction_decode(made) || is_excluded(made));
    random_instruction_move(made, random, address, region);
}

/* EVEX of map 2 with 66: elements that are compressed and expanded. */
static void pack_encoding(uint64_t *random, uint8_t *bytes)
{
    static const uint8_t opcodes[] = {0x62, 0x63, 0x88, 0x89, 0x8a, 0x8b};
    random_fill(random, bytes, 15);
    bytes[0] = 0x62;
    bytes[1] = (uint8_t)((bytes[1] & 0xf0) | 2);
    bytes[2] = (uint8_t)((bytes[2] & 0x80) | 0x7d);
    bytes[3] = (uint8_t)((bytes[3] & 0x67) | 8);
    bytes[4] = opcodes[random_below(random, sizeof opcodes)];
}

void random_instruction_make_pack(struct random_instruction *made, uint64_t *random,
                                  uint64_t address, const struct region *region)
{
    do
        pack_encoding(random, made->bytes);
    while (!random_instruction_decode(made) || is_excluded(made));
    random_instruction_move(made, random, address, region);
}

/* xsave, xsaveopt, xsavec, xrstor, with operands independent of rax and rdx. */
static void xsave_encoding(uint64_t *random, uint8_t *bytes)
{
    static const uint8_t codes[][2] = {{0xae, 4}, {0xae, 6}, {0xc7, 4}, {0xae, 5}, {0xae, 5}};
    const uint8_t *code = codes[random_below(random, sizeof codes / sizeof *codes)];
    size_t at = 0;
    random_fill(random, bytes, 15);
    if (random_one_in(random, 8))
        bytes[at++] = 0x67;
    if (random_one_in(random, 2))
        bytes[at++] = (uint8_t)(0x40 | random_below(random, 16));
    bytes[at++] = 0x0f;
    bytes[at++] = code[0];
    bytes[at] = (uint8_t)((bytes[at] & 0xc7) | code[1] << 3);
}

static bool uses_a_or_d(const ZydisDecodedOperand *operand)
{
    int base = number_of(operand->mem.base), index = number_of(operand->mem.index);
    return base == 0 || base == 2 || index == 0 || index == 2;
}

void random_instruction_make_xsave(struct random_instruction *made, uint64_t *random,
                                   uint64_t address, const struct region *region)
{
    do
        xsave_encoding(random, made->bytes);
    while (!random_instruction_decode(made) || !is_xsave(made) ||
           made->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
           made->operands[0].mem.segment == ZYDIS_REGISTER_GS || uses_a_or_d(&made->operands[0]));
    random_instruction_move(made, random, address, region);
}

/* --- registers -------------------------------------------------------------------------------- */

void random_machine(struct machine *machine, uint64_t *random)
{
    static const uint16_t mxcsr[] = {0x1f80, 0x1f80, 0x1f80, 0x7f80, 0x9fc0, 0x3f80, 0x1f00};
    uint64_t present = machine_components();
    for (unsigned i = 0; i < 16; i++)
        machine->registers[i] =
            random_one_in(random, 4) ? random_below(random, 256) : random_next(random);
    machine->flags = 0x202 | (random_next(random) & 0xcd5);
    memset(machine->vector, 0, sizeof machine->vector);
    random_fill(random, machine->vector + 32, 416 - 32);
    machine->vector[0] = 0x7f;
    machine->vector[1] = 3;
    machine->vector[4] = (uint8_t)random_next32(random);
    memcpy(machine->vector + 24, &mxcsr[random_below(random, 7)], 2);
    for (unsigned i = 0; i < 8; i++) /* ten bytes each; the rest is reserved */
        memset(machine->vector + 32 + 16 * i + 10, 0, 6);
    for (unsigned i = 2; i < 8; i++) {
        size_t size, offset = machine_component(i, &size);
        random_fill(random, machine->vector + offset, size);
    }
    memcpy(machine->vector + XSAVE_HEADER, &present, sizeof present);
}

/* It is spread over three components. */
uint8_t *machine_vector_byte(const struct machine *machine, unsigned number, unsigned byte)
{
    uint8_t *area = (uint8_t *)(uintptr_t)machine->vector;
    size_t size;
    if (number >= 16)
        return area + machine_component(7, &size) + (number - 16) * 64 + byte;
    if (byte < 16)
        return area + 160 + 16 * number + byte;
    if (byte < 32)
        return area + machine_component(2, &size) + 16 * number + byte - 16;
    return area + machine_component(6, &size) + 32 * number + byte - 32;
}

static bool has_quadword_indices(ZydisMnemonic mnemonic)
{
    const char *name = ZydisMnemonicGetString(mnemonic);
    const char *at = strstr(name, "gather");
    if (!at)
        at = strstr(name, "scatter");
    return at && strchr(at, 'r')[1] == 'q';
}

static int64_t index_lane(const struct machine *machine, const struct random_instruction *made,
                          unsigned vector, unsigned lane)
{
    unsigned size = has_quadword_indices(made->instruction.mnemonic) ? 8 : 4;
    uint8_t bytes[8];
    int64_t wide;
    int32_t narrow;
    for (unsigned i = 0; i < size; i++)
        bytes[i] = *machine_vector_byte(machine, vector, lane * size + i);
    memcpy(&wide, bytes, sizeof wide);
    memcpy(&narrow, bytes, sizeof narrow);
    return size == 8 ? wide : narrow;
}

static void small_indices(const struct random_instruction *made, struct machine *machine,
                          unsigned vector, uint64_t *random)
{
    unsigned size = has_quadword_indices(made->instruction.mnemonic) ? 8 : 4;
    for (unsigned at = 0; at < 64; at += size) {
        int64_t value = (int64_t)random_below(random, 200) - 100;
        for (unsigned i = 0; i < size; i++)
            *machine_vector_byte(machine, vector, at + i) = (uint8_t)((uint64_t)value >> (8 * i));
    }
}

/* Sets base + index * scale + displacement to `target`. */
static bool place_operand(const struct random_instruction *made, struct machine *machine,
                          const ZydisDecodedOperand *operand, uint64_t target, uint64_t *random)
{
    int base = number_of(operand->mem.base);
    int64_t displacement = operand->mem.disp.value;
    if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
        return true;
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        small_indices(made, machine, (unsigned)ZydisRegisterGetId(operand->mem.index), random);
        if (base < 0)
            return false;
        machine->registers[base] = target - (uint64_t)displacement;
        return true;
    }
    int index = number_of(operand->mem.index);
    uint64_t scale = operand->mem.scale ? operand->mem.scale : 1;
    if (index >= 0 && index != base)
        machine->registers[index] = random_below(random, 300);
    if (base < 0 && index >= 0)
        machine->registers[index] = (target - (uint64_t)displacement) / scale;
    else if (base >= 0 && index == base)
        machine->registers[base] = (target - (uint64_t)displacement) / (scale + 1);
    else if (base >= 0)
        machine->registers[base] =
            target - (uint64_t)displacement - (index >= 0 ? machine->registers[index] * scale : 0);
    return true;
}

static uint64_t address_of(const struct random_instruction *made,
                           const ZydisDecodedOperand *operand, const struct machine *machine)
{
    int base = number_of(operand->mem.base);
    int index = operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB ? -1 : number_of(operand->mem.index);
    uint64_t address = (uint64_t)operand->mem.disp.value;
    if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
        address += machine->rip + made->instruction.length;
    if (base >= 0)
        address += machine->registers[base];
    if (index >= 0)
        address += machine->registers[index] * (operand->mem.scale ? operand->mem.scale : 1);
    bool narrow = made->instruction.address_width == 32 &&
                  operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    return narrow ? address & UINT32_MAX : address;
}

static bool is_bit_test(const struct random_instruction *made)
{
    ZydisMnemonic mnemonic = made->instruction.mnemonic;
    return (mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTC ||
            mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTS) &&
           made->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_repeated(const struct random_instruction *made)
{
    return (made->instruction.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

bool random_instruction_place(const struct random_instruction *made, struct machine *machine,
                              uint64_t *random, const struct region *region)
{
    const ZydisDecodedInstruction *instruction = &made->instruction;
    machine->registers[4] = target_in(region, random) & ~(uint64_t)7;
    if (is_bit_test(made))
        machine->registers[number_of(made->operands[1].reg.value)] =
            random_below(random, 4000) - 2000;
    uint64_t alignment = is_xsave(made) || random_one_in(random, 2) ? LINE : 16;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base != ZYDIS_REGISTER_RSP &&
            !place_operand(made, machine, operand, target_in(region, random) & ~(alignment - 1),
                           random))
            return false;
    }
    if (is_repeated(made))
        machine->registers[1] = random_below(random, 20);
    if (is_xsave(made)) {
        machine->registers[0] &= ~(uint64_t)XSAVE_NOT_TRIED;
        machine->vector[XSAVE_HEADER] &= (uint8_t)(random_next32(random) | 3);
    }
    if (instruction->mnemonic == ZYDIS_MNEMONIC_ENTER && !random_one_in(random, 8))
        machine->registers[5] = target_in(region, random);
    if (instruction->mnemonic == ZYDIS_MNEMONIC_XLAT)
        return true;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
            operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        uint64_t address = address_of(made, operand, machine);
        if (address < region->address + region->size / 8 ||
            address >= region->address + region->size - region->size / 8)
            return false;
        if (is_bit_test(made)) {
            int64_t bit = (int16_t)machine->registers[number_of(made->operands[1].reg.value)];
            if (bit < -2000 || bit > 2000)
                return false;
            int64_t whole = (int64_t)machine->registers[number_of(made->operands[1].reg.value)];
            if (operand->size > 16 && (operand->size == 32 ? (int32_t)whole : whole) != bit)
                return false;
        }
    }
    return true;
}

/* --- references ------------------------------------------------------------------------------- */

struct list {
    struct reference *references;
    unsigned count;
};

static void add(struct list *list, uint64_t address, bool write, unsigned size)
{
    for (unsigned done = 0; done < size; done += 64)
        list->references[list->count++] =
            (struct reference){.address = (uint32_t)(address + done),
                               .write = write,
                               .size = (uint8_t)(size - done < 64 ? size - done : 64)};
}

static bool is_vector(ZydisRegister name)
{
    ZydisRegisterClass class = ZydisRegisterGetClass(name);
    return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
           class == ZYDIS_REGCLASS_ZMM;
}

static const ZydisDecodedOperand *data_operand(const struct random_instruction *made)
{
    for (unsigned i = 0; i < made->instruction.operand_count; i++)
        if (made->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            is_vector(made->operands[i].reg.value))
            return &made->operands[i];
    return NULL;
}

/* Whether the mask selects element `lane`; a vector mask has one bit per `element` bytes. */
static bool lane_set(const struct random_instruction *made, const struct machine *machine,
                     const ZydisDecodedOperand *vector_mask, unsigned element, unsigned lane)
{
    size_t size;
    if (vector_mask) {
        unsigned byte = (lane + 1) * element - 1;
        unsigned number = (unsigned)ZydisRegisterGetId(vector_mask->reg.value);
        if (ZydisRegisterGetClass(vector_mask->reg.value) == ZYDIS_REGCLASS_MMX)
            return machine->vector[32 + 16 * number + byte] >> 7;
        return *machine_vector_byte(machine, number, byte) >> 7;
    }
    unsigned k = (unsigned)(made->instruction.avx.mask.reg - ZYDIS_REGISTER_K0);
    uint64_t mask;
    memcpy(&mask, machine->vector + machine_component(5, &size) + 8 * k, sizeof mask);
    return mask >> lane & 1;
}

/* Adjacent elements make one reference. */
static void add_elements(struct list *list, uint64_t used, uint64_t address, bool write,
                         unsigned element, unsigned elements)
{
    unsigned run = 0;
    for (unsigned i = 0; i <= elements; i++) {
        if (i < elements && (used >> i & 1)) {
            run++;
            continue;
        }
        if (run)
            add(list, address + (i - run) * element, write, run * element);
        run = 0;
    }
}

static void add_lanes(struct list *list, const struct random_instruction *made,
                      const struct machine *machine, const ZydisDecodedOperand *vector_mask,
                      uint64_t address, bool write, unsigned element, unsigned lanes)
{
    uint64_t used = 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        used |= (uint64_t)lane_set(made, machine, vector_mask, element, lane) << lane;
    add_elements(list, used, address, write, element, lanes);
}

static void add_gather(struct list *list, const struct random_instruction *made,
                       const struct machine *machine, const ZydisDecodedOperand *operand,
                       bool write)
{
    const ZydisDecodedOperand *data = data_operand(made);
    bool vex = made->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    unsigned element = data->element_size / 8;
    unsigned index_bytes =
        ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.index) / 8;
    unsigned lanes = index_bytes / (has_quadword_indices(made->instruction.mnemonic) ? 8 : 4);
    if (lanes > data->element_count)
        lanes = data->element_count;
    for (unsigned lane = 0; lane < lanes; lane++)
        if (lane_set(made, machine, vex ? &made->operands[2] : NULL, element, lane))
            add(list,
                address_of(made, operand, machine) +
                    (uint64_t)(index_lane(machine, made,
                                          (unsigned)ZydisRegisterGetId(operand->mem.index), lane) *
                               operand->mem.scale),
                write, element);
}

/* Number of opmask bits in use: elements of the vectors, or of memory if it has fewer. */
static unsigned opmask_lanes(const struct random_instruction *made,
                             const ZydisDecodedOperand *operand, bool broadcast)
{
    const ZydisDecodedOperand *data = data_operand(made);
    unsigned lanes = (unsigned)made->instruction.avx.vector_length / operand->element_size;
    bool compares = made->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    !is_vector(made->operands[0].reg.value);
    if (data && !compares && data->element_count < lanes)
        lanes = data->element_count;
    return !broadcast && operand->element_count < lanes ? operand->element_count : lanes;
}

static void add_masked(struct list *list, const struct random_instruction *made,
                       const struct machine *machine, const ZydisDecodedOperand *operand,
                       uint64_t address, bool write)
{
    const ZydisDecodedInstruction *instruction = &made->instruction;
    bool packed = instruction->meta.category == ZYDIS_CATEGORY_EXPAND ||
                  instruction->meta.category == ZYDIS_CATEGORY_COMPRESS;
    bool broadcast = instruction->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID;
    unsigned lanes = opmask_lanes(made, operand, broadcast), set = 0;
    unsigned elements = broadcast ? operand->element_count : lanes;
    unsigned element = operand->size / 8 / elements;
    uint64_t used = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        bool is_set = lane_set(made, machine, NULL, 0, lane);
        set += is_set;
        used |= (uint64_t)is_set << lane % elements;
    }
    if (packed)
        add(list, address, write, set * element);
    else
        add_elements(list, used, address, write, element, elements);
}

/* The vector register whose sign bits are the mask, and the bytes per sign bit. */
static const ZydisDecodedOperand *vector_mask_of(const struct random_instruction *made,
                                                 unsigned *element)
{
    switch (made->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
        *element = 1;
        return &made->operands[1];
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
        *element = 4;
        return &made->operands[1];
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        *element = 8;
        return &made->operands[1];
    default:
        return NULL;
    }
}

static void add_operand(struct list *list, const struct random_instruction *made,
                        const struct machine *machine, const ZydisDecodedOperand *operand,
                        bool write)
{
    const ZydisDecodedInstruction *instruction = &made->instruction;
    uint64_t address = address_of(made, operand, machine);
    unsigned size = operand->size / 8, element = 0;
    const ZydisDecodedOperand *vector_mask = vector_mask_of(made, &element);
    bool stack = number_of(operand->mem.base) == 4;
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (stack && hidden && write)
        address -= size;
    if (stack && !hidden && instruction->mnemonic == ZYDIS_MNEMONIC_POP)
        address += size;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_XLAT)
        address += machine->registers[0] & 0xff;
    if (is_bit_test(made)) {
        int64_t bit = (int16_t)machine->registers[number_of(made->operands[1].reg.value)];
        int64_t bits = operand->size;
        address += (uint64_t)((bit - ((bit % bits) + bits) % bits) / 8);
    }
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        add_gather(list, made, machine, operand, write);
    else if (vector_mask)
        add_lanes(list, made, machine, vector_mask, address, write, element, size / element);
    else if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX &&
             instruction->avx.mask.reg > ZYDIS_REGISTER_K0 &&
             instruction->avx.mask.reg <= ZYDIS_REGISTER_K7 && !masked_form_reads_all(instruction))
        add_masked(list, made, machine, operand, address, write);
    else
        add(list, address, write, size);
}

void random_instruction_fill(const struct random_instruction *made, const struct machine *machine,
                             uint64_t *random, uint8_t *memory, const struct region *region)
{
    static const uint8_t control[] = {0x80, 0x1f, 0, 0, 0xff, 0xff, 0, 0}; /* MXCSR, its mask */
    uint64_t header[8] = {random_next(random) & machine_components()};
    if (!is_xsave(made) || random_one_in(random, 16))
        return;
    if (random_one_in(random, 2))
        header[1] = XSAVE_COMPACT | header[0] | (random_next(random) & machine_components());
    uint64_t at = address_of(made, &made->operands[0], machine) - region->address;
    memcpy(memory + at + 24, control, sizeof control);
    memcpy(memory + at + XSAVE_HEADER, header, sizeof header);
}

/* Offset of a component in an area with room for the components in `form` only. */
static uint64_t compact_offset(unsigned component, uint64_t form)
{
    uint64_t offset = XSAVE_LEGACY;
    unsigned size, standard, flags, d;
    for (unsigned i = 2; i <= component; i++) {
        if (!(form >> i & 1))
            continue;
        __cpuid_count(0xd, i, size, standard, flags, d);
        if (flags & 2)
            offset = (offset + LINE - 1) & ~(LINE - 1);
        if (i < component)
            offset += size;
    }
    return offset;
}

/* The legacy area with the header, then the requested components, all or those in use. */
static void add_xsave(struct list *list, const struct random_instruction *made,
                      const struct machine *machine)
{
    ZydisMnemonic mnemonic = made->instruction.mnemonic;
    bool restore = mnemonic == ZYDIS_MNEMONIC_XRSTOR || mnemonic == ZYDIS_MNEMONIC_XRSTOR64;
    bool compact = mnemonic == ZYDIS_MNEMONIC_XSAVEC || mnemonic == ZYDIS_MNEMONIC_XSAVEC64;
    bool all = mnemonic == ZYDIS_MNEMONIC_XSAVE || mnemonic == ZYDIS_MNEMONIC_XSAVE64;
    uint64_t address = address_of(made, &made->operands[0], machine), header[2];
    memcpy(header, (const uint8_t *)(uintptr_t)address + XSAVE_HEADER, sizeof header);
    uint64_t form = (uint32_t)machine->registers[0];
    uint64_t touched = form & (all ? UINT64_MAX : header[0]);
    if (restore && (header[1] & XSAVE_COMPACT)) {
        compact = true;
        form = header[1];
    }
    add(list, address, !restore, XSAVE_LEGACY);
    for (unsigned i = 2; i < 8; i++) {
        size_t size, offset = machine_component(i, &size);
        if (touched >> i & machine_components() >> i & 1)
            add(list, address + (compact ? compact_offset(i, form & machine_components()) : offset),
                !restore, (unsigned)size);
    }
}

/* Pushes the frame pointer, copies the outer frame pointers below it, and pushes the new one: reads
 * before writes. */
static void add_enter(struct list *list, const struct random_instruction *made,
                      const struct machine *machine)
{
    unsigned level = made->bytes[made->instruction.length - 1] & 31;
    unsigned size = made->instruction.operand_width == 16 ? 2 : 8;
    for (unsigned i = 1; i < level; i++)
        add(list, machine->registers[5] - (uint64_t)i * size, false, size);
    for (unsigned i = 1; i <= (level ? level + 1 : 1); i++)
        add(list, machine->registers[4] - (uint64_t)i * size, true, size);
}

static bool touches_memory(const struct random_instruction *made)
{
    switch (made->instruction.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
        return false;
    case ZYDIS_CATEGORY_PUSH: /* pushf and popf have the letters, too */
    case ZYDIS_CATEGORY_POP:
        return true;
    default:
        return made->instruction.mnemonic != ZYDIS_MNEMONIC_CLFLUSH &&
               strstr(ZydisMnemonicGetString(made->instruction.mnemonic), "pf") == NULL;
    }
}

static void add_all(struct list *list, const struct random_instruction *made,
                    const struct machine *machine, bool write)
{
    for (unsigned i = 0; i < made->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &made->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
            (operand->actions &
             (write ? ZYDIS_OPERAND_ACTION_MASK_WRITE : ZYDIS_OPERAND_ACTION_MASK_READ)))
            add_operand(list, made, machine, operand, write);
    }
}

unsigned random_instruction_references(const struct random_instruction *made,
                                       const struct machine *before, const struct machine *after,
                                       struct reference *references)
{
    struct list list = {references, 0};
    if (!touches_memory(made))
        return 0;
    if (made->instruction.mnemonic == ZYDIS_MNEMONIC_ENTER) {
        add_enter(&list, made, before);
        return list.count;
    }
    if (is_xsave(made)) {
        add_xsave(&list, made, before);
        return list.count;
    }
    if (!is_repeated(made)) {
        add_all(&list, made, before, false);
        add_all(&list, made, before, true);
        return list.count;
    }
    struct machine now = *before;
    bool narrow = made->instruction.address_width == 32;
    uint64_t limit = narrow ? UINT32_MAX : UINT64_MAX;
    for (uint64_t left = before->registers[1] & limit; left != (after->registers[1] & limit);
         left--) {
        unsigned size = made->instruction.operand_width / 8;
        uint64_t step = before->flags & 0x400 ? -(uint64_t)size : size;
        add_all(&list, made, &now, false);
        add_all(&list, made, &now, true);
        now.registers[6] += step;
        now.registers[7] += step;
    }
    return list.count;
}
