#include "formats/capture/capture_file.h"

#include "formats/base/crc32c.h"
#include "formats/base/printable.h"

#include <string.h>

/* doc/capture-file.md, "Members": offsets common to all members */
enum {
    AT_METHOD = 2,
    AT_XLEN = 10,
    AT_SUBFIELD = 12,
    AT_SUBFIELD_BYTES = 14,
    AT_PAYLOAD = 16,
    AT_MEMBER_BYTES = AT_PAYLOAD + 4
};

/* Payload bytes by kind, with the two CRC-32C at the end: of all bytes after the header, then of
 * the header. */
enum {
    HEADER_PAYLOAD = 424,
    DATA_PAYLOAD = 104,
    CODED_DATA_PAYLOAD = 112, /* version 2 */
    CLOSING_PAYLOAD = 344
};

/* Of a data member of version 2. */
enum { AT_CODEC = 96, AT_LEVEL = 97 };

#define WINDOW_MESSAGE_BYTES 112u /* of a closing member with a window, which needs the rest */

#define HEADER_DERIVED 1u
#define HEADER_STALL   2u
#define GAP_CHOSEN     1u
#define GAP_PARTS      2u
#define GAP_EVENTS     4u
#define GAP_UNCOUNTED  (GAP_MILLISECONDS_MAX + 1u) /* the bit above the milliseconds */
enum { TRAILER_BYTES = 8, EMPTY_CONTENT_BYTES = 2 };

/* Records are compressed directly from memory; a big-endian host would need to convert a copy. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "hosts are little endian");

/* Of members without records: a deflate stream of one final block, no bytes. */
static const uint8_t empty_content[EMPTY_CONTENT_BYTES] = {3, 0};

/* Flag FEXTRA, no time, unknown system (RFC 1952, 2.3). The method of version 2 is none of gzip's,
 * so that gzip programs refuse its members. */
#define METHOD_DEFLATE 8
#define METHOD_CODED   0x42
static const uint8_t gzip_start[AT_XLEN] = {0x1f, 0x8b, METHOD_DEFLATE, 4, 0, 0, 0, 0, 0, 255};

static uint8_t method_of(unsigned version)
{
    return version == CAPTURE_VERSION_CODED ? METHOD_CODED : METHOD_DEFLATE;
}

static size_t payload_bytes(enum capture_member_kind kind, unsigned version)
{
    switch (kind) {
    case CAPTURE_MEMBER_HEADER:
        return HEADER_PAYLOAD;
    case CAPTURE_MEMBER_DATA:
        return version == CAPTURE_VERSION_CODED ? CODED_DATA_PAYLOAD : DATA_PAYLOAD;
    case CAPTURE_MEMBER_CLOSING:
        return CLOSING_PAYLOAD;
    }
    return 0;
}

/* --- writing --------------------------------------------------------------------------------- */

/* Begins a member with an empty payload; returns where the payload starts. */
static uint8_t *put_start(uint8_t *out, enum capture_member_kind kind, unsigned version)
{
    size_t payload = payload_bytes(kind, version);
    memset(out, 0, AT_PAYLOAD + payload);
    memcpy(out, gzip_start, sizeof gzip_start);
    out[AT_METHOD] = method_of(version);
    bytes_put16(out + AT_XLEN, (uint16_t)(payload + 4));
    out[AT_SUBFIELD] = 'B';
    out[AT_SUBFIELD + 1] = 'T';
    bytes_put16(out + AT_SUBFIELD_BYTES, (uint16_t)payload);
    out[AT_PAYLOAD] = (uint8_t)kind;
    out[AT_PAYLOAD + 1] =
        version == CAPTURE_VERSION_CODED ? CAPTURE_VERSION_CODED : CAPTURE_VERSION_GZIP;
    return out + AT_PAYLOAD;
}

/* Completes a member whose content of content_bytes is in place. Returns the member's bytes. */
static size_t put_end(uint8_t *out, size_t content_bytes, uint32_t check, uint32_t raw_bytes)
{
    size_t header = AT_PAYLOAD + bytes_get16(out + AT_SUBFIELD_BYTES);
    size_t member = header + content_bytes + TRAILER_BYTES;
    uint8_t *trailer = out + header + content_bytes;
    bytes_put32(trailer, check);
    bytes_put32(trailer + 4, raw_bytes);
    bytes_put32(out + AT_MEMBER_BYTES, (uint32_t)member);
    bytes_put32(out + header - 8, crc32c(0, out + header, content_bytes + TRAILER_BYTES));
    bytes_put32(out + header - 4, crc32c(0, out, header - 4));
    return member;
}

