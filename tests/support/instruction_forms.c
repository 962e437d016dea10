#include "tests/support/instruction_forms.h"

#include "tests/support/random.h"

#include <string.h>

enum { LEGACY, AMD_3DNOW, VEX, EVEX, XOP };

#define PREFIX_66 1u
#define PREFIX_F3 2u
#define PREFIX_F2 4u
#define PREFIX_67 8u

/* Registers for fields that select one: neither rax nor a pointer of string instructions. */
#define REGISTER 2u
#define BASE     3u
#define NO_INDEX 4u
#define TRIES    16u

/* The values that a form does not define. */
struct choice {
    unsigned reg, rm, index, vvvv; /* registers; rm is the base of an operand in memory */
    unsigned scale, displacement, mask;
    bool zeroing, rex;
    uint64_t immediate;
};

/* --- bytes ------------------------------------------------------------------------------------ */

static void put(uint8_t **at, unsigned byte)
{
    *(*at)++ = (uint8_t)byte;
}

/* The bits that extend ModRM and SIB in VEX's order: R, X, B, not inverted. */
static unsigned extensions(const struct instruction_encoding *encoding, const struct choice *choice)
{
    unsigned x = encoding->memory ? choice->index >> 3 & 1 : choice->rm >> 4 & 1;
    return (choice->reg >> 3 & 1) << 2 | x << 1 | (choice->rm >> 3 & 1);
}

static void put_legacy_prefixes(uint8_t **at, const struct instruction_encoding *encoding,
                                const struct choice *choice)
{
    unsigned rex = 0x40 | (unsigned)encoding->wide << 3 | extensions(encoding, choice);
    if (encoding->prefixes & PREFIX_67)
        put(at, 0x67);
    if (encoding->prefixes & PREFIX_66)
        put(at, 0x66);
    if (encoding->prefixes & PREFIX_F3)
        put(at, 0xf3);
    if (encoding->prefixes & PREFIX_F2)
        put(at, 0xf2);
    if (choice->rex || rex != 0x40)
        put(at, rex);
    if (encoding->space == AMD_3DNOW) {
        put(at, 0x0f);
        put(at, 0x0f);
        return;
    }
    if (encoding->map > 0)
        put(at, 0x0f);
    if (encoding->map > 1)
        put(at, encoding->map == 2 ? 0x38 : 0x3a);
}

/* The value of VEX's prefix field: none, 66, F3, F2. */
static unsigned prefix_field(const struct instruction_encoding *encoding)
{
    return encoding->prefixes & PREFIX_66   ? 1
           : encoding->prefixes & PREFIX_F3 ? 2
           : encoding->prefixes & PREFIX_F2 ? 3
                                            : 0;
}

static void put_vector_prefix(uint8_t **at, const struct instruction_encoding *encoding,
                              const struct choice *choice)
{
    bool evex = encoding->space == EVEX;
    unsigned inverted = ~extensions(encoding, choice) & 7, vvvv = ~choice->vvvv & 15;
    unsigned wide = (unsigned)encoding->wide << 7 | vvvv << 3 | prefix_field(encoding);
    if (encoding->prefixes & PREFIX_67)
        put(at, 0x67);
    put(at, evex ? 0x62 : encoding->space == XOP ? 0x8f : 0xc4);
    if (!evex) {
        put(at, inverted << 5 | encoding->map);
        put(at, wide | (unsigned)encoding->length << 2);
        return;
    }
    /* of a vector index, the fifth bit is V' */
    unsigned fifth = choice->vvvv >> 4 | (encoding->memory ? choice->index >> 4 : 0);
    put(at, inverted << 5 | (~choice->reg >> 4 & 1) << 4 | encoding->map);
    put(at, wide | 4);
    put(at, (unsigned)choice->zeroing << 7 | (unsigned)encoding->length << 5 |
                (unsigned)encoding->broadcast << 4 | (~fifth & 1) << 3 | choice->mask);
}

static void encode(uint8_t *to, const struct instruction_encoding *encoding,
                   const struct choice *choice)
{
    uint8_t *at = to;
    if (encoding->space == LEGACY || encoding->space == AMD_3DNOW)
        put_legacy_prefixes(&at, encoding, choice);
    else
        put_vector_prefix(&at, encoding, choice);
    if (encoding->space != AMD_3DNOW)
        put(&at, encoding->opcode);
    put(&at, (encoding->memory ? 0x44u : 0xc0u | (choice->rm & 7)) | (choice->reg & 7) << 3);
    if (encoding->memory) {
        put(&at, choice->scale << 6 | (choice->index & 7) << 3 | (choice->rm & 7));
        put(&at, choice->displacement);
    }
    if (encoding->space == AMD_3DNOW)
        put(&at, encoding->opcode);
    uint64_t immediate = choice->immediate;
    for (; at < to + 15; immediate >>= 8)
        put(&at, immediate & 0xff);
}

