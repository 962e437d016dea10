/* What the records of a capture show of the probe that made them. Constant memory. */
#ifndef TOOLS_DOCTOR_CAPTURE_TALLY_H
#define TOOLS_DOCTOR_CAPTURE_TALLY_H

#include "formats/record/batch.h"
#include "tools/common/fetch_noise.h"

#define CAPTURE_TALLY_WINDOW 32768u /* fetches of a processor that are examined together */
#define ADDRESS_BITS         32u

/* Successive fetches of a processor. */
struct fetch_window {
    size_t count;
    uint32_t addresses[CAPTURE_TALLY_WINDOW];
    uint8_t sizes[CAPTURE_TALLY_WINDOW];
};

/* Must be zeroed before first use. */
struct capture_tally {
    uint64_t records;
    uint64_t fetches;
    uint64_t fetch_sizes[256]; /* fetches of each size */
    uint64_t types[256];
    uint64_t processors[256];
    uint64_t attributes[256];
    uint64_t sizes;      /* data requests, and requests without data, of sizes that a bus lacks */
    uint64_t misaligned; /* fetches that begin within an 8-byte transfer */
    uint8_t first_type;  /* of the first record with an unknown type, */
    uint64_t first_unknown; /* and its number */
    uint64_t no_time;       /* records with the same tick as the previous one */
    uint64_t long_time;     /* more than 2^28 ticks after the previous one */

    uint32_t ones, zeros;           /* address bits that were 1, that were 0 */
    uint64_t regions[ADDRESS_BITS]; /* for a bit of one value so far: a set of hashes of the bits
                                       above it */

    uint64_t chunks; /* fetches examined for noise */
    struct fetch_noise_finding noise;
    struct fetch_window *windows[256]; /* by processor; NULL: it has not fetched */
};

/* Adds records. 0 or BT_MEMORY. */
int capture_tally_put(struct capture_tally *tally, const struct batch *batch,
                      struct bt_error *error);

/* Adds what is still waiting to be examined. 0 or BT_MEMORY. */
int capture_tally_end(struct capture_tally *tally, struct bt_error *error);
void capture_tally_clear(struct capture_tally *tally);

/* Whether the fetches are instructions, not transfers of a bus: they have sizes that a bus lacks.
 */
bool capture_tally_is_program(const struct capture_tally *tally);

#endif
