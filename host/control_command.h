/* One request of a client, as capture/control_protocol.h describes it. */
#ifndef HOST_CONTROL_COMMAND_H
#define HOST_CONTROL_COMMAND_H

#include "formats/base/error.h"

#include <stddef.h>

#define COMMAND_CAPTURE_BYTES 64u

enum command_code {
    COMMAND_STATUS,
    COMMAND_START,
    COMMAND_STOP,
    COMMAND_ROTATE,
    COMMAND_SNAPSHOT,
    COMMANDS
};

struct control_command {
    enum command_code code;
    char capture[COMMAND_CAPTURE_BYTES]; /* empty: every capture */
};

/* Parses a line of JSON, without its newline. 0, or BT_USAGE and *error. */
int control_command_parse(struct control_command *command, const char *line, size_t size,
                          struct bt_error *error);

#endif
