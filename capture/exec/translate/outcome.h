/*
 * Instructions that define a register or flags only under a condition: conditional moves, shifts by
 * cl, bit scans, cmpxchg. Analyses of data flow need to know what each execution has done (WET:
 * doc/wet.md, "Conditional definitions"). String instructions with a repeat prefix have entries for
 * their count already, and are none of these.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_OUTCOME_H
#define CAPTURE_EXEC_TRANSLATE_OUTCOME_H

#include "capture/exec/translate/decode.h"

enum outcome_kind {
    OUTCOME_NONE,      /* it is no such instruction */
    OUTCOME_CONDITION, /* cmovcc, fcmovcc: whether `condition` is true before it */
    OUTCOME_COUNT,     /* shifts and rotates by cl: ecx before it */
    OUTCOME_ZERO_FLAG  /* bsf, bsr, cmpxchg and its relatives: ZF after it */
};

struct outcome {
    uint8_t kind;      /* enum outcome_kind */
    uint8_t condition; /* of the flags, as encoded in jcc (Intel SDM, volume 1, appendix B) */
    uint8_t mask;      /* bits of the outcome that count: 1; of a count 31 or 63 */
};

/* Whether it is known only after the instruction. */
static inline bool outcome_is_after(enum outcome_kind kind)
{
    return kind == OUTCOME_ZERO_FLAG;
}

/* The outcome of a decoded instruction. */
struct outcome outcome_of(const struct decode_instruction *instruction);

#endif
