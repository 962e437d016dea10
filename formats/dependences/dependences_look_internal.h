/* Places and distances as people read them. */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_LOOK_INTERNAL_H
#define FORMATS_DEPENDENCES_DEPENDENCES_LOOK_INTERNAL_H

#include "formats/dependences/dependences.h"

#define DEPENDENCES_LOOK_BYTES     (3 * DEPENDENCES_NAME_BYTES + 64)
#define DEPENDENCES_DISTANCE_BYTES 128u

/* "sum.c:12 main", "memcpy libc.so.6", "main prog+0x1139", or "?": what is known of a place,
 * without folders. "" for DEPENDENCES_NONE. Returns text. */
const char *dependences_look(const struct dependences *dependences, uint32_t place,
                             char text[DEPENDENCES_LOOK_BYTES]);

/* "1", or "1 to 8, mean 2.50", of a carried row. Returns text. */
const char *dependences_look_distance(const struct dependence *row,
                                      char text[DEPENDENCES_DISTANCE_BYTES]);

#endif
