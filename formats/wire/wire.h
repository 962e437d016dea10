/*
 * The wire between board and host, version 1: frames one way, commands the other.
 * doc/wire-protocol.md is the specification; quoted names are its sections. Freestanding.
 */
#ifndef FORMATS_WIRE_WIRE_H
#define FORMATS_WIRE_WIRE_H

#include "formats/record/capture_info.h"
#include "formats/record/filter.h"
#include "formats/record/record.h"

#include <stdbool.h>

#define WIRE_VERSION       1u
#define WIRE_FRAME_SYNC    0x5ab70da5u /* bytes a5 0d b7 5a */
#define WIRE_COMMAND_SYNC  0x3cc70da5u /* bytes a5 0d c7 3c */
#define WIRE_FRAME_HEADER  64u         /* bytes, its own CRC included */
#define WIRE_FRAME_TRAILER 4u          /* CRC-32C of the payload */
#define WIRE_PAYLOAD_MAX   16320u      /* 1360 plain records; a board may use less */
#define WIRE_FRAME_MAX     (WIRE_FRAME_HEADER + WIRE_PAYLOAD_MAX + WIRE_FRAME_TRAILER)
#define WIRE_FRAME_RECORDS_MAX                                                                     \
    5440u /* a packed record has 3 bytes at least (2 where the time repeats) */
#define WIRE_COMMAND_HEADER   16u
#define WIRE_COMMAND_BODY_MAX 128u
#define WIRE_COMMAND_MAX      (WIRE_COMMAND_HEADER + WIRE_COMMAND_BODY_MAX + 4u)

/* "Frame kinds". */
enum wire_kind {
    WIRE_START = 1,     /* a session begins; payload: identity */
    WIRE_RECORDS = 2,   /* plain records */
    WIRE_PACKED = 3,    /* records packed by delta */
    WIRE_HEARTBEAT = 4, /* no other frame for some time; payload: counters */
    WIRE_END = 5,       /* a session ends; payload: counters */
    WIRE_REPLY = 6,     /* answer to a command; payload: wire_reply, then its body */
    WIRE_PATTERN = 7    /* self-test */
};

/* Frame flags. */
#define WIRE_FLAG_ABOVE_4GIB                                                                       \
    0x0001u /* since the previous frame, a request above 4 GiB was not recorded */
#define WIRE_FLAG_UNDECODED 0x0002u /* ... a reserved or unknown request was not recorded */
#define WIRE_FLAG_BUS_ENDED 0x0004u /* END: the bus itself ended (virtual boards) */

/*
 * "Frame header", 64 bytes:
 *
 *   0 sync 32 | 4 version 8 | 5 kind 8 | 6 flags 16 | 8 session 32 | 12 sequence 32
 *  16 first tick 64 | 24 first index 64 | 32 lost 64 | 40 lost first tick 64 | 48 lost last tick 64
 *  56 record count 16 | 58 payload bytes 16 | 60 CRC-32C of bytes 0 to 59
 */
struct wire_frame {
    uint8_t version;
    uint8_t kind; /* enum wire_kind; others are skipped */
    uint16_t flags;
    uint32_t session;     /* given by the arm command; 0 outside a session */
    uint32_t sequence;    /* 0 for START, then one more each frame of the session, replies too */
    uint64_t first_tick;  /* of the first record; without records, the board's time */
    uint64_t first_index; /* number of requests accepted in this session before the first record,
                             including lost ones */
    uint64_t lost;        /* of those, dropped by the board just before this frame's first record */
    uint64_t lost_first_tick;
    uint64_t lost_last_tick;
    uint16_t count; /* records */
    uint16_t payload_bytes;
    const uint8_t *payload; /* points into the reader's or writer's buffer */
};

/* Writes the header (with its CRC) for frame; frame->payload is not used. */
void wire_frame_put_header(uint8_t header[WIRE_FRAME_HEADER], const struct wire_frame *frame);

/*
 * Reads a header. Returns 0; -1 if sync, CRC or a length is wrong. The version is not checked: a
 * frame of another version has the same header, and the caller reports it.
 */
int wire_frame_get_header(struct wire_frame *frame, const uint8_t header[WIRE_FRAME_HEADER]);

/* "Commands". */
enum wire_command_code {
    WIRE_IDENTIFY = 1,
    WIRE_CONFIGURE = 2, /* body: wire_configuration */
    WIRE_ARM = 3,       /* body: session id, 32 bits, not 0 */
    WIRE_STOP = 4,
    WIRE_STATUS = 5,
    WIRE_SELF_TEST = 6 /* body: number of PATTERN frames, 32 bits */
};

/* "Command layout": 0 sync 32 | 4 version 8 | 5 code 8 | 6 body bytes 16 | 8 tag 32 | 12 CRC-32C of
 * 0..11 | body | CRC-32C of body */
struct wire_command {
    uint8_t version;
    uint8_t code;
    uint16_t body_bytes;
    uint32_t tag; /* repeated in the reply */
    const uint8_t *body;
};

