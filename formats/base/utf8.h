/* Characters of UTF-8 in text that may hold any octets. */
#ifndef FORMATS_BASE_UTF8_H
#define FORMATS_BASE_UTF8_H

#include <stddef.h>

/* The length of the character at text (RFC 3629: shortest form, no surrogates), 0 if the octets up
 * to end are not one. text is before end. */
size_t utf8_length(const char *text, const char *end);

/* The number of characters in text, which is UTF-8 and ends with a NUL. */
size_t utf8_count(const char *text);

#endif
