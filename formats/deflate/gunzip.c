#include "formats/deflate/gunzip.h"

#include <limits.h>
#include <stdlib.h>

#ifdef HAVE_ISAL
#include <isa-l.h>
#include <stdbool.h>

/* The parts of a member's header (RFC 1952, section 2.3). The library reads headers, too, but not
 * those with a CRC that come in pieces. */
enum part { PART_FIXED, PART_EXTRA_SIZE, PART_EXTRA, PART_NAME, PART_COMMENT, PART_CRC, PART_DATA };

#define FIXED_BYTES   10u
#define FLAG_CRC      0x02u
#define FLAG_EXTRA    0x04u
#define FLAG_NAME     0x08u
#define FLAG_COMMENT  0x10u
#define FLAG_RESERVED 0xe0u

struct gunzip {
    enum part part;
    uint8_t flags;
    uint32_t read;  /* number of bytes read of the part */
    uint32_t value; /* the last two bytes read */
    uint32_t extra_bytes;
    uint32_t crc; /* CRC-32 of the header so far */
    struct inflate_state isal;
};

void gunzip_begin_member(struct gunzip *gunzip)
{
    gunzip->part = PART_FIXED;
    gunzip->read = 0;
    gunzip->crc = 0;
    isal_inflate_reset(&gunzip->isal);
    gunzip->isal.crc_flag = ISAL_GZIP_NO_HDR_VER;
}

/* Whether the part is in the header at all. */
static bool has_part(const struct gunzip *gunzip, enum part part)
{
    static const uint8_t flags[] = {[PART_EXTRA_SIZE] = FLAG_EXTRA,
                                    [PART_EXTRA] = FLAG_EXTRA,
                                    [PART_NAME] = FLAG_NAME,
                                    [PART_COMMENT] = FLAG_COMMENT,
                                    [PART_CRC] = FLAG_CRC};
    return part == PART_DATA ||
           ((gunzip->flags & flags[part]) != 0 && (part != PART_EXTRA || gunzip->extra_bytes > 0));
}

static bool is_right_fixed(uint32_t at, uint8_t byte)
{
    static const uint8_t magic[] = {0x1f, 0x8b, 8};
    return at < sizeof magic ? byte == magic[at] : at != 3 || (byte & FLAG_RESERVED) == 0;
}

/* Whether the part ends with the byte just read. */
static bool ends_part(const struct gunzip *gunzip, uint8_t byte)
{
    switch (gunzip->part) {
    case PART_FIXED:
        return gunzip->read == FIXED_BYTES;
    case PART_EXTRA:
        return gunzip->read == gunzip->extra_bytes;
    case PART_NAME:
    case PART_COMMENT:
        return byte == 0;
    default:
        return gunzip->read == 2;
    }
}

/* Reads the next byte of the header. 0 or BT_DATA. */
static int read_header(struct gunzip *gunzip, uint8_t byte)
{
    if (gunzip->part == PART_FIXED && !is_right_fixed(gunzip->read, byte))
        return BT_DATA;
    if (gunzip->part == PART_FIXED && gunzip->read == 3)
        gunzip->flags = byte;
    gunzip->value = gunzip->value >> 8 | (uint32_t)byte << 8;
    gunzip->read++;
    if (gunzip->part != PART_CRC)
        gunzip->crc = crc32_gzip_refl(gunzip->crc, &byte, 1);
    if (!ends_part(gunzip, byte))
        return 0;
    if (gunzip->part == PART_CRC && gunzip->value != (gunzip->crc & 0xffff))
        return BT_DATA;
    if (gunzip->part == PART_EXTRA_SIZE)
        gunzip->extra_bytes = gunzip->value;
    gunzip->read = 0;
    do
        gunzip->part++;
    while (!has_part(gunzip, gunzip->part));
    return 0;
}

struct gunzip *gunzip_new(struct bt_error *error)
{
    /* with incomplete codes, damaged data makes the library read what it has not written */
    struct gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (!gunzip) {
        bt_fail(error, BT_MEMORY, "no memory to decompress");
        return NULL;
    }
    isal_inflate_init(&gunzip->isal);
    gunzip_begin_member(gunzip);
    return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
    free(gunzip);
}

/* The library counts bytes in 32 bits. */
static uint32_t piece(size_t size)
{
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

int gunzip_some(struct gunzip *gunzip, struct gunzip_buffers *buffers)
{
    struct inflate_state *isal = &gunzip->isal;
    for (; gunzip->part != PART_DATA && buffers->in_size > 0; buffers->in_size--)
        if (read_header(gunzip, *buffers->in++) < 0)
            return BT_DATA;
    if (gunzip->part != PART_DATA)
        return 0;
    isal->next_in = (uint8_t *)(uintptr_t)buffers->in; /* not written to */
    isal->avail_in = piece(buffers->in_size);
    isal->next_out = buffers->out;
    isal->avail_out = piece(buffers->out_size);
    const int result = isal_inflate(isal);
    buffers->in_size -= (size_t)(isal->next_in - buffers->in);
    buffers->out_size -= (size_t)(isal->next_out - buffers->out);
    buffers->in = isal->next_in;
    buffers->out = isal->next_out;
    if (result < 0)
        return BT_DATA;
    return isal->block_state == ISAL_BLOCK_FINISH;
}

#else
#include <zlib.h>

#define ZLIB_GZIP_WINDOW (15 + 16) /* the largest window; gzip only */

struct gunzip {
    z_stream zlib;
};

void gunzip_begin_member(struct gunzip *gunzip)
{
    inflateReset(&gunzip->zlib);
}

struct gunzip *gunzip_new(struct bt_error *error)
{
    struct gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (gunzip && inflateInit2(&gunzip->zlib, ZLIB_GZIP_WINDOW) == Z_OK)
        return gunzip;
    free(gunzip);
    bt_fail(error, BT_MEMORY, "no memory to decompress");
    return NULL;
}

void gunzip_free(struct gunzip *gunzip)
{
    if (!gunzip)
        return;
    inflateEnd(&gunzip->zlib);
    free(gunzip);
}

/* The library counts bytes in unsigned int. */
static uInt piece(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

int gunzip_some(struct gunzip *gunzip, struct gunzip_buffers *buffers)
{
    z_stream *zlib = &gunzip->zlib;
    zlib->next_in = (Bytef *)(uintptr_t)buffers->in; /* not written to */
    zlib->avail_in = piece(buffers->in_size);
    zlib->next_out = buffers->out;
    zlib->avail_out = piece(buffers->out_size);
    const int result = inflate(zlib, Z_NO_FLUSH);
    buffers->in_size -= (size_t)(zlib->next_in - buffers->in);
    buffers->out_size -= (size_t)(zlib->next_out - buffers->out);
    buffers->in = zlib->next_in;
    buffers->out = zlib->next_out;
    if (result == Z_STREAM_END)
        return 1;
    if (result == Z_MEM_ERROR)
        return BT_MEMORY;
    return result == Z_OK || result == Z_BUF_ERROR ? 0 : BT_DATA;
}

#endif
