#include "tests/lab/lab_control.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 6u

struct words {
    unsigned count;
    char *text[WORDS];
};

/* Returns NULL, or an error message. */
typedef const char *(*command_function)(struct lab_board *board, const struct words *words);

static const char *second(const struct words *words)
{
    return words->count > 1 ? words->text[1] : "";
}

/* A number of requests or bytes; k and M are thousands and millions. False for anything else. */
static bool number(double *value, const char *text, char **rest)
{
    *value = strtod(text, rest);
    if (*rest == text || !(*value >= 0) || isinf(*value))
        return false;
    if (**rest == 'k' || **rest == 'M')
        *value *= *(*rest)++ == 'k' ? 1e3 : 1e6;
    return true;
}

static bool count_of(uint64_t *value, const char *text)
{
    double parsed;
    char *rest;
    if (!number(&parsed, text, &rest) || *rest || parsed > 1e15)
        return false;
    *value = (uint64_t)parsed;
    return true;
}

static const char *on_or_off(bool *value, const struct words *words)
{
    *value = strcmp(second(words), "on") == 0;
    return *value || strcmp(second(words), "off") == 0 ? NULL : "on or off is needed";
}

/* --- commands -----------------------------------------------------------------------------------
 */

static const char *command_reset(struct lab_board *board, const struct words *words)
{
    (void)words;
    return lab_board_reset(board) ? NULL : "memory is insufficient";
}

static const char *command_plug(struct lab_board *board, const struct words *words)
{
    (void)words;
    lab_board_plug(board, true);
    return NULL;
}

static const char *command_unplug(struct lab_board *board, const struct words *words)
{
    (void)words;
    lab_board_plug(board, false);
    return NULL;
}

static const char *command_chip(struct lab_board *board, const struct words *words)
{
    bool two = strcmp(second(words), "2232h") == 0;
    if (!two && strcmp(second(words), "232h") != 0)
        return "232h or 2232h is needed";
    lab_board_chip(board)->type = two ? FTDI_CHIP_FT2232H : FTDI_CHIP_FT232H;
    return NULL;
}

/* The board's identity contains it, too. */
static const char *command_serial(struct lab_board *board, const struct words *words)
{
    struct ftdi_chip_settings *settings = lab_board_chip(board);
    if (!*second(words) || strlen(second(words)) >= sizeof settings->serial)
        return "a serial number is needed";
    strcpy(settings->serial, second(words));
    return lab_board_restart(board, 0) ? NULL : "memory is insufficient";
}

static const char *command_speed(struct lab_board *board, const struct words *words)
{
    bool full = strcmp(second(words), "full") == 0;
    if (!full && strcmp(second(words), "high") != 0)
        return "full or high is needed";
    lab_board_chip(board)->full_speed = full;
    return NULL;
}

static const char *command_eeprom(struct lab_board *board, const struct words *words)
{
    static const char *const states[] = {"fifo", "uart", "blank"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(second(words), states[i]) == 0) {
            lab_board_chip(board)->eeprom = (enum ftdi_chip_eeprom)i;
            return NULL;
        }
    return "fifo, uart or blank is needed";
}

static const char *command_queue(struct lab_board *board, const struct words *words)
{
    uint64_t frames;
    if (!count_of(&frames, second(words)) || frames < LAB_BOARD_FRAMES_MIN ||
        frames > LAB_BOARD_FRAMES_MAX)
        return "4 to 65535 frames are needed";
    return lab_board_restart(board, (uint32_t)frames) ? NULL : "memory is insufficient";
}

/* Requests per second, or with the suffix B bytes of plain frames on the link. */
static const char *command_rate(struct lab_board *board, const struct words *words)
{
    double rate;
    char *rest;
    if (!number(&rate, second(words), &rest))
        return "a number is needed";
    if (strcmp(rest, "B") == 0)
        rate /= LAB_BOARD_RECORD_BYTES;
    else if (*rest)
        return "a number is needed";
    lab_bus_set_rate(lab_board_bus(board), rate);
    return NULL;
}

static const char *command_requests(struct lab_board *board, const struct words *words)
{
    uint64_t requests = UINT64_MAX;
    if (strcmp(second(words), "endless") != 0 && !count_of(&requests, second(words)))
        return "a number or endless is needed";
    lab_board_bus(board)->requests = requests;
    return NULL;
}

static const char *command_hang(struct lab_board *board, const struct words *words)
{
    bool hung;
    const char *failure = on_or_off(&hung, words);
    if (!failure)
        lab_board_hang(board, hung);
    return failure;
}

static const char *command_gateware(struct lab_board *board, const struct words *words)
{
    bool on;
    const char *failure = on_or_off(&on, words);
    if (!failure && !lab_board_gateware(board, on))
        failure = "the model was built without verilator";
    return failure;
}

/* Bytes per second. */
static const char *command_link(struct lab_board *board, const struct words *words)
{
    double bytes;
    char *rest;
    if (!number(&bytes, second(words), &rest) || *rest || !lab_board_gateware_link(board, bytes))
        return "1 to 60M bytes per second are needed";
    return NULL;
}

static const char *command_restart(struct lab_board *board, const struct words *words)
{
    (void)words;
    return lab_board_restart(board, 0) ? NULL : "memory is insufficient";
}

