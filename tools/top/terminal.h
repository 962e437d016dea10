/* A terminal that a command uses as a screen. */
#ifndef TOOLS_TOP_TERMINAL_H
#define TOOLS_TOP_TERMINAL_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
    int keys;   /* descriptor for input, /dev/tty: standard input may be a trace; -1: none */
    int screen; /* descriptor for output, the caller's */
    bool entered;
    struct termios before;
};

/* screen must be a terminal. 0 or BT_IO. */
int terminal_open(struct terminal *terminal, int screen, struct bt_error *error);

/* Shows another, empty screen, without cursor; keys are not echoed, and read one by one. */
void terminal_enter(struct terminal *terminal);

/* Restores what terminal_enter has changed. */
void terminal_leave(struct terminal *terminal);

/* Leaves and closes. */
void terminal_close(struct terminal *terminal);

struct terminal_size {
    unsigned rows, columns;
};
struct terminal_size terminal_size(const struct terminal *terminal);

/* A key that was pressed; 0: none. */
char terminal_key(const struct terminal *terminal);

/* Shows text, lines that end with newlines, from the top; cuts off what does not fit. 0 or a
 * negative code. */
int terminal_show(const struct terminal *terminal, const char *text, struct bt_error *error);

/* The same as terminal_show writes it, for a size: escape sequences included; the caller frees it.
 * NULL without memory. */
char *terminal_picture(const char *text, struct terminal_size size, size_t *bytes);

#endif
