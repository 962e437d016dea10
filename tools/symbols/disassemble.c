#include "tools/symbols/disassemble.h"

#include "tools/symbols/images.h"

#include <stdlib.h>
#include <string.h>

struct disassembler {
    ZydisDecoder decoder32;
    ZydisDecoder decoder64;
    ZydisFormatter formatter;
};

struct disassembler *disassembler_new(enum disassemble_syntax syntax, struct bt_error *error)
{
    struct disassembler *disassembler = malloc(sizeof *disassembler);
    if (!disassembler) {
        bt_fail(error, BT_MEMORY, "no memory for a disassembler");
        return NULL;
    }
    ZydisDecoderInit(&disassembler->decoder32, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
    ZydisDecoderInit(&disassembler->decoder64, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&disassembler->formatter, syntax == DISASSEMBLE_ATT
                                                     ? ZYDIS_FORMATTER_STYLE_ATT
                                                     : ZYDIS_FORMATTER_STYLE_INTEL);
    /* as objdump: no leading zeros, lower-case digits */
    ZydisFormatterSetProperty(&disassembler->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&disassembler->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&disassembler->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&disassembler->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&disassembler->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE,
                              ZYAN_FALSE);
    return disassembler;
}

void disassembler_free(struct disassembler *disassembler)
{
    free(disassembler);
}

size_t disassemble(const struct disassembler *disassembler, unsigned bits, const uint8_t *code,
                   size_t size, uint64_t address, struct image_instruction *instruction,
                   char text[DISASSEMBLE_BYTES])
{
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecoder *decoder = bits == 32 ? &disassembler->decoder32 : &disassembler->decoder64;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code, size, &decoded, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&disassembler->formatter, &decoded, operands,
                                                      decoded.operand_count_visible, text,
                                                      DISASSEMBLE_BYTES, address, NULL)))
        return 0;
    *instruction = images_describe(&decoded, bits, address);
    return strlen(text);
}
