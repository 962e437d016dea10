/*
 * What the instruction at an address does with the flow of control, from its bytes: only those that
 * can go elsewhere are known, and how long they are. All others go on behind themselves, so that
 * the processor says how long they are. This is no decoder of instructions, on purpose: it checks
 * what one has found.
 */
#ifndef TESTS_E2E_STEP_CODE_H
#define TESTS_E2E_STEP_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_BYTES 15u /* no instruction has more */

enum code_kind {
    CODE_STRAIGHT, /* continues at the next instruction */
    CODE_CONDITIONAL,
    CODE_JUMP,
    CODE_CALL,
    CODE_RETURN,
    CODE_SYSTEM_CALL,
    CODE_REPEAT, /* a string instruction with a prefix that repeats it */
    CODE_KINDS
};

/* What is at bytes, in code of 32 (narrow) or 64 bits. *size gets its bytes, 0 where only the
 * processor knows: CODE_STRAIGHT. */
enum code_kind code_kind(const uint8_t bytes[CODE_BYTES], bool narrow, uint8_t *size);

/* "calls" and so on, for totals. */
const char *code_kind_name(enum code_kind kind);

#endif
