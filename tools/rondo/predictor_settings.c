#include "tools/rondo/predictor_settings.h"

#include "formats/base/power.h"
#include "formats/base/quantity.h"
#include "tools/common/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 48u

/* A parameter of a kind of predictor; a list ends with a row without name and with least 0. */
struct parameter {
    const char *name;
    size_t offset; /* in struct predictor_settings */
    uint32_t value, least, most;
    bool power; /* must be a power of two */
};

#define PARAMETERS_MAX 8
#define FIELD(member)  offsetof(struct predictor_settings, member)
#define MEGA           (1u << 20)

struct predictor_form {
    const char *name;
    struct parameter parameters[PARAMETERS_MAX + 1];
};

static const struct predictor_form forms[PREDICTOR_KINDS] = {
    {"taken", {{NULL, 0, 0, 0, 0, false}}},
    {"not-taken", {{NULL, 0, 0, 0, 0, false}}},
    {"backward", {{NULL, 0, 0, 0, 0, false}}},
    {"bimodal",
     {{"entries", FIELD(entries), 4096, 1, 16 * MEGA, true},
      {"bits", FIELD(bits), 2, 1, 8, false}}},
    {"gshare",
     {{"entries", FIELD(entries), 4096, 1, 16 * MEGA, true},
      {"history", FIELD(history), UINT32_MAX, 0, 64, false}, /* log2 entries */
      {"bits", FIELD(bits), 2, 1, 8, false}}},
    {"local",
     {{"histories", FIELD(histories), 1024, 1, MEGA, true},
      {"history", FIELD(history), 10, 1, 24, false},
      {"bits", FIELD(bits), 2, 1, 8, false}}},
    {"tournament",
     {{"histories", FIELD(histories), 1024, 1, MEGA, true},
      {"local", FIELD(local_history), 10, 1, 24, false},
      {"local-bits", FIELD(local_bits), 3, 1, 8, false},
      {"history", FIELD(history), 12, 1, 24, false},
      {"bits", FIELD(bits), 2, 1, 8, false}}},
    {"tage",
     {{"base", FIELD(base), 4096, 1, 16 * MEGA, true},
      {"tables", FIELD(tables), 7, 1, TAGE_TABLES_MAX, false},
      {"entries", FIELD(entries), 1024, 1, MEGA, true},
      {"history", FIELD(history), 5, 1, TAGE_HISTORY_MAX, false},
      {"tag", FIELD(tag_bits), 9, 2, 16, false},
      {"bits", FIELD(bits), 3, 2, 8, false},
      {"useful", FIELD(useful_bits), 2, 1, 8, false},
      {"period", FIELD(period), 262144, 1, UINT32_MAX, false}}},
    {"perceptron",
     {{"entries", FIELD(entries), 512, 1, MEGA, true},
      {"history", FIELD(history), 32, 1, 64, false},
      {"bits", FIELD(bits), 8, 2, 16, false}}}};

static uint32_t *field_of(struct predictor_settings *settings, const struct parameter *parameter)
{
    return (uint32_t *)(void *)((char *)settings + parameter->offset);
}

static uint32_t value_of(const struct predictor_settings *settings,
                         const struct parameter *parameter)
{
    uint32_t value;
    memcpy(&value, (const char *)settings + parameter->offset, sizeof value);
    return value;
}

/* Parses TAGE's history, two numbers "5..130"; a single number is both. */
static bool is_range(const struct predictor_settings *settings, const struct parameter *parameter)
{
    return settings->kind == PREDICTOR_TAGE && parameter->offset == FIELD(history);
}

const char *predictor_kind_name(enum predictor_kind kind)
{
    return forms[kind].name;
}

static int take_number(uint32_t *number, const struct parameter *parameter, const char *text,
                       struct bt_error *error)
{
    uint64_t value;
    if (*text < '0' || *text > '9' || quantity_bytes(&value, text, error) < 0)
        return bt_fail(error, BT_USAGE, "%s is a number, not '%.20s'", parameter->name, text);
    if (value < parameter->least || value > parameter->most)
        return bt_fail(error, BT_USAGE, "%s can be %" PRIu32 " to %" PRIu32 ", not %" PRIu64,
                       parameter->name, parameter->least, parameter->most, value);
    if (parameter->power && !power_is(value))
        return bt_fail(error, BT_USAGE, "%s is a power of two, not %" PRIu64, parameter->name,
                       value);
    *number = (uint32_t)value;
    return 0;
}

static int take_range(struct predictor_settings *settings, const struct parameter *parameter,
                      char *text, struct bt_error *error)
{
    char *dots = strstr(text, "..");
    if (dots)
        *dots = '\0';
    int result = take_number(&settings->history, parameter, text, error);
    if (result == 0)
        result = take_number(&settings->last_history, parameter, dots ? dots + 2 : text, error);
    return result;
}

static int take_word(struct predictor_settings *settings, char *word, struct bt_error *error)
{
    const struct predictor_form *form = &forms[settings->kind];
    char *equals = strchr(word, '=');
    if (!equals)
        return bt_fail(error, BT_USAGE, "'%.40s' is not parameter=value", word);
    *equals = '\0';
    const struct parameter *parameter = form->parameters;
    while (parameter->name && strcmp(parameter->name, word) != 0)
        parameter++;
    if (parameter->name)
        return is_range(settings, parameter)
                   ? take_range(settings, parameter, equals + 1, error)
                   : take_number(field_of(settings, parameter), parameter, equals + 1, error);
    char list[120] = "it has none";
    size_t used = 0;
    for (parameter = form->parameters; parameter->name; parameter++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                 parameter->name);
    return bt_fail(error, BT_USAGE, "there is no parameter '%.40s': %s", word, list);
}

