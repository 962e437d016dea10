#include "formats/base/spool.h"

#include "formats/base/file_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES 65536u

struct spool {
    int file;         /* -1: not yet created */
    uint64_t written; /* to the file */
    size_t used;      /* bytes in the buffer, which follow those in the file */
    uint8_t buffer[BUFFER_BYTES];
};

int spool_new(struct spool **spool, struct bt_error *error)
{
    struct spool *made = malloc(sizeof *made);
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a temporary file");
    made->file = -1;
    made->written = 0;
    made->used = 0;
    *spool = made;
    return 0;
}

void spool_free(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->file >= 0)
        close(spool->file);
    free(spool);
}

/* Small spools need no file. */
static int make_file(struct spool *spool, struct bt_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    if (snprintf(path, sizeof path, "%s/bustap.XXXXXX", folder) >= (int)sizeof path)
        return bt_fail(error, BT_IO, "the path in TMPDIR is too long");
    spool->file = mkstemp(path);
    if (spool->file < 0)
        return bt_fail_errno(error, "cannot make a temporary file in %s", folder);
    unlink(path);
    return 0;
}

static int flush(struct spool *spool, struct bt_error *error)
{
    if (spool->file < 0) {
        int result = make_file(spool, error);
        if (result < 0)
            return result;
    }
    if (file_write_at(spool->file, spool->buffer, spool->used, (off_t)spool->written) < 0)
        return bt_fail_errno(error, "cannot write a temporary file");
    spool->written += spool->used;
    spool->used = 0;
    return 0;
}

int spool_put(struct spool *spool, const void *data, size_t size, struct bt_error *error)
{
    const uint8_t *from = data;
    while (size > 0) {
        if (spool->used == BUFFER_BYTES) {
            int result = flush(spool, error);
            if (result < 0)
                return result;
        }
        size_t room = BUFFER_BYTES - spool->used;
        size_t part = size < room ? size : room;
        memcpy(spool->buffer + spool->used, from, part);
        spool->used += part;
        from += part;
        size -= part;
    }
    return 0;
}

uint64_t spool_size(const struct spool *spool)
{
    return spool->written + spool->used;
}

int spool_read(struct spool *spool, uint64_t offset, void *data, size_t size,
               struct bt_error *error)
{
    uint8_t *to = data;
    while (size > 0 && offset < spool->written) {
        uint64_t left = spool->written - offset;
        ssize_t part =
            file_read_at(spool->file, to, size < left ? size : (size_t)left, (off_t)offset);
        if (part < 0)
            return bt_fail_errno(error, "cannot read a temporary file");
        if (part == 0)
            return bt_fail(error, BT_IO, "a temporary file was truncated");
        to += part;
        offset += (uint64_t)part;
        size -= (size_t)part;
    }
    if (size > 0)
        memcpy(to, spool->buffer + (offset - spool->written), size);
    return 0;
}
