/*
 * Every instruction with a mask and a memory operand that Zydis knows: all EVEX encodings with an
 * opmask, and the masked moves and gathers of AVX and AVX2. Also those that lack fault suppression
 * according to the processor manuals: these access their whole memory operand whatever the mask
 * is.
 */
#ifndef TESTS_SUPPORT_MASKED_FORMS_H
#define TESTS_SUPPORT_MASKED_FORMS_H

#include "tests/support/random_instruction.h"

#define MASKED_FORMS_MASK  1u /* the mask: k1, or vector register 1 */
#define MASKED_FORMS_BASE  3u /* the base register of the memory operand: rbx */
#define MASKED_FORMS_INDEX 4u /* the vector register with the indices of gathers and scatters */

/* Whether the EVEX instruction lacks fault suppression (Intel SDM, volume 2, exception types with
 * the suffix NF). */
bool masked_form_reads_all(const ZydisDecodedInstruction *instruction);

/* The form's memory operand, or NULL. */
const ZydisDecodedOperand *masked_form_memory(const struct random_instruction *form);

/*
 * Visits each EVEX form: opcode, prefix, W, vector length, broadcast or not, zeroing or not.
 * Operands are [rbx], or [rbx + vector register] for gathers and scatters; the immediate is 0x11.
 * Returns their number.
 */
unsigned masked_forms_each(void (*visit)(void *context, const struct random_instruction *form),
                           void *context);

/* The same for VEX forms: opcode, W, vector length. Without maskmovdqu and similar instructions:
 * the processor decides whether they fault under an empty mask. */
unsigned masked_forms_each_vex(void (*visit)(void *context, const struct random_instruction *form),
                               void *context);

/* Bytes of the vector element whose highest bit masks an element of a VEX form. */
unsigned masked_form_vex_element(const ZydisDecodedInstruction *instruction);

#endif
