#include "tests/support/masked_forms.h"

#include <string.h>

#define P0 1u /* prefixes: none, 66, F3, F2 */
#define P1 2u
#define P2 4u
#define P3 8u

#define DATA_REGISTER 2u /* apart from the mask, and from a gather's index */
#define VVVV_NONE     15u
#define IMMEDIATE     0x11u

/* Opcodes from first to last of a map. */
static const struct {
    uint8_t map, prefixes, first, last;
} without_suppression[] = {
    {1, P2 | P3, 0x12, 0x12},      /* vmovsldup, vmovddup */
    {1, P0 | P1, 0x14, 0x15},      /* vunpcklps to vunpckhpd */
    {1, P2, 0x16, 0x16},           /* vmovshdup */
    {1, P1, 0x60, 0x63},           /* vpunpcklbw to vpunpckldq, vpacksswb */
    {1, P1, 0x67, 0x6d},           /* vpackuswb, vpunpckhbw to vpunpckhqdq, vpackssdw */
    {1, P1 | P2 | P3, 0x70, 0x70}, /* vpshufd, vpshufhw, vpshuflw */
    {1, P0 | P1, 0xc6, 0xc6},      /* vshufps, vshufpd */
    {1, P1, 0xd1, 0xd3},           /* shifts whose count lies in memory */
    {1, P1, 0xe1, 0xe2},           {1, P1, 0xf1, 0xf3}, {1, P1, 0xf5, 0xf5}, /* vpmaddwd */
    {2, P1, 0x00, 0x00},                                                     /* vpshufb */
    {2, P1, 0x04, 0x04},                                                     /* vpmaddubsw */
    {2, P1, 0x0c, 0x0d}, /* vpermilps, vpermilpd */
    {2, P1, 0x16, 0x16}, /* vpermps, vpermpd */
    {2, P1, 0x2b, 0x2b}, /* vpackusdw */
    {2, P1, 0x36, 0x36}, /* vpermd, vpermq */
    {2, P3, 0x72, 0x72}, /* vcvtne2ps2bf16 */
    {2, P1, 0x75, 0x77}, /* vpermi2b to vpermi2pd */
    {2, P1, 0x7d, 0x7f}, /* vpermt2b to vpermt2pd */
    {2, P1, 0x83, 0x83}, /* vpmultishiftqb */
    {2, P1, 0x8d, 0x8d}, /* vpermb, vpermw */
    {2, P1, 0xc4, 0xc4}, /* vpconflictd, vpconflictq */
    {3, P1, 0x00, 0x01}, /* vpermq, vpermpd */
    {3, P1, 0x03, 0x05}, /* valignd, valignq, vpermilps, vpermilpd */
    {3, P1, 0x0f, 0x0f}, /* vpalignr */
    {3, P1, 0x18, 0x1b}, /* vinsertf32x4 to vextractf64x4 */
    {3, P1, 0x23, 0x23}, /* vshuff32x4, vshuff64x2 */
    {3, P1, 0x38, 0x3b}, /* vinserti32x4 to vextracti64x4 */
    {3, P1, 0x42, 0x43}, /* vdbpsadbw, vshufi32x4, vshufi64x2 */
    {3, P1, 0xce, 0xcf}, /* vgf2p8affineqb, vgf2p8affineinvqb */
};

bool masked_form_reads_all(const ZydisDecodedInstruction *instruction)
{
    const size_t count = sizeof without_suppression / sizeof *without_suppression;
    for (size_t i = 0; i < count; i++)
        if (instruction->raw.evex.mmm == without_suppression[i].map &&
            (without_suppression[i].prefixes >> instruction->raw.evex.pp & 1) &&
            instruction->opcode >= without_suppression[i].first &&
            instruction->opcode <= without_suppression[i].last)
            return true;
    return false;
}

/* One encoding, by its parts. */
struct encoding {
    unsigned map, opcode, prefix, wide, length, broadcast, zeroing, reg;
};

const ZydisDecodedOperand *masked_form_memory(const struct random_instruction *form)
{
    for (unsigned i = 0; i < form->instruction.operand_count; i++)
        if (form->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return &form->operands[i];
    return NULL;
}

/* Whether the form's bytes are an instruction with a memory operand of the kind wanted. */
static bool decode_form(struct random_instruction *form, bool vector_index)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, form->bytes, sizeof form->bytes,
                                           &form->instruction, form->operands)))
        return false;
    const ZydisDecodedOperand *memory = masked_form_memory(form);
    return memory && (memory->mem.type == ZYDIS_MEMOP_TYPE_VSIB) == vector_index;
}

