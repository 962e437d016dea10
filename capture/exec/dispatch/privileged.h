/*
 * Privileged instructions: they raise an invalid-opcode exception if the processor or its mode does
 * not have them, else a general protection fault, because a program is not privileged. Only the
 * processor knows which.
 */
#ifndef CAPTURE_EXEC_DISPATCH_PRIVILEGED_H
#define CAPTURE_EXEC_DISPATCH_PRIVILEGED_H

#include "capture/exec/translate/decode.h"

#include <stdbool.h>

/* Whether a privileged instruction raises an invalid-opcode exception here: executes it, between
 * executor_begin() and executor_end(). False: a general protection fault, or no memory. */
bool privileged_is_invalid(const struct decode_instruction *instruction);

#endif
