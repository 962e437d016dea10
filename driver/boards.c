#include "driver/boards.h"

#include "driver/ftdi.h"
#include "driver/ftdi_options.h"
#include "driver/program_board.h"
#include "driver/virtual_board.h"
#include "formats/base/quantity.h"
#include "formats/base/suggestion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SPECIFICATION_MAX 4352u /* longest file name plus the options */

/* --- options of virtual boards ------------------------------------------------------------------
 */

static int parse_number(uint64_t *number, const char *name, const char *value, uint64_t low,
                        uint64_t high, struct bt_error *error)
{
    int code = quantity_count(number, value, error);
    if (code < 0)
        return bt_fail_within(error, "%s=%s", name, value);
    if (*number < low || *number > high)
        return bt_fail(error, BT_USAGE, "%s=%s: %llu to %llu are allowed", name, value,
                       (unsigned long long)low, (unsigned long long)high);
    return 0;
}

static int parse_replay(struct virtual_board_settings *settings, const char *value,
                        struct bt_error *error)
{
    if (!value[0] || strlen(value) >= sizeof settings->bus.replay)
        return bt_fail(error, BT_USAGE, "replay= needs the name of a trace file");
    strcpy(settings->bus.replay, value);
    return 0;
}

static int parse_smp(struct virtual_board_settings *settings, const char *value,
                     struct bt_error *error)
{
    uint64_t number;
    int code = parse_number(&number, "smp", value, 1, 8, error);
    if (code == 0)
        settings->bus.processors = (uint32_t)number;
    return code;
}

static int parse_loop(struct virtual_board_settings *settings, const char *value,
                      struct bt_error *error)
{
    (void)value;
    (void)error;
    settings->bus.loop = true;
    return 0;
}

static int parse_seed(struct virtual_board_settings *settings, const char *value,
                      struct bt_error *error)
{
    return parse_number(&settings->bus.seed, "seed", value, 0, UINT64_MAX, error);
}

static int parse_requests(struct virtual_board_settings *settings, const char *value,
                          struct bt_error *error)
{
    return parse_number(&settings->bus.requests, "requests", value, 1, UINT64_MAX - 1, error);
}

static int parse_rate(struct virtual_board_settings *settings, const char *value,
                      struct bt_error *error)
{
    settings->bus.pace = BUS_PACE_MAX;
    if (strcmp(value, "max") == 0)
        return 0;
    settings->bus.pace = BUS_PACE_REAL;
    if (strcmp(value, "real") == 0)
        return 0;
    settings->bus.pace = BUS_PACE_RATE;
    if (quantity_count(&settings->bus.phases_per_second, value, error) < 0 ||
        settings->bus.phases_per_second == 0)
        return bt_fail(error, BT_USAGE,
                       "rate=%s: max, real, or a number of requests a second is allowed", value);
    return 0;
}

static int parse_clock(struct virtual_board_settings *settings, const char *value,
                       struct bt_error *error)
{
    return parse_number(&settings->bus.clock_hz, "clock", value, 1, UINT64_C(10000000000), error);
}

static int parse_queue(struct virtual_board_settings *settings, const char *value,
                       struct bt_error *error)
{
    uint64_t number;
    int code = parse_number(&number, "queue", value, VIRTUAL_BOARD_FRAMES_MIN,
                            VIRTUAL_BOARD_FRAMES_MAX, error);
    if (code == 0)
        settings->frames = (uint32_t)number;
    return code;
}

static int parse_link(struct virtual_board_settings *settings, const char *value,
                      struct bt_error *error)
{
    return parse_number(&settings->link_rate, "link", value, 1000, UINT64_C(1000000000000), error);
}

enum { WITH_REPLAY = 1, WITH_SMP = 2, WITH_BOTH = WITH_REPLAY | WITH_SMP };

static const struct option {
    const char *name;
    bool value; /* takes a value: name=VALUE */
    unsigned with;
    int (*parse)(struct virtual_board_settings *settings, const char *value,
                 struct bt_error *error);
} options[] = {
    {"replay", true, WITH_REPLAY, parse_replay},   {"smp", true, WITH_SMP, parse_smp},
    {"loop", false, WITH_REPLAY, parse_loop},      {"seed", true, WITH_SMP, parse_seed},
    {"requests", true, WITH_BOTH, parse_requests}, {"rate", true, WITH_BOTH, parse_rate},
    {"clock", true, WITH_BOTH, parse_clock},       {"queue", true, WITH_BOTH, parse_queue},
    {"link", true, WITH_BOTH, parse_link}};

#define OPTIONS (sizeof options / sizeof *options)

static const char *allowed(unsigned with)
{
    if (with == WITH_REPLAY)
        return "loop, requests=N, rate=max|real|N, clock=HZ, queue=FRAMES and link=BYTES are "
               "allowed with replay=FILE";
    return "seed=S, requests=N, rate=max|real|N, clock=HZ, queue=FRAMES and link=BYTES are allowed "
           "with smp=N";
}

