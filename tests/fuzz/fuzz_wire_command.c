/* Decodes a stream from a host as a board does: drops a byte where no command starts. */
#include "formats/wire/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_configuration(const struct wire_command *command)
{
    struct wire_configuration configuration;
    uint8_t again[WIRE_CONFIGURATION_BYTES];
    struct wire_configuration second;
    if (wire_configuration_get(&configuration, command->body, command->body_bytes) < 0)
        return;
    wire_configuration_put(again, &configuration);
    if (wire_configuration_get(&second, again, sizeof again) < 0 ||
        second.filter.range_count != configuration.filter.range_count ||
        second.flush_us != configuration.flush_us)
        abort();
    const struct record record = {.address = configuration.filter.ranges[0].low};
    (void)filter_match(&configuration.filter, &record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct wire_command command;
        int used = wire_command_get(&command, data + at, size - at);
        if (used == 0)
            break;
        if (used > 0) {
            uint8_t again[WIRE_COMMAND_MAX];
            if (wire_command_put(again, &command) != (size_t)used ||
                memcmp(again, data + at, (size_t)used) != 0)
                abort();
            take_configuration(&command);
        }
        at += used > 0 ? (size_t)used : 1;
    }
    /* a body must be valid in more than its CRC */
    const struct wire_command bare = {.body = data,
                                      .body_bytes = (uint16_t)(size < 0xffff ? size : 0xffff)};
    take_configuration(&bare);
    return 0;
}