/* Ends a member that holds no records. */
static size_t put_empty_end(uint8_t *out)
{
    memcpy(out + AT_PAYLOAD + bytes_get16(out + AT_SUBFIELD_BYTES), empty_content,
           sizeof empty_content);
    return put_end(out, EMPTY_CONTENT_BYTES, 0, 0);
}

static void put_text(uint8_t *out, size_t size, const char *text)
{
    size_t length = 0;
    while (length + 1 < size && text[length])
        length++;
    memcpy(out, text, length);
}

size_t capture_put_header_member(uint8_t *out, const struct capture_info *info)
{
    uint8_t *p = put_start(out, CAPTURE_MEMBER_HEADER, info->version);
    bytes_put16(p + 2, (info->derived ? HEADER_DERIVED : 0) | (info->may_stall ? HEADER_STALL : 0));
    bytes_put64(p + 8, info->clock_hz);
    memcpy(p + 16, info->id, CAPTURE_ID_BYTES);
    bytes_put64(p + 32, (uint64_t)info->started_ns);
    bytes_put64(p + 40, (uint64_t)info->file_started_ns);
    bytes_put64(p + 48, info->first_index);
    bytes_put32(p + 56, info->file_number);
    bytes_put32(p + 60, info->keep);
    put_text(p + 64, sizeof info->board, info->board);
    put_text(p + 128, sizeof info->bus, info->bus);
    put_text(p + 160, sizeof info->filter, info->filter);
    return put_empty_end(out);
}

static void put_counts(uint8_t *out, const uint64_t counts[LOSS_STAGES])
{
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        bytes_put64(out + 8 * stage, counts[stage]);
}

static void put_window(uint8_t *p, const struct capture_window *window)
{
    p[11] = (uint8_t)window->kind;
    bytes_put64(p + 288, window->omitted);
    bytes_put64(p + 296, window->matches);
    bytes_put64(p + 304, window->first_index);
    bytes_put64(p + 312, window->first_tick);
    bytes_put64(p + 320, window->last_index);
    bytes_put64(p + 328, window->last_tick);
}

size_t capture_put_closing_member(uint8_t *out, const struct capture_totals *totals,
                                  unsigned version)
{
    uint8_t *p = put_start(out, CAPTURE_MEMBER_CLOSING, version);
    p[8] = (uint8_t)totals->end;
    p[9] = totals->final;
    p[10] = totals->source.known;
    bytes_put64(p + 16, totals->file_records);
    put_counts(p + 24, totals->file_lost);
    bytes_put64(p + 56, totals->capture_records);
    put_counts(p + 64, totals->capture_lost);
    bytes_put64(p + 96, totals->end_index);
    bytes_put64(p + 104, totals->last_tick);
    bytes_put64(p + 112, totals->after_stop);
    bytes_put64(p + 120, (uint64_t)totals->ended_ns);
    bytes_put64(p + 128, totals->source.seen);
    bytes_put64(p + 136, totals->source.accepted);
    bytes_put64(p + 144, totals->source.filtered);
    bytes_put64(p + 152, totals->source.above_4gib);
    bytes_put64(p + 160, totals->source.undecoded);
    bytes_put64(p + 168, totals->source.lost_bus);
    bool window = totals->window.kind != CAPTURE_WINDOW_NONE;
    if (window)
        put_window(p, &totals->window);
    put_text(p + 176, window ? WINDOW_MESSAGE_BYTES : sizeof totals->message, totals->message);
    return put_empty_end(out);
}

size_t capture_data_member_bound(size_t count)
{
    return AT_PAYLOAD + CODED_DATA_PAYLOAD + record_encode_bound(count) + TRAILER_BYTES;
}

static void put_batch(uint8_t *p, const struct batch *batch)
{
    bytes_put16(p + 2, (batch->gap.chosen ? GAP_CHOSEN : 0) | (batch->parts > 0 ? GAP_PARTS : 0) |
                           (batch->events ? GAP_EVENTS : 0));
    bytes_put32(p + 8, (uint32_t)batch->count);
    bytes_put32(p + 12, batch->gap.milliseconds | (batch->gap.uncounted ? GAP_UNCOUNTED : 0));
    bytes_put64(p + 16, batch->first_index);
    bytes_put64(p + 24, batch->first_tick);
    bytes_put64(p + 32, batch->last_tick);
    put_counts(p + 40, batch->lost.count);
    bytes_put64(p + 72, batch->lost.first_tick);
    bytes_put64(p + 80, batch->lost.last_tick);
    bytes_put64(p + 88, (uint64_t)batch->host_time_ns);
}

