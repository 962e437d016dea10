#include "capture/settings_text.h"

#include "capture/rules.h"
#include "formats/base/extent.h"
#include "formats/base/quantity.h"
#include "formats/record/expression.h"

#include <stddef.h>
#include <string.h>

enum quantity_kind { KIND_BYTES, KIND_TIME, KIND_COUNT };

/* A rule: its name, what its value is, and where in the settings that goes. */
struct rule {
    const char *name;
    enum quantity_kind kind;
    size_t offset;
    uint64_t least;
    const char *least_text;
};

#define ROTATE_TIME_MIN 10000000 /* 10 ms: a folder can still keep up with the files */

static const struct rule rotate_rules[] = {
    {"size", KIND_BYTES, offsetof(struct capture_settings, rotate_bytes), RULES_FILE_BYTES_MIN,
     "4K"},
    {"time", KIND_TIME, offsetof(struct capture_settings, rotate_ns), ROTATE_TIME_MIN, "10ms"},
    {"every", KIND_TIME, offsetof(struct capture_settings, rotate_every_ns), ROTATE_TIME_MIN,
     "10ms"},
    {NULL, KIND_COUNT, 0, 0, NULL}};

static const struct rule stop_rules[] = {
    {"time", KIND_TIME, offsetof(struct capture_settings, stop_ns), 1, "1ns"},
    {"records", KIND_COUNT, offsetof(struct capture_settings, stop_records), 1, "1"},
    {"size", KIND_BYTES, offsetof(struct capture_settings, stop_bytes), RULES_FILE_BYTES_MIN, "4K"},
    {"files", KIND_COUNT, offsetof(struct capture_settings, stop_files), 1, "1"},
    {NULL, KIND_COUNT, 0, 0, NULL}};

static int parse_value(const struct rule *rule, const char *text, uint64_t *value,
                       struct bt_error *error)
{
    if (rule->kind == KIND_BYTES)
        return quantity_bytes(value, text, error);
    if (rule->kind == KIND_COUNT)
        return quantity_count(value, text, error);
    int64_t time = 0;
    int result = quantity_duration(&time, text, error);
    *value = (uint64_t)time;
    return result;
}

static int parse_rule(const struct rule *rules, const char *what, const char *forms,
                      struct capture_settings *settings, const char *text, struct bt_error *error)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    const struct rule *rule = rules;
    while (rule->name && !(strlen(rule->name) == length && strncmp(rule->name, text, length) == 0))
        rule++;
    if (!rule->name)
        return bt_fail(error, BT_USAGE, "%s: \"%.60s\" is none of %s", what, text, forms);
    uint64_t value;
    if (parse_value(rule, equals + 1, &value, error) < 0) {
        bt_fail_within(error, "%s: %s", what, rule->name);
        return BT_USAGE;
    }
    if (value < rule->least)
        return bt_fail(error, BT_USAGE, "%s: %s is at least %s", what, rule->name,
                       rule->least_text);
    /* all rules are 64-bit fields, signed where they are times, and times fit; 0: no such rule */
    uint64_t before;
    memcpy(&before, (unsigned char *)settings + rule->offset, sizeof before);
    if (before != 0)
        return bt_fail(error, BT_USAGE, "%s: %s is given twice", what, rule->name);
    memcpy((unsigned char *)settings + rule->offset, &value, sizeof value);
    return 0;
}

int settings_text_rotate(struct capture_settings *settings, const char *text,
                         struct bt_error *error)
{
    return parse_rule(rotate_rules, "rotate", "size=64M, time=10m, every=1h", settings, text,
                      error);
}

int settings_text_stop(struct capture_settings *settings, const char *text, struct bt_error *error)
{
    return parse_rule(stop_rules, "stop", "time=10s, records=1M, size=1G, files=3", settings, text,
                      error);
}

int settings_text_engine(struct capture_settings *settings, const char *text,
                         struct bt_error *error)
{
    enum record_engine engine = RECORD_ENGINE_ZLIB;
    while (engine < RECORD_ENGINES && strcmp(record_engine_name(engine), text) != 0)
        engine++;
    if (engine == RECORD_ENGINES)
        return bt_fail(
            error, BT_USAGE,
            "\"%.40s\" should be records, programs, columns, blocks, isa-l, libdeflate or zlib",
            text);
    if (!record_engine_exists(engine))
        return bt_fail(error, BT_USAGE, "this bustap was built without %s", text);
    settings->engine = engine;
    return 0;
}

