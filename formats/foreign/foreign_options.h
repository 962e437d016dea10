/* What can be chosen of a foreign format; each format looks at what it knows. */
#ifndef FORMATS_FOREIGN_FOREIGN_OPTIONS_H
#define FORMATS_FOREIGN_FOREIGN_OPTIONS_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct NAMED_FIELDS foreign_options {
    bool wrap;            /* reading: of addresses above 4 GiB the low 32 bits are taken */
    bool sizes;           /* writing din: with a third column, the size */
    bool one_processor;   /* writing: only requests of this one, */
    uint8_t processor;    /* whose times then are since its own request before */
    uint32_t object_size; /* oracle, libcachesim-csv: bytes of an object, a power of two; 0: 64 */
    uint64_t time_unit;   /* oracle, libcachesim-csv: units of their time in a second; 0: ticks */
    uint64_t clock_hz;    /* writing: ticks in a second; 0: unknown */
};

#endif
