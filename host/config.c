#include "host/config.h"

#include "capture/file_set.h"
#include "capture/filter_report.h"
#include "capture/pack/pack_file.h"
#include "capture/rules.h"
#include "capture/settings_text.h"
#include "driver/boards.h"
#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"
#include "formats/record/expression.h"
#include "formats/text/ini.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS          1000000000ll
#define PACK_AFTER_MAX_NS  (3650 * 86400 * SECOND_NS)
#define PACK_AFTER_DEFAULT (-2) /* that of [daemon], which may follow */

/* Sets one key; the error's text need not contain key or line. */
typedef int config_setter(struct config_capture *capture, const char *value,
                          struct bt_error *error);

static int copy_text(char *out, size_t capacity, const char *value, struct bt_error *error)
{
    size_t size = strlen(value);
    if (size == 0)
        return bt_fail(error, BT_USAGE, "a value is missing");
    if (size >= capacity)
        return bt_fail(error, BT_USAGE, "the value has %zu bytes; %zu are allowed", size,
                       capacity - 1);
    memcpy(out, value, size + 1);
    return 0;
}

static int set_board(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return copy_text(capture->board, sizeof capture->board, value, error);
}

static int set_output(struct config_capture *capture, const char *value, struct bt_error *error)
{
    int result = copy_text(capture->settings.prefix, sizeof capture->settings.prefix, value, error);
    return result < 0 ? result : rules_check_prefix(value, error);
}

/* Calls set for each part of a list: "size=64M, every=1h". */
static int set_each(struct capture_settings *settings, const char *value,
                    int (*set)(struct capture_settings *, const char *, struct bt_error *),
                    struct bt_error *error)
{
    char part[128];
    for (const char *at = value;; at++) {
        at += strspn(at, " \t");
        size_t size = strcspn(at, ",");
        const char *next = at + size;
        while (size && (at[size - 1] == ' ' || at[size - 1] == '\t'))
            size--;
        if (size >= sizeof part)
            return bt_fail(error, BT_USAGE, "\"%.40s...\" is too long for a rule", at);
        memcpy(part, at, size);
        part[size] = '\0';
        int result = set(settings, part, error);
        if (result < 0 || *next == '\0')
            return result;
        at = next;
    }
}

static int set_rotate(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return set_each(&capture->settings, value, settings_text_rotate, error);
}

static int set_stop(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return set_each(&capture->settings, value, settings_text_stop, error);
}

static int set_number(uint32_t *number, const char *value, uint32_t max, struct bt_error *error)
{
    uint64_t parsed;
    int result = quantity_count(&parsed, value, error);
    if (result == 0 && parsed > max)
        result = bt_fail(error, BT_USAGE, "%.40s is more than %u", value, max);
    if (result == 0)
        *number = (uint32_t)parsed;
    return result;
}

static int set_keep(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return set_number(&capture->settings.keep, value, RULES_KEEP_MAX, error);
}

static int set_workers(struct config_capture *capture, const char *value, struct bt_error *error)
{
    uint32_t workers = 0;
    int result = set_number(&workers, value, RULES_WORKERS_MAX, error);
    capture->settings.workers = workers;
    return result;
}

static int set_queue(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_queue(&capture->settings, value, error);
}

static int set_filter(struct config_capture *capture, const char *value, struct bt_error *error)
{
    struct expression *expression = NULL;
    int result = copy_text(capture->filter, sizeof capture->filter, value, error);
    if (result == 0)
        result = expression_parse(&expression, value, NULL, error);
    expression_free(expression);
    return result;
}

static int set_trigger(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_trigger(capture->settings.trigger.trigger, value, error);
}

static int set_stop_on(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_trigger(capture->settings.trigger.stop_on, value, error);
}

static int set_pre(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_pre(&capture->settings.trigger, value, error);
}

static int set_post(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_post(&capture->settings.trigger, value, error);
}

static int set_ring(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_ring(&capture->settings.trigger, value, error);
}

static int set_exec_on_file(struct config_capture *capture, const char *value,
                            struct bt_error *error)
{
    return copy_text(capture->exec_on_file, sizeof capture->exec_on_file, value, error);
}

