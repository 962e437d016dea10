/*
 * A cache of decoded forms of common instructions. A form is what instructions with the same
 * prefix, REX.W, opcode and, where it selects the operation, ModRM.reg have in common; decode()
 * decodes one of each form, and the others differ only in registers, displacement and constant.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_DECODE_FORMS_H
#define CAPTURE_EXEC_TRANSLATE_DECODE_FORMS_H

#include "capture/exec/translate/decode.h"

struct decode_forms;

/* NULL if memory is short. Free with decode_forms_free(), which accepts NULL. */
struct decode_forms *decode_forms_new(void);
void decode_forms_free(struct decode_forms *forms);

/* The same as decode(), and several times as fast for common instructions. */
void decode_form(struct decode_forms *forms, struct decode_instruction *instruction,
                 const uint8_t *bytes, size_t size, uint64_t address);

/* Whether decode_form() decodes these bytes by a form, and not by decode(). */
bool decode_form_is_common(struct decode_forms *forms, const uint8_t *bytes, size_t size);

#endif
