#include "formats/text/text_reader.h"

#include "formats/base/file_io.h"
#include "formats/deflate/gunzip.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_BYTES      (128u << 10)
#define READ_BYTES_MAX (1u << 30) /* bzip2 counts in unsigned int */
#define MAGIC_BYTES    6u
#define XZ_MEMORY_MAX  (256u << 20) /* four times what xz -9 needs */

enum input_container {
    CONTAINER_UNKNOWN,
    CONTAINER_PLAIN,
    CONTAINER_GZIP,
    CONTAINER_BZIP2,
    CONTAINER_XZ
};

struct text_reader {
    int file;       /* -1: memory */
    bool own;       /* close it */
    bool ended;     /* no data follows raw[end] */
    bool in_member; /* a compressed member has begun and not ended */
    enum input_container container;
    uint64_t size;
    uint64_t offset; /* of raw[begin] in the file */
    const uint8_t *raw;
    uint8_t *buffer; /* owned buffer of raw; NULL for memory */
    size_t begin, end;
    struct gunzip *gzip; /* these are initialised at the first member of their kind */
    bz_stream bzip2;
    lzma_stream xz; /* all zero equals LZMA_STREAM_INIT */
    bool bzip2_ready;
    char ahead[TEXT_READER_PEEK_MAX]; /* text that was only peeked at */
    size_t ahead_begin, ahead_end;
    void (*progress)(void *argument, uint64_t offset, uint64_t size);
    void *progress_argument;
    char name[];
};

static struct text_reader *reader_new(const char *name, struct bt_error *error)
{
    struct text_reader *reader = calloc(1, sizeof *reader + strlen(name) + 1);
    if (!reader) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", name);
        return NULL;
    }
    strcpy(reader->name, name);
    reader->file = -1;
    return reader;
}

struct text_reader *text_reader_open(const char *path, struct bt_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat status;
    struct text_reader *reader = reader_new(standard ? "standard input" : path, error);
    if (!reader)
        return NULL;
    reader->own = !standard;
    reader->raw = reader->buffer = malloc(RAW_BYTES);
    if (!reader->buffer) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", reader->name);
        goto failed;
    }
    reader->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->file < 0) {
        bt_fail_errno(error, "cannot open %s", path);
        goto failed;
    }
    if (fstat(reader->file, &status) < 0) {
        bt_fail_errno(error, "%s", reader->name);
        goto failed;
    }
    if (S_ISDIR(status.st_mode)) {
        bt_fail(error, BT_IO, "%s is a folder, not a file", reader->name);
        goto failed;
    }
    if (S_ISREG(status.st_mode))
        reader->size = (uint64_t)status.st_size;
    return reader;
failed:
    text_reader_close(reader);
    return NULL;
}

struct text_reader *text_reader_from_memory(const void *bytes, size_t size, const char *name,
                                            struct bt_error *error)
{
    struct text_reader *reader = reader_new(name, error);
    if (!reader)
        return NULL;
    reader->raw = bytes;
    reader->end = size;
    reader->size = size;
    reader->ended = true;
    return reader;
}

void text_reader_close(struct text_reader *reader)
{
    if (!reader)
        return;
    gunzip_free(reader->gzip);
    if (reader->bzip2_ready)
        BZ2_bzDecompressEnd(&reader->bzip2);
    lzma_end(&reader->xz);
    if (reader->own && reader->file >= 0)
        close(reader->file);
    free(reader->buffer);
    free(reader);
}

/* One read(2) of up to room bytes; *got is 0 at the end. */
static int read_file(struct text_reader *reader, void *to, size_t room, size_t *got,
                     struct bt_error *error)
{
    ssize_t result = file_read(reader->file, to, room);
    if (result < 0)
        return bt_fail_errno(error, "cannot read %s", reader->name);
    *got = (size_t)result;
    reader->ended = result == 0;
    if (reader->progress)
        reader->progress(reader->progress_argument, reader->offset, reader->size);
    return 0;
}

/* Reads until raw holds wanted (at most MAGIC_BYTES) bytes, or the input ends. */
static int fill(struct text_reader *reader, size_t wanted, struct bt_error *error)
{
    while (reader->end - reader->begin < wanted && !reader->ended) {
        memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
        reader->end -= reader->begin;
        reader->begin = 0;
        size_t got = 0;
        int result =
            read_file(reader, reader->buffer + reader->end, RAW_BYTES - reader->end, &got, error);
        if (result < 0)
            return result;
        reader->end += got;
    }
    return 0;
}

static void consume(struct text_reader *reader, size_t size)
{
    reader->begin += size;
    reader->offset += size;
}