/* The index of value in a list of words that ends with NULL, or BT_USAGE. */
static int set_word(const char *value, const char *const *words, struct bt_error *error)
{
    char allowed[80] = "";
    for (int i = 0; words[i]; i++) {
        if (strcmp(value, words[i]) == 0)
            return i;
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? " or " : "", words[i]);
    }
    bt_fail(error, BT_USAGE, "\"%.40s\" is not %s", value, allowed);
    return suggestion_add(error, suggestion_among(value, words));
}

static int set_packing(struct config_capture *capture, const char *value, struct bt_error *error)
{
    static const char *const words[] = {"plain", "delta", NULL};
    int word = set_word(value, words, error);
    if (word >= 0)
        capture->session.packing = word ? WIRE_DELTA : WIRE_PLAIN;
    return word < 0 ? word : 0;
}

static int set_stall(struct config_capture *capture, const char *value, struct bt_error *error)
{
    static const char *const words[] = {"no", "yes", NULL};
    int word = set_word(value, words, error);
    if (word >= 0)
        capture->session.stall = word == 1;
    return word < 0 ? word : 0;
}

static int set_when_full(struct config_capture *capture, const char *value, struct bt_error *error)
{
    static const char *const words[] = {"wait", "drop", NULL};
    int word = set_word(value, words, error);
    if (word >= 0)
        capture->settings.when_full = word ? CAPTURE_DROP : CAPTURE_WAIT;
    return word < 0 ? word : 0;
}

static int set_disk_full(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_disk_full(&capture->settings, value, error);
}

static int set_engine(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_engine(&capture->settings, value, error);
}

static int set_level(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_engine_level(&capture->settings, value, error);
}

static int set_reconnect(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return settings_text_reconnect(&capture->session, value, error);
}

static int set_start(struct config_capture *capture, const char *value, struct bt_error *error)
{
    static const char *const words[] = {"auto", "manual", NULL};
    int word = set_word(value, words, error);
    if (word >= 0)
        capture->automatic = word == 0;
    return word < 0 ? word : 0;
}

static int set_retry(struct config_capture *capture, const char *value, struct bt_error *error)
{
    int result = quantity_duration(&capture->retry_ns, value, error);
    if (result == 0 &&
        (capture->retry_ns < SECOND_NS / 10 || capture->retry_ns > 86400 * SECOND_NS))
        result = bt_fail(error, BT_USAGE, "retry is 100ms to 1d");
    return result;
}

/* "never" or a time. */
static int get_pack_after(int64_t *after_ns, const char *value, struct bt_error *error)
{
    if (strcmp(value, "never") == 0) {
        *after_ns = CONFIG_PACK_NEVER;
        return 0;
    }
    int result = quantity_duration(after_ns, value, error);
    if (result == 0 && (*after_ns < 0 || *after_ns > PACK_AFTER_MAX_NS))
        result = bt_fail(error, BT_USAGE, "pack-after is 0s to 3650d, or never");
    return result;
}

static int get_pack_level(int *level, const char *value, struct bt_error *error)
{
    uint64_t parsed;
    int result = quantity_count(&parsed, value, error);
    if (result == 0 && (parsed < 1 || parsed > PACK_LEVEL_MOST))
        result = bt_fail(error, BT_USAGE, "pack-level is 1 to %d", PACK_LEVEL_MOST);
    if (result == 0)
        *level = (int)parsed;
    return result;
}

static int set_pack_after(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return get_pack_after(&capture->pack_after_ns, value, error);
}

static int set_pack_level(struct config_capture *capture, const char *value, struct bt_error *error)
{
    return get_pack_level(&capture->pack_level, value, error);
}

struct config_key {
    const char *name;
    config_setter *set;
    bool repeatable;
};