static const char *command_version(struct lab_board *board, const struct words *words)
{
    uint64_t version;
    if (!count_of(&version, second(words)) || version > UINT8_MAX)
        return "a version is needed, 0 for its own";
    lab_board_fault(board)->version = (uint8_t)version;
    return NULL;
}

static const char *command_stale(struct lab_board *board, const struct words *words)
{
    return on_or_off(&lab_board_fault(board)->stale, words);
}

static const char *command_overrun(struct lab_board *board, const struct words *words)
{
    return on_or_off(&lab_board_fault(board)->overrun, words);
}

/* fault KIND N [TIMES] or fault KIND 1/N SEED */
static const char *command_fault(struct lab_board *board, const struct words *words)
{
    unsigned kind = FAULT_NONE + 1;
    uint64_t n, last = 1;
    while (kind < FAULT_KINDS && strcmp(second(words), fault_name((enum fault_kind)kind)) != 0)
        kind++;
    if (kind == FAULT_KINDS || words->count < 3)
        return "a kind and a number are needed";
    bool random = strncmp(words->text[2], "1/", 2) == 0;
    if (!count_of(&n, words->text[2] + (random ? 2 : 0)) || n == 0 ||
        (words->count > 3 && !count_of(&last, words->text[3])))
        return "numbers are needed";
    if (random)
        fault_random(lab_board_fault(board), (enum fault_kind)kind, n, last);
    else
        fault_nth(lab_board_fault(board), (enum fault_kind)kind, n, last);
    return NULL;
}

static const char *command_clear(struct lab_board *board, const struct words *words)
{
    (void)words;
    fault_clear(lab_board_fault(board));
    return NULL;
}

static const char *command_raw(struct lab_board *board, const struct words *words)
{
    double rate = -1;
    char *rest;
    if (strcmp(second(words), "max") == 0)
        rate = 0;
    else if (strcmp(second(words), "off") != 0 && (!number(&rate, second(words), &rest) || *rest))
        return "off, max or bytes per second are needed";
    lab_board_raw(board, rate);
    return NULL;
}

static const char *command_counters(struct lab_board *board, const struct words *words)
{
    (void)board;
    (void)words;
    return NULL; /* each answer has them */
}

static const struct {
    const char *name;
    command_function function;
} commands[] = {
    {"reset", command_reset},       {"plug", command_plug},         {"unplug", command_unplug},
    {"chip", command_chip},         {"serial", command_serial},     {"speed", command_speed},
    {"eeprom", command_eeprom},     {"queue", command_queue},       {"rate", command_rate},
    {"requests", command_requests}, {"hang", command_hang},         {"restart", command_restart},
    {"version", command_version},   {"stale", command_stale},       {"overrun", command_overrun},
    {"fault", command_fault},       {"clear", command_clear},       {"raw", command_raw},
    {"counters", command_counters}, {"gateware", command_gateware}, {"link", command_link},
};

/* --- lines --------------------------------------------------------------------------------------
 */

static void tell_counters(struct lab_board *board, char *answer)
{
    struct lab_board_counters counters;
    const struct fault *fault = lab_board_fault(board);
    lab_board_counters(board, &counters);
    snprintf(answer, LAB_CONTROL_LINE,
             "ok session=%" PRIu32 " state=%" PRIu32 " sent=%" PRIu64 " accepted=%" PRIu64
             " lost=%" PRIu64 " before=%" PRIu64 " waiting=%" PRIu32 " peak=%" PRIu32
             " faults=%" PRIu64 " damaged=%" PRIu64 " swallowed=%" PRIu64
             " opened=%u latency=%u queued=%u raw=%" PRIu64 " dropped=%" PRIu64 " stalled=%" PRIu64,
             counters.session, counters.firmware.state, counters.sent, counters.firmware.accepted,
             counters.firmware.lost, counters.before, counters.firmware.queue_fill,
             counters.firmware.queue_peak, fault->frames, fault->requests, fault->bytes,
             counters.opened, counters.latency_ms, counters.queued, counters.raw_sent,
             counters.raw_dropped, counters.firmware.stalled);
}

void lab_control(struct lab_board *const *boards, unsigned count, char *line,
                 char answer[LAB_CONTROL_LINE])
{
    struct words words = {0};
    char *rest = NULL;
    unsigned number_of_board = 0;
    for (char *word = strtok_r(line, " \r\n", &rest); word && words.count < WORDS;
         word = strtok_r(NULL, " \r\n", &rest)) {
        if (words.count == 0 && word[0] >= '0' && word[0] <= '9')
            number_of_board = (unsigned)strtoul(word, NULL, 10);
        else
            words.text[words.count++] = word;
    }
    if (number_of_board >= count) {
        snprintf(answer, LAB_CONTROL_LINE, "error no board %u", number_of_board);
        return;
    }
    if (words.count == 2 && strcmp(words.text[0], "sync") == 0) {
        snprintf(answer, LAB_CONTROL_LINE, "ok %s", words.text[1]);
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (words.count == 0 || strcmp(words.text[0], commands[i].name) != 0)
            continue;
        const char *failure = commands[i].function(boards[number_of_board], &words);
        if (failure)
            snprintf(answer, LAB_CONTROL_LINE, "error %s: %s", commands[i].name, failure);
        else
            tell_counters(boards[number_of_board], answer);
        return;
    }
    snprintf(answer, LAB_CONTROL_LINE, "error unknown command");
}
