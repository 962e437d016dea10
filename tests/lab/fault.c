#include "tests/lab/fault.h"

#include "formats/base/crc32c.h"
#include "tests/support/random.h"

#include <string.h>

static const char *const names[FAULT_KINDS] = {
    [FAULT_CORRUPT] = "corrupt",     [FAULT_TRUNCATE] = "truncate", [FAULT_DROP] = "drop",
    [FAULT_DUPLICATE] = "duplicate", [FAULT_REORDER] = "reorder",   [FAULT_GARBAGE] = "garbage"};

const char *fault_name(enum fault_kind kind)
{
    return names[kind];
}

void fault_init(struct fault *fault, const struct board_link *below)
{
    memset(fault, 0, sizeof *fault);
    fault->below = *below;
    fault->random = random_seed(1);
}

void fault_clear(struct fault *fault)
{
    fault->kind = FAULT_NONE;
    fault->one_in = 0;
    fault->overrun = fault->stale = false;
    fault->version = 0;
    fault->frames = fault->requests = fault->bytes = 0;
}

void fault_unplugged(struct fault *fault)
{
    fault->held_bytes = fault->out_bytes = fault->out_first = 0;
    fault->held = false;
}

void fault_power_off(struct fault *fault)
{
    fault_unplugged(fault);
    fault->frame_bytes = 0;
}

void fault_nth(struct fault *fault, enum fault_kind kind, uint64_t n, uint64_t times)
{
    fault->kind = kind;
    fault->one_in = 0;
    fault->countdown = fault->every = n;
    fault->times = fault->all_times = times;
    fault->random = random_seed(n);
}

static void begin_session(struct fault *fault)
{
    fault->held = false;
    if (fault->kind == FAULT_NONE || fault->one_in)
        return;
    fault_nth(fault, fault->kind, fault->every, fault->all_times);
    fault->frames = fault->requests = 0;
}

void fault_random(struct fault *fault, enum fault_kind kind, uint64_t one_in, uint64_t seed)
{
    fault->kind = kind;
    fault->one_in = one_in;
    fault->random = random_seed(seed);
}

/* --- what goes out ------------------------------------------------------------------------------
 */

static void put(struct fault *fault, const uint8_t *bytes, size_t size)
{
    size_t room = sizeof fault->out - fault->out_first - fault->out_bytes;
    size = size < room ? size : room; /* all fits: out is empty before a frame is put */
    memcpy(fault->out + fault->out_first + fault->out_bytes, bytes, size);
    fault->out_bytes += size;
}

bool fault_flush(struct fault *fault)
{
    bool moved = false;
    while (fault->out_bytes > 0) {
        size_t took = fault->below.send(fault->below.context, fault->out + fault->out_first,
                                        fault->out_bytes);
        if (took == 0 && fault->overrun) {
            took = fault->out_bytes;
            fault->bytes += took;
        }
        if (took == 0)
            return moved;
        moved = true;
        fault->out_first += took;
        fault->out_bytes -= took;
    }
    fault->out_first = 0;
    return moved;
}

static void remember(struct fault *fault, const uint8_t *bytes, size_t size)
{
    size_t at = (size_t)(fault->past_bytes % FAULT_STALE_BYTES);
    size_t straight = size < FAULT_STALE_BYTES - at ? size : FAULT_STALE_BYTES - at;
    memcpy(fault->past + at, bytes, straight);
    memcpy(fault->past, bytes + straight, size - straight);
    fault->past_bytes += size;
}

void fault_opened(struct fault *fault)
{
    if (!fault->stale || fault->out_bytes > 0)
        return;
    size_t size =
        fault->past_bytes < FAULT_STALE_BYTES ? (size_t)fault->past_bytes : FAULT_STALE_BYTES;
    for (uint64_t i = fault->past_bytes - size; i < fault->past_bytes; i++)
        put(fault, &fault->past[i % FAULT_STALE_BYTES], 1);
    fault->bytes += size;
}

/* --- another version ----------------------------------------------------------------------------
 */

/* Answers as a board of another protocol version: see "Versions" in doc/wire-protocol.md. */
static void speak_version(const struct fault *fault, struct wire_frame *frame, uint8_t *bytes)
{
    uint8_t *payload = bytes + WIRE_FRAME_HEADER;
    if (frame->kind == WIRE_REPLY && payload[4] == WIRE_IDENTIFY)
        payload[WIRE_REPLY_HEADER] = fault->version;
    else if (frame->kind == WIRE_REPLY)
        payload[5] = WIRE_BAD_VERSION;
    frame->version = fault->version;
    wire_frame_put_header(bytes, frame);
    bytes_put32(payload + frame->payload_bytes, crc32c(0, payload, frame->payload_bytes));
}

