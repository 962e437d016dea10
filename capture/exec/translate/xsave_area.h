/*
 * The layout of a vector area, as XSAVE writes it: Intel's SDM, volume 1, section 13.4. The numbers
 * are plain, because the assembler reads them, too.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_XSAVE_AREA_H
#define CAPTURE_EXEC_TRANSLATE_XSAVE_AREA_H

/* Offsets. The legacy part has the state of x87 and SSE, the header says which components are in
 * the area. */
#define XSAVE_MXCSR  24 /* and its mask */
#define XSAVE_X87    32 /* 8 registers, 16 bytes each */
#define XSAVE_XMM    160
#define XSAVE_HEADER 512
#define XSAVE_OTHERS 576 /* components from 2 on, at offsets of the processor's */

#define XSAVE_X87_BYTES    128
#define XSAVE_XMM_BYTES    256
#define XSAVE_HEADER_BYTES 64

/* What Linux notes in the unused end of the legacy part of an area on a signal's frame
 * (arch/x86/include/uapi/asm/sigcontext.h): a magic number of 4 bytes, the size with the second
 * magic number after the area, 8 bytes of components, the size of the area. */
#define XSAVE_NOTE          464
#define XSAVE_NOTE_EXTENDED 468
#define XSAVE_NOTE_MASK     472
#define XSAVE_NOTE_SIZE     480
#define XSAVE_NOTE_MAGIC    0x46505853u
#define XSAVE_END_MAGIC     0x46505845u

/* Components: bits in the first 8 bytes of the header. */
#define XSAVE_HAS_X87 1u
#define XSAVE_HAS_SSE 2u

#define XSAVE_MXCSR_INITIAL 0x1f80u

#endif
