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
#define CONFIG_SOCKET_BYTES 108u  /* a Unix socket's address has no room for more */
#define CONFIG_STOP_MS      45000 /* less than systemd's patience in doc/bustapd.service */

/* One [capture NAME] section. */
struct config_capture {
    char name[CONFIG_NAME_BYTES];
    char board[CONFIG_BOARD_BYTES];  /* a board specification, driver/boards.h */
    char filter[256];                /* as written; session.filter has it parsed */
    struct session_settings session; /* filter_text is NULL: use filter above */
    struct capture_settings settings;
    bool automatic;   /* starts with the daemon */
    int64_t retry_ns; /* retry interval while the board is missing; never 0 */
    unsigned line;    /* where the section begins */
};

struct config {
    char socket[CONFIG_SOCKET_BYTES]; /* empty: not given */
    int stop_ms; /* from the signal that stops the daemon to its end, whatever holds it up */
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
 * Whether every board specification makes sense (no board is opened): 0, or BT_USAGE with the first
 * that does not. Reading does not ask, since one board that cannot be is to take down no other.
 */
int config_check_boards(const struct config *config, const char *name, struct bt_error *error);

/* NULL is allowed. */
void config_free(struct config *config);

#endif
