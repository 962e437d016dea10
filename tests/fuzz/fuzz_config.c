/* The daemon's configuration: any octets are a configuration or give an error message with a line
 * number. */
#include "host/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config *config;
    struct bt_error error = {0};
    int result = config_parse(&config, "fuzz.conf", (const char *)data, size, &error);
    if ((result == 0) != (config != NULL) || result != error.code)
        abort();
    if (result < 0 && strncmp(error.message, "fuzz.conf:", 10) != 0)
        abort();
    for (size_t i = 0; config && i < config->count; i++)
        if (!config->captures[i].board[0] || config->captures[i].retry_ns <= 0)
            abort();
    config_free(config);
    return 0;
}
