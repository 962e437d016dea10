#include "tests/lab/lab_board.h"

#include "firmware/board_state.h"
#include "formats/base/clock.h"
#include "tests/lab/lab_gateware.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAW_BYTES      (1u << 20)
#define RAW_LATE_NS    20000000 /* maximum delay that is caught up, as in lab_bus */
#define IDLE_NS        50000000
#define BUSY_NS        1000000 /* polling interval of a bus in real time */
#define STEPS          64u     /* of the firmware between two turns of the USB side */
#define FIRMWARE       0x00010000u
#define MEGABYTE_PAUSE 65536u /* raw bytes in a turn */

struct raw {
    bool on;
    double rate, owed;
    int64_t looked_ns;
    size_t position;
    uint64_t sent, dropped;
    uint8_t *bytes;
};

struct lab_board {
    unsigned number;
    struct board *board;
    struct board_frame *frames;
    uint32_t frame_count;
    uint64_t before;
    struct lab_bus bus;
    struct fault *fault;
    struct lab_gateware *gateware; /* in the firmware's place; NULL: the firmware runs */
    double gateware_link_bytes;
    struct ftdi_chip *chip;
    struct ftdi_chip_settings chip_settings;
    struct usb_redir *redir;
    struct raw raw;
    bool plugged, hung;
    unsigned opened;
};

/* --- the chip, as the firmware's link -----------------------------------------------------------
 */

/* The FIFO is small; while transfers wait, the host empties it at once. */
static size_t chip_send(void *context, const uint8_t *bytes, size_t size)
{
    struct lab_board *board = context;
    size_t sent = 0;
    int64_t now = clock_monotonic_ns();
    while (board->plugged && sent < size) {
        size_t took = ftdi_chip_put(board->chip, bytes + sent, size - sent);
        sent += took;
        if (took == 0 && !usb_redir_pump(board->redir, now))
            break;
    }
    return sent;
}

static size_t chip_receive(void *context, uint8_t *bytes, size_t capacity)
{
    struct lab_board *board = context;
    return board->plugged ? ftdi_chip_get(board->chip, bytes, capacity) : 0;
}

/* --- making it ----------------------------------------------------------------------------------
 */

static struct ftdi_chip_settings default_chip(unsigned number)
{
    struct ftdi_chip_settings settings = {.type = FTDI_CHIP_FT232H, .eeprom = FTDI_CHIP_FIFO};
    snprintf(settings.serial, sizeof settings.serial, "BT%04u", number + 1);
    return settings;
}

struct lab_board *lab_board_new(int socket, unsigned number)
{
    struct lab_board *board = calloc(1, sizeof *board);
    if (!board)
        return NULL;
    board->number = number;
    board->chip_settings = default_chip(number);
    board->board = malloc(sizeof *board->board);
    board->fault = malloc(sizeof *board->fault);
    board->raw.bytes = malloc(RAW_BYTES);
    board->chip = ftdi_chip_new(&board->chip_settings);
    board->redir = board->chip ? usb_redir_new(socket, board->chip) : NULL;
    if (!board->board || !board->fault || !board->raw.bytes || !board->redir ||
        !lab_board_reset(board)) {
        lab_board_free(board);
        return NULL;
    }
    wire_pattern_fill(board->raw.bytes, RAW_BYTES, 0);
    return board;
}

void lab_board_free(struct lab_board *board)
{
    if (!board)
        return;
    lab_gateware_free(board->gateware);
    usb_redir_free(board->redir);
    ftdi_chip_free(board->chip);
    free(board->raw.bytes);
    free(board->fault);
    free(board->frames);
    free(board->board);
    free(board);
}

bool lab_board_reset(struct lab_board *board)
{
    const struct board_link below = {.send = chip_send, .receive = chip_receive, .context = board};
    lab_board_plug(board, false);
    board->chip_settings = default_chip(board->number);
    board->hung = false;
    board->before = 0;
    board->raw.on = false;
    board->raw.sent = board->raw.dropped = 0;
    (void)lab_board_gateware(board, false);
    board->gateware_link_bytes = LAB_GATEWARE_LINK_BYTES;
    fault_init(board->fault, &below);
    lab_bus_init(&board->bus, board->board);
    memset(board->board, 0, sizeof *board->board); /* has accepted nothing */
    return lab_board_restart(board, LAB_BOARD_FRAMES);
}

bool lab_board_restart(struct lab_board *board, uint32_t frames)
{
    if (frames && frames != board->frame_count) {
        free(board->frames);
        board->frames = malloc(frames * sizeof *board->frames);
        board->frame_count = board->frames ? frames : 0;
        if (!board->frames)
            return false;
    }
    struct wire_identity identity = {
        .bus = 1, .firmware = FIRMWARE, .clock_hz = LAB_BUS_CLOCK_HZ, .name = "laboratory"};
    snprintf(identity.serial, sizeof identity.serial, "%s", board->chip_settings.serial);
    struct bus_front front = lab_bus_front(&board->bus);
    struct board_link link = fault_link(board->fault);
    board->before += board->board->counters.accepted;
    board->bus.session = 0;
    front.stall(front.context, BUS_STALL_NEVER);
    fault_power_off(board->fault);
    board_init(board->board, &identity, &front, &link, board->frames, board->frame_count);
    return !board->gateware || lab_board_gateware(board, true);
}

bool lab_board_gateware(struct lab_board *board, bool on)
{
    const struct board_link link = fault_link(board->fault);
    lab_gateware_free(board->gateware);
    board->gateware = on ? lab_gateware_new(&board->bus, &link, board->gateware_link_bytes) : NULL;
    board->board->state = BOARD_IDLE;
    fault_power_off(board->fault);
    return board->gateware || !on;
}

