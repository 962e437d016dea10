/*
 * The control socket: lines in, lines out, for many untrusted clients. It never blocks: its owner
 * polls, calls control_step, answers the pending requests, and repeats. It does not interpret the
 * lines (host/service.h does).
 */
#ifndef HOST_CONTROL_H
#define HOST_CONTROL_H

#include "formats/base/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define CONTROL_CLIENTS 16u
#define CONTROL_POLLS   (CONTROL_CLIENTS + 1u)

struct control;

/* A line that awaits its answer. A client's next line is read only after the answer. */
struct control_request {
    const char *line; /* without its newline; valid until it is answered */
    size_t size;
    bool *begun; /* for the caller: false at first */
};

/*
 * Listens on path (mode 0660). The socket of a dead daemon, whose stale lock is beside it, is
 * replaced; any other file of that name is kept and is an error. A client has turn_ms to send a
 * whole request, and as long to take a whole answer, before it is disconnected; empty lines are not
 * requests. NULL and *error on failure; BT_BUSY: another daemon, or service, listens there.
 */
struct control *control_new(const char *path, int turn_ms, struct bt_error *error);

/* Disconnects all clients, and removes the socket. NULL is allowed. */
void control_free(struct control *control);

/* Fills polls (room for CONTROL_POLLS) for poll(2), returns their number. *timeout_ms is lowered to
 * when the next client is late; to 0 while a request is pending that is not begun. */
size_t control_polls(struct control *control, struct pollfd *polls, int *timeout_ms);

/* Accepts, reads, writes and disconnects, without waiting. Call it after every poll. */
void control_step(struct control *control);

/* The pending request of client i < CONTROL_CLIENTS, if there is one. */
bool control_request(struct control *control, size_t i, struct control_request *request);

/* Answers it: size bytes of text, to which a newline is added. */
void control_answer(struct control *control, size_t i, const char *text, size_t size);

#endif
