#include "driver/ftdi_options.h"

#include <stdlib.h>
#include <string.h>

#define FTDI_VID    0x0403
#define FT2232H_PID 0x6010
#define FT232H_PID  0x6014

enum key { KEY_SERIAL, KEY_DESCRIPTION, KEY_VID, KEY_PID, KEY_CHANNEL, KEYS };

/* One key=value; the value is length bytes at text. */
struct option_text {
    const char *text;
    size_t length;
};

static int copy_text(char text[64], const struct option_text *value, const char *key,
                     struct bt_error *error)
{
    if (value->length == 0 || value->length > 63)
        return bt_fail(error, BT_USAGE, "board option %s= takes 1 to 63 characters", key);
    memcpy(text, value->text, value->length);
    text[value->length] = '\0';
    return 0;
}

static int parse_id(uint16_t *id, const struct option_text *value, const char *key,
                    struct bt_error *error)
{
    char text[64];
    char *end;
    int result = copy_text(text, value, key, error);
    if (result < 0)
        return result;
    unsigned long number = strtoul(text, &end, 16);
    if (*end || text[0] == '-' || text[0] == '+' || text[0] == ' ' || number > UINT16_MAX)
        return bt_fail(error, BT_USAGE,
                       "board option %s=%s is not a USB id: four hexadecimal digits, such as 0403",
                       key, text);
    *id = (uint16_t)number;
    return 0;
}

static int parse_channel(char *channel, const struct option_text *value, struct bt_error *error)
{
    char letter = value->length == 1 ? value->text[0] : '\0';
    if (letter == 'a' || letter == 'b')
        letter = (char)(letter - 'a' + 'A');
    if (letter != 'A' && letter != 'B')
        return bt_fail(error, BT_USAGE, "board option channel= takes A or B");
    *channel = letter;
    return 0;
}

static int parse_part(struct ftdi_options *options, const struct option_text *part, unsigned *seen,
                      struct bt_error *error)
{
    static const char *const names[KEYS] = {"serial", "description", "vid", "pid", "channel"};
    const char *equals = memchr(part->text, '=', part->length);
    size_t name_length = equals ? (size_t)(equals - part->text) : part->length;
    unsigned key = 0;
    while (key < KEYS &&
           (strlen(names[key]) != name_length || memcmp(part->text, names[key], name_length) != 0))
        key++;
    if (key == KEYS || !equals)
        return bt_fail(error, BT_USAGE,
                       "board option \"%.*s\" is not one of serial=, description=, vid=, pid=, "
                       "channel=",
                       (int)(part->length < 40 ? part->length : 40), part->text);
    if (*seen >> key & 1u)
        return bt_fail(error, BT_USAGE, "board option %s= is given twice", names[key]);
    *seen |= 1u << key;
    const struct option_text value = {equals + 1, part->length - name_length - 1};
    switch ((enum key)key) {
    case KEY_SERIAL:
        return copy_text(options->serial, &value, names[key], error);
    case KEY_DESCRIPTION:
        return copy_text(options->description, &value, names[key], error);
    case KEY_VID:
        return parse_id(&options->vid, &value, names[key], error);
    case KEY_PID:
        return parse_id(&options->pid, &value, names[key], error);
    default:
        return parse_channel(&options->channel, &value, error);
    }
}

int ftdi_options_parse(struct ftdi_options *options, const char *text, struct bt_error *error)
{
    unsigned seen = 0;
    *options = (struct ftdi_options){.channel = 'A'};
    while (*text) {
        struct option_text part = {text, strcspn(text, ",")};
        int result = parse_part(options, &part, &seen, error);
        if (result < 0)
            return result;
        text += part.length;
        if (*text == ',' && *++text == '\0')
            return bt_fail(error, BT_USAGE, "a board option is missing after the last comma");
    }
    if ((seen >> KEY_VID & 1u) != (seen >> KEY_PID & 1u))
        return bt_fail(error, BT_USAGE, "board options vid= and pid= go together");
    options->has_ids = seen >> KEY_VID & 1u;
    return 0;
}

bool ftdi_options_match(const struct ftdi_options *options, uint16_t vid, uint16_t pid,
                        const char *serial, const char *description)
{
    bool ids = options->has_ids ? vid == options->vid && pid == options->pid
                                : vid == FTDI_VID && (pid == FT232H_PID || pid == FT2232H_PID);
    return ids && (!options->serial[0] || strcmp(options->serial, serial) == 0) &&
           (!options->description[0] || strcmp(options->description, description) == 0);
}
