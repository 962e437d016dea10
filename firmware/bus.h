/*
 * The bus front end: the only interface between a bus and the rest of the board. Another bus needs
 * another implementation of struct bus_front and another decoder.
 */
#ifndef FIRMWARE_BUS_H
#define FIRMWARE_BUS_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One request phase as latched from the pins, logical values (1 = asserted). On the P6 bus: the
 * first clock (Aa, REQa) and the second (Ab, REQb).
 */
struct bus_phase {
    uint64_t tick;      /* board clock at the start of the phase; never decreases */
    uint64_t address_a; /* Aa[35:0]; the front end fills Aa[2:0], which have no pins, */
                        /* with the offset of the first requested byte (p6_first_byte) */
    uint32_t address_b; /* Ab[31:3]: ATTR, DID, BE, EXF */
    uint32_t missed;    /* phases that the front end dropped just before this one */
    uint8_t request_a;  /* REQa[4:0], or BUS_NO_REQUEST */
    uint8_t request_b;  /* REQb[4:0] */
};

/* request_a without a phase: only `missed` is valid, as the bus fell silent after a loss. */
#define BUS_NO_REQUEST 0xffu

/* Whether the front end may stall the bus. The numbers are those of the board's register. */
enum bus_stall {
    BUS_STALL_NEVER = 0,     /* it drops phases that it has no room for, and counts them */
    BUS_STALL_WHEN_FULL = 1, /* it stalls the bus while it has room for fewer phases than may still
                                arrive */
    BUS_STALL_NOW = 2        /* it stalls the bus, and keeps the phases that still arrive */
};

/* The stalls since an arbitrary start, including one in progress. */
struct bus_stalls {
    uint64_t ticks;
    uint64_t count;
};

struct NAMED_FIELDS bus_front {
    /* Takes up to capacity latched phases; never waits. Returns their number. */
    size_t (*take)(void *context, struct bus_phase *phases, size_t capacity);
    /* The board's clock now, in ticks; not before the last phase taken. */
    uint64_t (*now)(void *context);
    /* Microseconds of real time since an arbitrary start, for time-outs: the ticks of a simulated
     * bus are unrelated to real time. */
    uint64_t (*microseconds)(void *context);
    /* True once the bus will never have another phase (simulated buses only). */
    bool (*ended)(void *context);
    /* Sets whether the bus is stalled; at first never. NULL: this bus cannot be stalled. */
    void (*stall)(void *context, enum bus_stall stall);
    /* How often and how long it was stalled. NULL if `stall` is. */
    struct bus_stalls (*stalls)(void *context);
    void *context;
};

#endif