bool lab_board_gateware_link(struct lab_board *board, double bytes_per_second)
{
    if (!(bytes_per_second >= 1 && bytes_per_second <= LAB_GATEWARE_LINK_BYTES))
        return false;
    board->gateware_link_bytes = bytes_per_second;
    return !board->gateware || lab_board_gateware(board, true);
}

struct usb_redir *lab_board_redir(struct lab_board *board)
{
    return board->redir;
}

struct lab_bus *lab_board_bus(struct lab_board *board)
{
    return &board->bus;
}

struct fault *lab_board_fault(struct lab_board *board)
{
    return board->fault;
}

struct ftdi_chip_settings *lab_board_chip(struct lab_board *board)
{
    return &board->chip_settings;
}

/* The chip lives on the cable's power, the board on its own. */
void lab_board_plug(struct lab_board *board, bool plugged)
{
    if (plugged && !board->plugged) {
        ftdi_chip_power_on(board->chip, &board->chip_settings);
        board->opened = 0;
    }
    if (!plugged && board->plugged)
        fault_unplugged(board->fault);
    board->plugged = plugged;
    usb_redir_plug(board->redir, plugged);
}

void lab_board_hang(struct lab_board *board, bool hung)
{
    board->hung = hung;
}

/* --- raw bytes ----------------------------------------------------------------------------------
 */

void lab_board_raw(struct lab_board *board, double bytes_per_second)
{
    struct raw *raw = &board->raw;
    raw->on = bytes_per_second >= 0;
    raw->rate = bytes_per_second;
    raw->owed = 0;
    raw->looked_ns = clock_monotonic_ns();
    raw->sent = raw->dropped = 0;
}

/* The number of bytes that are due; a backlog of more than the FIFO's size is dropped. */
static size_t raw_due(struct raw *raw)
{
    if (raw->rate == 0)
        return MEGABYTE_PAUSE;
    int64_t now = clock_monotonic_ns(), passed = now - raw->looked_ns;
    if (passed < BUSY_NS)
        return 0;
    double most = raw->rate * RAW_LATE_NS / 1e9;
    raw->looked_ns = now;
    raw->owed += raw->rate * (double)(passed < RAW_LATE_NS ? passed : RAW_LATE_NS) / 1e9;
    if (raw->owed > most) {
        raw->dropped += (uint64_t)(raw->owed - most);
        raw->owed = most;
    }
    return (size_t)raw->owed;
}

static bool raw_step(struct lab_board *board)
{
    struct raw *raw = &board->raw;
    size_t due = raw_due(raw);
    size_t sent = 0;
    while (sent < due) {
        size_t size = RAW_BYTES - raw->position;
        size = size < due - sent ? size : due - sent;
        size_t took = chip_send(board, raw->bytes + raw->position, size);
        if (took == 0)
            break;
        raw->position = (raw->position + took) % RAW_BYTES;
        sent += took;
    }
    raw->sent += sent;
    if (raw->rate > 0)
        raw->owed -= (double)sent;
    return sent > 0;
}

/* --- running ------------------------------------------------------------------------------------
 */

/* The firmware's state follows the gateware's, for the counters. The FT232H has its clock while it
 * has power. */
static bool gateware_step(struct lab_board *board)
{
    bool busy = lab_gateware_step(board->gateware, board->plugged && !board->hung);
    bool armed = lab_gateware_armed(board->gateware);
    if (armed && board->board->state == BOARD_IDLE)
        board->board->session++;
    board->board->state = armed ? BOARD_ARMED : BOARD_IDLE;
    board->board->counters.accepted = board->bus.sent;
    return busy;
}

bool lab_board_step(struct lab_board *board)
{
    bool busy = board->plugged && usb_redir_pump(board->redir, clock_monotonic_ns());
    if (board->plugged && ftdi_chip_opened(board->chip) != board->opened) {
        board->opened = ftdi_chip_opened(board->chip);
        fault_opened(board->fault);
    }
    if (board->raw.on)
        return raw_step(board) || busy;
    busy |= fault_flush(board->fault);
    if (board->gateware)
        return gateware_step(board) || busy;
    if (board->hung)
        return busy;
    for (unsigned i = 0; i < STEPS && board_step(board->board); i++)
        busy = true;
    return busy;
}

int64_t lab_board_idle_ns(const struct lab_board *board)
{
    int64_t idle = IDLE_NS;
    if (board->raw.on || (board_armed(board->board) && board->bus.rate > 0))
        return BUSY_NS;
    if (board->plugged && usb_redir_queued(board->redir) > 0)
        idle = ftdi_chip_due_ns(board->chip, 0x81) - clock_monotonic_ns();
    return idle < 0 ? 0 : idle < IDLE_NS ? idle : IDLE_NS;
}

void lab_board_counters(struct lab_board *board, struct lab_board_counters *counters)
{
    *counters = (struct lab_board_counters){
        .session = board->board->session,
        .before = board->before,
        .sent = board->bus.sent,
        .opened = board->plugged ? ftdi_chip_opened(board->chip) : 0,
        .latency_ms = ftdi_chip_latency(board->chip),
        .queued = usb_redir_queued(board->redir),
        .raw_sent = board->raw.sent,
        .raw_dropped = board->raw.dropped,
    };
    board_counters(board->board, &counters->firmware);
    if (board->gateware)
        counters->firmware.stalled = lab_gateware_stalled(board->gateware);
}
