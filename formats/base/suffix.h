/* Endings of names. */
#ifndef FORMATS_BASE_SUFFIX_H
#define FORMATS_BASE_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Whether the first *size bytes of text end with the suffix; then *size is lowered to what is
 * before it. compare is strncmp, or strncasecmp to ignore the case of letters.
 */
static inline bool suffix_take(const char *text, size_t *size, const char *suffix,
                               int (*compare)(const char *a, const char *b, size_t size))
{
    const size_t length = strlen(suffix);
    if (*size < length || compare(text + *size - length, suffix, length) != 0)
        return false;
    *size -= length;
    return true;
}

/* Whether all of text ends with the suffix. */
static inline bool suffix_is(const char *text, const char *suffix,
                             int (*compare)(const char *a, const char *b, size_t size))
{
    size_t size = strlen(text);
    return suffix_take(text, &size, suffix, compare);
}

#endif
