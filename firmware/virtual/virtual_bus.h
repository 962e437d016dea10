/*
 * Simulated buses for the virtual board (host only): a saved trace put back on the bus, and a
 * multiprocessor that runs a workload.
 */
#ifndef FIRMWARE_VIRTUAL_BUS_H
#define FIRMWARE_VIRTUAL_BUS_H

#include "firmware/bus.h"
#include "formats/record/source.h"

struct board;

/*
 * The speed of the simulated bus. Ticks do not depend on it: they are the workload's. A bus that
 * does not wait can be stalled by the board; its later ticks are then higher by the length of the
 * stalls, if the clock is known.
 */
enum bus_pace {
    BUS_PACE_MAX,  /* as fast as the board takes phases; the bus waits, nothing is dropped */
    BUS_PACE_REAL, /* ticks pass at clock_hz; the bus does not wait */
    BUS_PACE_RATE  /* a constant rate of phases; the bus does not wait */
};

struct virtual_bus_settings {
    char replay[4096];     /* a trace to replay; empty: run the workload */
    struct source *source; /* replayed instead; owned by the bus, also on failure; or NULL */
    bool loop;             /* restarts the trace at its end */
    uint32_t processors;   /* of the workload: 1 to 8 */
    uint64_t seed;         /* of the workload */
    uint64_t requests;     /* the bus ends after this many; 0: never (workload) or with the trace */
    enum bus_pace pace;
    uint64_t phases_per_second; /* BUS_PACE_RATE */
    uint64_t clock_hz;
};

struct virtual_bus;

/* Opens the trace or sets up the workload. NULL and *error on failure. */
struct virtual_bus *virtual_bus_new(const struct virtual_bus_settings *settings,
                                    struct bt_error *error);
void virtual_bus_free(struct virtual_bus *bus);

/* The bus as the board sees it. BUS_PACE_MAX asks board_room(board) before it produces. Without a
 * board (NULL) the bus begins at once and produces as much as is taken. */
struct bus_front virtual_bus_front(struct virtual_bus *bus, const struct board *board);

/*
 * Why the bus ended early: 0, or the code and sentence of a trace that could not be read further or
 * held a record that is not a P6 request (with its number).
 */
int virtual_bus_failure(const struct virtual_bus *bus, struct bt_error *error);

/* The clock: the settings' clock_hz, or if that is 0 the replayed capture's. */
uint64_t virtual_bus_clock_hz(const struct virtual_bus *bus);

#endif
