/*
 * Every instruction form that Zydis knows in 64-bit mode: encoding, opcode map, opcode, prefixes,
 * W, vector length, broadcast or rounding, operand in a register or in memory. Fields that only
 * select a register are no part of the form; they, masks, addresses and immediates can be varied.
 */
#ifndef TESTS_SUPPORT_INSTRUCTION_FORMS_H
#define TESTS_SUPPORT_INSTRUCTION_FORMS_H

#include "tests/support/random_instruction.h"

/* The fields that define a form. */
struct instruction_encoding {
    uint8_t space;    /* an encoding of instruction_forms.c */
    uint8_t map;      /* opcode map */
    uint8_t prefixes; /* bits: 66, F3, F2, 67 */
    uint8_t opcode;
    uint8_t wide;                               /* W */
    uint8_t length;                             /* vector length: L or L'L */
    uint8_t broadcast;                          /* EVEX.b */
    uint8_t reg, rm;                            /* fields of ModRM that do not select registers */
    bool memory;                                /* rm is an operand in memory */
    bool reg_selects, rm_selects, vvvv_selects; /* the field selects a register */
};

struct instruction_form {
    struct instruction_encoding encoding;
    struct random_instruction made; /* initially with fixed registers */
};

#define IMMEDIATE_RELATIVE 0x11u /* of branches: from the end of the instruction */

/* Visits each form. Returns their number. */
unsigned instruction_forms_each(void (*visit)(void *context, struct instruction_form *form),
                                void *context);

/* Chooses other registers, masks, displacements and immediates for the same form; relative ones
 * stay IMMEDIATE_RELATIVE. */
void instruction_form_vary(struct instruction_form *form, uint64_t *random);

#endif