int capture_put_data_member(struct record_encoder *encoder, const struct batch *batch, uint8_t *out,
                            size_t capacity, size_t *size, struct bt_error *error)
{
    const unsigned version = record_encoder_version(encoder);
    const size_t header = AT_PAYLOAD + payload_bytes(CAPTURE_MEMBER_DATA, version);
    if (batch->count > CAPTURE_MEMBER_RECORDS_MAX)
        return bt_fail(error, BT_USAGE, "a block of %zu records is above the limit of %u",
                       batch->count, CAPTURE_MEMBER_RECORDS_MAX);
    if (capacity < capture_data_member_bound(batch->count))
        return bt_fail(error, BT_USAGE, "no room for a block of %zu records", batch->count);
    uint8_t *p = put_start(out, CAPTURE_MEMBER_DATA, version);
    put_batch(p, batch);
    if (version == CAPTURE_VERSION_CODED)
        p[AT_CODEC] = RECORD_CODEC_DEFLATE;
    if (batch->count == 0) {
        *size = put_empty_end(out);
        return 0;
    }
    struct record_content content;
    const size_t room = capacity - header - TRAILER_BYTES;
    int result = batch->feed ? record_encode_feed(encoder, batch->feed, batch->records,
                                                  batch->count, out + header, room, &content, error)
                             : record_encode(encoder, batch->records, batch->count, out + header,
                                             room, &content, error);
    if (result < 0)
        return result;
    if (version == CAPTURE_VERSION_CODED) {
        p[AT_CODEC] = content.codec;
        p[AT_LEVEL] = content.level;
    }
    *size = put_end(out, content.size, content.check, (uint32_t)(batch->count * RECORD_BYTES));
    return 0;
}

void capture_restate_data_member(uint8_t *bytes, const struct batch *batch)
{
    const size_t header = AT_PAYLOAD + bytes_get16(bytes + AT_SUBFIELD_BYTES);
    put_batch(bytes + AT_PAYLOAD, batch);
    bytes_put32(bytes + header - 4, crc32c(0, bytes, header - 4));
}

/* --- reading --------------------------------------------------------------------------------- */

/* Text from a file: always terminated, and without control characters. */
static void get_text(char *text, size_t size, const uint8_t *in)
{
    memset(text, 0, size);
    memcpy(text, in, strnlen((const char *)in, size - 1));
    printable_make(text);
}

static void get_counts(uint64_t counts[LOSS_STAGES], const uint8_t *in)
{
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        counts[stage] = bytes_get64(in + 8 * stage);
}

static void get_info(struct capture_info *info, const uint8_t *p)
{
    info->version = p[1];
    info->derived = bytes_get16(p + 2) & HEADER_DERIVED;
    info->may_stall = bytes_get16(p + 2) & HEADER_STALL;
    info->clock_hz = bytes_get64(p + 8);
    memcpy(info->id, p + 16, CAPTURE_ID_BYTES);
    info->started_ns = (int64_t)bytes_get64(p + 32);
    info->file_started_ns = (int64_t)bytes_get64(p + 40);
    info->first_index = bytes_get64(p + 48);
    info->file_number = bytes_get32(p + 56);
    info->keep = bytes_get32(p + 60);
    get_text(info->board, sizeof info->board, p + 64);
    get_text(info->bus, sizeof info->bus, p + 128);
    get_text(info->filter, sizeof info->filter, p + 160);
}

