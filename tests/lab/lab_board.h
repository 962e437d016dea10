/*
 * A board of the laboratory: its bus, the firmware, faults, the USB chip, and the cable to QEMU.
 */
#ifndef TESTS_LAB_LAB_BOARD_H
#define TESTS_LAB_LAB_BOARD_H

#include "tests/lab/fault.h"
#include "tests/lab/ftdi_chip.h"
#include "tests/lab/lab_bus.h"
#include "tests/lab/usb_redir.h"

/* The default queue: 0.8 s of an FT232H's 40 MB/s. */
#define LAB_BOARD_FRAMES     8192u
#define LAB_BOARD_FRAMES_MIN 4u
#define LAB_BOARD_FRAMES_MAX 65535u

/* Bytes on the link for a record of a full plain frame: 340 records in 4148 bytes. */
#define LAB_BOARD_RECORD_BYTES (4148.0 / 340.0)

struct lab_board;

/* Takes over socket, which leads to QEMU's usb-redir. The serial number is BT0001 for number 0, and
 * so on. NULL if memory is insufficient. */
struct lab_board *lab_board_new(int socket, unsigned number);
void lab_board_free(struct lab_board *board);

/* Unplugs the board and restores all defaults. False if memory is insufficient. */
bool lab_board_reset(struct lab_board *board);

/* Does the work that is due. Returns whether there was any. */
bool lab_board_step(struct lab_board *board);

/* Time until the next work is due, in ns. */
int64_t lab_board_idle_ns(const struct lab_board *board);

/* The connection to QEMU. */
struct usb_redir *lab_board_redir(struct lab_board *board);

/* Parts that may be set while the board runs. */
struct lab_bus *lab_board_bus(struct lab_board *board);
struct fault *lab_board_fault(struct lab_board *board);

/* Settings of the chip; they take effect at the next plug. */
struct ftdi_chip_settings *lab_board_chip(struct lab_board *board);

void lab_board_plug(struct lab_board *board, bool plugged);

/* Stops or continues the firmware, or the gateware's link; the chip keeps running. */
void lab_board_hang(struct lab_board *board, bool hung);

/* Power cycle: the firmware restarts with a queue of frames (0: as before). False if memory is
 * insufficient. */
bool lab_board_restart(struct lab_board *board, uint32_t frames);

/* The gateware runs in the firmware's place (lab_gateware.h), or no longer: a power cycle. False if
 * it cannot. */
bool lab_board_gateware(struct lab_board *board, bool on);

/* What the gateware's link carries, 1 to 60,000,000 bytes a second of its time; a power cycle.
 * False for another number, or if it cannot. */
bool lab_board_gateware_link(struct lab_board *board, double bytes_per_second);

/*
 * Repeats the same bytes instead of running the firmware, at a rate (0: as fast as the host reads).
 * Bytes that the host does not read in time are dropped. A negative rate restores the firmware.
 */
void lab_board_raw(struct lab_board *board, double bytes_per_second);

struct lab_board_counters {
    struct wire_counters firmware;
    uint32_t session;
    uint64_t before;      /* requests accepted before the last restart, over all restarts */
    uint64_t sent;        /* requests of the bus in this session */
    unsigned opened;      /* how often the chip was switched to synchronous mode since it was
                             plugged in */
    unsigned latency_ms;  /* latency timer that the host set */
    unsigned queued;      /* transfers of the host that wait for data */
    uint64_t raw_sent;    /* bytes of lab_board_raw that were sent */
    uint64_t raw_dropped; /* bytes of lab_board_raw that were dropped */
};
void lab_board_counters(struct lab_board *board, struct lab_board_counters *counters);

#endif