/* The container that raw begins with. */
static enum input_container container_at(const struct text_reader *reader)
{
    const uint8_t *at = reader->raw + reader->begin;
    size_t size = reader->end - reader->begin;
    if (size >= 2 && at[0] == 0x1f && at[1] == 0x8b)
        return CONTAINER_GZIP;
    if (size >= 3 && memcmp(at, "BZh", 3) == 0)
        return CONTAINER_BZIP2;
    if (size >= 6 && memcmp(at,
                            "\xfd"
                            "7zXZ",
                            6) == 0)
        return CONTAINER_XZ;
    return CONTAINER_PLAIN;
}

/* Common for traces of object caches, but not supported. */
static bool is_zstd(const struct text_reader *reader)
{
    const uint8_t *at = reader->raw + reader->begin;
    return reader->end - reader->begin >= 4 && memcmp(at, "\x28\xb5\x2f\xfd", 4) == 0;
}

/* Initialises the container's decoder for a member. Returns whether it succeeded. */
static bool decoder_ready(struct text_reader *reader)
{
    switch (reader->container) {
    case CONTAINER_GZIP:
        if (!reader->gzip)
            reader->gzip = gunzip_new(NULL);
        else
            gunzip_begin_member(reader->gzip);
        return reader->gzip != NULL;
    case CONTAINER_XZ:
        return lzma_stream_decoder(&reader->xz, XZ_MEMORY_MAX, 0) == LZMA_OK;
    default:
        if (reader->bzip2_ready)
            BZ2_bzDecompressEnd(&reader->bzip2);
        memset(&reader->bzip2, 0, sizeof reader->bzip2);
        reader->bzip2_ready = BZ2_bzDecompressInit(&reader->bzip2, 0, 0) == BZ_OK;
        return reader->bzip2_ready;
    }
}

static int decoder_begin(struct text_reader *reader, struct bt_error *error)
{
    if (!decoder_ready(reader))
        return bt_fail(error, BT_MEMORY, "no memory to decompress %s", reader->name);
    reader->in_member = true;
    return 0;
}

/* At the end of a member: 1 if another one begins, 0 at the end of the file, after padding of zeros
 * as from tapes and block devices, or negative. */
static int next_member(struct text_reader *reader, struct bt_error *error)
{
    bool padded = false;
    for (;;) {
        int result = fill(reader, MAGIC_BYTES, error);
        if (result < 0)
            return result;
        if (reader->begin == reader->end)
            return 0;
        if (reader->raw[reader->begin] != 0)
            break;
        padded = true;
        consume(reader, 1);
    }
    if (padded || container_at(reader) != reader->container)
        return bt_fail(error, BT_DATA, "%s: offset %llu: other data after the compressed data",
                       reader->name, (unsigned long long)reader->offset);
    int result = decoder_begin(reader, error);
    return result < 0 ? result : 1;
}

static int damaged(const struct text_reader *reader, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "%s: offset %llu: the compressed data is damaged", reader->name,
                   (unsigned long long)reader->offset);
}

/* Decompresses bytes of raw into text, and detects the member's end. */
static int inflate_some(struct text_reader *reader, char *text, size_t room, size_t *got,
                        struct bt_error *error)
{
    struct gunzip_buffers buffers = {.in = reader->raw + reader->begin,
                                     .in_size = reader->end - reader->begin,
                                     .out = (uint8_t *)text,
                                     .out_size = room};
    const int result = gunzip_some(reader->gzip, &buffers);
    consume(reader, (size_t)(buffers.in - (reader->raw + reader->begin)));
    *got = room - buffers.out_size;
    reader->in_member = result != 1;
    if (result == BT_MEMORY)
        return bt_fail(error, BT_MEMORY, "no memory to decompress %s", reader->name);
    return result < 0 ? damaged(reader, error) : 0;
}

static int bunzip_some(struct text_reader *reader, char *text, size_t room, size_t *got,
                       struct bt_error *error)
{
    bz_stream *bzip2 = &reader->bzip2;
    size_t available = reader->end - reader->begin;
    bzip2->next_in = (char *)(uintptr_t)(reader->raw + reader->begin); /* not written to */
    bzip2->avail_in = (unsigned)(available < READ_BYTES_MAX ? available : READ_BYTES_MAX);
    unsigned before = bzip2->avail_in;
    bzip2->next_out = text;
    bzip2->avail_out = (unsigned)room;
    int result = BZ2_bzDecompress(bzip2);
    consume(reader, before - bzip2->avail_in);
    *got = room - bzip2->avail_out;
    if (result == BZ_STREAM_END)
        reader->in_member = false;
    else if (result == BZ_MEM_ERROR)
        return bt_fail(error, BT_MEMORY, "no memory to decompress %s", reader->name);
    else if (result != BZ_OK)
        return damaged(reader, error);
    return 0;
}

