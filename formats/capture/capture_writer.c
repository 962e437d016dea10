#include "formats/capture/capture_writer.h"

#include "formats/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct capture_writer {
    int file;
    capture_write_function *write;
    void *context;    /* of write */
    off_t start;      /* start of the file in fd: another capture file may precede it; -1: a pipe */
    bool placed;      /* members are written at their offsets, not where the last write has ended */
    const char *name; /* the caller's */
    unsigned version;
    bool torn;      /* the end of the file is a partial member */
    uint64_t bytes; /* bytes of complete members in the file */
    uint64_t records;
    uint64_t end_index;
    struct loss lost;
};

/* Truncates a torn block, so that the file ends with a whole one. 0, or -1 with errno. */
static int cut_back(struct capture_writer *writer)
{
    off_t whole = writer->start + (off_t)writer->bytes;
    if (writer->start < 0)
        errno = ESPIPE;
    if (writer->start < 0 || ftruncate(writer->file, whole) < 0 ||
        lseek(writer->file, whole, SEEK_SET) < 0)
        return -1;
    writer->torn = false;
    return 0;
}

/* Reports errno of a write. */
static int fail_write(const struct capture_writer *writer, struct bt_error *error)
{
    if (errno == EPIPE)
        return bt_fail(error, BT_CLOSED, "%s: closed by its reader", writer->name);
    if (errno == ETIMEDOUT)
        return bt_fail(error, BT_IO, "%s is not read", writer->name);
    return bt_fail_errno(error, "cannot write %s", writer->name);
}

/* Writes a member behind the others. The position of the file follows, for those who use it after
 * this file. 0, or -1 with errno; *done: what may have been written in spite of that. */
static int put_at_end(const struct capture_writer *writer, const uint8_t *member, size_t size,
                      size_t *done)
{
    const off_t end = writer->start + (off_t)writer->bytes;
    if (!writer->placed)
        return writer->write(writer->context, writer->file, member, size, done);
    *done = size;
    if (file_write_at(writer->file, member, size, end) < 0)
        return -1;
    return lseek(writer->file, end + (off_t)size, SEEK_SET) < 0 ? -1 : 0;
}

/* Appends one whole member, or leaves the file unchanged: a call that fails may have written
 * nevertheless, as on NFS. Pipes report exactly what they have taken. After a torn block that
 * cannot be truncated nothing is written, so that a reader finds all whole blocks before it. */
static int append(struct capture_writer *writer, const uint8_t *member, size_t size,
                  struct bt_error *error)
{
    size_t done;
    if (writer->torn && cut_back(writer) < 0)
        return bt_fail_errno(error, "cannot cut an unfinished block off %s", writer->name);
    if (put_at_end(writer, member, size, &done) < 0) {
        int result = fail_write(writer, error);
        writer->torn = done > 0 || writer->start >= 0;
        if (writer->torn)
            (void)cut_back(writer); /* otherwise the next append truncates it */
        return result;
    }
    writer->bytes += size;
    return 0;
}

static bool is_appended_to(int file)
{
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && flags & O_APPEND;
}

/* The current offset; -1 if unknown, as in a pipe. */
static off_t offset_in(int file)
{
    return lseek(file, 0, is_appended_to(file) ? SEEK_END : SEEK_CUR);
}

static int write_file(void *context, int file, const void *bytes, size_t size, size_t *done)
{
    (void)context;
    return file_write(file, bytes, size, done);
}

struct capture_writer *capture_writer_new(int fd, const char *name, const struct capture_info *info,
                                          struct bt_error *error)
{
    return capture_writer_new_by(fd, name, info, write_file, NULL, error);
}

struct capture_writer *capture_writer_new_by(int fd, const char *name,
                                             const struct capture_info *info,
                                             capture_write_function *write, void *context,
                                             struct bt_error *error)
{
    struct capture_writer *writer = calloc(1, sizeof *writer);
    struct stat status;
    if (!writer) {
        bt_fail(error, BT_MEMORY, "no memory for a file writer");
        return NULL;
    }
    writer->file = fd;
    writer->write = write;
    writer->context = context;
    writer->name = name;
    writer->version = info->version;
    writer->start = offset_in(fd);
    /* a terminal and /dev/null have an offset, too, but no bytes at it */
    writer->placed = write == write_file && writer->start >= 0 && !is_appended_to(fd) &&
                     fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    writer->end_index = info->first_index;
    uint8_t member[CAPTURE_MEMBER_HEADER_MAX];
    if (append(writer, member, capture_put_header_member(member, info), error) < 0) {
        free(writer);
        return NULL;
    }
    return writer;
}

int capture_writer_put(struct capture_writer *writer, const uint8_t *member, size_t size,
                       const struct batch *batch, struct bt_error *error)
{
    int result = append(writer, member, size, error);
    if (result < 0)
        return result;
    writer->records += batch->count;
    writer->end_index = batch->first_index + batch->count;
    loss_add(&writer->lost, &batch->lost);
    return 0;
}

int capture_writer_close(struct capture_writer *writer, struct capture_totals *totals,
                         struct bt_error *error)
{
    uint8_t member[CAPTURE_MEMBER_HEADER_MAX];
    struct loss lost = writer->lost;
    struct loss unwritten = {.count = {0}};
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        unwritten.count[stage] = totals->file_lost[stage];
    loss_add(&lost, &unwritten);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        totals->file_lost[stage] = lost.count[stage];
    totals->file_records = writer->records;
    totals->end_index = writer->end_index + loss_total(&unwritten);
    return append(writer, member, capture_put_closing_member(member, totals, writer->version),
                  error);
}

uint64_t capture_writer_bytes(const struct capture_writer *writer)
{
    return writer->bytes;
}

uint64_t capture_writer_records(const struct capture_writer *writer)
{
    return writer->records;
}

void capture_writer_free(struct capture_writer *writer)
{
    free(writer);
}
