/* One request to bustapd and its answer, a line each (capture/control_protocol.h). */
#ifndef TOOLS_COMMON_CONTROL_CLIENT_H
#define TOOLS_COMMON_CONTROL_CLIENT_H

#include "formats/base/error.h"

/*
 * Sends request (one line, with its newline) to the daemon at path and waits for its answer, which
 * the caller frees; it has no newline. 0 or a negative code.
 */
int control_client_ask(const char *path, const char *request, char **answer,
                       struct bt_error *error);

#endif