/* Writes a whole command to out (room for WIRE_COMMAND_MAX); returns its bytes. body_bytes <=
 * WIRE_COMMAND_BODY_MAX. */
size_t wire_command_put(uint8_t *out, const struct wire_command *command);

/*
 * Looks for a command at the start of size bytes. Returns its bytes and fills *command (the body
 * points into bytes); 0 if more bytes are needed; -1 if no command starts here (drop one byte and
 * try again).
 */
int wire_command_get(struct wire_command *command, const uint8_t *bytes, size_t size);

enum wire_status {
    WIRE_OK = 0,
    WIRE_BAD_COMMAND = 1, /* unknown code */
    WIRE_BAD_BODY = 2,    /* body of the wrong size, or with values out of range */
    WIRE_BAD_STATE = 3,   /* not valid in this state: e.g. configure while armed */
    WIRE_BAD_VERSION = 4
};

/* "Replies": 0 tag 32 | 4 code 8 | 5 status 8 | 6 reserved 16 | body */
#define WIRE_REPLY_HEADER 8u
struct wire_reply {
    uint32_t tag;
    uint8_t code;
    uint8_t status;
    const uint8_t *body;
    size_t body_bytes;
};
void wire_reply_put_header(uint8_t out[WIRE_REPLY_HEADER], const struct wire_reply *reply);
/* 0, or -1 if the payload is too short. */
int wire_reply_get(struct wire_reply *reply, const uint8_t *payload, size_t size);

/* "Identity": body of the identify reply and payload of START. */
#define WIRE_IDENTITY_BYTES 96u
#define WIRE_BUS_P6         1u      /* the only bus so far */
#define WIRE_FEATURE_STALL  0x0001u /* the board can stall its bus */
struct wire_identity {
    uint8_t protocol;      /* WIRE_VERSION the board speaks */
    uint8_t bus;           /* WIRE_BUS_P6 */
    uint16_t queue_frames; /* frames the board can hold */
    uint16_t payload_max;  /* of its record frames, bytes */
    uint16_t features;     /* WIRE_FEATURE_... */
    uint32_t firmware;     /* version, 0x00010000 for 1.0 */
    uint64_t clock_hz;
    char name[32];   /* terminated */
    char serial[32]; /* terminated */
};
void wire_identity_put(uint8_t out[WIRE_IDENTITY_BYTES], const struct wire_identity *identity);
/* 0, or -1 if size is too small. Strings are terminated and without control characters. */
int wire_identity_get(struct wire_identity *identity, const uint8_t *bytes, size_t size);

/* "Configure". The body is FILTER_BYTES plus 16 bytes. */
#define WIRE_CONFIGURATION_BYTES (FILTER_BYTES + 16u)
enum wire_packing { WIRE_PLAIN = 0, WIRE_DELTA = 1 };
struct wire_configuration {
    struct filter filter;
    uint8_t packing;   /* enum wire_packing */
    bool stall;        /* the board stalls the bus rather than drop requests */
    uint32_t flush_us; /* a part-filled frame is sent when its first record is this old; 0: never */
    uint32_t heartbeat_ms; /* a HEARTBEAT at least this often; 0: none */
};
void wire_configuration_put(uint8_t out[WIRE_CONFIGURATION_BYTES],
                            const struct wire_configuration *configuration);
/* 0, or -1 if the size is wrong or a value is out of range. */
int wire_configuration_get(struct wire_configuration *configuration, const uint8_t *bytes,
                           size_t size);

/* "Counters": body of the status reply, payload of HEARTBEAT and END. */
#define WIRE_COUNTERS_BYTES       96u
#define WIRE_COUNTERS_BYTES_LEAST 80u /* of a board without WIRE_FEATURE_STALL */
struct wire_counters {
    uint64_t tick;                                                  /* the board's time */
    uint64_t seen, accepted, filtered, above_4gib, undecoded, lost; /* as in struct source_totals */
    uint64_t frames;     /* frames queued in this session */
    uint32_t queue_fill; /* frames in the queue now */
    uint32_t queue_peak; /* most frames in the queue at any time */
    uint32_t state;      /* 0 idle, 1 armed, 2 draining */
    uint32_t session;    /* session of the counters; 0 before the first */
    uint64_t stalled;    /* ticks for which the board stalled the bus */
    uint64_t stalls;     /* number of times that it did */
};
void wire_counters_put(uint8_t out[WIRE_COUNTERS_BYTES], const struct wire_counters *counters);
/* 0, or -1 if size is below WIRE_COUNTERS_BYTES_LEAST. The stalls are 0 if they are not there. */
int wire_counters_get(struct wire_counters *counters, const uint8_t *bytes, size_t size);

/* "Self-test": byte i of a PATTERN frame's payload, from the frame's first_index and i; fills size
 * bytes. */
void wire_pattern_fill(uint8_t *payload, size_t size, uint64_t first_index);

#endif
