/* Data that the files of images share. */
#ifndef TOOLS_SYMBOLS_IMAGES_H
#define TOOLS_SYMBOLS_IMAGES_H

#include "tools/symbols/image.h"

#include <Zydis/Zydis.h>

struct images {
    struct image *images; /* in order of addresses, without overlaps */
    uint32_t count;
    ZydisDecoder decoder32;
    ZydisDecoder decoder64;
};

/* The instruction decoded at an address; bits is 32 or 64. */
struct image_instruction images_describe(const ZydisDecodedInstruction *decoded, unsigned bits,
                                         uint64_t address);

#endif
