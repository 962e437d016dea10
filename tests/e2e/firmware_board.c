/*
 * A program for board program:COMMAND: the firmware of a virtual board on standard input and
 * output.
 *
 * usage: firmware_board SPECIFICATION [BYTES STATUS]
 *
 * With BYTES, it writes two lines to standard error after so many bytes, and ends with STATUS.
 */
#include "driver/boards.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool write_all(const uint8_t *bytes, size_t size)
{
    for (ssize_t written; size > 0; bytes += written, size -= (size_t)written)
        if ((written = write(STDOUT_FILENO, bytes, size)) < 0)
            return false;
    return true;
}

/* Passes on commands that have arrived. False at the end of standard input. */
static bool take_commands(struct stream *board)
{
    uint8_t bytes[4096];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, 0) < 1)
        return true;
    ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    return size > 0 && stream_write(board, bytes, (size_t)size, -1, NULL) == 0;
}

int main(int argc, char **argv)
{
    struct stream *board;
    struct bt_error error;
    uint8_t bytes[4096];
    long left = argc > 3 ? atol(argv[2]) : -1;
    if (argc < 2 || boards_open(&board, argv[1], &error) < 0) {
        fprintf(stderr, "firmware_board: %s\n", argc < 2 ? "no board" : error.message);
        return 2;
    }
    while (left != 0 && take_commands(board)) {
        size_t capacity = left > 0 && left < (long)sizeof bytes ? (size_t)left : sizeof bytes;
        long size = stream_read(board, bytes, capacity, 1, NULL);
        if (size > 0 && !write_all(bytes, (size_t)size))
            break;
        left -= left > 0 && size > 0 ? size : 0;
    }
    stream_close(board);
    if (left != 0)
        return 0;
    fprintf(stderr, "firmware_board: a line before\nfirmware_board: out of \033magic\n");
    return atoi(argv[3]);
}
