/* Decodes instructions with Zydis. */
#include "tools/symbols/images.h"

static enum image_branch branch_of(const ZydisDecodedInstruction *decoded)
{
    bool relative = decoded->raw.imm[0].is_relative;
    switch (decoded->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return relative ? IMAGE_CONDITIONAL : IMAGE_PLAIN;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return relative ? IMAGE_JUMP : IMAGE_INDIRECT_JUMP;
    case ZYDIS_CATEGORY_CALL:
        return relative ? IMAGE_CALL : IMAGE_INDIRECT_CALL;
    case ZYDIS_CATEGORY_RET:
        return decoded->mnemonic == ZYDIS_MNEMONIC_IRET ||
                       decoded->mnemonic == ZYDIS_MNEMONIC_IRETD ||
                       decoded->mnemonic == ZYDIS_MNEMONIC_IRETQ
                   ? IMAGE_CONTEXT_RETURN
                   : IMAGE_RETURN;
    case ZYDIS_CATEGORY_SYSCALL:
        return IMAGE_SYSTEM_CALL;
    case ZYDIS_CATEGORY_SYSRET:
        return IMAGE_SYSTEM_RETURN;
    case ZYDIS_CATEGORY_INTERRUPT:
        return decoded->mnemonic == ZYDIS_MNEMONIC_INT ? IMAGE_SYSTEM_CALL : IMAGE_PLAIN;
    default:
        return decoded->attributes &
                       (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)
                   ? IMAGE_REPEAT
                   : IMAGE_PLAIN;
    }
}

struct image_instruction images_describe(const ZydisDecodedInstruction *decoded, unsigned bits,
                                         uint64_t address)
{
    struct image_instruction instruction = {.size = decoded->length,
                                            .branch = (uint8_t)branch_of(decoded)};
    if (decoded->raw.imm[0].is_relative) {
        instruction.target = address + decoded->length + (uint64_t)decoded->raw.imm[0].value.s;
        if (bits == 32)
            instruction.target &= decoded->operand_width == 16 ? 0xffffu : UINT32_MAX;
    }
    return instruction;
}

bool images_instruction(const struct images *images, uint64_t address,
                        struct image_instruction *instruction)
{
    ZydisDecoderContext context;
    ZydisDecodedInstruction decoded;
    size_t size;
    const uint8_t *code = images_code(images, address, &size);
    if (!code)
        return false;
    unsigned bits = images->images[images_find(images, address)].bits;
    const ZydisDecoder *decoder = bits == 32 ? &images->decoder32 : &images->decoder64;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, &context, code, size, &decoded)))
        return false;
    *instruction = images_describe(&decoded, bits, address);
    return true;
}

uint32_t images_count_instructions(const struct images *images, uint64_t address, uint64_t size)
{
    struct image_instruction instruction;
    uint32_t count = 0;
    for (uint64_t at = 0; at < size && images_instruction(images, address + at, &instruction);
         at += instruction.size)
        count++;
    return count;
}
