#include "formats/foreign/gem5.h"

#include "formats/base/scale.h"
#include "formats/foreign/gem5_packet.pb-c.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TICK_FREQUENCY   1000000000000u /* gem5's: a picosecond */
#define FLAG_FETCH       0x100u
#define FLAG_UNCACHEABLE 0x400u
#define OBJECT           "bustap"
#define CLOCK_FORM       OBJECT ", %" PRIu64 " ticks/s"
#define HEADER_BYTES_MAX 65536u
#define PACKET_BYTES_MAX 1024u
#define ARENA_BYTES      4096u /* for a decoded packet */

enum gem5_command { /* of gem5's MemCmd: the reads and writes */
                    READ_REQ = 1,
                    WRITE_REQ = 4,
                    WRITEBACK_DIRTY = 7,
                    WRITE_CLEAN = 9,
                    WRITE_LINE_REQ = 16,
                    READ_EX_REQ = 22,
                    READ_CLEAN_REQ = 24,
                    READ_SHARED_REQ = 25,
                    LOAD_LOCKED_REQ = 26,
                    STORE_COND_REQ = 27
};

/* --- reading --- */

/* Memory for one packet at a time: avoids the heap, and bounds what hostile packets allocate. */
struct arena {
    size_t fill;
    _Alignas(max_align_t) uint8_t bytes[ARENA_BYTES];
};

struct gem5_reader {
    bool begun, headed;
    uint64_t clock_hz; /* of the original ticks; 0: unknown */
    bool scaled;       /* convert picoseconds to ticks */
    struct arena arena;
};

static void *arena_get(void *context, size_t size)
{
    struct arena *arena = context;
    size_t room = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (room < size || room > ARENA_BYTES - arena->fill)
        return NULL;
    arena->fill += room;
    return arena->bytes + arena->fill - room;
}

static void arena_give(void *context, void *memory)
{
    (void)context; /* the arena is freed as a whole */
    (void)memory;
}

/* A length before a message. Returns its bytes, 0 if more are needed, -1 if it is invalid. */
static int take_length(const uint8_t *bytes, size_t size, uint32_t *length)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (i >= size)
            return 0;
        value |= (uint32_t)(bytes[i] & 0x7f) << 7 * i;
        if (bytes[i] < 0x80) {
            *length = value;
            return (int)i + 1;
        }
    }
    return -1;
}

/* Takes the clock from the header. */
static void take_clock(struct gem5_reader *gem5, const Gem5__Header *header)
{
    uint64_t clock_hz;
    if (strcmp(header->obj_id, OBJECT) == 0) {
        gem5->clock_hz = 0; /* without obj_id, ticks stay as they are */
    } else if (sscanf(header->obj_id, CLOCK_FORM, &clock_hz) == 1 && clock_hz > 0 &&
               clock_hz < TICK_FREQUENCY && header->tick_freq == TICK_FREQUENCY) {
        gem5->clock_hz = clock_hz;
        gem5->scaled = true;
    } else {
        gem5->clock_hz = header->tick_freq;
    }
}

static int decode_header(struct gem5_reader *gem5, const uint8_t *bytes, size_t size,
                         struct bt_error *error)
{
    Gem5__Header *header = gem5__header__unpack(NULL, size, bytes);
    if (!header)
        return bt_fail(error, BT_DATA, "it lacks the header of a packet trace");
    take_clock(gem5, header);
    gem5__header__free_unpacked(header, NULL);
    gem5->headed = true;
    return 0;
}

/* The type of a request; false for other packets. */
static bool take_command(const Gem5__Packet *packet, uint8_t *type)
{
    switch (packet->cmd) {
    case READ_REQ:
    case READ_CLEAN_REQ:
    case READ_SHARED_REQ:
    case LOAD_LOCKED_REQ:
        *type = packet->flags & FLAG_FETCH ? REQUEST_FETCH : REQUEST_MEMREAD;
        return true;
    case READ_EX_REQ:
        *type = REQUEST_MEMREADINV;
        return true;
    case WRITE_REQ:
    case WRITEBACK_DIRTY:
    case WRITE_CLEAN:
    case WRITE_LINE_REQ:
    case STORE_COND_REQ:
        *type = REQUEST_MEMWRITE;
        return true;
    default:
        return false;
    }
}

static int decode_packet(struct gem5_reader *gem5, const uint8_t *bytes, size_t size,
                         struct foreign_item *item, struct bt_error *error)
{
    ProtobufCAllocator allocator = {arena_get, arena_give, &gem5->arena};
    gem5->arena.fill = 0;
    const Gem5__Packet *packet = gem5__packet__unpack(&allocator, size, bytes);
    if (!packet)
        return bt_fail(error, BT_DATA, "a message of %zu bytes is not a packet", size);
    item->clock_hz = gem5->clock_hz;
    uint8_t type;
    if (!take_command(packet, &type)) {
        item->left_out = true;
        return 0;
    }
    item->references[0] = (struct foreign_reference){.address = packet->addr,
                                                     .size = packet->size,
                                                     .type = type,
                                                     .attribute = packet->flags & FLAG_UNCACHEABLE
                                                                      ? ATTRIBUTE_UNCACHEABLE
                                                                      : ATTRIBUTE_WRITE_BACK,
                                                     .processor = packet->pkt_id};
    item->timed = FOREIGN_TICK;
    item->tick =
        gem5->scaled ? scale_up(packet->tick, gem5->clock_hz, TICK_FREQUENCY) : packet->tick;
    item->count = 1;
    return 0;
}

