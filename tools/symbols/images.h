/* What image.c and image_instruction.c share. */
#ifndef TOOLS_SYMBOLS_IMAGES_H
#define TOOLS_SYMBOLS_IMAGES_H

#include "tools/symbols/image.h"

#include <Zydis/Zydis.h>

struct images {
    struct image *images; /* in order of their addresses; none overlaps another */
    uint32_t count;
    ZydisDecoder decoder32;
    ZydisDecoder decoder64;
};

#endif