/* The opcode and what follows it. */
static void put_operands(uint8_t *bytes, unsigned opcode, unsigned reg, bool vector_index)
{
    bytes[0] = (uint8_t)opcode;
    bytes[1] = (uint8_t)(reg << 3 | (vector_index ? 4 : MASKED_FORMS_BASE));
    if (vector_index)
        bytes[2] = (uint8_t)(MASKED_FORMS_INDEX << 3 | MASKED_FORMS_BASE);
}

static bool decode_encoding(struct random_instruction *form, const struct encoding *encoding,
                            unsigned vvvv, bool vector_index)
{
    uint8_t *bytes = form->bytes;
    unsigned at = 0;
    memset(bytes, IMMEDIATE, sizeof form->bytes);
    bytes[at++] = 0x62;
    bytes[at++] = (uint8_t)(0xf0 | encoding->map);
    bytes[at++] = (uint8_t)(encoding->wide << 7 | vvvv << 3 | 4 | encoding->prefix);
    bytes[at++] = (uint8_t)(encoding->zeroing << 7 | encoding->length << 5 |
                            encoding->broadcast << 4 | 8 | MASKED_FORMS_MASK);
    put_operands(bytes + at, encoding->opcode, encoding->reg, vector_index);
    return decode_form(form, vector_index) &&
           form->instruction.avx.mask.reg == ZYDIS_REGISTER_K0 + MASKED_FORMS_MASK;
}

/* Tries vvvv with and without a register: some forms require one, others none; gathers and scatters
 * need a vector index. */
static bool find_form(struct random_instruction *form, const struct encoding *encoding)
{
    for (unsigned i = 0; i < 4; i++)
        if (decode_encoding(form, encoding, i & 1 ? VVVV_NONE : VVVV_NONE - DATA_REGISTER, i >> 1))
            return true;
    return false;
}

/* Returns an encoding whose fields are the digits of a number. */
static struct encoding encoding_at(unsigned number)
{
    struct encoding encoding = {.reg = number & 7,
                                .zeroing = number >> 3 & 1,
                                .broadcast = number >> 4 & 1,
                                .length = number >> 5 & 3,
                                .wide = number >> 7 & 1,
                                .prefix = number >> 8 & 3,
                                .opcode = number >> 10 & 0xff,
                                .map = number >> 18 & 7};
    return encoding;
}

/* Whether the opcode is that of a group: its reg field chooses the instruction. */
static bool is_group(const struct encoding *encoding)
{
    return (encoding->map == 1 && encoding->opcode >= 0x71 && encoding->opcode <= 0x73) ||
           (encoding->map == 2 && (encoding->opcode == 0xc6 || encoding->opcode == 0xc7));
}

unsigned masked_forms_each(void (*visit)(void *context, const struct random_instruction *form),
                           void *context)
{
    unsigned count = 0;
    for (unsigned number = 0; number < 1u << 21; number++) {
        struct encoding encoding = encoding_at(number);
        struct random_instruction form;
        if ((encoding.reg != DATA_REGISTER && !is_group(&encoding)) || !find_form(&form, &encoding))
            continue;
        visit(context, &form);
        count++;
    }
    return count;
}

/* The mask is in vvvv. */
static bool decode_vex(struct random_instruction *form, unsigned opcode, unsigned wide,
                       unsigned length)
{
    bool gather = opcode >= 0x90;
    uint8_t *bytes = form->bytes;
    memset(bytes, 0, sizeof form->bytes);
    bytes[0] = 0xc4;
    bytes[1] = 0xe2;
    bytes[2] = (uint8_t)(wide << 7 | (15 - MASKED_FORMS_MASK) << 3 | length << 2 | 1);
    put_operands(bytes + 3, opcode, DATA_REGISTER, gather);
    return decode_form(form, gather);
}

unsigned masked_forms_each_vex(void (*visit)(void *context, const struct random_instruction *form),
                               void *context)
{
    /* vmaskmovps, vmaskmovpd, vpmaskmovd and vpmaskmovq, vgatherdps to vpgatherqq */
    static const uint8_t opcodes[] = {0x2c, 0x2d, 0x2e, 0x2f, 0x8c, 0x8e, 0x90, 0x91, 0x92, 0x93};
    unsigned count = 0;
    for (unsigned number = 0; number < 4 * sizeof opcodes; number++) {
        struct random_instruction form = {.bytes = {0}};
        if (!decode_vex(&form, opcodes[number / 4], number >> 1 & 1, number & 1))
            continue;
        visit(context, &form);
        count++;
    }
    return count;
}

unsigned masked_form_vex_element(const ZydisDecodedInstruction *instruction)
{
    if (instruction->opcode >= 0x2c && instruction->opcode <= 0x2f)
        return instruction->opcode & 1 ? 8 : 4;
    return instruction->raw.vex.W ? 8 : 4;
}
