#define _GNU_SOURCE /* F_SETPIPE_SZ */

#include "formats/capture/trace_input.h"

#include "formats/base/file_io.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that holds several members lets threads decompress ahead of its reader; no more is allowed
 * without privileges. */
#define PIPE_BYTES (1 << 20)

#define INPUT_BUFFER_BYTES (2u << 20) /* more than a default block of a capture file */

struct trace_input {
    int file;
    bool own;      /* close it */
    bool seekable; /* a regular file */
    bool ended;    /* read() has returned 0 */
    uint64_t size;
    uint64_t offset; /* of buffer[begin] */
    uint8_t *buffer;
    size_t capacity;
    size_t begin, end; /* of the available bytes */
    char name[];
};

/* Determines the file's size and kind. */
static int inspect(struct trace_input *input, struct bt_error *error)
{
    struct stat status;
    if (fstat(input->file, &status) < 0)
        return bt_fail_errno(error, "%s", input->name);
    if (S_ISDIR(status.st_mode))
        return bt_fail(error, BT_IO, "%s is a folder, not a trace", input->name);
    off_t position = S_ISREG(status.st_mode) ? lseek(input->file, 0, SEEK_CUR) : -1;
    input->seekable = position >= 0;
    if (input->seekable) {
        input->size = (uint64_t)status.st_size;
        input->offset = (uint64_t)position;
    } else if (S_ISFIFO(status.st_mode)) {
        (void)fcntl(input->file, F_SETPIPE_SZ, PIPE_BYTES); /* where allowed */
    }
    return 0;
}

struct trace_input *trace_input_open(const char *path, struct bt_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    struct trace_input *input = calloc(1, sizeof *input + strlen(name) + 1);
    uint8_t *buffer = malloc(INPUT_BUFFER_BYTES);
    if (!input || !buffer) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", name);
        free(input);
        free(buffer);
        return NULL;
    }
    strcpy(input->name, name);
    input->buffer = buffer;
    input->capacity = INPUT_BUFFER_BYTES;
    input->own = !standard;
    input->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0)
        bt_fail_errno(error, "cannot open %s", path);
    if (input->file < 0 || inspect(input, error) < 0) {
        trace_input_close(input);
        return NULL;
    }
    return input;
}

void trace_input_close(struct trace_input *input)
{
    if (!input)
        return;
    if (input->own && input->file >= 0)
        close(input->file);
    free(input->buffer);
    free(input);
}

/* Makes room for wanted bytes from begin: moves the available bytes to the front, grows the
 * buffer. */
static int make_room(struct trace_input *input, size_t wanted, struct bt_error *error)
{
    if (input->capacity - input->begin >= wanted && input->end < input->capacity)
        return 0;
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->end -= input->begin;
    input->begin = 0;
    /* twice the size, so that each move copies less than was read since the last one */
    if (input->capacity / 2 >= wanted)
        return 0;
    uint8_t *grown = realloc(input->buffer, 2 * wanted);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory to read %s", input->name);
    input->buffer = grown;
    input->capacity = 2 * wanted;
    return 0;
}

int trace_input_fill(struct trace_input *input, size_t wanted, size_t ahead, struct bt_error *error)
{
    while (input->end - input->begin < wanted && !input->ended) {
        int result = make_room(input, wanted, error);
        if (result < 0)
            return result;
        size_t missing = wanted - (input->end - input->begin);
        size_t room = input->capacity - input->end;
        if (room - missing > ahead)
            room = missing + ahead;
        ssize_t got = file_read(input->file, input->buffer + input->end, room);
        if (got < 0)
            return bt_fail_errno(error, "cannot read %s", input->name);
        input->ended = got == 0;
        input->end += (size_t)got;
    }
    return 0;
}

/* Whether read() returns without waiting. */
static bool is_readable(const struct trace_input *input)
{
    struct pollfd poll_file = {.fd = input->file, .events = POLLIN};
    return input->seekable || poll(&poll_file, 1, 0) > 0;
}

int trace_input_fill_present(struct trace_input *input, size_t wanted, struct bt_error *error)
{
    int result = 0;
    while (result == 0 && input->end - input->begin < wanted && !input->ended && is_readable(input))
        result = trace_input_fill(input, input->end - input->begin + 1,
                                  wanted - (input->end - input->begin) - 1, error);
    return result;
}

const uint8_t *trace_input_bytes(const struct trace_input *input)
{
    return input->buffer + input->begin;
}

size_t trace_input_available(const struct trace_input *input)
{
    return input->end - input->begin;
}

void trace_input_consume(struct trace_input *input, size_t size)
{
    input->begin += size;
    input->offset += size;
}

int trace_input_skip(struct trace_input *input, uint64_t size, struct bt_error *error)
{
    size_t available = trace_input_available(input);
    if (size <= available) {
        trace_input_consume(input, (size_t)size);
        return 0;
    }
    if (input->seekable) {
        input->begin = input->end = 0;
        input->offset += size;
        if (lseek(input->file, (off_t)input->offset, SEEK_SET) < 0)
            return bt_fail_errno(error, "cannot seek in %s", input->name);
        return 0;
    }
    while (size > 0) {
        int result = trace_input_fill(input, 1, SIZE_MAX, error);
        available = trace_input_available(input);
        if (result < 0 || available == 0)
            return result;
        size_t step = size < available ? (size_t)size : available;
        trace_input_consume(input, step);
        size -= step;
    }
    return 0;
}

int trace_input_rewind(struct trace_input *input, struct bt_error *error)
{
    if (!input->seekable)
        return bt_fail(error, BT_USAGE, "%s cannot be read again: save it to a file first",
                       input->name);
    if (lseek(input->file, 0, SEEK_SET) < 0)
        return bt_fail_errno(error, "cannot seek in %s", input->name);
    input->begin = input->end = 0;
    input->offset = 0;
    input->ended = false;
    return 0;
}

uint64_t trace_input_offset(const struct trace_input *input)
{
    return input->offset;
}

uint64_t trace_input_size(const struct trace_input *input)
{
    return input->size;
}

const char *trace_input_name(const struct trace_input *input)
{
    return input->name;
}
