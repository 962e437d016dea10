#include "tools/capture/capture_options.h"

#include "capture/rules.h"
#include "capture/settings_text.h"
#include "formats/base/quantity.h"
#include "tools/capture/capture_report.h"
#include "tools/common/filter_option.h"

#include <string.h>

int capture_option_output(void *settings, const char *argument, struct bt_error *error)
{
    struct capture_settings *capture = settings;
    if (strlen(argument) >= sizeof capture->prefix)
        return bt_fail(error, BT_USAGE, "the prefix is too long");
    strcpy(capture->prefix, argument);
    return rules_check_prefix(argument, error);
}

int capture_option_rotate(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_rotate(settings, argument, error);
}

int capture_option_start_command(struct file_command **command, const char *text, void *report,
                                 struct bt_error *error)
{
    const struct file_command_settings settings = {
        .command = text, .report = capture_report_sentence, .context = report};
    *command = text ? file_command_new(&settings, error) : NULL;
    return *command || !text ? 0 : error->code;
}

int capture_option_choose(const char *argument, const char *first, const char *second,
                          struct bt_error *error)
{
    if (strcmp(argument, first) == 0)
        return 0;
    if (strcmp(argument, second) == 0)
        return 1;
    return bt_fail(error, BT_USAGE, "\"%.40s\" is neither %s nor %s", argument, first, second);
}

int capture_option_engine(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_engine(settings, argument, error);
}

int capture_option_level(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_engine_level(settings, argument, error);
}

int capture_option_queue(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_queue(settings, argument, error);
}

int capture_option_disk_full(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_disk_full(settings, argument, error);
}

int capture_option_trigger(void *settings, const char *argument, struct bt_error *error)
{
    struct capture_settings *capture = settings;
    if (filter_option_check(argument, NULL, error) < 0)
        return error->code;
    return settings_text_trigger(capture->trigger.trigger, argument, error);
}

int capture_option_stop_on(void *settings, const char *argument, struct bt_error *error)
{
    struct capture_settings *capture = settings;
    if (filter_option_check(argument, NULL, error) < 0)
        return error->code;
    return settings_text_trigger(capture->trigger.stop_on, argument, error);
}

int capture_option_pre(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_pre(&((struct capture_settings *)settings)->trigger, argument, error);
}

int capture_option_post(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_post(&((struct capture_settings *)settings)->trigger, argument, error);
}

int capture_option_ring(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_ring(&((struct capture_settings *)settings)->trigger, argument, error);
}