static void get_batch(struct batch *batch, const uint8_t *p)
{
    uint32_t gap = bytes_get32(p + 12);
    batch->count = bytes_get32(p + 8);
    batch->gap.milliseconds = gap & GAP_MILLISECONDS_MAX;
    batch->gap.uncounted = gap & GAP_UNCOUNTED;
    batch->gap.chosen = bytes_get16(p + 2) & GAP_CHOSEN;
    batch->parts = batch->count > 0 && (bytes_get16(p + 2) & GAP_PARTS);
    batch->events = batch->count > 0 && (bytes_get16(p + 2) & GAP_EVENTS);
    if (batch->gap.uncounted && batch->gap.milliseconds == 0)
        batch->gap.milliseconds = 1; /* also if the file says 0 */
    batch->first_index = bytes_get64(p + 16);
    batch->first_tick = bytes_get64(p + 24);
    batch->last_tick = bytes_get64(p + 32);
    get_counts(batch->lost.count, p + 40);
    batch->lost.first_tick = bytes_get64(p + 72);
    batch->lost.last_tick = bytes_get64(p + 80);
    batch->host_time_ns = (int64_t)bytes_get64(p + 88);
}

static void get_window(struct capture_window *window, const uint8_t *p)
{
    window->kind = (enum capture_window_kind)p[11];
    window->omitted = bytes_get64(p + 288);
    window->matches = bytes_get64(p + 296);
    window->first_index = bytes_get64(p + 304);
    window->first_tick = bytes_get64(p + 312);
    window->last_index = bytes_get64(p + 320);
    window->last_tick = bytes_get64(p + 328);
}

static void get_totals(struct capture_totals *totals, const uint8_t *p)
{
    totals->end = p[8] < CAPTURE_ENDS ? (enum capture_end)p[8] : CAPTURE_END_NONE;
    totals->final = p[9] != 0;
    totals->source.known = p[10] != 0;
    totals->file_records = bytes_get64(p + 16);
    get_counts(totals->file_lost, p + 24);
    totals->capture_records = bytes_get64(p + 56);
    get_counts(totals->capture_lost, p + 64);
    totals->end_index = bytes_get64(p + 96);
    totals->last_tick = bytes_get64(p + 104);
    totals->after_stop = bytes_get64(p + 112);
    totals->ended_ns = (int64_t)bytes_get64(p + 120);
    totals->source.seen = bytes_get64(p + 128);
    totals->source.accepted = bytes_get64(p + 136);
    totals->source.filtered = bytes_get64(p + 144);
    totals->source.above_4gib = bytes_get64(p + 152);
    totals->source.undecoded = bytes_get64(p + 160);
    totals->source.lost_bus = bytes_get64(p + 168);
    bool window = p[11] == CAPTURE_WINDOW_MATCHES || p[11] == CAPTURE_WINDOW_SNAPSHOT;
    if (window)
        get_window(&totals->window, p);
    get_text(totals->message, window ? WINDOW_MESSAGE_BYTES : sizeof totals->message, p + 176);
}

/* Whether the header's member size is plausible. */
static bool member_size_fits(const struct capture_member *member)
{
    uint32_t least = member->header_bytes + EMPTY_CONTENT_BYTES + TRAILER_BYTES;
    if (member->kind == CAPTURE_MEMBER_DATA && member->batch.count > 0)
        return member->batch.count <= CAPTURE_MEMBER_RECORDS_MAX && member->member_bytes > least &&
               member->member_bytes <= CAPTURE_MEMBER_BYTES_MAX;
    return member->member_bytes == least;
}

static int get_payload(struct capture_member *member, const uint8_t *p, struct bt_error *error)
{
    switch (member->kind) {
    case CAPTURE_MEMBER_HEADER:
        get_info(&member->info, p);
        break;
    case CAPTURE_MEMBER_DATA:
        member->codec =
            member->version == CAPTURE_VERSION_CODED ? p[AT_CODEC] : RECORD_CODEC_DEFLATE;
        member->level = member->version == CAPTURE_VERSION_CODED ? p[AT_LEVEL] : 0;
        get_batch(&member->batch, p);
        break;
    case CAPTURE_MEMBER_CLOSING:
        get_totals(&member->totals, p);
        break;
    }
    if (!member_size_fits(member))
        return bt_fail(error, BT_DATA, "a block claims %u bytes, which is impossible",
                       (unsigned)member->member_bytes);
    return 1;
}

/* Whether the bytes, as far as they are there, begin as members do. */
static bool starts_member(const uint8_t *bytes, size_t size)
{
    uint8_t start[AT_XLEN];
    memcpy(start, gzip_start, sizeof start);
    if (size > AT_METHOD && bytes[AT_METHOD] == METHOD_CODED)
        start[AT_METHOD] = METHOD_CODED;
    return memcmp(bytes, start, size < AT_XLEN ? size : AT_XLEN) == 0;
}

