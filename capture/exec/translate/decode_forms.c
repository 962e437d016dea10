#include "capture/exec/translate/decode_forms.h"

#include <stdlib.h>
#include <string.h>

#define FORMS_MAX 4096u
#define KEYS      (2u * 4 * 2 * 256 * 8 * 2)

#define REX   0x40u
#define REX_W 8u
#define REX_R 4u
#define REX_X 2u
#define REX_B 1u

/* Registers of the instruction that a form is made from; none is an implicit operand. */
#define REG   DECODE_R10
#define RM    DECODE_R11 /* the base, if it is in memory */
#define INDEX DECODE_R13

/* How the bytes after the prefixes are read, and which prefixes are common. */
enum shape {
    SHAPE_MODRM = 1,
    SHAPE_GROUP = 2,      /* ModRM.reg selects the operation */
    SHAPE_OPCODE = 4,     /* the lowest three bits of the opcode are a register */
    SHAPE_BYTE_REG = 8,   /* ModRM.reg is a byte register */
    SHAPE_BYTE_RM = 16,   /* the other register is one */
    SHAPE_66 = 32,        /* the prefix 66 is common */
    SHAPE_F3 = 64,        /* F2 and F3 are, too */
    SHAPE_MEMORY = 128,   /* common only with an operand in memory */
    SHAPE_REGISTER = 256, /* common only without */
    SHAPE_PLAIN = 512,    /* common only without any prefix and REX */
    SHAPE_SCALED = 1024,  /* the constant, if the operand has 64 bits, adjusts a register */
    SHAPE_COMMON = 2048   /* no other flag needed */
};

struct form {
    struct decode_instruction instruction;
    uint8_t constant; /* bytes of the constant or branch offset at the end */
    bool common;
    bool reads_reg, writes_reg, reads_rm, writes_rm, adjusts_rm, branches_by_rm, is_relative;
    int8_t operand; /* access of the memory operand; -1: none */
};

struct decode_forms {
    uint16_t keys[KEYS]; /* number of the form plus 1 */
    struct form *forms;
    unsigned count;
    uint16_t shapes[2][256];
};

/* What the bytes of an instruction say before its form is known. */
struct parts {
    unsigned shape, key;
    uint8_t prefix, rex, modrm, sib;
    uint8_t reg, rm, base, index; /* numbers of registers; DECODE_NONE */
    uint8_t scale;
    uint8_t displacement_at, displacement_size; /* 0: none */
    bool is_memory, is_rip;
    uint8_t opcode_at; /* offset of the opcode's last byte */
    uint8_t size;      /* without the constant */
};

static void set(uint16_t *shapes, unsigned first, unsigned last, unsigned shape)
{
    for (unsigned i = first; i <= last; i++)
        shapes[i] = (uint16_t)(shape | SHAPE_COMMON);
}

