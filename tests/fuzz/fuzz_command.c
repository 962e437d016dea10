/* Requests to the daemon: any octets are a command or give an error message. */
#include "host/control_command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct control_command command;
    struct bt_error error = {0};
    int result = control_command_parse(&command, (const char *)data, size, &error);
    if (result == 0 &&
        (command.code >= COMMANDS || memchr(command.capture, '\0', sizeof command.capture) == NULL))
        abort();
    if (result < 0 && error.message[0] == '\0')
        abort();
    return 0;
}
