#define _DEFAULT_SOURCE /* strcasecmp */
#include "formats/text/text_writer.h"

#include "formats/base/file_io.h"
#include "formats/base/new_file.h"
#include "formats/base/suffix.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RAW_BYTES   (128u << 10)
#define STEP_BYTES  (1u << 30) /* zlib and bzip2 count in unsigned int */
#define BZIP2_BLOCK 9          /* in units of 100 kB: bzip2's default */

enum output_container { CONTAINER_PLAIN, CONTAINER_GZIP, CONTAINER_BZIP2, CONTAINER_MEMORY };

struct text_writer {
    int file;
    enum output_container container;
    bool own;                /* the descriptor is to be closed */
    bool encoder_ready;      /* gzip or bzip2 is initialized */
    struct bt_error failure; /* the first one; nothing is written after it */
    struct new_file *made;   /* NULL if the file is written in place */
    uint8_t *raw;            /* compressed bytes to write; RAW_BYTES */
    char *memory;
    size_t memory_size, memory_capacity;
    z_stream gzip;
    bz_stream bzip2;
    char name[];
};

static int no_memory(const struct text_writer *writer, struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory to write %s", writer->name);
}

static int open_file(struct text_writer *writer, const char *path, struct bt_error *error)
{
    struct stat status;
    if (strcmp(path, "-") == 0) {
        writer->file = STDOUT_FILENO;
        return 0;
    }
    if (!*path)
        return bt_fail(error, BT_USAGE, "a file to write needs a name, or - for standard output");
    if (suffix_is(path, ".xz", strncasecmp) || suffix_is(path, ".zst", strncasecmp))
        return bt_fail(error, BT_USAGE, "%.300s: only .gz and .bz2 are written compressed", path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode))
            return bt_fail(error, BT_IO, "%s is a folder, not a file", path);
        writer->file = open(path, O_WRONLY | O_CLOEXEC);
        writer->own = writer->file >= 0;
        return writer->own ? 0 : bt_fail_errno(error, "cannot open %s", path);
    }
    writer->made = new_file_begin(path, NEW_FILE_REPLACES, error);
    if (!writer->made)
        return error ? error->code : BT_IO;
    writer->file = new_file_descriptor(writer->made);
    return 0;
}

static int encoder_begin(struct text_writer *writer, struct bt_error *error)
{
    int result = Z_OK;
    if (writer->container == CONTAINER_GZIP)
        result = deflateInit2(&writer->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                              Z_DEFAULT_STRATEGY);
    else if (writer->container == CONTAINER_BZIP2)
        result =
            BZ2_bzCompressInit(&writer->bzip2, BZIP2_BLOCK, 0, 0) == BZ_OK ? Z_OK : Z_MEM_ERROR;
    if (result != Z_OK)
        return no_memory(writer, error);
    writer->encoder_ready = writer->container != CONTAINER_PLAIN;
    return 0;
}

static struct text_writer *writer_new(const char *name, struct bt_error *error)
{
    struct text_writer *writer = calloc(1, sizeof *writer + strlen(name) + 1);
    if (!writer) {
        bt_fail(error, BT_MEMORY, "no memory to write %s", name);
        return NULL;
    }
    strcpy(writer->name, name);
    writer->file = -1;
    return writer;
}

struct text_writer *text_writer_new(const char *path, struct bt_error *error)
{
    struct text_writer *writer =
        writer_new(strcmp(path, "-") == 0 ? "standard output" : path, error);
    if (!writer)
        return NULL;
    if (suffix_is(path, ".gz", strncasecmp))
        writer->container = CONTAINER_GZIP;
    else if (suffix_is(path, ".bz2", strncasecmp))
        writer->container = CONTAINER_BZIP2;
    writer->raw = malloc(RAW_BYTES);
    if (!writer->raw)
        no_memory(writer, error);
    if (!writer->raw || encoder_begin(writer, error) < 0 || open_file(writer, path, error) < 0) {
        text_writer_free(writer);
        return NULL;
    }
    return writer;
}

struct text_writer *text_writer_new_memory(struct bt_error *error)
{
    struct text_writer *writer = writer_new("memory", error);
    if (writer)
        writer->container = CONTAINER_MEMORY;
    return writer;
}

static int write_all(struct text_writer *writer, const void *bytes, size_t size,
                     struct bt_error *error)
{
    if (file_write(writer->file, bytes, size, NULL) == 0)
        return 0;
    return errno == EPIPE ? bt_fail(error, BT_CLOSED, "%s: the reader has closed it", writer->name)
                          : bt_fail_errno(error, "cannot write %s", writer->name);
}

/* Compresses size bytes; with finish, also flushes and ends the member. */
static int deflate_all(struct text_writer *writer, const char *text, size_t size, bool finish,
                       struct bt_error *error)
{
    z_stream *gzip = &writer->gzip;
    gzip->next_in = (Bytef *)(uintptr_t)text; /* zlib does not write to it */
    gzip->avail_in = (uInt)size;
    int result;
    do {
        gzip->next_out = writer->raw;
        gzip->avail_out = RAW_BYTES;
        result = deflate(gzip, finish ? Z_FINISH : Z_NO_FLUSH);
        int written = write_all(writer, writer->raw, RAW_BYTES - gzip->avail_out, error);
        if (written < 0)
            return written;
    } while (finish ? result != Z_STREAM_END : gzip->avail_in > 0 || gzip->avail_out == 0);
    return 0;
}

