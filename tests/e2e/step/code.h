/*
 * Classifies the instruction at an address by its effect on the flow of control, from its bytes.
 * Knows the kind and size of branches only; all other instructions continue at the next one, so
 * that execution shows their size. On purpose not an instruction decoder: it checks the results of
 * one.
 */
#ifndef TESTS_E2E_STEP_CODE_H
#define TESTS_E2E_STEP_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_BYTES 15u /* maximum size of an instruction */

enum code_kind {
    CODE_STRAIGHT, /* continues at the next instruction */
    CODE_CONDITIONAL,
    CODE_JUMP,
    CODE_CALL,
    CODE_RETURN,
    CODE_SYSTEM_CALL,
    CODE_REPEAT, /* a string instruction with a repeat prefix */
    CODE_KINDS
};

/* Classifies the instruction at bytes, in code of 32 (narrow) or 64 bits. *size gets its size, 0 if
 * only execution shows it (CODE_STRAIGHT). */
enum code_kind code_kind(const uint8_t bytes[CODE_BYTES], bool narrow, uint8_t *size);

/* Returns "calls" and so on, for totals. */
const char *code_kind_name(enum code_kind kind);

#endif
