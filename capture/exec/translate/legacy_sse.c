#include "capture/exec/translate/legacy_sse.h"

/* Prefixes with which an opcode after 0x0f is such an instruction; with others it may be MMX. */
enum { NONE = 1, P66 = 2, PF3 = 4, PF2 = 8, ANY = 15 };

/* Mnemonics in comments are those with prefix 66, or without. */
static const struct {
    uint8_t first, last, prefixes;
} opcodes[] = {
    {0x10, 0x17, ANY},             /* movups to movhps */
    {0x28, 0x29, ANY},             /* movaps */
    {0x2a, 0x2a, PF3 | PF2},       /* cvtsi2ss */
    {0x2b, 0x2b, NONE | P66},      /* movntps */
    {0x2c, 0x2d, PF3 | PF2},       /* cvttss2si, cvtss2si */
    {0x2e, 0x2f, NONE | P66},      /* ucomiss, comiss */
    {0x50, 0x5f, ANY},             /* movmskps to maxps */
    {0x60, 0x6e, P66},             /* punpcklbw to movd */
    {0x6f, 0x70, P66 | PF3 | PF2}, /* movdqa, pshufd */
    {0x71, 0x76, P66},             /* shifts, pcmpeq */
    {0x7e, 0x7f, P66 | PF3},       /* movd, movdqa */
    {0xc2, 0xc2, ANY},             /* cmpps */
    {0xc4, 0xc5, P66},             /* pinsrw, pextrw */
    {0xc6, 0xc6, NONE | P66},      /* shufps */
    {0xd1, 0xe5, P66},             /* psrlw to pmulhw */
    {0xe6, 0xe6, ANY},             /* cvttpd2dq */
    {0xe7, 0xf6, P66},             /* movntdq to psadbw */
    {0xf8, 0xfe, P66},             /* psubb to paddd */
};

bool legacy_sse(const struct decode_instruction *instruction)
{
    const uint8_t *at = instruction->bytes, *end = at + instruction->size;
    unsigned prefix = NONE;
    for (; at < end && decode_is_prefix(*at); at++)
        if (*at == 0xf3 || *at == 0xf2) /* the last of them applies, and 66 does not */
            prefix = *at == 0xf3 ? PF3 : PF2;
        else if (*at == 0x66 && prefix == NONE)
            prefix = P66;
    if (end - at < 2 || at[0] != 0x0f)
        return false;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (at[1] >= opcodes[i].first && at[1] <= opcodes[i].last)
            return opcodes[i].prefixes & prefix;
    return false;
}