static const struct config_key capture_keys[] = {
    {"board", set_board, false},
    {"output", set_output, false},
    {"rotate", set_rotate, true},
    {"keep", set_keep, false},
    {"stop", set_stop, true},
    {"filter", set_filter, false},
    {"packing", set_packing, false},
    {"stall", set_stall, false},
    {"queue", set_queue, false},
    {"workers", set_workers, false},
    {"when-full", set_when_full, false},
    {"start", set_start, false},
    {"retry", set_retry, false},
    {"disk-full", set_disk_full, false},
    {"engine", set_engine, false},
    {"level", set_level, false},
    {"reconnect", set_reconnect, false},
    {"trigger", set_trigger, false},
    {"pre", set_pre, false},
    {"post", set_post, false},
    {"stop-on", set_stop_on, false},
    {"ring", set_ring, false},
    {"exec-on-file", set_exec_on_file, false},
    {"pack-after", set_pack_after, false},
    {"pack-level", set_pack_level, false},
};
#define CAPTURE_KEYS (sizeof capture_keys / sizeof *capture_keys)

/* State of the parser. */
struct config_parser {
    struct config *config;
    struct config_capture *capture; /* of the current section */
    bool in_daemon;
    bool daemon_seen;
    uint32_t daemon_keys_seen; /* bit n: key n of set_daemon_key was set */
    uint32_t keys_seen;        /* bit n: capture_keys[n] is set in this section */
};

static int begin_capture(struct config_parser *parser, const struct ini_line *line,
                         struct bt_error *error)
{
    struct config *config = parser->config;
    if (line->name[0] == '\0' || strcmp(line->name, "all") == 0)
        return bt_fail(error, BT_USAGE,
                       "a capture needs a name, other than \"all\": [capture NAME]");
    if (config->count == CONFIG_CAPTURES_MAX)
        return bt_fail(error, BT_USAGE, "there are more than %u captures", CONFIG_CAPTURES_MAX);
    for (size_t i = 0; i < config->count; i++)
        if (strcmp(config->captures[i].name, line->name) == 0)
            return bt_fail(error, BT_USAGE, "the capture %s is already defined at line %u",
                           line->name, config->captures[i].line);
    struct config_capture *grown = realloc(config->captures, (config->count + 1) * sizeof *grown);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for the configuration");
    config->captures = grown;
    struct config_capture *capture = &grown[config->count++];
    memset(capture, 0, sizeof *capture);
    memcpy(capture->name, line->name, sizeof capture->name);
    capture->session = session_settings_default();
    capture->settings = capture_settings_default();
    capture->settings.wait_for_room = true; /* a service may have no operator to restart it */
    capture->settings.append = true;        /* each start adds to the files of earlier ones */
    capture->settings.names = true;
    capture->automatic = true;
    capture->retry_ns = 5 * SECOND_NS;
    capture->pack_after_ns = PACK_AFTER_DEFAULT;
    capture->line = line->number;
    parser->capture = capture;
    parser->keys_seen = 0;
    return 0;
}

static int begin_section(struct config_parser *parser, const struct ini_line *line,
                         struct bt_error *error)
{
    parser->in_daemon = strcmp(line->section, "daemon") == 0;
    parser->capture = NULL;
    if (strcmp(line->section, "capture") == 0)
        return begin_capture(parser, line, error);
    if (!parser->in_daemon || line->name[0])
        return bt_fail(error, BT_USAGE,
                       "unknown section [%s%s%s]; there are [daemon] and "
                       "[capture NAME]",
                       line->section, line->name[0] ? " " : "", line->name);
    if (parser->daemon_seen)
        return bt_fail(error, BT_USAGE, "the section [daemon] occurs twice");
    parser->daemon_seen = true;
    return 0;
}

static int set_socket(struct config *config, const char *value, struct bt_error *error)
{
    return copy_text(config->socket, sizeof config->socket, value, error);
}

static int set_stop_timeout(struct config *config, const char *value, struct bt_error *error)
{
    int64_t time;
    int result = quantity_duration(&time, value, error);
    if (result == 0 && (time < SECOND_NS / 10 || time > 3600 * SECOND_NS))
        result = bt_fail(error, BT_USAGE, "the time is 100ms to 1h");
    if (result == 0)
        config->stop_ms = (int)(time / (SECOND_NS / 1000));
    return result;
}

/* Begins a message with the key; many already do. Returns the code. */
static int name_key(const char *key, struct bt_error *error)
{
    return strncmp(error->message, key, strlen(key)) == 0 ? error->code
                                                          : bt_fail_within(error, "%s", key);
}

static int set_daemon_pack_after(struct config *config, const char *value, struct bt_error *error)
{
    return get_pack_after(&config->pack_after_ns, value, error);
}

