/* One comparison of the simulated gateware with the board's C code: what is shared by its parts. */
#ifndef TESTS_COSIMULATION_H
#define TESTS_COSIMULATION_H

#include "firmware/gateware/sim/gateware_board.h"
#include "formats/wire/wire.h"

#define QUIET_NS 400000u /* longer than anything waits: entries with the time, CONFIGURE */
#define STEP_NS  20000u
#define LOOK_NS  1000u /* between looks at the board's bytes, if their time matters */
#define SESSION  0xdeadbeefu
#define FRAMES   8u /* in the queue */

#define FIRST_TICK (QUIET_NS / 5) /* of the first request: bus clocks; ARM takes fewer */

struct options {
    uint64_t seed, requests, gap, packed, filter, loss, missed, stall, commands;
    uint64_t bus, core, link, pause, halts, wraps;
    uint64_t heartbeat; /* ms */
    uint64_t smp;       /* processors of the virtual multiprocessor; 0: another workload */
    const char *replay; /* a trace, or NULL */
    const char *vcd;
    const char *pins; /* file of what netlist.v replays, or NULL */
};

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* With heartbeats: where both boards were at a time. */
struct moment {
    uint64_t nanoseconds;
    size_t given, sent;    /* as in struct test */
    size_t gateware, twin; /* bytes that have come */
    uint32_t write_share;  /* of the chip */
};

struct test {
    struct options options;
    uint64_t random;
    struct gateware_board *board;
    struct wire_configuration configuration;
    struct bus_phase *phases;
    bool begun;   /* the session with the phases */
    size_t sent;  /* of the phases */
    size_t given; /* of the commands' bytes */
    struct bytes commands, gateware, twin;
    struct bytes ends; /* size_t: where the commands stop for a while */
    struct bytes moments;
    uint64_t now; /* ns that the simulation has run */
};

/* Prints why the comparison fails, and ends the program. */
_Noreturn void fail(const char *what);

void append(struct bytes *bytes, const uint8_t *data, size_t size);
/* A random number below limit. */
uint32_t below(struct test *test, uint32_t limit);

/* Fills in the requests by the options, with ticks from FIRST_TICK on. */
void choose_phases(struct test *test);

/* --- the gateware --- */

/* A command for both boards. */
void put_command(struct test *test, uint8_t code, const uint8_t *body, uint16_t size);
/* CONFIGURE with the test's configuration. */
void put_configure(struct test *test);
void run(struct test *test, uint64_t nanoseconds);
/* Gives the gateware the commands so far; the C code gets no more before it has done what it can.
 */
void give(struct test *test);
/* Runs until no more bytes come. */
void settle(struct test *test);
/* Commands of all kinds, whole and damaged, in all states. */
void give_random_commands(struct test *test);
/* Sessions with and without heartbeats, requests and pauses of the link. */
void give_heartbeats(struct test *test);
/* Starts the session that has the requests. */
void arm(struct test *test);
/* Runs until all requests have been on the bus. */
void run_requests(struct test *test);

/* --- the C code --- */

/* Runs it with the phases and the commands so far, each part when the one before is done. */
void run_twin(struct test *test, const struct wire_identity *identity);
/* Runs it in the order of the gateware's frames: it gets a command when the gateware has replied to
 * it, and time for what else the gateware has sent. */
void follow_gateware(struct test *test, const struct wire_identity *identity);

/* Runs it in the gateware's time, with heartbeats: it gets commands, requests and pauses of the
 * link at the same moments. */
void keep_time(struct test *test, const struct wire_identity *identity);

/* --- frames --- */

/* The whole frame at a place; fails if there is none. */
struct wire_frame frame_at(const struct bytes *bytes, size_t at);
size_t frame_size(const struct wire_frame *frame);
bool is_records(const struct wire_frame *frame);
/* Makes the phases' ticks those of the session. */
void set_ticks(struct test *test);
/* The identity in the reply to IDENTIFY, the first frame. */
struct wire_identity first_identity(const struct test *test);
/* Fails if the frames differ in anything but when they were sent. Returns how many there are. */
size_t compare(struct test *test);
/* Fails unless both boards have sent the same heartbeats at about the same times. Returns how many
 * there are. */
size_t compare_heartbeats(const struct test *test);
/* Fails unless each record is the request that its index says, and the losses are all others. */
void check_losses(const struct test *test);

#endif