/* --- forms ------------------------------------------------------------------------------------ */

static bool has_encoding(const struct random_instruction *made, ZydisOperandEncoding encoding)
{
    for (unsigned i = 0; i < made->instruction.operand_count; i++)
        if (made->operands[i].encoding == encoding)
            return true;
    return false;
}

static bool has_relative(const struct random_instruction *made)
{
    return made->instruction.raw.imm[0].is_relative;
}

/* Without ModRM, immediates follow the opcode. */
static void encode_without_operand(struct instruction_form *form, const struct choice *choice)
{
    unsigned from = form->made.instruction.length;
    for (unsigned i = 0; i < 2; i++)
        if (form->made.instruction.raw.imm[i].size &&
            form->made.instruction.raw.imm[i].offset < from)
            from = form->made.instruction.raw.imm[i].offset;
    if (form->made.instruction.raw.disp.size)
        from = form->made.instruction.raw.disp.offset;
    for (unsigned at = from; at < sizeof form->made.bytes; at++)
        form->made.bytes[at] = at - from < 8 ? (uint8_t)(choice->immediate >> 8 * (at - from)) : 0;
}

/* False if the opcode is a prefix. */
static bool is_encoding(const ZydisDecodedInstruction *instruction,
                        const struct instruction_encoding *encoding)
{
    static const ZydisInstructionEncoding spaces[] = {
        ZYDIS_INSTRUCTION_ENCODING_LEGACY, ZYDIS_INSTRUCTION_ENCODING_3DNOW,
        ZYDIS_INSTRUCTION_ENCODING_VEX, ZYDIS_INSTRUCTION_ENCODING_EVEX,
        ZYDIS_INSTRUCTION_ENCODING_XOP};
    return instruction->encoding == spaces[encoding->space] &&
           instruction->opcode == encoding->opcode;
}

static bool try_choice(struct instruction_form *form, const struct choice *choice)
{
    encode(form->made.bytes, &form->encoding, choice);
    if (!random_instruction_decode(&form->made) ||
        !is_encoding(&form->made.instruction, &form->encoding))
        return false;
    if (form->made.instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM)
        return true;
    encode_without_operand(form, choice);
    return random_instruction_decode(&form->made);
}

/* Uses the same registers in each form; fields that select none must be 0. */
static bool find_form(struct instruction_form *form)
{
    struct choice choice = {.reg = form->encoding.reg,
                            .rm = form->encoding.memory ? BASE : form->encoding.rm,
                            .index = NO_INDEX, /* or vector register 4 */
                            .immediate = IMMEDIATE_RELATIVE};
    bool vector = form->encoding.space > AMD_3DNOW;
    unsigned masks = form->encoding.space == EVEX ? 1 : 0;
    for (choice.mask = 0; choice.mask <= masks; choice.mask++)
        for (choice.vvvv = vector ? REGISTER - 1 : 0;; choice.vvvv = 0) {
            if (try_choice(form, &choice)) {
                form->encoding.vvvv_selects = choice.vvvv != 0;
                return true;
            }
            if (choice.vvvv == 0)
                break;
        }
    return false;
}

static bool has_same_operands(const struct random_instruction *a,
                              const struct random_instruction *b)
{
    if (a->instruction.mnemonic != b->instruction.mnemonic ||
        a->instruction.operand_count != b->instruction.operand_count)
        return false;
    for (unsigned i = 0; i < a->instruction.operand_count; i++)
        if (a->operands[i].type != b->operands[i].type ||
            a->operands[i].size != b->operands[i].size ||
            a->operands[i].reg.value != b->operands[i].reg.value ||
            a->operands[i].mem.base != b->operands[i].mem.base)
            return false;
    return true;
}

/* Whether W, the vector length or a prefix has no effect. */
static bool has_needless_field(const struct instruction_form *form)
{
    const struct instruction_encoding *encoding = &form->encoding;
    for (unsigned i = 0; i < 6; i++) {
        struct instruction_form other = {.encoding = *encoding};
        if (i == 0)
            other.encoding.wide = 0;
        else if (i == 1)
            other.encoding.length = 0;
        else
            other.encoding.prefixes &= (uint8_t) ~(1u << (i - 2));
        if (memcmp(&other.encoding, encoding, sizeof *encoding) != 0 && find_form(&other) &&
            has_same_operands(&other.made, &form->made))
            return true;
    }
    return false;
}