static int set_daemon_pack_level(struct config *config, const char *value, struct bt_error *error)
{
    return get_pack_level(&config->pack_level, value, error);
}

static int set_daemon_key(struct config_parser *parser, const struct ini_line *line,
                          struct bt_error *error)
{
    static const struct {
        const char *name;
        int (*set)(struct config *config, const char *value, struct bt_error *error);
    } keys[] = {{"socket", set_socket},
                {"stop-timeout", set_stop_timeout},
                {"pack-after", set_daemon_pack_after},
                {"pack-level", set_daemon_pack_level}};
    struct suggestion suggestion;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(line->key, keys[i].name) != 0)
            continue;
        if (parser->daemon_keys_seen & 1u << i)
            return bt_fail(error, BT_USAGE, "duplicate key %s in [daemon]", keys[i].name);
        parser->daemon_keys_seen |= 1u << i;
        int result = keys[i].set(parser->config, line->value, error);
        return result < 0 ? name_key(keys[i].name, error) : 0;
    }
    suggestion_begin(&suggestion, line->key);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        suggestion_try(&suggestion, keys[i].name);
    bt_fail(
        error, BT_USAGE,
        "unknown key \"%s\" in [daemon]; there are socket, stop-timeout, pack-after, pack-level",
        line->key);
    return suggestion_add(error, suggestion.nearest);
}

