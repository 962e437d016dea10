/*
 * Every EVEX encoding with an opmask and a memory operand that Zydis knows, and which of them lack
 * fault suppression according to the processor manuals: these access their whole memory operand
 * whatever the mask holds.
 */
#ifndef TESTS_SUPPORT_MASKED_FORMS_H
#define TESTS_SUPPORT_MASKED_FORMS_H

#include "tests/support/random_instruction.h"

#define MASKED_FORMS_MASK 1u /* the opmask register: k1 */
#define MASKED_FORMS_BASE 3u /* the base register of the memory operand: rbx */

/* Whether the EVEX instruction lacks fault suppression (Intel SDM, volume 2, exception types with
 * the suffix NF). */
bool masked_form_reads_all(const ZydisDecodedInstruction *instruction);

/*
 * Visits each form: opcode, prefix, W, vector length, broadcast or not, zeroing or not. Operands
 * are [rbx], or [rbx + vector register] for gathers and scatters; the immediate is 0x11. Returns
 * how many there were.
 */
unsigned masked_forms_each(void (*visit)(void *context, const struct random_instruction *form),
                           void *context);

#endif
