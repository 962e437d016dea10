/* JSON in the slow and obvious way, for tests: RFC 8259's grammar by recursive descent over
 * memory. */
#ifndef TESTS_SUPPORT_JSON_TWIN_H
#define TESTS_SUPPORT_JSON_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the text is one JSON value, with optional white space around it, in which no object has
 * duplicate keys. Nesting up to 64. */
bool json_twin_valid(const char *text, size_t size);

/* A random valid document of at least one octet, followed by room for one octet; free it. */
char *json_twin_random(uint64_t *state, size_t *size);

#endif