/* --- faults -------------------------------------------------------------------------------------
 */

static bool strikes(struct fault *fault)
{
    if (fault->kind == FAULT_NONE || fault->held)
        return false;
    if (fault->one_in)
        return random_one_in(&fault->random, fault->one_in);
    if (fault->times == 0 || --fault->countdown > 0)
        return false;
    fault->times--;
    fault->countdown = fault->every;
    return true;
}

static void damage(struct fault *fault, uint8_t *frame, size_t size)
{
    uint8_t garbage[512];
    size_t at = (size_t)random_below(&fault->random, size);
    size_t missing = 1 + (size_t)random_below(&fault->random, size - at);
    switch (fault->kind) {
    case FAULT_CORRUPT:
        frame[at] ^= (uint8_t)(1u << random_below(&fault->random, 8));
        put(fault, frame, size);
        break;
    case FAULT_TRUNCATE:
        put(fault, frame, at);
        break;
    case FAULT_DROP:
        put(fault, frame, at);
        put(fault, frame + at + missing, size - at - missing);
        break;
    case FAULT_DUPLICATE:
        put(fault, frame, size);
        put(fault, frame, size);
        break;
    case FAULT_REORDER:
        memcpy(fault->held_frame, frame, size);
        fault->held_bytes = size;
        fault->held = true;
        break;
    default:
        random_fill(&fault->random, garbage, sizeof garbage);
        put(fault, garbage, 1 + at % sizeof garbage);
        put(fault, frame, size);
        break;
    }
}

static bool loses(enum fault_kind kind)
{
    return kind != FAULT_DUPLICATE && kind != FAULT_GARBAGE;
}

/* Handles a whole frame. */
static void send_frame(struct fault *fault)
{
    struct wire_frame frame;
    uint8_t *bytes = fault->frame;
    size_t size = fault->frame_bytes;
    fault->frame_bytes = 0;
    if (wire_frame_get_header(&frame, bytes) < 0)
        return; /* the firmware sends no such frame */
    if (frame.kind == WIRE_START)
        begin_session(fault);
    if (fault->version)
        speak_version(fault, &frame, bytes);
    remember(fault, bytes, size);
    bool records = frame.kind == WIRE_RECORDS || frame.kind == WIRE_PACKED;
    if (records && strikes(fault)) {
        fault->frames++;
        fault->requests += loses(fault->kind) ? frame.count : 0;
        damage(fault, bytes, size);
        return;
    }
    put(fault, bytes, size);
    if (records && fault->held) {
        put(fault, fault->held_frame, fault->held_bytes);
        fault->held = false;
    }
}

static size_t frame_length(const struct fault *fault)
{
    if (fault->frame_bytes < WIRE_FRAME_HEADER)
        return WIRE_FRAME_HEADER;
    return WIRE_FRAME_HEADER + bytes_get16(fault->frame + 58) + WIRE_FRAME_TRAILER;
}

static size_t link_send(void *context, const uint8_t *bytes, size_t size)
{
    struct fault *fault = context;
    size_t taken = 0;
    while (taken < size) {
        fault_flush(fault);
        if (fault->out_bytes > 0)
            break;
        size_t wanted = frame_length(fault) - fault->frame_bytes;
        wanted = wanted < size - taken ? wanted : size - taken;
        if (fault->frame_bytes + wanted > sizeof fault->frame)
            break;
        memcpy(fault->frame + fault->frame_bytes, bytes + taken, wanted);
        fault->frame_bytes += wanted;
        taken += wanted;
        if (fault->frame_bytes > WIRE_FRAME_HEADER && fault->frame_bytes == frame_length(fault))
            send_frame(fault);
    }
    fault_flush(fault);
    return taken;
}

static size_t link_receive(void *context, uint8_t *bytes, size_t capacity)
{
    struct fault *fault = context;
    return fault->below.receive(fault->below.context, bytes, capacity);
}

struct board_link fault_link(struct fault *fault)
{
    return (struct board_link){.send = link_send, .receive = link_receive, .context = fault};
}
