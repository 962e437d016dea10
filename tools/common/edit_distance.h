/* How near a name is to another that may have been meant. */
#ifndef TOOLS_COMMON_EDIT_DISTANCE_H
#define TOOLS_COMMON_EDIT_DISTANCE_H

#include <stddef.h>

#define EDIT_DISTANCE_BYTES 64u /* of a name that are compared */

/* Letters to insert, remove or replace to make b of a, in what is compared of them. */
size_t edit_distance(const char *a, const char *b);

#endif
