/* Options of foreign formats; each format uses those that apply to it. */
#ifndef FORMATS_FOREIGN_FOREIGN_OPTIONS_H
#define FORMATS_FOREIGN_FOREIGN_OPTIONS_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct champsim_instruction;

/* The code of the program whose instructions were fetched. */
struct foreign_code {
    void *context;

    /* The instruction at an address in memory at a tick, valid until the next call; NULL: unknown
     * code. */
    const struct champsim_instruction *(*find)(void *context, uint64_t tick, uint32_t address);
};

struct NAMED_FIELDS foreign_options {
    bool wrap;            /* reading: addresses above 4 GiB keep their low 32 bits */
    bool sizes;           /* writing din: with a third column, the size */
    bool one_processor;   /* writing: only requests of this one, */
    uint8_t processor;    /* with times since its own previous request */
    uint32_t object_size; /* oracle, libcachesim-csv: bytes of an object, a power of two; 0: 64 */
    uint64_t time_unit;   /* oracle, libcachesim-csv: units of their time in a second; 0: ticks */
    uint64_t clock_hz;    /* writing: ticks in a second; 0: unknown */
    const struct foreign_code *code; /* champsim; NULL: unknown */
};

#endif
