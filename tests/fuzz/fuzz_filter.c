/* A filter expression from a user: it parses to a filter that a board accepts, or is refused with
 * an error message. */
#include "formats/record/filter_text.h"
#include "formats/wire/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct wire_configuration configuration = {0};
    struct bt_error error = {0};
    int result = filter_parse(&configuration.filter, text, &error);
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    wire_configuration_put(body, &configuration);
    if (result == 0 && wire_configuration_get(&configuration, body, sizeof body) < 0)
        abort();
    if (result != 0 && (result != BT_USAGE || error.message[0] == '\0'))
        abort();
    free(text);
    return 0;
}