static int unxz_some(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error)
{
    lzma_stream *xz = &reader->xz;
    size_t available = reader->end - reader->begin;
    xz->next_in = reader->raw + reader->begin;
    xz->avail_in = available;
    xz->next_out = (uint8_t *)text;
    xz->avail_out = room;
    lzma_ret result = lzma_code(xz, LZMA_RUN);
    consume(reader, available - xz->avail_in);
    *got = room - xz->avail_out;
    if (result == LZMA_STREAM_END)
        reader->in_member = false;
    else if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
        return bt_fail(error, BT_MEMORY, "no memory to decompress %s", reader->name);
    else if (result != LZMA_OK && result != LZMA_BUF_ERROR)
        return damaged(reader, error);
    return 0;
}

static int decompress_some(struct text_reader *reader, char *text, size_t room, size_t *got,
                           struct bt_error *error)
{
    switch (reader->container) {
    case CONTAINER_GZIP:
        return inflate_some(reader, text, room, got, error);
    case CONTAINER_XZ:
        return unxz_some(reader, text, room, got, error);
    default:
        return bunzip_some(reader, text, room, got, error);
    }
}

static int read_compressed(struct text_reader *reader, char *text, size_t room, size_t *got,
                           struct bt_error *error)
{
    while (*got == 0) {
        if (!reader->in_member) {
            int result = next_member(reader, error);
            if (result <= 0)
                return result;
        }
        int result = fill(reader, 1, error);
        if (result < 0)
            return result;
        bool starved = reader->begin == reader->end;
        result = decompress_some(reader, text, room, got, error);
        if (result < 0)
            return result;
        if (starved && *got == 0 && reader->in_member)
            return bt_fail(error, BT_DATA, "%s: offset %llu: the compressed data is cut off",
                           reader->name, (unsigned long long)reader->offset);
    }
    return 0;
}

static int read_plain(struct text_reader *reader, char *text, size_t room, size_t *got,
                      struct bt_error *error)
{
    size_t available = reader->end - reader->begin;
    if (available > 0) {
        *got = available < room ? available : room;
        memcpy(text, reader->raw + reader->begin, *got);
        consume(reader, *got);
        return 0;
    }
    if (reader->ended)
        return 0;
    int result = read_file(reader, text, room, got, error);
    if (result == 0)
        reader->offset += *got;
    return result;
}

static int read_text(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error)
{
    *got = 0;
    if (room > READ_BYTES_MAX)
        room = READ_BYTES_MAX;
    if (reader->container == CONTAINER_UNKNOWN) {
        int result = fill(reader, MAGIC_BYTES, error);
        if (result < 0)
            return result;
        reader->container = container_at(reader);
        if (is_zstd(reader))
            return bt_fail(error, BT_IO,
                           "%s: compressed with zstd, which is not supported: decompress it first",
                           reader->name);
        if (reader->container != CONTAINER_PLAIN)
            result = decoder_begin(reader, error);
        if (result < 0)
            return result;
    }
    return reader->container == CONTAINER_PLAIN ? read_plain(reader, text, room, got, error)
                                                : read_compressed(reader, text, room, got, error);
}

int text_reader_read(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error)
{
    const size_t ahead = reader->ahead_end - reader->ahead_begin;
    if (ahead == 0)
        return read_text(reader, text, room, got, error);
    *got = ahead < room ? ahead : room;
    memcpy(text, reader->ahead + reader->ahead_begin, *got);
    reader->ahead_begin += *got;
    return 0;
}

int text_reader_peek(struct text_reader *reader, char *text, size_t room, size_t *got,
                     struct bt_error *error)
{
    int result = 0;
    size_t more = 1;
    while (result == 0 && more > 0 && reader->ahead_end < room) {
        result = read_text(reader, reader->ahead + reader->ahead_end, room - reader->ahead_end,
                           &more, error);
        reader->ahead_end += more;
    }
    *got = reader->ahead_end;
    memcpy(text, reader->ahead, *got);
    return *got > 0 ? 0 : result;
}

uint64_t text_reader_offset(const struct text_reader *reader)
{
    return reader->offset;
}

uint64_t text_reader_size(const struct text_reader *reader)
{
    return reader->size;
}

void text_reader_set_progress(struct text_reader *reader,
                              void (*progress)(void *argument, uint64_t offset, uint64_t size),
                              void *argument)
{
    reader->progress = progress;
    reader->progress_argument = argument;
}

const char *text_reader_name(const struct text_reader *reader)
{
    return reader->name;
}
