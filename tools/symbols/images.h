/* Data that the files of images share. */
#ifndef TOOLS_SYMBOLS_IMAGES_H
#define TOOLS_SYMBOLS_IMAGES_H

#include "tools/symbols/image.h"

#include <Zydis/Zydis.h>

struct images {
    struct image *images; /* in order of addresses, without overlaps */
    uint32_t count;
    bool allow_times;   /* images may overlap that were in memory at different times */
    bool are_separate;  /* some have been moved: */
    uint64_t low, high; /* the addresses in memory of all of these */
    uint64_t moved;     /* the lowest address that one was moved to */
    ZydisDecoder decoder32;
    ZydisDecoder decoder64;
};

/* The instruction decoded at an address; bits is 32 or 64. */
struct image_instruction images_describe(const ZydisDecodedInstruction *decoded, unsigned bits,
                                         uint64_t address);

#endif