/* Opcodes of one byte. Left out are those whose accesses depend on more than the form. */
static void set_one_byte(uint16_t *shapes)
{
    const unsigned byte = SHAPE_BYTE_REG | SHAPE_BYTE_RM | SHAPE_MODRM;
    const unsigned word = SHAPE_MODRM | SHAPE_66;
    for (unsigned i = 0; i < 0x40; i += 8) {
        set(shapes, i, i, byte);
        set(shapes, i + 1, i + 1, word);
        set(shapes, i + 2, i + 2, byte);
        set(shapes, i + 3, i + 3, word);
        set(shapes, i + 4, i + 4, 0);
        set(shapes, i + 5, i + 5, SHAPE_66 | SHAPE_SCALED);
    }
    set(shapes, 0x50, 0x5f, SHAPE_OPCODE | SHAPE_66);
    set(shapes, 0x63, 0x63, word);
    set(shapes, 0x68, 0x68, SHAPE_66);
    set(shapes, 0x69, 0x69, word);
    set(shapes, 0x6a, 0x6a, SHAPE_66);
    set(shapes, 0x6b, 0x6b, word);
    set(shapes, 0x70, 0x7f, 0); /* jcc */
    set(shapes, 0x80, 0x80, byte | SHAPE_GROUP);
    set(shapes, 0x81, 0x81, word | SHAPE_GROUP | SHAPE_SCALED);
    set(shapes, 0x83, 0x83, word | SHAPE_GROUP | SHAPE_SCALED);
    set(shapes, 0x84, 0x84, byte);
    set(shapes, 0x85, 0x85, word);
    set(shapes, 0x88, 0x88, byte);
    set(shapes, 0x89, 0x89, word);
    set(shapes, 0x8a, 0x8a, byte);
    set(shapes, 0x8b, 0x8b, word);
    set(shapes, 0x8d, 0x8d, word | SHAPE_MEMORY);
    set(shapes, 0x90, 0x90, SHAPE_PLAIN);
    set(shapes, 0x98, 0x99, SHAPE_66);
    set(shapes, 0xa8, 0xa8, 0);
    set(shapes, 0xa9, 0xa9, SHAPE_66);
    set(shapes, 0xb0, 0xb7, SHAPE_OPCODE | SHAPE_BYTE_RM);
    set(shapes, 0xb8, 0xbf, SHAPE_OPCODE | SHAPE_66);
    set(shapes, 0xc0, 0xc0, byte | SHAPE_GROUP);
    set(shapes, 0xc1, 0xc1, word | SHAPE_GROUP);
    set(shapes, 0xc3, 0xc3, 0);
    set(shapes, 0xc6, 0xc6, byte | SHAPE_GROUP);
    set(shapes, 0xc7, 0xc7, word | SHAPE_GROUP);
    set(shapes, 0xc9, 0xc9, 0);
    set(shapes, 0xd0, 0xd0, byte | SHAPE_GROUP);
    set(shapes, 0xd1, 0xd1, word | SHAPE_GROUP);
    set(shapes, 0xd2, 0xd2, byte | SHAPE_GROUP);
    set(shapes, 0xd3, 0xd3, word | SHAPE_GROUP);
    set(shapes, 0xe8, 0xe9, 0);
    set(shapes, 0xeb, 0xeb, 0);
    set(shapes, 0xf6, 0xf6, byte | SHAPE_GROUP);
    set(shapes, 0xf7, 0xf7, word | SHAPE_GROUP);
    set(shapes, 0xfe, 0xfe, byte | SHAPE_GROUP);
    set(shapes, 0xff, 0xff, SHAPE_MODRM | SHAPE_GROUP);
}

/* Opcodes after 0f. */
static void set_two_bytes(uint16_t *shapes)
{
    const unsigned word = SHAPE_MODRM | SHAPE_66;
    const unsigned vector = SHAPE_MODRM | SHAPE_66 | SHAPE_F3;
    set(shapes, 0x10, 0x17, vector);
    set(shapes, 0x1f, 0x1f, word | SHAPE_MEMORY);
    set(shapes, 0x28, 0x2f, vector);
    set(shapes, 0x40, 0x4f, word);
    set(shapes, 0x51, 0x6f, vector);
    set(shapes, 0x70, 0x70, vector);
    set(shapes, 0x74, 0x76, vector);
    set(shapes, 0x7e, 0x7f, vector);
    set(shapes, 0x80, 0x8f, 0); /* jcc */
    set(shapes, 0x90, 0x9f, SHAPE_MODRM | SHAPE_GROUP | SHAPE_BYTE_RM);
    set(shapes, 0xaf, 0xaf, word);
    set(shapes, 0xb6, 0xb6, word | SHAPE_BYTE_RM);
    set(shapes, 0xb7, 0xb7, word);
    set(shapes, 0xbc, 0xbd, vector);
    set(shapes, 0xbe, 0xbe, word | SHAPE_BYTE_RM);
    set(shapes, 0xbf, 0xbf, word);
    set(shapes, 0xc6, 0xc6, vector);
    set(shapes, 0xd1, 0xd5, vector);
    set(shapes, 0xd6, 0xd6, SHAPE_MODRM | SHAPE_66);
    set(shapes, 0xd7, 0xd7, vector | SHAPE_REGISTER);
    set(shapes, 0xd8, 0xe5, vector);
    set(shapes, 0xe7, 0xef, vector);
    set(shapes, 0xf1, 0xf6, vector);
    set(shapes, 0xf8, 0xfe, vector);
}

