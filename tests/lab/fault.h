/*
 * Injects faults between the firmware and its USB chip: frames that are corrupt, lost, duplicated
 * or out of order, bytes lost in a full FIFO, stale bytes of an earlier session, another protocol
 * version.
 */
#ifndef TESTS_LAB_FAULT_H
#define TESTS_LAB_FAULT_H

#include "firmware/link.h"
#include "formats/wire/wire.h"

#include <stdbool.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_CORRUPT,   /* one octet changed */
    FAULT_TRUNCATE,  /* the end is missing */
    FAULT_DROP,      /* bytes in the middle are missing */
    FAULT_DUPLICATE, /* sent twice */
    FAULT_REORDER,   /* sent after the next frame */
    FAULT_GARBAGE,   /* meaningless octets before it */
    FAULT_KINDS
};

/* The name of a kind ("corrupt"); NULL for none. */
const char *fault_name(enum fault_kind kind);

#define FAULT_STALE_BYTES 65536u
#define FAULT_OUT_BYTES   (4u * WIRE_FRAME_MAX + FAULT_STALE_BYTES)

struct fault {
    struct board_link below; /* the chip */

    enum fault_kind kind;
    uint64_t every;     /* frames of records from one fault to the next */
    uint64_t countdown; /* frames of records until the next fault */
    uint64_t times;     /* faults left in this session */
    uint64_t all_times; /* faults in each session */
    uint64_t one_in;    /* else: one frame of records in N, at random; 0: none */
    uint64_t random;
    bool overrun;    /* the board does not check whether the FIFO is full */
    bool stale;      /* the last bytes sent stay in the FIFO for the next session */
    uint8_t version; /* protocol version that the board reports; 0: its own */

    /* counters */
    uint64_t frames;   /* frames of records that were corrupted, lost, repeated or moved */
    uint64_t requests; /* records in them that the host cannot have received */
    uint64_t bytes;    /* bytes lost in a full FIFO */

    /* the frame being assembled; faults apply to whole frames */
    size_t frame_bytes;
    uint8_t frame[WIRE_FRAME_MAX];
    bool held; /* a frame waits for its successor */
    size_t held_bytes;
    uint8_t held_frame[WIRE_FRAME_MAX];
    size_t out_first, out_bytes;
    uint8_t out[FAULT_OUT_BYTES];
    /* the last bytes sent, a ring */
    uint64_t past_bytes;
    uint8_t past[FAULT_STALE_BYTES];
};

/* No faults yet. */
void fault_init(struct fault *fault, const struct board_link *below);

/* Ends all faults and resets the counters. Frames in transit are still sent. */
void fault_clear(struct fault *fault);

/* The board lost power: frames in transit are lost. */
void fault_power_off(struct fault *fault);

/* The chip lost power: whole frames in transit are lost. */
void fault_unplugged(struct fault *fault);

/*
 * Strikes every n-th frame of records from now on (1: the next), times frames in all. Each new
 * session counts anew: a host that is too slow for a board's answer arms the board again.
 */
void fault_nth(struct fault *fault, enum fault_kind kind, uint64_t n, uint64_t times);

/* Strikes one frame of records in one_in, at random, without end. */
void fault_random(struct fault *fault, enum fault_kind kind, uint64_t one_in, uint64_t seed);

/* A host has opened the chip: stale bytes are sent first. */
void fault_opened(struct fault *fault);

/* The board's link, with the faults. */
struct board_link fault_link(struct fault *fault);

/* Sends pending bytes to the chip. Returns whether any moved. */
bool fault_flush(struct fault *fault);

#endif
