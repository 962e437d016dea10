/*
 * The options that the command and instrumented programs have. Words may be in upper or lower case.
 * Each function reads an argument into a field, as option_row.take does: 0, or BT_USAGE, and the
 * field stays as it is.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_OPTIONS_H
#define FORMATS_DEPENDENCES_DEPENDENCES_OPTIONS_H

#include "formats/base/error.h"

/* field: enum dependences_by. */
int dependences_take_by(void *field, const char *argument, struct bt_error *error);

/* field: enum dependences_level. */
int dependences_take_level(void *field, const char *argument, struct bt_error *error);

/* A list, separated by commas. field: unsigned, bits 1 << enum dependence_kind. */
int dependences_take_kinds(void *field, const char *argument, struct bt_error *error);

#endif