struct decode_forms *decode_forms_new(void)
{
    struct decode_forms *forms = calloc(1, sizeof *forms);
    if (!forms || !(forms->forms = calloc(FORMS_MAX, sizeof *forms->forms))) {
        decode_forms_free(forms);
        return NULL;
    }
    set_one_byte(forms->shapes[0]);
    set_two_bytes(forms->shapes[1]);
    return forms;
}

void decode_forms_free(struct decode_forms *forms)
{
    if (forms)
        free(forms->forms);
    free(forms);
}

/* --- bytes to parts ----------------------------------------------------------------------------
 */

/* Without REX, 4 to 7 are ah, ch, dh and bh. */
static uint8_t byte_register(const struct parts *parts, uint8_t number)
{
    return !parts->rex && number >= 4 && number < 8 ? (uint8_t)(number - 4) : number;
}

static bool split_memory(struct parts *parts, const uint8_t *bytes, size_t size)
{
    const unsigned mod = parts->modrm >> 6;
    unsigned base = parts->modrm & 7, at = parts->size;
    parts->base = parts->index = DECODE_NONE;
    parts->scale = 1;
    if (base == 4) {
        if (at >= size)
            return false;
        parts->sib = bytes[at++];
        base = parts->sib & 7;
        const unsigned index = (parts->sib >> 3 & 7) | (parts->rex & REX_X ? 8 : 0);
        if (index != 4) {
            parts->index = (uint8_t)index;
            parts->scale = (uint8_t)(1u << (parts->sib >> 6));
        }
    } else if (mod == 0 && base == 5) {
        parts->is_rip = true;
    }
    const bool is_bare = mod == 0 && base == 5; /* a displacement without a register */
    parts->displacement_size = mod == 1 ? 1 : mod == 2 || is_bare ? 4 : 0;
    if (!is_bare)
        parts->base = (uint8_t)(base | (parts->rex & REX_B ? 8 : 0));
    parts->displacement_at = (uint8_t)at;
    parts->size = (uint8_t)(at + parts->displacement_size);
    return parts->size <= size;
}

static bool split_modrm(struct parts *parts, const uint8_t *bytes, size_t size)
{
    if (parts->size >= size)
        return false;
    parts->modrm = bytes[parts->size++];
    parts->is_memory = parts->modrm < 0xc0;
    parts->reg = (uint8_t)((parts->modrm >> 3 & 7) | (parts->rex & REX_R ? 8 : 0));
    if (parts->shape & SHAPE_BYTE_REG)
        parts->reg = byte_register(parts, parts->reg);
    if (parts->is_memory)
        return !(parts->shape & SHAPE_REGISTER) && split_memory(parts, bytes, size);
    parts->rm = (uint8_t)((parts->modrm & 7) | (parts->rex & REX_B ? 8 : 0));
    if (parts->shape & SHAPE_BYTE_RM)
        parts->rm = byte_register(parts, parts->rm);
    return !(parts->shape & SHAPE_MEMORY);
}

/* False: no common instruction. */
static bool split(const struct decode_forms *forms, struct parts *parts, const uint8_t *bytes,
                  size_t size)
{
    size_t at = 0;
    unsigned map = 0, prefix = 0;
    *parts = (struct parts){.reg = DECODE_NONE, .rm = DECODE_NONE, .base = DECODE_NONE};
    if (size == 0)
        return false;
    if (bytes[0] == 0x66 || bytes[0] == 0xf2 || bytes[0] == 0xf3) {
        prefix = bytes[0] == 0x66 ? 1 : bytes[0] - 0xf0u;
        parts->prefix = bytes[at++];
    }
    if (at < size && (bytes[at] & 0xf0) == REX)
        parts->rex = bytes[at++];
    if (at < size && bytes[at] == 0x0f) {
        map = 1;
        at++;
    }
    if (at >= size)
        return false;
    unsigned opcode = bytes[at];
    const unsigned shape = parts->shape = forms->shapes[map][opcode];
    if (!(shape & SHAPE_COMMON) || (prefix == 1 && !(shape & SHAPE_66)) ||
        (prefix > 1 && !(shape & SHAPE_F3)) || ((shape & SHAPE_PLAIN) && at > 0))
        return false;
    parts->opcode_at = (uint8_t)at;
    parts->size = (uint8_t)(at + 1);
    if (shape & SHAPE_OPCODE) {
        parts->rm = (uint8_t)((opcode & 7) | (parts->rex & REX_B ? 8 : 0));
        if (shape & SHAPE_BYTE_RM)
            parts->rm = byte_register(parts, parts->rm);
        if (opcode >= 0x58 && opcode < 0x60 && parts->rm == DECODE_RSP)
            return false; /* pop rsp */
        opcode &= ~7u;
    } else if ((shape & SHAPE_MODRM) && !split_modrm(parts, bytes, size)) {
        return false;
    }
    const unsigned group = shape & SHAPE_GROUP ? parts->modrm >> 3 & 7 : 0;
    parts->key = (((map * 4 + prefix) * 2 + (parts->rex & REX_W ? 1 : 0)) * 256 + opcode) * 16 +
                 group * 2 + parts->is_memory;
    return true;
}

