/* All captures of a configuration, and the requests of the control socket. */
#ifndef HOST_SERVICE_H
#define HOST_SERVICE_H

#include "host/config.h"
#include "host/journal.h"

struct service;

/* One answer, JSON text of size bytes. */
struct service_answer {
    char *text; /* the caller frees it */
    size_t size;
};

/*
 * Starts the captures with automatic start. config and journal must outlive the service; wake is an
 * eventfd that is written at each change of a capture's state. NULL and *error on failure.
 */
struct service *service_new(const struct config *config, const struct journal *journal, int wake,
                            struct bt_error *error);

/* Stops every capture and waits. NULL is allowed. */
void service_free(struct service *service);

/*
 * Executes a request (capture/control_protocol.h), size bytes without the newline. *begun is false
 * the first time. Returns 1 with an answer; 0 if the request is in progress: call again after a
 * wake; BT_MEMORY.
 */
int service_answer(struct service *service, const char *line, size_t size, bool *begun,
                   struct service_answer *answer);

void service_rotate_all(struct service *service);

/* Final: later requests to start a capture are refused. */
void service_stop_all(struct service *service);

/* Writes what the captures hold in memory, for up to limit_ms, without waiting for their boards.
 * Returns whether all captures have ended. Any thread. */
bool service_flush(struct service *service, int limit_ms);

/* Whether no capture runs or will run. */
bool service_is_quiet(struct service *service);

/* The number of complete files whose command has not ended. */
uint64_t service_commands_left(struct service *service);

/* "2 captures: 1 running, 1 waiting" */
void service_summary(struct service *service, char *text, size_t size);

#endif
