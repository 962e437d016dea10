#include "host/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

enum field { FIELD_NONE, FIELD_COMMAND, FIELD_CAPTURE };

/* A request is one flat object of strings: no tree is needed, and none is built. */
struct command_parser {
    struct command *command;
    struct bt_error *error;
    yajl_handle json;
    enum field field; /* whose value comes next */
    bool seen[FIELD_CAPTURE + 1];
    int depth;
    int objects;
    int has_command;
};

static int refuse(struct command_parser *parser, const char *sentence)
{
    bt_fail(parser->error, BT_USAGE, "%s", sentence);
    return 0;
}

static int on_other(void *context)
{
    return refuse(context, "a request is one object of strings, such as {\"command\": \"status\"}");
}

static int on_boolean(void *context, int value)
{
    (void)value;
    return on_other(context);
}

static int on_number(void *context, const char *text, size_t size)
{
    (void)text;
    (void)size;
    return on_other(context);
}

static int on_start_map(void *context)
{
    struct command_parser *parser = context;
    parser->objects++;
    return parser->depth++ == 0 ? 1 : on_other(context);
}

static int on_end_map(void *context)
{
    struct command_parser *parser = context;
    parser->depth--;
    return 1;
}

static int on_key(void *context, const unsigned char *text, size_t size)
{
    struct command_parser *parser = context;
    if (size == 7 && memcmp(text, "command", 7) == 0)
        parser->field = FIELD_COMMAND;
    else if (size == 7 && memcmp(text, "capture", 7) == 0)
        parser->field = FIELD_CAPTURE;
    else
        return refuse(parser, "a request has the keys \"command\" and \"capture\" only");
    if (parser->seen[parser->field]) {
        bt_fail(parser->error, BT_USAGE, "duplicate key \"%.*s\", at byte %zu", (int)size,
                (const char *)text, yajl_get_bytes_consumed(parser->json));
        return 0;
    }
    parser->seen[parser->field] = true;
    return 1;
}

static int on_string(void *context, const unsigned char *text, size_t size)
{
    static const char *const names[COMMANDS] = {"status", "start", "stop", "rotate"};
    struct command_parser *parser = context;
    struct command *command = parser->command;
    if (parser->field == FIELD_NONE)
        return on_other(context);
    if (parser->field == FIELD_CAPTURE) {
        if (size >= sizeof command->capture || memchr(text, '\0', size))
            return refuse(parser, "there is no capture of that name");
        if (size == 0) /* a variable that is not set must not stop every capture */
            return refuse(parser, "the capture's name is empty; \"all\" means every one");
        memcpy(command->capture, text, size);
        command->capture[size] = '\0';
        if (strcmp(command->capture, "all") == 0)
            command->capture[0] = '\0';
        return 1;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0) {
            command->code = (enum command_code)i;
            parser->has_command = 1;
            return 1;
        }
    return refuse(parser, "the commands are status, start, stop and rotate");
}

int command_parse(struct command *command, const char *line, size_t size, struct bt_error *error)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_other,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_start_map,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end_map,
        .yajl_start_array = on_other,
        .yajl_end_array = on_other,
    };
    *command = (struct command){.code = COMMAND_STATUS};
    struct command_parser parser = {.command = command, .error = error};
    yajl_handle json = yajl_alloc(&callbacks, NULL, &parser);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory to read a request");
    parser.json = json;
    yajl_status status = yajl_parse(json, (const unsigned char *)line, size);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(json);
    yajl_free(json);
    if (status == yajl_status_client_canceled)
        return BT_USAGE;
    if (status != yajl_status_ok || parser.objects != 1)
        return bt_fail(error, BT_USAGE, "this is not a line of JSON");
    if (!parser.has_command)
        return bt_fail(error, BT_USAGE, "a request has a \"command\"");
    return 0;
}