/* A form that differs in its register alone is not new. */
static bool is_new(struct instruction_form *form)
{
    struct instruction_encoding *encoding = &form->encoding;
    encoding->reg_selects = has_encoding(&form->made, ZYDIS_OPERAND_ENCODING_MODRM_REG);
    encoding->rm_selects = has_encoding(&form->made, ZYDIS_OPERAND_ENCODING_MODRM_RM);
    if (!(form->made.instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
        encoding->reg_selects = encoding->rm_selects = true;
        if (encoding->memory)
            return false;
    }
    return (!encoding->reg_selects || encoding->reg == REGISTER) &&
           (encoding->memory || !encoding->rm_selects || encoding->rm == REGISTER) &&
           !has_needless_field(form);
}

/* All values of ModRM. */
static unsigned visit_opcode(const struct instruction_encoding *encoding,
                             void (*visit)(void *context, struct instruction_form *form),
                             void *context)
{
    unsigned count = 0;
    for (unsigned modrm = 0; modrm < 128; modrm++) {
        struct instruction_form form = {.encoding = *encoding};
        form.encoding.memory = modrm >> 6;
        form.encoding.reg = modrm >> 3 & 7;
        form.encoding.rm = modrm & 7;
        if ((form.encoding.memory || encoding->space != LEGACY) && form.encoding.rm != REGISTER)
            continue;
        if (!find_form(&form) || !is_new(&form))
            continue;
        visit(context, &form);
        count++;
    }
    return count;
}

unsigned instruction_forms_each(void (*visit)(void *context, struct instruction_form *form),
                                void *context)
{
    static const struct {
        uint8_t space, first_map, last_map, prefixes, lengths, broadcasts;
    } spaces[] = {{LEGACY, 0, 3, 16, 1, 1},
                  {AMD_3DNOW, 1, 1, 1, 1, 1},
                  {VEX, 1, 3, 8, 2, 1},
                  {EVEX, 1, 6, 8, 4, 2},
                  {XOP, 8, 10, 8, 2, 1}};
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        unsigned maps = spaces[i].last_map - spaces[i].first_map + 1u;
        unsigned opcodes = 256u * maps, fields = 2u * spaces[i].lengths * spaces[i].broadcasts;
        for (unsigned n = 0; n < opcodes * fields * spaces[i].prefixes; n++) {
            unsigned rest = n / spaces[i].prefixes % fields;
            unsigned opcode = n / spaces[i].prefixes / fields;
            struct instruction_encoding encoding = {
                .space = spaces[i].space,
                .prefixes = (uint8_t)(n % spaces[i].prefixes),
                .wide = rest & 1,
                .length = (uint8_t)(rest / 2 % spaces[i].lengths),
                .broadcast = (uint8_t)(rest / 2 / spaces[i].lengths),
                .map = (uint8_t)(spaces[i].first_map + opcode / 256),
                .opcode = (uint8_t)opcode};
            bool both = encoding.prefixes & PREFIX_F2 && encoding.prefixes & PREFIX_F3;
            if (both || (encoding.space != LEGACY && (encoding.prefixes & PREFIX_66) &&
                         (encoding.prefixes & (PREFIX_F2 | PREFIX_F3))))
                continue;
            count += visit_opcode(&encoding, visit, context);
        }
    }
    return count;
}

/* --- other registers -------------------------------------------------------------------------- */

static bool is_same_form(const struct random_instruction *a, const struct random_instruction *b)
{
    if (a->instruction.mnemonic != b->instruction.mnemonic ||
        a->instruction.operand_count_visible != b->instruction.operand_count_visible)
        return false;
    for (unsigned i = 0; i < a->instruction.operand_count_visible; i++)
        if (a->operands[i].type != b->operands[i].type ||
            a->operands[i].size != b->operands[i].size ||
            a->operands[i].encoding != b->operands[i].encoding)
            return false;
    return true;
}

void instruction_form_vary(struct instruction_form *form, uint64_t *random)
{
    const struct instruction_encoding *encoding = &form->encoding;
    unsigned registers = encoding->space == EVEX ? 32 : 16;
    for (unsigned i = 0; i < TRIES; i++) {
        struct instruction_form other = {.encoding = *encoding};
        struct choice choice = {
            .reg = (unsigned)random_below(random, registers),
            .rm = (unsigned)random_below(random, encoding->memory ? 16 : registers),
            .index = (unsigned)random_below(random, registers),
            .vvvv = (unsigned)random_below(random, registers),
            .scale = (unsigned)random_below(random, 4),
            .displacement = (unsigned)random_below(random, 256),
            .mask = (unsigned)random_below(random, 8),
            .zeroing = random_one_in(random, 4),
            .rex = random_one_in(random, 2),
            .immediate = random_one_in(random, 2) ? random_below(random, 64) : random_next(random)};
        if (!encoding->reg_selects)
            choice.reg = encoding->reg;
        if (!encoding->memory && !encoding->rm_selects)
            choice.rm = encoding->rm;
        if (!encoding->vvvv_selects)
            choice.vvvv = 0;
        if (encoding->space != EVEX)
            choice.mask = 0;
        if (has_relative(&form->made))
            choice.immediate = IMMEDIATE_RELATIVE;
        if (try_choice(&other, &choice) && is_same_form(&other.made, &form->made)) {
            *form = other;
            return;
        }
    }
}