static int bzip_all(struct text_writer *writer, const char *text, size_t size, bool finish,
                    struct bt_error *error)
{
    bz_stream *bzip2 = &writer->bzip2;
    bzip2->next_in = (char *)(uintptr_t)text; /* libbz2 does not write to it */
    bzip2->avail_in = (unsigned)size;
    int result;
    do {
        bzip2->next_out = (char *)writer->raw;
        bzip2->avail_out = RAW_BYTES;
        result = BZ2_bzCompress(bzip2, finish ? BZ_FINISH : BZ_RUN);
        int written = write_all(writer, writer->raw, RAW_BYTES - bzip2->avail_out, error);
        if (written < 0)
            return written;
    } while (result >= 0 && (finish ? result != BZ_STREAM_END : bzip2->avail_in > 0));
    if (result < 0)
        return bt_fail(error, BT_IO, "cannot compress %s: bzip2's error %d", writer->name, result);
    return 0;
}

static int collect(struct text_writer *writer, const char *text, size_t size,
                   struct bt_error *error)
{
    if (size > SIZE_MAX / 2 - writer->memory_size)
        return no_memory(writer, error);
    size_t wanted = writer->memory_size + size;
    if (wanted > writer->memory_capacity) {
        size_t capacity = wanted + wanted / 2;
        char *grown = realloc(writer->memory, capacity);
        if (!grown)
            return no_memory(writer, error);
        writer->memory = grown;
        writer->memory_capacity = capacity;
    }
    if (size > 0)
        memcpy(writer->memory + writer->memory_size, text, size);
    writer->memory_size = wanted;
    return 0;
}

static int put_step(struct text_writer *writer, const char *text, size_t size, bool finish,
                    struct bt_error *error)
{
    switch (writer->container) {
    case CONTAINER_GZIP:
        return deflate_all(writer, text, size, finish, error);
    case CONTAINER_BZIP2:
        return bzip_all(writer, text, size, finish, error);
    case CONTAINER_MEMORY:
        return collect(writer, text, size, error);
    default:
        return write_all(writer, text, size, error);
    }
}

/* The first failure, which all later calls return. */
static int first_failure(const struct text_writer *writer, struct bt_error *error)
{
    if (error && writer->failure.code < 0)
        *error = writer->failure;
    return writer->failure.code;
}

int text_writer_put(struct text_writer *writer, const char *text, size_t size,
                    struct bt_error *error)
{
    while (size > 0 && writer->failure.code == 0) {
        size_t step = size < STEP_BYTES ? size : STEP_BYTES;
        put_step(writer, text, step, false, &writer->failure);
        text += step;
        size -= step;
    }
    return first_failure(writer, error);
}

bool text_writer_can_patch(const struct text_writer *writer)
{
    return writer->container == CONTAINER_MEMORY ||
           (writer->container == CONTAINER_PLAIN && writer->made);
}

int text_writer_patch(struct text_writer *writer, size_t offset, const char *text, size_t size,
                      struct bt_error *error)
{
    if (writer->failure.code == 0 && writer->container == CONTAINER_MEMORY)
        memcpy(writer->memory + offset, text, size);
    else if (writer->failure.code == 0 &&
             file_write_at(writer->file, text, size, (off_t)offset) < 0)
        bt_fail_errno(&writer->failure, "cannot write %s", writer->name);
    return first_failure(writer, error);
}

/* Closes the file, and gives a new file its name. */
static int complete(struct text_writer *writer, struct bt_error *error)
{
    if (writer->made)
        return new_file_commit(writer->made, error);
    if (!writer->own)
        return 0;
    writer->own = false;
    return close(writer->file) == 0 ? 0 : bt_fail_errno(error, "cannot write %s", writer->name);
}

int text_writer_finish(struct text_writer *writer, struct bt_error *error)
{
    struct bt_error *failure = &writer->failure;
    if (failure->code == 0 && put_step(writer, NULL, 0, true, failure) == 0)
        complete(writer, failure);
    return first_failure(writer, error);
}

void text_writer_free(struct text_writer *writer)
{
    if (!writer)
        return;
    if (writer->own)
        close(writer->file);
    new_file_free(writer->made);
    if (writer->encoder_ready && writer->container == CONTAINER_GZIP)
        deflateEnd(&writer->gzip);
    if (writer->encoder_ready && writer->container == CONTAINER_BZIP2)
        BZ2_bzCompressEnd(&writer->bzip2);
    free(writer->raw);
    free(writer->memory);
    free(writer);
}

const char *text_writer_memory(const struct text_writer *writer, size_t *size)
{
    *size = writer->memory_size;
    return writer->memory;
}

const char *text_writer_name(const struct text_writer *writer)
{
    return writer->name;
}
