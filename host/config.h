/* bustapd's configuration file; bustapd(8), "CONFIGURATION", describes it for users. */
#ifndef HOST_CONFIG_H
#define HOST_CONFIG_H

#include "capture/capture.h"
#include "driver/session.h"

#include <stdbool.h>

#define CONFIG_BYTES_MAX    (1u << 20)
#define CONFIG_CAPTURES_MAX 64u
#define CONFIG_NAME_BYTES   64u
#define CONFIG_BOARD_BYTES  4352u
#define CONFIG_SOCKET_BYTES 108u /* limit of a Unix socket's address */
#define CONFIG_PACK_NEVER   (-1)
#define CONFIG_STOP_MS      45000 /* less than systemd's time-out in doc/bustapd.service */

/* One [capture NAME] section. */
struct config_capture {
    char name[CONFIG_NAME_BYTES];
    char board[CONFIG_BOARD_BYTES];        /* a board specification, driver/boards.h */
    char filter[256];                      /* a valid expression; empty: none */
    char exec_on_file[FILE_COMMAND_BYTES]; /* a command for each complete file; empty: none */
    struct session_settings session;       /* filter_text is NULL: use filter above */
    struct capture_settings settings;
    bool automatic;        /* starts with the daemon */
    int64_t retry_ns;      /* retry interval while the board is missing; never 0 */
    int64_t pack_after_ns; /* files older than that are packed; CONFIG_PACK_NEVER: none */
    int pack_level;        /* of bustap pack */
    unsigned line;         /* of the section's heading */
};

struct config {
    char socket[CONFIG_SOCKET_BYTES]; /* empty: missing */
    int stop_ms;                      /* limit from the signal that stops the daemon to its end */
    int64_t pack_after_ns;            /* of captures that do not set theirs; CONFIG_PACK_NEVER */
    int pack_level;                   /* the same */
    size_t count;
    struct config_capture *captures;
};

/*
 * Reads a configuration from memory. name is what messages call it: "NAME:LINE: sentence". 0,
 * BT_USAGE or BT_MEMORY; *config is freed with config_free.
 */
int config_parse(struct config **config, const char *name, const char *text, size_t size,
                 struct bt_error *error);

/* The same from a file; also BT_IO. */
int config_read(struct config **config, const char *path, struct bt_error *error);

/*
 * Whether every board specification is valid (no board is opened), and every command can be found:
 * 0, or BT_USAGE for the first that is not. config_read() does not check them, so that one invalid
 * board does not stop other captures.
 */
int config_check_machine(const struct config *config, const char *name, struct bt_error *error);

/* Reports a sentence for everything in a capture's expressions that is valid, but looks like a
 * mistake. */
void config_report_doubts(const struct config_capture *capture,
                          void (*report)(void *context, const char *sentence), void *context);

/* NULL is allowed. */
void config_free(struct config *config);

#endif