/* --- forms -------------------------------------------------------------------------------------
 */

static bool has(unsigned registers, unsigned number)
{
    return registers >> number & 1;
}

/* The instruction of a form with registers REG, RM and INDEX, no displacement and the constant 1.
 * Returns its size without the constant. */
static unsigned make_sample(const struct parts *parts, const uint8_t *bytes, uint8_t *sample)
{
    unsigned at = 0;
    if (parts->prefix)
        sample[at++] = parts->prefix;
    if (!(parts->shape & SHAPE_PLAIN))
        sample[at++] = (uint8_t)(REX | (parts->rex & REX_W) | REX_R | REX_X | REX_B);
    if (parts->key >= KEYS / 2)
        sample[at++] = 0x0f;
    const uint8_t opcode = bytes[parts->opcode_at];
    sample[at++] = parts->shape & SHAPE_OPCODE ? (uint8_t)((opcode & ~7) | (RM & 7)) : opcode;
    if (parts->shape & SHAPE_MODRM) {
        const unsigned reg = parts->shape & SHAPE_GROUP ? parts->modrm >> 3 & 7 : REG & 7;
        sample[at++] = (uint8_t)((parts->is_memory ? 4 : 0xc0 | (RM & 7)) | reg << 3);
        if (parts->is_memory)
            sample[at++] = (INDEX & 7) << 3 | (RM & 7);
    }
    sample[at] = 1;
    return at;
}

/* Takes the registers of the sample out of what a form has in common. */
static void learn_registers(struct form *form, const struct parts *parts)
{
    struct decode_instruction *instruction = &form->instruction;
    const unsigned read = instruction->registers_read, written = instruction->registers_written;
    const uint16_t sample = 1u << REG | 1u << RM | 1u << INDEX;
    form->reads_reg = has(read, REG);
    form->writes_reg = has(written, REG);
    form->reads_rm = !parts->is_memory && has(read, RM);
    form->writes_rm = !parts->is_memory && has(written, RM);
    form->adjusts_rm = instruction->adjusted == RM;
    form->branches_by_rm = instruction->branch_register == RM;
    instruction->registers_read &= (uint16_t)~sample;
    instruction->registers_written &= (uint16_t)~sample;
    form->operand = -1;
    for (unsigned i = 0; i < instruction->access_count; i++)
        if (instruction->accesses[i].index == INDEX)
            form->operand = (int8_t)i;
}

/* Decodes a sample of the form of an instruction. */
static struct form *learn(struct decode_forms *forms, const struct parts *parts,
                          const uint8_t *bytes)
{
    uint8_t sample[DECODE_BYTES_MAX] = {0};
    struct form *form = &forms->forms[forms->count];
    if (forms->count == FORMS_MAX)
        return NULL;
    const unsigned size = make_sample(parts, bytes, sample);
    decode(&form->instruction, sample, sizeof sample, 0);
    const struct decode_instruction *instruction = &form->instruction;
    form->common = instruction->mnemonic != 0 && instruction->size >= size &&
                   instruction->kind <= DECODE_CALL_INDIRECT && !instruction->repeated &&
                   instruction->rip_displacement == 0;
    form->constant = (uint8_t)(instruction->size - size);
    form->is_relative = instruction->target != 0;
    learn_registers(form, parts);
    forms->keys[parts->key] = (uint16_t)(++forms->count);
    return form;
}