static int decode(void *state, const uint8_t *bytes, size_t size, bool last,
                  struct foreign_item *item, struct bt_error *error)
{
    struct gem5_reader *gem5 = state;
    uint32_t length = 0;
    (void)last;
    if (!gem5->begun) {
        if (size < GEM5_MAGIC_BYTES)
            return 0;
        if (memcmp(bytes, GEM5_MAGIC, GEM5_MAGIC_BYTES) != 0)
            return bt_fail(error, BT_DATA, "it does not begin like a trace of gem5");
        gem5->begun = true;
        item->used = GEM5_MAGIC_BYTES;
        return 0;
    }
    int head = take_length(bytes, size, &length);
    if (head < 0 || length > (gem5->headed ? PACKET_BYTES_MAX : HEADER_BYTES_MAX))
        return bt_fail(error, BT_DATA, "a message is too long");
    if (head == 0 || size - (size_t)head < length)
        return 0;
    item->used = (size_t)head + length;
    if (!gem5->headed)
        return decode_header(gem5, bytes + head, length, error);
    return decode_packet(gem5, bytes + head, length, item, error);
}

static int finish_reading(void *state, struct bt_error *error)
{
    const struct gem5_reader *gem5 = state;
    if (!gem5->begun || gem5->headed)
        return 0;
    return bt_fail(error, BT_DATA, "it lacks the header of a packet trace");
}

const struct foreign_decoder gem5_decoder = {.left_out =
                                                 "packets other than read and write requests",
                                             .state_bytes = sizeof(struct gem5_reader),
                                             .decode = decode,
                                             .finish = finish_reading};

/* --- writing --- */

#define PACKET_BYTES 64u /* a length and a whole packet: at most 35 */
#define HEAD_BYTES   128u

struct gem5_writer {
    uint64_t clock_hz; /* 0: ticks are written as picoseconds */
};

static int begin(void *state, const struct foreign_options *options, struct text_writer *writer,
                 char *out, size_t *filled, struct bt_error *error)
{
    struct gem5_writer *gem5 = state;
    char object[64] = OBJECT;
    (void)writer;
    (void)error;
    gem5->clock_hz = options->clock_hz < TICK_FREQUENCY ? options->clock_hz : 0;
    if (gem5->clock_hz > 0)
        snprintf(object, sizeof object, CLOCK_FORM, gem5->clock_hz);
    Gem5__Header header = GEM5__HEADER__INIT;
    header.obj_id = object;
    header.tick_freq = TICK_FREQUENCY;
    memcpy(out, GEM5_MAGIC, GEM5_MAGIC_BYTES);
    size_t length = gem5__header__pack(&header, (uint8_t *)out + GEM5_MAGIC_BYTES + 1);
    out[GEM5_MAGIC_BYTES] = (char)length; /* below 128: one byte */
    *filled = GEM5_MAGIC_BYTES + 1 + length;
    return 0;
}

static char *put_packet(char *out, const struct record *record, uint64_t tick)
{
    static const uint32_t commands[] = {[REQUEST_FETCH] = READ_REQ,
                                        [REQUEST_MEMREAD] = READ_REQ,
                                        [REQUEST_MEMREADINV] = READ_EX_REQ,
                                        [REQUEST_MEMWRITE] = WRITE_REQ};
    Gem5__Packet packet = GEM5__PACKET__INIT;
    packet.tick = tick;
    packet.cmd = commands[record->type];
    packet.addr = record->address;
    packet.size = record->size;
    packet.flags = record->type == REQUEST_FETCH ? FLAG_FETCH : 0;
    if ((record->attribute & ATTRIBUTE_MASK) == ATTRIBUTE_UNCACHEABLE)
        packet.flags |= FLAG_UNCACHEABLE;
    packet.has_flags = packet.flags != 0;
    packet.has_pkt_id = true;
    packet.pkt_id = record->processor;
    size_t length = gem5__packet__pack(&packet, (uint8_t *)out + 1);
    out[0] = (char)length; /* below 128: one byte */
    return out + 1 + length;
}

static char *encode(void *state, char *out, const struct foreign_run *run,
                    struct foreign_loss *loss, struct bt_error *error)
{
    const struct gem5_writer *gem5 = state;
    uint64_t tick = run->tick;
    (void)error;
    for (size_t i = 0; i < run->count; i++) {
        const struct record *record = &run->records[i];
        tick += i > 0 ? record->time : 0;
        if (foreign_leaves_out(record->type, loss))
            continue;
        uint64_t picoseconds = tick;
        if (gem5->clock_hz > 0) {
            picoseconds = scale_down(tick, TICK_FREQUENCY, gem5->clock_hz);
            loss->count[FOREIGN_TIME] += picoseconds == UINT64_MAX;
        }
        out = put_packet(out, record, picoseconds);
        loss->count[FOREIGN_ATTRIBUTE] +=
            record->attribute != ATTRIBUTE_UNCACHEABLE && record->attribute != ATTRIBUTE_WRITE_BACK;
        loss->written++;
    }
    return out;
}

const struct foreign_encoder gem5_encoder = {.state_bytes = sizeof(struct gem5_writer),
                                             .record_bytes = PACKET_BYTES,
                                             .head_bytes = HEAD_BYTES,
                                             .begin = begin,
                                             .encode = encode};
