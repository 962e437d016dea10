/*
 * A board of the laboratory: the firmware, the bus in front of it, its USB chip behind it, what
 * goes wrong between the two, and the cable to QEMU.
 */
#ifndef TESTS_LAB_LAB_BOARD_H
#define TESTS_LAB_LAB_BOARD_H

#include "tests/lab/fault.h"
#include "tests/lab/ftdi_chip.h"
#include "tests/lab/lab_bus.h"
#include "tests/lab/usb_redir.h"

/* A good board's queue: 0.8 s of an FT232H's 40 MB/s. */
#define LAB_BOARD_FRAMES     8192u
#define LAB_BOARD_FRAMES_MIN 4u
#define LAB_BOARD_FRAMES_MAX 65535u

/* Bytes on the link for a record of a full plain frame: 340 records in 4148 bytes. */
#define LAB_BOARD_RECORD_BYTES (4148.0 / 340.0)

struct lab_board;

/* socket leads to QEMU's usb-redir and is taken over. number makes the serial number BT0001 and so
 * on. NULL if there is no memory. */
struct lab_board *lab_board_new(int socket, unsigned number);
void lab_board_free(struct lab_board *board);

/* As it was made: unplugged, everything at its default. False if there is no memory. */
bool lab_board_reset(struct lab_board *board);

/* One turn. Returns whether anything happened. */
bool lab_board_step(struct lab_board *board);

/* How long nothing will happen by itself, in ns. */
int64_t lab_board_idle_ns(const struct lab_board *board);

/* Its connection: see usb_redir_service and its neighbours. */
struct usb_redir *lab_board_redir(struct lab_board *board);

/* Its parts, to be set while it runs. */
struct lab_bus *lab_board_bus(struct lab_board *board);
struct fault *lab_board_fault(struct lab_board *board);

/* Settings of the chip; they hold from the next plug on. */
struct ftdi_chip_settings *lab_board_chip(struct lab_board *board);

void lab_board_plug(struct lab_board *board, bool plugged);

/* The firmware stands still; the chip goes on. */
void lab_board_hang(struct lab_board *board, bool hung);

/* Power lost: the firmware begins anew, with a queue of so many frames (0: as before). False if
 * there is no memory. */
bool lab_board_restart(struct lab_board *board, uint32_t frames);

/*
 * Instead of the firmware, the same bytes again and again: so many a second (0: as fast as they are
 * taken), dropped where nobody takes them in time. negative: the firmware again.
 */
void lab_board_raw(struct lab_board *board, double bytes_per_second);

struct lab_board_counters {
    struct wire_counters firmware;
    uint32_t session;
    uint64_t before;      /* requests accepted before the last restart, over all restarts */
    uint64_t sent;        /* by the bus, in this session */
    unsigned opened;      /* how often the chip was switched to synchronous mode since it was
                             plugged in */
    unsigned latency_ms;  /* as the host set it */
    unsigned queued;      /* transfers that wait for data */
    uint64_t raw_sent;    /* bytes of lab_board_raw */
    uint64_t raw_dropped; /* of those, nobody took */
};
void lab_board_counters(struct lab_board *board, struct lab_board_counters *counters);

#endif
