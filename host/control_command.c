#include "host/control_command.h"

#include "formats/text/json_pull.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int refuse(struct bt_error *error, const char *sentence)
{
    return bt_fail(error, BT_USAGE, "%s", sentence);
}

static int take_code(struct control_command *command, const struct json_pull_text *text,
                     struct bt_error *error)
{
    static const char *const names[COMMANDS] = {"status", "start", "stop", "rotate", "snapshot"};
    for (int i = 0; i < COMMANDS; i++)
        if (json_pull_text_is(text, names[i])) {
            command->code = (enum command_code)i;
            return 0;
        }
    return refuse(error, "the commands are status, start, stop, rotate and snapshot");
}

static int take_capture(struct control_command *command, const struct json_pull_text *text,
                        struct bt_error *error)
{
    if (text->size >= sizeof command->capture || memchr(text->text, '\0', text->size))
        return refuse(error, "no capture can have that name");
    if (text->size == 0) /* an unset variable in a script must not stop every capture */
        return refuse(error, "the capture's name is empty; \"all\" means every one");
    if (!json_pull_text_is(text, "all"))
        memcpy(command->capture, text->text, text->size);
    return 0;
}

/* Reads the next value if it is of that kind, and enters an object. */
static int take_kind(struct json_pull *pull, enum json_pull_kind kind, struct json_pull_text *text,
                     struct bt_error *error)
{
    int found = json_pull_kind(pull);
    if (found < 0)
        return found;
    if (found != (int)kind)
        return refuse(error, "a request is one object of strings, such as {\"command\": "
                             "\"status\"}");
    return kind == JSON_PULL_OBJECT ? json_pull_object(pull) : json_pull_string(pull, text);
}

static int read_request(struct json_pull *pull, struct control_command *command,
                        struct bt_error *error)
{
    struct json_pull_text text;
    bool has_command = false;
    int result = take_kind(pull, JSON_PULL_OBJECT, NULL, error);
    while (result >= 0 && (result = json_pull_key(pull, &text)) > 0) {
        bool is_command = json_pull_text_is(&text, "command");
        if (!is_command && !json_pull_text_is(&text, "capture"))
            return refuse(error, "a request has the keys \"command\" and \"capture\" only");
        has_command = has_command || is_command;
        result = take_kind(pull, JSON_PULL_STRING, &text, error);
        if (result == 0)
            result =
                is_command ? take_code(command, &text, error) : take_capture(command, &text, error);
    }
    if (result == 0)
        result = json_pull_end(pull);
    return result < 0 || has_command ? result : refuse(error, "a request has a \"command\"");
}

int control_command_parse(struct control_command *command, const char *line, size_t size,
                          struct bt_error *error)
{
    struct json_pull_settings settings = json_pull_settings_default();
    settings.strict = true;
    *command = (struct control_command){.code = COMMAND_STATUS};
    struct bt_error problem = {0};
    struct text_reader *reader = text_reader_from_memory(line, size, "the request", &problem);
    struct json_pull *pull = reader ? json_pull_new(reader, &settings, &problem) : NULL;
    int result = pull ? read_request(pull, command, &problem) : BT_MEMORY;
    json_pull_free(pull);
    text_reader_close(reader);
    if (result < 0)
        bt_fail(error, result == BT_DATA ? BT_USAGE : result, "%s", problem.message);
    return result == BT_DATA ? BT_USAGE : result;
}
