/* The edit distance of two names, for suggestions. */
#ifndef FORMATS_BASE_EDIT_DISTANCE_H
#define FORMATS_BASE_EDIT_DISTANCE_H

#include <stddef.h>

#define EDIT_DISTANCE_BYTES 64u /* compared bytes of a name */

/* Number of letters to insert, remove, replace or swap with the next one to turn a into b, within
 * the compared bytes; no letter is edited twice. */
size_t edit_distance(const char *a, const char *b);

#endif
