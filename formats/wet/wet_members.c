#include "formats/wet/wet_members.h"

#include "formats/base/bytes.h"
#include "formats/base/crc32c.h"

#include <string.h>

/* doc/wet-file.md, "Members": offsets in a member */
enum {
    AT_XLEN = 10,
    AT_SUBFIELD = 12,
    AT_SUBFIELD_BYTES = 14,
    AT_KIND = 16,
    AT_VERSION = 17,
    AT_MEMBER_BYTES = 20,
    AT_CONTENT_BYTES = 24,
    AT_FIRST = 32,
    AT_INSTRUCTIONS = 40,
    AT_BODY_CRC = 72,
    AT_HEADER_CRC = 76
};

#define FORMAT_VERSION     1u
#define GZIP_TRAILER_BYTES 8u
#define EXPANSION_MAX      1032u /* bytes that one byte of a deflate stream can become */

/* Compression method deflate, flag FEXTRA, no time, unknown system (RFC 1952, 2.3). */
static const uint8_t gzip_start[AT_XLEN] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255};

static void put_header(const struct wet_member *member, uint8_t *out)
{
    const uint8_t *body = out + WET_MEMBER_HEADER_BYTES;
    memset(out, 0, WET_MEMBER_HEADER_BYTES);
    memcpy(out, gzip_start, sizeof gzip_start);
    bytes_put16(out + AT_XLEN, WET_MEMBER_HEADER_BYTES - AT_SUBFIELD);
    out[AT_SUBFIELD] = 'B';
    out[AT_SUBFIELD + 1] = 'W';
    bytes_put16(out + AT_SUBFIELD_BYTES, WET_MEMBER_HEADER_BYTES - AT_KIND);
    out[AT_KIND] = (uint8_t)member->kind;
    out[AT_VERSION] = FORMAT_VERSION;
    bytes_put32(out + AT_MEMBER_BYTES, member->member_bytes);
    bytes_put32(out + AT_CONTENT_BYTES, member->content_bytes);
    bytes_put64(out + AT_FIRST, member->first);
    bytes_put64(out + AT_INSTRUCTIONS, member->instructions);
    bytes_put32(out + AT_BODY_CRC, crc32c(0, body, member->member_bytes - WET_MEMBER_HEADER_BYTES));
    bytes_put32(out + AT_HEADER_CRC, crc32c(0, out, AT_HEADER_CRC));
}

int wet_member_put(struct wet_member *member, struct deflate_encoder *encoder,
                   const struct wet_bytes *content, struct wet_bytes *to, struct bt_error *error)
{
    const size_t room = deflate_bound(content->size);
    size_t stream;
    uint32_t crc32;
    if (content->out_of_memory)
        return bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
    if (content->size > WET_MEMBER_CONTENT_MAX)
        return bt_fail(error, BT_USAGE, "a chunk of %zu bytes is too large", content->size);
    uint8_t *larger = grow_array(to->bytes, &to->capacity,
                                 to->size + WET_MEMBER_HEADER_BYTES + room + GZIP_TRAILER_BYTES, 1);
    if (!larger)
        return bt_fail(error, BT_MEMORY, "no memory for a chunk of the trace");
    to->bytes = larger;
    uint8_t *out = larger + to->size, *body = out + WET_MEMBER_HEADER_BYTES;
    const int result =
        deflate_encode(encoder, content->bytes, content->size, body, room, &stream, &crc32, error);
    if (result < 0)
        return result;
    bytes_put32(body + stream, crc32);
    bytes_put32(body + stream + 4, (uint32_t)content->size);
    member->member_bytes = (uint32_t)(WET_MEMBER_HEADER_BYTES + stream + GZIP_TRAILER_BYTES);
    member->content_bytes = (uint32_t)content->size;
    put_header(member, out);
    to->size += member->member_bytes;
    return 0;
}

bool wet_member_begins(const uint8_t *bytes, size_t size)
{
    const size_t known = size < sizeof gzip_start ? size : sizeof gzip_start;
    return memcmp(bytes, gzip_start, known) == 0 &&
           (size < AT_SUBFIELD + 2 || memcmp(bytes + AT_SUBFIELD, "BW", 2) == 0);
}

int wet_member_get(struct wet_member *member, const uint8_t *bytes, size_t size,
                   struct bt_error *error)
{
    if (!wet_member_begins(bytes, size))
        return bt_fail(error, BT_DATA, "no member of a WET file begins here");
    if (size < WET_MEMBER_HEADER_BYTES)
        return 0;
    if (crc32c(0, bytes, AT_HEADER_CRC) != bytes_get32(bytes + AT_HEADER_CRC))
        return bt_fail(error, BT_DATA, "the header of a member is damaged");
    if (bytes[AT_VERSION] != FORMAT_VERSION)
        return bt_fail(error, BT_DATA, "version %u of the format is not known; a newer bustap may",
                       bytes[AT_VERSION]);
    *member = (struct wet_member){.kind = (enum wet_member_kind)bytes[AT_KIND],
                                  .member_bytes = bytes_get32(bytes + AT_MEMBER_BYTES),
                                  .content_bytes = bytes_get32(bytes + AT_CONTENT_BYTES),
                                  .first = bytes_get64(bytes + AT_FIRST),
                                  .instructions = bytes_get64(bytes + AT_INSTRUCTIONS)};
    if (bytes[AT_KIND] < WET_MEMBER_HEADER || bytes[AT_KIND] > WET_MEMBER_CODE ||
        member->member_bytes < WET_MEMBER_HEADER_BYTES + GZIP_TRAILER_BYTES ||
        member->content_bytes > WET_MEMBER_CONTENT_MAX ||
        member->content_bytes / EXPANSION_MAX > member->member_bytes)
        return bt_fail(error, BT_DATA, "the header of a member has values that cannot be");
    return 1;
}

int wet_member_content(const struct wet_member *member, struct deflate_decoder *decoder,
                       const uint8_t *bytes, struct wet_bytes *content, struct bt_error *error)
{
    const uint8_t *body = bytes + WET_MEMBER_HEADER_BYTES;
    const size_t size = member->member_bytes - WET_MEMBER_HEADER_BYTES;
    uint32_t crc32;
    if (crc32c(0, body, size) != bytes_get32(bytes + AT_BODY_CRC))
        return bt_fail(error, BT_DATA, "a member is damaged");
    uint8_t *larger =
        grow_array(content->bytes, &content->capacity, (size_t)member->content_bytes + 1, 1);
    if (!larger)
        return bt_fail(error, BT_MEMORY, "no memory for %u bytes of a trace",
                       member->content_bytes);
    content->bytes = larger;
    content->size = member->content_bytes;
    const int result = deflate_decode(decoder, body, size - GZIP_TRAILER_BYTES, content->bytes,
                                      content->size, &crc32, error);
    if (result == 0 && crc32 != bytes_get32(body + size - GZIP_TRAILER_BYTES))
        return bt_fail(error, BT_DATA, "a member is damaged");
    return result;
}
