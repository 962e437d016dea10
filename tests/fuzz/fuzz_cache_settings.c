/*
 * Settings of a cache hierarchy, in a file and as an option: any octets give a valid hierarchy or
 * an error message.
 */
#include "tools/cache/cache_settings_text.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 400u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Accepted settings can be completed and printed. */
static void finish(struct settings_text *text)
{
    struct bt_error error = {.code = 0};
    char line[SETTINGS_LEVEL_BYTES];
    int result = settings_text_end(text, &error);
    if (result < 0) {
        if (result != BT_USAGE || result != error.code || !error.message[0])
            abort();
        return;
    }
    if (hierarchy_check(&text->settings, &error) != 0)
        abort();
    for (unsigned level = 0; level < text->settings.level_count; level++)
        for (unsigned side = 0; side < (text->settings.levels[level].split ? CACHE_SIDES : 1u);
             side++)
            if (!settings_text_level(line, &text->settings, level, (enum cache_side)side,
                                     false)[0] ||
                strlen(line) >= sizeof line)
                abort();
}

static void read_file(const uint8_t *data, size_t size)
{
    struct settings_text text;
    struct bt_error error = {.code = 0};
    settings_text_begin(&text);
    int result = settings_file_parse(&text, "fuzz.conf", (const char *)data, size, &error);
    if (result < 0 && (result != error.code || strncmp(error.message, "fuzz.conf:", 10) != 0))
        abort();
    if (result == 0)
        finish(&text);
}

/* The first octet chooses the option; the rest is the option's value. */
static void read_option(const uint8_t *data, size_t size)
{
    char words[WORDS_MAX];
    struct settings_text text;
    struct bt_error error = {.code = 0};
    if (size < 1 || size > sizeof words)
        return;
    memcpy(words, data + 1, size - 1);
    words[size - 1] = '\0';
    settings_text_begin(&text);
    int result =
        settings_text_take(&text, data[0] % CACHE_LEVELS,
                           (enum settings_sides)(data[0] / CACHE_LEVELS % 3), words, &error);
    if (result < 0 && (result != BT_USAGE || result != error.code || !error.message[0]))
        abort();
    if (result == 0)
        finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(data, size);
    read_option(data, size);
    return 0;
}
