#include "capture/exec/translate/legacy_sse.h"
#include "tests/suites.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

/* As Zydis knows the operands: no registers but xmm, general and flags; MXCSR is not among them. */
static bool is_only_sse(const ZydisDecodedInstruction *instruction,
                        const ZydisDecodedOperand *operands)
{
    if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        switch (ZydisRegisterGetClass(operands[i].reg.value)) {
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_GPR32:
        case ZYDIS_REGCLASS_GPR64:
        case ZYDIS_REGCLASS_FLAGS:
            break;
        default:
            return operands[i].reg.value == ZYDIS_REGISTER_MXCSR;
        }
    }
    return true;
}

/* All opcodes after 0x0f, with each prefix, with and without REX, with registers and memory. */
static void test_all(void)
{
    static const uint8_t prefixes[] = {0, 0x66, 0xf3, 0xf2}, operands[] = {0xca, 0x0a};
    ZydisDecoder decoder;
    unsigned found = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (unsigned i = 0; i < 256 * 4 * 2 * 2; i++) {
        ZydisDecodedInstruction zydis;
        ZydisDecodedOperand zydis_operands[ZYDIS_MAX_OPERAND_COUNT];
        struct decode_instruction instruction;
        uint8_t bytes[DECODE_BYTES_MAX] = {0}, *at = bytes;
        if (prefixes[i / 256 % 4])
            *at++ = prefixes[i / 256 % 4];
        if (i / 1024 % 2)
            *at++ = 0x45;
        *at++ = 0x0f;
        *at++ = (uint8_t)i;
        *at = operands[i / 2048];
        if (ZYAN_FAILED(
                ZydisDecoderDecodeFull(&decoder, bytes, sizeof bytes, &zydis, zydis_operands)))
            continue;
        decode(&instruction, bytes, sizeof bytes, 0x10000);
        if (!instruction.vector || !legacy_sse(&instruction))
            continue;
        found++;
        const bool right = is_only_sse(&zydis, zydis_operands);
        CU_ASSERT(right);
        if (!right)
            printf("%02x with prefix %02x: %s\n", i & 255, prefixes[i / 256 % 4],
                   ZydisMnemonicGetString(zydis.mnemonic));
    }
    CU_ASSERT(found > 500);
}

static void test_examples(void)
{
    static const struct {
        uint8_t bytes[DECODE_BYTES_MAX];
        bool expected;
    } examples[] = {
        {{0x0f, 0x28, 0xc1}, true},              /* movaps xmm0, xmm1 */
        {{0xf2, 0x41, 0x0f, 0x58, 0xc0}, true},  /* addsd xmm0, xmm8 */
        {{0x66, 0x0f, 0xef, 0xc0}, true},        /* pxor xmm0, xmm0 */
        {{0xf3, 0x0f, 0x6f, 0x07}, true},        /* movdqu xmm0, [rdi] */
        {{0x66, 0xf3, 0x0f, 0x6f, 0x07}, true},  /* the same: the last prefix applies */
        {{0x0f, 0xef, 0xc0}, false},             /* pxor mm0, mm0 */
        {{0xf3, 0x0f, 0xd6, 0xc0}, false},       /* movq2dq xmm0, mm0 */
        {{0x66, 0x0f, 0x2a, 0xc0}, false},       /* cvtpi2pd xmm0, mm0 */
        {{0x0f, 0x77}, false},                   /* emms */
        {{0xd9, 0xc0}, false},                   /* fld st0 */
        {{0x0f, 0xae, 0x07}, false},             /* fxsave [rdi] */
        {{0xc5, 0xf8, 0x28, 0xc1}, false},       /* vmovaps xmm0, xmm1: clears the upper half */
        {{0xc4, 0xe2, 0x79, 0x18, 0xc0}, false}, /* vbroadcastss xmm0, xmm0 */
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct decode_instruction instruction;
        decode(&instruction, examples[i].bytes, DECODE_BYTES_MAX, 0x10000);
        CU_ASSERT(instruction.vector);
        CU_ASSERT_EQUAL(legacy_sse(&instruction), examples[i].expected);
    }
}

static const struct test_case cases[] = {
    {"all opcodes", test_all}, {"examples", test_examples}, {NULL, NULL}};
TEST_SUITE(exec_legacy_sse, cases)
