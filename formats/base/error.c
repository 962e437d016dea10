#include "formats/base/error.h"

#include "formats/base/printable.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int bt_fail(struct bt_error *error, int code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        printable_make(error->message);
        error->code = code;
    }
    return code;
}

static int code_of_errno(int number)
{
    switch (number) {
    case ENOMEM:
        return BT_MEMORY;
    case ENOSPC:
    case EDQUOT:
        return BT_FULL;
    default:
        return BT_IO;
    }
}

int bt_fail_errno(struct bt_error *error, const char *format, ...)
{
    int saved = errno;
    int code = code_of_errno(saved);
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        size_t used = strlen(error->message);
        char text[128];
        /* the XSI strerror_r: thread safe, and always terminates what it writes */
        if (strerror_r(saved, text, sizeof text) != 0)
            snprintf(text, sizeof text, "error %d", saved);
        snprintf(error->message + used, sizeof error->message - used, ": %s", text);
        printable_make(error->message);
        error->code = code;
    }
    return code;
}

int bt_fail_within(struct bt_error *error, const char *format, ...)
{
    if (!error)
        return BT_IO;
    char inner[sizeof error->message];
    memcpy(inner, error->message, sizeof inner);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, ": %s", inner);
    printable_make(error->message);
    return error->code;
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

bool bt_same_reason(const char *a, const char *b)
{
    for (;; a++, b++) {
        const char *after_a = skip_digits(a);
        const char *after_b = skip_digits(b);
        if ((after_a == a) != (after_b == b))
            return false;
        a = after_a;
        b = after_b;
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

int bt_exit_status(int code)
{
    switch (code) {
    case BT_OK:
    case BT_NOTE:
        return 0;
    case BT_DATA:
    case BT_NEWER:
        return 1;
    case BT_USAGE:
        return 2;
    default:
        return 3;
    }
}
