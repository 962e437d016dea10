/* A board whose bus, clock and link a test controls. */
#ifndef TESTS_SUPPORT_BOARD_RIG_H
#define TESTS_SUPPORT_BOARD_RIG_H

#include "firmware/board_state.h"
#include "formats/wire/wire_reader.h"

#define BOARD_RIG_FRAMES_MAX 32u

struct board_rig {
    struct board board;
    struct board_frame frames[BOARD_RIG_FRAMES_MAX];

    const struct bus_phase *phases; /* owned by the test */
    size_t happened;                /* number of phases on the bus so far */
    size_t taken;
    bool ended;
    enum bus_stall stall;     /* as the board set it */
    struct bus_stalls stalls; /* the test adds ticks, the board's stalls are counted */
    uint64_t now;             /* ticks; each phase taken advances it */
    uint64_t microseconds;

    uint8_t commands[4096];
    size_t command_size, command_taken;
    size_t link_room; /* bytes that the link still accepts */
    struct wire_reader *reader;
};

/* Makes an idle board with a queue of frame_count frames; the link accepts everything. Free it
 * with board_rig_free. */
struct board_rig *board_rig_new(uint32_t frame_count);
void board_rig_free(struct board_rig *rig);

/* Sends a command to the board. */
void board_rig_command(struct board_rig *rig, enum wire_command_code code, uint32_t tag,
                       const uint8_t *body, size_t size);

/* Sends any bytes to the board; those that do not fit are dropped. */
void board_rig_say(struct board_rig *rig, const uint8_t *bytes, size_t size);

/* Configures and arms the board, and takes everything up to START. */
void board_rig_arm(struct board_rig *rig, const struct wire_configuration *configuration,
                   uint32_t session);

/* Steps until the board has nothing to do. */
void board_rig_settle(struct board_rig *rig);

/* Takes the next frame from the link. */
bool board_rig_frame(struct board_rig *rig, struct wire_frame *frame);

/* Steps and takes frames until one of this kind comes; its payload is valid until the next
 * call. */
bool board_rig_await(struct board_rig *rig, enum wire_kind kind, struct wire_frame *frame);

/* A phase that is decoded as a FETCH of 8 bytes from address by processor 0. */
struct bus_phase board_rig_fetch(uint64_t tick, uint32_t address);

#endif