int settings_text_engine_level(struct capture_settings *settings, const char *text,
                               struct bt_error *error)
{
    uint64_t level;
    int result = quantity_count(&level, text, error);
    if (result < 0)
        return result;
    if (level > 9)
        return bt_fail(error, BT_USAGE,
                       "zlib and libdeflate have levels 1 to 9, columns 0 to 7, isa-l 0 to 3, "
                       "records and programs only 0, blocks none");
    settings->level = (int)level;
    return 0;
}

int settings_text_disk_full(struct capture_settings *settings, const char *text,
                            struct bt_error *error)
{
    settings->wait_for_room = strcmp(text, "wait") == 0;
    if (settings->wait_for_room || strcmp(text, "end") == 0)
        return 0;
    return bt_fail(error, BT_USAGE, "disk-full: \"%.40s\" is neither end nor wait", text);
}

int settings_text_reconnect(struct session_settings *settings, const char *text,
                            struct bt_error *error)
{
    settings->reconnect_ns = strcmp(text, "never") == 0 ? 0 : SESSION_RECONNECT_FOR_EVER;
    if (settings->reconnect_ns == 0 || strcmp(text, "forever") == 0)
        return 0;
    if (quantity_duration(&settings->reconnect_ns, text, error) == 0)
        return 0;
    bt_fail_within(error, "reconnect: never, forever or a time");
    return BT_USAGE;
}

int settings_text_queue(struct capture_settings *settings, const char *text, struct bt_error *error)
{
    uint64_t bytes;
    int result = quantity_bytes(&bytes, text, error);
    if (result == 0 && (bytes > RULES_QUEUE_MAX || bytes > SIZE_MAX))
        result = bt_fail(error, BT_USAGE, RULES_QUEUE_TOO_LARGE);
    if (result == 0)
        settings->queue_bytes = (size_t)bytes;
    return result;
}

static int parse_extent(uint64_t *records, uint64_t *ticks, int64_t *ns, const char *text,
                        struct bt_error *error)
{
    struct extent extent;
    if (extent_parse_or_zero(&extent, text, error) < 0)
        return BT_USAGE;
    *records = extent.unit == EXTENT_REQUESTS ? extent.length : 0;
    *ticks = extent.unit == EXTENT_TICKS ? extent.length : 0;
    *ns = extent.unit == EXTENT_TIME ? (int64_t)extent.length : 0;
    return 0;
}

int settings_text_pre(struct trigger_settings *trigger, const char *text, struct bt_error *error)
{
    return parse_extent(&trigger->pre_records, &trigger->pre_ticks, &trigger->pre_ns, text, error);
}

int settings_text_post(struct trigger_settings *trigger, const char *text, struct bt_error *error)
{
    return parse_extent(&trigger->post_records, &trigger->post_ticks, &trigger->post_ns, text,
                        error);
}

int settings_text_ring(struct trigger_settings *trigger, const char *text, struct bt_error *error)
{
    uint64_t bytes;
    int result = quantity_bytes(&bytes, text, error);
    if (result == 0 && bytes < TRIGGER_RING_MIN)
        result = bt_fail(error, BT_USAGE, "at least 4K, which is memory for 341 records");
    if (result == 0)
        trigger->ring_bytes = bytes;
    return result;
}

int settings_text_trigger(char out[TRIGGER_TEXT_BYTES], const char *text, struct bt_error *error)
{
    struct expression *expression = NULL;
    if (strlen(text) >= TRIGGER_TEXT_BYTES)
        return bt_fail(error, BT_USAGE, "the expression is too long: at most %u bytes",
                       TRIGGER_TEXT_BYTES - 1);
    if (!text[strspn(text, " \t")])
        return bt_fail(error, BT_USAGE, "the expression is empty");
    int result = expression_parse(&expression, text, NULL, error);
    expression_free(expression);
    strcpy(out, text);
    return result;
}
