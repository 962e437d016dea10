#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "tools/top/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Sequences of ECMA-48, and of xterm for the other screen. */
#define ENTER    "\033[?1049h\033[?25l\033[2J"
#define LEAVE    "\033[?25h\033[?1049l"
#define HOME     "\033[H"
#define LINE_END "\033[K\r\n"
#define CLEAR    "\033[J"

int terminal_open(struct terminal *terminal, int screen, struct bt_error *error)
{
    *terminal = (struct terminal){.screen = screen};
    terminal->keys = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (terminal->keys >= 0 && tcgetattr(terminal->keys, &terminal->before) != 0) {
        bt_fail_errno(error, "cannot use the terminal");
        close(terminal->keys);
        return error->code;
    }
    return 0;
}

static int put(int file, const char *text, size_t size, struct bt_error *error)
{
    while (size > 0) {
        const ssize_t some = write(file, text, size);
        if (some < 0 && errno != EINTR && errno != EAGAIN)
            return bt_fail_errno(error, "cannot write to the terminal");
        if (some > 0) {
            text += some;
            size -= (size_t)some;
        }
    }
    return 0;
}

void terminal_enter(struct terminal *terminal)
{
    if (terminal->keys >= 0) {
        struct termios raw = terminal->before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(terminal->keys, TCSADRAIN, &raw);
    }
    (void)put(terminal->screen, ENTER, strlen(ENTER), NULL);
    terminal->entered = true;
}

void terminal_leave(struct terminal *terminal)
{
    if (!terminal->entered)
        return;
    (void)put(terminal->screen, LEAVE, strlen(LEAVE), NULL);
    if (terminal->keys >= 0)
        tcsetattr(terminal->keys, TCSADRAIN, &terminal->before);
    terminal->entered = false;
}

void terminal_close(struct terminal *terminal)
{
    terminal_leave(terminal);
    if (terminal->keys >= 0)
        close(terminal->keys);
    terminal->keys = -1;
}

struct terminal_size terminal_size(const struct terminal *terminal)
{
    struct winsize size;
    if (ioctl(terminal->screen, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        return (struct terminal_size){.rows = 24, .columns = 80};
    return (struct terminal_size){.rows = size.ws_row, .columns = size.ws_col};
}

char terminal_key(const struct terminal *terminal)
{
    struct pollfd ready = {.fd = terminal->keys, .events = POLLIN};
    char key;
    return terminal->keys >= 0 && poll(&ready, 1, 0) == 1 && read(terminal->keys, &key, 1) == 1
               ? key
               : '\0';
}

/* Number of bytes of a line's first columns: continuation bytes of UTF-8 take none. */
static size_t fitting(const char *line, size_t length, unsigned columns)
{
    size_t i = 0;
    for (unsigned used = 0; i < length; i++) {
        used += ((unsigned char)line[i] & 0xc0) != 0x80;
        if (used > columns)
            break;
    }
    return i;
}

char *terminal_picture(const char *text, struct terminal_size size, size_t *bytes)
{
    char *picture = NULL;
    FILE *out = open_memstream(&picture, bytes);
    if (!out)
        return NULL;
    fputs(HOME, out);
    for (unsigned row = 1; row < size.rows && *text; row++) {
        const size_t length = strcspn(text, "\n");
        fwrite(text, 1, fitting(text, length, size.columns), out);
        fputs(LINE_END, out);
        text += length + (text[length] == '\n');
    }
    fputs(CLEAR, out);
    if (fclose(out) == 0)
        return picture;
    free(picture);
    return NULL;
}

int terminal_show(const struct terminal *terminal, const char *text, struct bt_error *error)
{
    size_t bytes;
    char *picture = terminal_picture(text, terminal_size(terminal), &bytes);
    if (!picture)
        return bt_fail(error, BT_MEMORY, "no memory for a screen");
    const int result = put(terminal->screen, picture, bytes, error);
    free(picture);
    return result;
}