/* Parses one option, "name" or "name=value"; *with is the kind of board, 0 while unknown. */
static int parse_option(struct virtual_board_settings *settings, char *text, unsigned *with,
                        unsigned *seen, struct bt_error *error)
{
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    for (unsigned i = 0; i < OPTIONS; i++) {
        const struct option *option = &options[i];
        if (strcmp(text, option->name) != 0)
            continue;
        if (*seen >> i & 1)
            return bt_fail(error, BT_USAGE, "%s is given twice", text);
        if (!value != !option->value)
            return bt_fail(error, BT_USAGE,
                           option->value ? "%s needs a value: %s=..." : "%s takes no value", text,
                           text);
        if (*with && !(option->with & *with))
            break;
        *with = *with ? *with : option->with;
        *seen |= 1u << i;
        return option->parse(settings, value ? value : "", error);
    }
    return bt_fail(error, BT_USAGE, "no option '%s' here: %s", text, allowed(*with));
}

/* Parses the part after "virtual:". */
static int parse_virtual(struct virtual_board_settings *settings, const char *specification,
                         const char *text, struct bt_error *error)
{
    char copy[SPECIFICATION_MAX];
    unsigned with = 0, seen = 0;

    if (strncmp(text, "replay=", 7) != 0 && strncmp(text, "smp=", 4) != 0)
        return bt_fail(error, BT_USAGE,
                       "board '%s': virtual: needs replay=FILE or smp=N first, then options",
                       specification);
    if (strlen(text) >= sizeof copy)
        return bt_fail(error, BT_USAGE, "a board specification has at most %u characters",
                       SPECIFICATION_MAX - 1);
    strcpy(copy, text);
    for (char *at = copy, *next; at; at = next) {
        next = strchr(at, ',');
        if (next)
            *next++ = '\0';
        if (parse_option(settings, at, &with, &seen, error) < 0)
            return bt_fail_within(error, "board '%s'", specification);
    }
    return 0;
}

/* --- all boards ---------------------------------------------------------------------------------
 */

/* A parsed specification. */
struct board_choice {
    bool is_virtual;
    const char *command;                   /* of a program, else NULL */
    const char *ftdi;                      /* the options of an FTDI board */
    struct virtual_board_settings virtual; /* with is_virtual */
};

static int fail_unknown(const char *specification, struct bt_error *error)
{
    static const char *const kinds[] = {"virtual", "ftdi", "program", NULL};
    char kind[16];
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(specification, ":"), specification);
    bt_fail(error, BT_USAGE,
            "no board '%s': boards are virtual:replay=FILE, virtual:smp=N and "
            "ftdi[:serial=S], each with options, and program:COMMAND",
            specification);
    if (strcmp(kind, "virtual") == 0 || strcmp(kind, "program") == 0)
        return error->code; /* the kind is right, what follows it is missing */
    return suggestion_add(error, suggestion_among(kind, kinds));
}

static int parse(struct board_choice *choice, const char *specification, struct bt_error *error)
{
    struct ftdi_options ftdi;
    *choice = (struct board_choice){.ftdi = ""};
    if (strncmp(specification, "virtual:", 8) == 0) {
        choice->is_virtual = true;
        return parse_virtual(&choice->virtual, specification, specification + 8, error);
    }
    if (strncmp(specification, "program:", 8) == 0) {
        choice->command = specification + 8;
        int result = program_board_check(choice->command, error);
        return result < 0 ? bt_fail_within(error, "board '%.200s'", specification) : 0;
    }
    if (strcmp(specification, "ftdi") == 0)
        return 0;
    if (strncmp(specification, "ftdi:", 5) == 0) {
        choice->ftdi = specification + 5;
        return ftdi_options_parse(&ftdi, choice->ftdi, error);
    }
    return fail_unknown(specification, error);
}

int boards_check(const char *specification, struct bt_error *error)
{
    struct board_choice choice;
    struct bt_error own = {0};
    return parse(&choice, specification, error ? error : &own);
}

int boards_open(struct stream **stream, const char *specification, struct bt_error *error)
{
    struct board_choice choice;
    struct bt_error own = {0};
    error = error ? error : &own;
    int result = parse(&choice, specification, error);
    if (result < 0)
        return result;
    if (choice.command)
        result = program_board_open(stream, choice.command, specification, error);
    else if (choice.is_virtual)
        result = virtual_board_open(stream, &choice.virtual, specification, error);
    else
        return ftdi_open(stream, choice.ftdi, error);
    return result < 0 ? bt_fail_within(error, "board '%s'", specification) : 0;
}

int boards_list(struct board_listing **listings, size_t *count, struct bt_error *error)
{
    return ftdi_list(listings, count, error);
}