int capture_get_member(struct capture_member *member, const uint8_t *bytes, size_t size,
                       struct bt_error *error)
{
    if (!starts_member(bytes, size))
        return bt_fail(error, BT_DATA, "no block of a capture starts here");
    if (size < CAPTURE_PREAMBLE_BYTES)
        return 0;
    memset(member, 0, sizeof *member);
    member->kind = (enum capture_member_kind)bytes[AT_PAYLOAD];
    member->version = bytes[AT_PAYLOAD + 1];
    size_t payload = payload_bytes(member->kind, member->version);
    if (bytes[AT_SUBFIELD] != 'B' || bytes[AT_SUBFIELD + 1] != 'T')
        return bt_fail(error, BT_DATA, "no block of a capture starts here");
    if (member->version == 0 || member->version > CAPTURE_VERSION_CODED)
        return bt_fail(error, BT_DATA,
                       "block of format version %u; this bustap reads versions %u and %u: read it "
                       "with a newer version",
                       member->version, CAPTURE_VERSION_GZIP, CAPTURE_VERSION_CODED);
    if (payload == 0 || bytes[AT_METHOD] != method_of(member->version) ||
        bytes_get16(bytes + AT_SUBFIELD_BYTES) != payload ||
        bytes_get16(bytes + AT_XLEN) != payload + 4)
        return bt_fail(error, BT_DATA, "the header of a block is damaged");
    size_t header = AT_PAYLOAD + payload;
    if (size < header)
        return 0;
    if (bytes_get32(bytes + header - 4) != crc32c(0, bytes, header - 4))
        return bt_fail(error, BT_DATA, "the header of a block is damaged");
    member->header_bytes = (uint32_t)header;
    member->member_bytes = bytes_get32(bytes + AT_MEMBER_BYTES);
    return get_payload(member, bytes + AT_PAYLOAD, error);
}

uint32_t capture_member_crc(const struct capture_member *member, const uint8_t *bytes,
                            const uint8_t **stream, size_t *size)
{
    *stream = bytes + member->header_bytes;
    *size = member->member_bytes - member->header_bytes;
    return bytes_get32(*stream - 8);
}

/* As capture_get_executions, or capture_get_records if executions is NULL. */
static int get_content(struct record_decoder *decoder, const struct capture_member *member,
                       const uint8_t *bytes, struct record *records,
                       struct block_executions *executions, struct bt_error *error)
{
    size_t count = member->kind == CAPTURE_MEMBER_DATA ? member->batch.count : 0;
    size_t content = member->member_bytes - member->header_bytes - TRAILER_BYTES;
    const uint8_t *stream;
    size_t size;
    /* the codec's check covers only the records: it does not detect changed padding bits */
    uint32_t wanted = capture_member_crc(member, bytes, &stream, &size);
    const uint8_t *trailer = stream + content;
    uint32_t check = 0;
    if (wanted != crc32c(0, stream, size))
        return bt_fail(error, BT_DATA, "a block is damaged");
    if (count > 0) {
        int result = executions ? record_decode_executions(decoder, stream, content, executions,
                                                           count, &check, error)
                                : record_decode(decoder, member->codec, stream, content, records,
                                                count, &check, error);
        if (result < 0)
            return result;
    } else if (memcmp(stream, empty_content, sizeof empty_content) != 0) {
        return bt_fail(error, BT_DATA, "a block without records has content");
    }
    if (bytes_get32(trailer) != check || bytes_get32(trailer + 4) != count * RECORD_BYTES)
        return bt_fail(error, BT_DATA, "a block does not match its own checksum");
    return 0;
}

int capture_get_records(struct record_decoder *decoder, const struct capture_member *member,
                        const uint8_t *bytes, struct record *records, struct bt_error *error)
{
    return get_content(decoder, member, bytes, records, NULL, error);
}

bool capture_has_executions(const struct capture_member *member)
{
    return member->kind == CAPTURE_MEMBER_DATA && member->codec == RECORD_CODEC_BLOCKS &&
           member->batch.count > 0 && member->batch.parts == 0 && !member->batch.events;
}

int capture_get_executions(struct record_decoder *decoder, const struct capture_member *member,
                           const uint8_t *bytes, struct block_executions *executions,
                           struct bt_error *error)
{
    int result = get_content(decoder, member, bytes, NULL, executions, error);
    if (result < 0)
        block_executions_clear(executions);
    return result;
}