static int set_capture_key(struct config_parser *parser, const struct ini_line *line,
                           struct bt_error *error)
{
    char known[280] = "";
    struct suggestion suggestion;
    suggestion_begin(&suggestion, line->key);
    for (size_t i = 0; i < CAPTURE_KEYS; i++) {
        const struct config_key *key = &capture_keys[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", key->name);
        suggestion_try(&suggestion, key->name);
        if (strcmp(line->key, key->name) != 0)
            continue;
        if ((parser->keys_seen & 1u << i) && !key->repeatable)
            return bt_fail(error, BT_USAGE, "duplicate key %s in [capture %s]", key->name,
                           parser->capture->name);
        parser->keys_seen |= 1u << i;
        int result = key->set(parser->capture, line->value, error);
        return result < 0 ? name_key(key->name, error) : 0;
    }
    bt_fail(error, BT_USAGE, "unknown key \"%s\" in [capture %s]; there are %s", line->key,
            parser->capture->name, known);
    return suggestion_add(error, suggestion.nearest);
}

static int parse_line(struct config_parser *parser, const struct ini_line *line,
                      struct bt_error *error)
{
    if (line->section[0])
        return begin_section(parser, line, error);
    if (parser->capture)
        return set_capture_key(parser, line, error);
    if (parser->in_daemon)
        return set_daemon_key(parser, line, error);
    return bt_fail(error, BT_USAGE, "\"%s\" precedes the first [section]", line->key);
}

/* The folder of a prefix's files. False: it does not exist yet, or cannot be read. */
static bool find_folder(const char *prefix, struct stat *folder)
{
    char path[FILE_SET_PREFIX_MAX + 2];
    const char *slash = strrchr(prefix, '/');
    int size = slash ? (int)(slash - prefix) + 1 : 0;
    snprintf(path, sizeof path, "%.*s.", size, prefix);
    return stat(path, folder) == 0;
}

/* Whether two prefixes are the same files, however their folder is written. */
static bool same_output(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/');
    const char *slash_b = strrchr(b, '/');
    struct stat folder_a;
    struct stat folder_b;
    if (strcmp(a, b) == 0)
        return true;
    return strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 &&
           find_folder(a, &folder_a) && find_folder(b, &folder_b) &&
           folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
}

/* What a capture does not set, it has from the daemon's section. */
static int set_defaults(const struct config *config, struct config_capture *capture,
                        struct bt_error *error)
{
    const bool level_set = capture->pack_level != 0;
    if (capture->pack_after_ns == PACK_AFTER_DEFAULT)
        capture->pack_after_ns = config->pack_after_ns;
    if (!level_set)
        capture->pack_level = config->pack_level;
    if (level_set && capture->pack_after_ns == CONFIG_PACK_NEVER)
        return bt_fail(error, BT_USAGE, "[capture %s]: pack-level needs pack-after", capture->name);
    return 0;
}

/* Checks the configuration as a whole. *line receives the line of the first error. */
static int check(struct config *config, unsigned *line, struct bt_error *error)
{
    for (size_t i = 0; i < config->count; i++) {
        struct config_capture *capture = &config->captures[i];
        *line = capture->line;
        int result = set_defaults(config, capture, error);
        if (result < 0)
            return result;
        if (!capture->board[0] || !capture->settings.prefix[0])
            return bt_fail(error, BT_USAGE, "[capture %s] needs %s", capture->name,
                           capture->board[0] ? "an output" : "a board");
        result = rules_check(&capture->settings, error);
        if (result < 0)
            return bt_fail_within(error, "[capture %s]", capture->name);
        for (size_t j = 0; j < i; j++)
            if (same_output(config->captures[j].settings.prefix, capture->settings.prefix))
                return bt_fail(error, BT_USAGE, "[capture %s] has the same output as [capture %s]",
                               capture->name, config->captures[j].name);
    }
    return 0;
}

int config_parse(struct config **config, const char *name, const char *text, size_t size,
                 struct bt_error *error)
{
    struct config_parser parser = {.config = calloc(1, sizeof *parser.config)};
    struct ini_line *line = malloc(sizeof *line);
    struct ini ini;
    unsigned number = 0;
    int result;
    *config = NULL;
    if (!parser.config || !line) {
        result = bt_fail(error, BT_MEMORY, "no memory for the configuration");
        goto out;
    }
    parser.config->stop_ms = CONFIG_STOP_MS;
    parser.config->pack_after_ns = CONFIG_PACK_NEVER;
    parser.config->pack_level = PACK_LEVEL_DEFAULT;
    ini_begin(&ini, text, size);
    while ((result = ini_next(&ini, line, error)) > 0)
        if ((result = parse_line(&parser, line, error)) < 0)
            break;
    number = ini.line;
    if (result == 0)
        result = check(parser.config, &number, error);
    if (result < 0)
        bt_fail_within(error, "%s:%u", name, number);
out:
    free(line);
    if (result == 0)
        *config = parser.config;
    else
        config_free(parser.config);
    return result;
}

int config_read(struct config **config, const char *path, struct bt_error *error)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    int result;
    *config = NULL;
    if (!file) {
        result = bt_fail_errno(error, "cannot read the configuration %s", path);
        goto out;
    }
    text = malloc(CONFIG_BYTES_MAX + 1);
    if (!text) {
        result = bt_fail(error, BT_MEMORY, "no memory for the configuration");
        goto out;
    }
    size_t size = fread(text, 1, CONFIG_BYTES_MAX + 1, file);
    if (ferror(file))
        result = bt_fail_errno(error, "cannot read the configuration %s", path);
    else if (size > CONFIG_BYTES_MAX)
        result = bt_fail(error, BT_USAGE, "%s has more than %u bytes", path, CONFIG_BYTES_MAX);
    else if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* editors add a byte order mark */
        result = config_parse(config, path, text + 3, size - 3, error);
    else
        result = config_parse(config, path, text, size, error);
out:
    free(text);
    if (file)
        fclose(file);
    return result;
}

int config_check_machine(const struct config *config, const char *name, struct bt_error *error)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct config_capture *capture = &config->captures[i];
        if (boards_check(capture->board, error) < 0)
            return bt_fail_within(error, "%s:%u: [capture %s]", name, capture->line, capture->name);
        if (capture->exec_on_file[0] && file_command_check(capture->exec_on_file, error) < 0)
            return bt_fail_within(error, "%s:%u: [capture %s]: exec-on-file", name, capture->line,
                                  capture->name);
    }
    return 0;
}

void config_report_doubts(const struct config_capture *capture,
                          void (*report)(void *context, const char *sentence), void *context)
{
    const struct trigger_settings *trigger = &capture->settings.trigger;
    const char *const expressions[] = {capture->filter, trigger->trigger, trigger->stop_on};
    char text[FILTER_REPORT_BYTES];
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
        if (filter_report_doubt(text, expressions[i])[0])
            report(context, text);
}

void config_free(struct config *config)
{
    if (config)
        free(config->captures);
    free(config);
}
