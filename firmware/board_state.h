/* The state of a board, declared so that it can be allocated without a heap. Private to firmware/,
 * except its size. */
#ifndef FIRMWARE_BOARD_STATE_H
#define FIRMWARE_BOARD_STATE_H

#include "firmware/board.h"
#include "firmware/board_queue.h"

#ifndef BOARD_PHASES
#define BOARD_PHASES 64u /* taken from the bus at a time */
#endif

_Static_assert(BOARD_PAYLOAD_MAX <= WIRE_PAYLOAD_MAX, "the wire carries the board's frames");
_Static_assert(BOARD_PAYLOAD_MAX % 8 == 0, "whole words of the self-test's pattern");
_Static_assert(BOARD_PAYLOAD_MAX >= WIRE_REPLY_HEADER + WIRE_IDENTITY_BYTES, "replies fit");

/* The state in the counters. */
enum board_state {
    BOARD_IDLE = 0,
    BOARD_ARMED = 1,
    BOARD_DRAINING = 2 /* the session has ended, END waits for space in the queue */
};

struct board {
    struct wire_identity identity;
    struct bus_front bus;
    struct board_link link;
    struct board_queue queue;
    struct wire_configuration configuration;
    bool filtering;          /* some requests do not pass the filter */
    uint32_t record_longest; /* bytes of the longest record in the current packing */

    enum board_state state;
    uint64_t microseconds; /* real time when the step began */
    uint32_t session;      /* 0 outside one */
    uint32_t sequence;     /* of the next frame */
    uint64_t base_tick;    /* the clock at ARM, from which the ticks below count */
    uint64_t seen_tick;    /* of the last phase */
    uint64_t kept_tick;    /* of the last request kept; 0 before the first */
    uint16_t flags;        /* for the next frame */
    uint16_t end_flags;    /* for END */
    struct wire_counters counters;
    enum bus_stall stall;          /* last given to the front end */
    struct bus_stalls base_stalls; /* those before ARM */

    /* Dropped since the last frame of records. */
    uint64_t lost, lost_first_tick, lost_last_tick;

    /* A frame of records is open. */
    bool open;
    struct wire_frame frame;
    struct packing packing;
    uint64_t opened_us;

    uint64_t heartbeat_us;      /* when the last one was queued */
    uint64_t heartbeats_queued; /* queue.queued just after it */
    uint32_t pattern_left;      /* self-test frames to come */
    uint32_t pattern_frame;     /* number of the next */
    uint64_t pattern_index;     /* pattern words already sent */
    uint32_t command_bytes;
    uint8_t command[WIRE_COMMAND_MAX]; /* received bytes that are not yet a whole command */
    struct bus_phase phases[BOARD_PHASES];
    size_t phase_count, phases_done; /* taken from the bus; of those, processed */
};

#endif