static struct form *find(struct decode_forms *forms, const struct parts *parts,
                         const uint8_t *bytes)
{
    const unsigned number = forms->keys[parts->key];
    struct form *form = number ? &forms->forms[number - 1] : learn(forms, parts, bytes);
    return form && form->common ? form : NULL;
}

/* --- forms to instructions ---------------------------------------------------------------------
 */

static int64_t number_at(const uint8_t *bytes, unsigned size)
{
    int8_t one;
    int16_t two;
    int32_t four;
    switch (size) {
    case 1:
        memcpy(&one, bytes, sizeof one);
        return one;
    case 2:
        memcpy(&two, bytes, sizeof two);
        return two;
    case 4:
        memcpy(&four, bytes, sizeof four);
        return four;
    default:
        return 0;
    }
}

static unsigned bit_of(bool wanted, uint8_t number)
{
    return wanted ? 1u << number : 0;
}

static void set_memory(struct decode_instruction *instruction, const struct form *form,
                       const struct parts *parts)
{
    unsigned read = bit_of(parts->base != DECODE_NONE, parts->base & 15) |
                    bit_of(parts->index != DECODE_NONE, parts->index & 15);
    instruction->registers_read |= (uint16_t)read;
    if (parts->is_rip)
        instruction->rip_displacement = parts->displacement_at;
    if (form->operand < 0)
        return;
    struct decode_access *access = &instruction->accesses[form->operand];
    access->base = parts->base;
    access->index = parts->index;
    access->scale = parts->scale;
    access->displacement =
        number_at(instruction->bytes + parts->displacement_at, parts->displacement_size);
    if (parts->is_rip)
        access->displacement += (int64_t)(instruction->address + instruction->size);
}

static void set_registers(struct decode_instruction *instruction, const struct form *form,
                          const struct parts *parts)
{
    instruction->registers_read |= (uint16_t)(bit_of(form->reads_reg, parts->reg & 15) |
                                              bit_of(form->reads_rm, parts->rm & 15));
    instruction->registers_written |= (uint16_t)(bit_of(form->writes_reg, parts->reg & 15) |
                                                 bit_of(form->writes_rm, parts->rm & 15));
    if (form->adjusts_rm)
        instruction->adjusted = parts->rm;
    if (form->branches_by_rm)
        instruction->branch_register = parts->rm;
    if (instruction->adjusted != DECODE_NONE)
        instruction->registers_written &= (uint16_t) ~(1u << instruction->adjusted);
}

static struct form *match(struct decode_forms *forms, struct parts *parts, const uint8_t *bytes,
                          size_t size)
{
    struct form *form = split(forms, parts, bytes, size) ? find(forms, parts, bytes) : NULL;
    if (!form || parts->size + (size_t)form->constant > size ||
        parts->size + form->constant > DECODE_BYTES_MAX)
        return NULL;
    return form;
}

void decode_form(struct decode_forms *forms, struct decode_instruction *instruction,
                 const uint8_t *bytes, size_t size, uint64_t address)
{
    struct parts parts;
    const struct form *form = match(forms, &parts, bytes, size);
    if (!form) {
        decode(instruction, bytes, size, address);
        return;
    }
    *instruction = form->instruction;
    instruction->address = address;
    instruction->size = (uint8_t)(parts.size + form->constant);
    memset(instruction->bytes, 0, sizeof instruction->bytes);
    memcpy(instruction->bytes, bytes, instruction->size);
    const int64_t constant = number_at(bytes + parts.size, form->constant);
    set_registers(instruction, form, &parts);
    if (parts.is_memory)
        set_memory(instruction, form, &parts);
    if (form->is_relative)
        instruction->target = address + instruction->size + (uint64_t)constant;
    if ((parts.shape & SHAPE_SCALED) && instruction->adjusted != DECODE_NONE)
        instruction->adjustment *= constant;
}

bool decode_form_is_common(struct decode_forms *forms, const uint8_t *bytes, size_t size)
{
    struct parts parts;
    return match(forms, &parts, bytes, size) != NULL;
}
