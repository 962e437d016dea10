/*
 * Errors as values. A function that can fail returns 0 or a negative bt_code and, where it takes a
 * struct bt_error, fills it with one sentence that a user can act on. Library code never prints.
 */
#ifndef FORMATS_BASE_ERROR_H
#define FORMATS_BASE_ERROR_H

#include <stdbool.h>

/* Classes of failures that callers treat differently. Stable: values are only appended. */
enum bt_code {
    BT_OK = 0,
    BT_USAGE = -1,   /* the arguments are invalid: exit status 2 */
    BT_DATA = -2,    /* input is corrupt; the next call continues after it: exit status 1 */
    BT_NOTE = -3,    /* harmless deviation (extra bytes at the end): reported, not an error */
    BT_IO = -4,      /* a file or socket failed: exit status 3 */
    BT_DEVICE = -5,  /* the board or its link failed: exit status 3 */
    BT_MEMORY = -6,  /* no memory: exit status 3 */
    BT_TIMEOUT = -7, /* nothing arrived in time; try again */
    BT_CLOSED = -8,  /* the other end is closed: exit status 3 */
    BT_BUSY = -9,    /* another process holds it: exit status 3 */
    BT_FULL = -10,   /* the disk or the user's quota is full: exit status 3 */
    BT_NEWER = -11   /* input is whole, but of a later version: as BT_DATA */
};

struct bt_error {
    int code;          /* a bt_code */
    char message[480]; /* no control characters, no final full stop */
};

/*
 * Fills *error (may be NULL) from a printf format and returns code, so that a failure reads
 * `return bt_fail(error, BT_DATA, "...", ...);`.
 */
int bt_fail(struct bt_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As bt_fail, with ": " and the text of errno appended. The code is BT_MEMORY for ENOMEM, BT_FULL
 * for ENOSPC and EDQUOT, else BT_IO. */
int bt_fail_errno(struct bt_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prepends context and ": " to the message; returns error->code. */
int bt_fail_within(struct bt_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether two messages are the same except for numbers, such as the time in a file name or a count
 * of bytes. For callers that report a repeated failure once, not at every attempt. */
bool bt_same_reason(const char *a, const char *b);

/* The exit status of a command: 0 good, 1 data, 2 usage, 3 device or I/O (bustap(1)). */
int bt_exit_status(int code);

#endif
