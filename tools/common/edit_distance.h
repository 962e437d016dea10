/* The edit distance of two names, for suggestions. */
#ifndef TOOLS_COMMON_EDIT_DISTANCE_H
#define TOOLS_COMMON_EDIT_DISTANCE_H

#include <stddef.h>

#define EDIT_DISTANCE_BYTES 64u /* compared bytes of a name */

/* Number of letters to insert, remove or replace to turn a into b, within the compared bytes. */
size_t edit_distance(const char *a, const char *b);

#endif
