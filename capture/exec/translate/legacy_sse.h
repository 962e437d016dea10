/* Instructions whose vector state is xmm0 to xmm15 and MXCSR alone. */
#ifndef CAPTURE_EXEC_TRANSLATE_LEGACY_SSE_H
#define CAPTURE_EXEC_TRANSLATE_LEGACY_SSE_H

#include "capture/exec/translate/decode.h"

/* Whether an instruction that uses vector state uses only these registers and keeps the upper
 * halves of ymm and zmm. False where that is not certain. */
bool legacy_sse(const struct decode_instruction *instruction);

#endif