static int take_words(struct predictor_settings *settings, const char *words,
                      struct bt_error *error)
{
    while (*words) {
        char word[WORD_BYTES];
        const char *next = words_next(words, word, sizeof word);
        if (!next)
            return bt_fail(error, BT_USAGE, "'%.40s...' is too long", words);
        words = next;
        int result = take_word(settings, word, error);
        if (result < 0)
            return result;
    }
    return 0;
}

static int find_kind(struct predictor_settings *settings, const char *text, struct bt_error *error)
{
    size_t size = strcspn(text, ":");
    for (unsigned kind = 0; kind < PREDICTOR_KINDS; kind++)
        if (strlen(forms[kind].name) == size && strncmp(forms[kind].name, text, size) == 0) {
            *settings = (struct predictor_settings){.kind = (enum predictor_kind)kind};
            return 0;
        }
    return bt_fail(error, BT_USAGE,
                   "can be taken, not-taken, backward, bimodal, gshare, local, tournament, tage or "
                   "perceptron, not '%.*s'",
                   size < 40 ? (int)size : 40, text);
}

/* Fills in dependent defaults and checks combinations of parameters. */
static int complete(struct predictor_settings *settings, struct bt_error *error)
{
    if (settings->kind == PREDICTOR_GSHARE && settings->history == UINT32_MAX)
        settings->history = power_log2(settings->entries);
    if (settings->kind != PREDICTOR_TAGE)
        return 0;
    if (settings->tables == 1 && settings->history != settings->last_history)
        return bt_fail(error, BT_USAGE, "one table has one history, as in history=12");
    uint32_t lengths[TAGE_TABLES_MAX];
    predictor_lengths(settings, lengths);
    for (unsigned i = 1; i < settings->tables; i++)
        if (lengths[i] <= lengths[i - 1])
            return bt_fail(error, BT_USAGE,
                           "history %" PRIu32 "..%" PRIu32 " has no lengths for %" PRIu32 " tables",
                           settings->history, settings->last_history, settings->tables);
    return 0;
}

int predictor_settings_read(struct predictor_settings *settings, const char *text,
                            struct bt_error *error)
{
    int result = find_kind(settings, text, error);
    if (result < 0)
        return result;
    const struct predictor_form *form = &forms[settings->kind];
    for (const struct parameter *parameter = form->parameters; parameter->name; parameter++)
        *field_of(settings, parameter) = parameter->value;
    if (settings->kind == PREDICTOR_TAGE)
        settings->last_history = 130;
    const char *colon = strchr(text, ':');
    if (colon && !colon[1])
        return bt_fail(error, BT_USAGE, "no parameter follows the colon of '%.40s'", text);
    result = colon ? take_words(settings, colon + 1, error) : 0;
    if (result == 0)
        result = complete(settings, error);
    return result < 0 ? bt_fail_within(error, "%s", form->name) : 0;
}

char *predictor_settings_text(char *text, const struct predictor_settings *settings)
{
    const struct predictor_form *form = &forms[settings->kind];
    size_t used = (size_t)snprintf(text, PREDICTOR_TEXT_BYTES, "%s", form->name);
    for (const struct parameter *parameter = form->parameters; parameter->name; parameter++) {
        used += (size_t)snprintf(text + used, PREDICTOR_TEXT_BYTES - used, "%c%s=%" PRIu32,
                                 parameter == form->parameters ? ':' : ',', parameter->name,
                                 value_of(settings, parameter));
        if (is_range(settings, parameter) && settings->tables > 1)
            used += (size_t)snprintf(text + used, PREDICTOR_TEXT_BYTES - used, "..%" PRIu32,
                                     settings->last_history);
    }
    return text;
}

void predictor_lengths(const struct predictor_settings *settings, uint32_t lengths[TAGE_TABLES_MAX])
{
    const double first = settings->history;
    const double ratio = (double)settings->last_history / first;
    const unsigned steps = settings->tables - 1;
    lengths[0] = settings->history;
    for (unsigned i = 1; i < steps; i++) {
        lengths[i] = (uint32_t)lround(first * pow(ratio, (double)i / (double)steps));
        if (lengths[i] <= lengths[i - 1])
            lengths[i] = lengths[i - 1] + 1;
    }
    if (steps > 0)
        lengths[steps] = settings->last_history;
}

uint64_t predictor_settings_storage(const struct predictor_settings *settings)
{
    const uint64_t local = (uint64_t)settings->histories * settings->history;
    switch (settings->kind) {
    case PREDICTOR_BIMODAL:
        return (uint64_t)settings->entries * settings->bits;
    case PREDICTOR_GSHARE:
        return (uint64_t)settings->entries * settings->bits + settings->history;
    case PREDICTOR_LOCAL:
        return local + ((uint64_t)settings->bits << settings->history);
    case PREDICTOR_TOURNAMENT:
        return (uint64_t)settings->histories * settings->local_history +
               ((uint64_t)settings->local_bits << settings->local_history) +
               ((uint64_t)settings->bits << settings->history) * 2 + settings->history;
    case PREDICTOR_TAGE:
        return (uint64_t)settings->base * 2 + settings->last_history +
               (uint64_t)settings->tables * settings->entries *
                   (settings->bits + settings->tag_bits + settings->useful_bits);
    case PREDICTOR_PERCEPTRON:
        return (uint64_t)settings->entries * (settings->history + 1) * settings->bits +
               settings->history;
    default:
        return 0;
    }
}
