/*
 * The part of a program's execution that a command captures: its options, and the places where
 * capturing starts and stops.
 */
#ifndef TOOLS_EXEC_REGION_OPTIONS_H
#define TOOLS_EXEC_REGION_OPTIONS_H

#include "capture/exec/kernel/process.h"
#include "tools/common/options.h"
#include "tools/symbols/exec_symbol.h"

#include <stdio.h>

struct region_options {
    uint64_t skip, limit;     /* number of instructions; 0: none */
    uint64_t on, off;         /* instructions captured, then skipped; off 0: capture all */
    const char *from, *until; /* places in exec_symbol_parse()'s form; NULL: none */
    const char *calls;        /* capture only during calls of this function; NULL: always */
    bool repeats, markers;
    bool ends; /* end the program after the captured part */
};

/* Rows of a command whose settings are `type`, with a struct region_options `member`. */
#define REGION_OPTION_ROWS(type, member)                                                           \
    {OPTION_COUNT, 0, "skip", "N", "skip the first N instructions", offsetof(type, member.skip),   \
     NULL},                                                                                        \
        {OPTION_POSITIVE,                                                                          \
         'n',                                                                                      \
         "count",                                                                                  \
         "N",                                                                                      \
         "capture N instructions, then stop",                                                      \
         offsetof(type, member.limit),                                                             \
         NULL},                                                                                    \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "start-at",                                                                               \
         "PLACE",                                                                                  \
         "start at FUNCTION, FUNCTION+0xOFFSET or 0xADDRESS; --skip counts from there",            \
         offsetof(type, member.from),                                                              \
         region_option_place},                                                                     \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "stop-at",                                                                                \
         "PLACE",                                                                                  \
         "stop before the instruction at this place",                                              \
         offsetof(type, member.until),                                                             \
         region_option_place},                                                                     \
        {OPTION_FLAG,                                                                              \
         0,                                                                                        \
         "repeat",                                                                                 \
         NULL,                                                                                     \
         "start at --start-at and stop at --stop-at each time",                                    \
         offsetof(type, member.repeats),                                                           \
         NULL},                                                                                    \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "calls",                                                                                  \
         "FUNCTION",                                                                               \
         "capture each call of the function, up to its return",                                    \
         offsetof(type, member.calls),                                                             \
         region_option_place},                                                                     \
        {OPTION_FLAG,                                                                              \
         0,                                                                                        \
         "markers",                                                                                \
         NULL,                                                                                     \
         "capture between BUSTAP_BEGIN and BUSTAP_END of bustap/mark.h",                           \
         offsetof(type, member.markers),                                                           \
         NULL},                                                                                    \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "sample",                                                                                 \
         "ON/OFF",                                                                                 \
         "capture ON instructions, skip OFF, and repeat: 1M/99M",                                  \
         offsetof(type, member),                                                                   \
         region_option_sample},                                                                    \
    {                                                                                              \
        OPTION_FLAG, 0, "exit", NULL, "end the program when the capture ends",                     \
            offsetof(type, member.ends), NULL                                                      \
    }

/* A place (const char *), of which only the form is checked: the program's process finds it. */
int region_option_place(void *place, const char *argument, struct bt_error *error);

/* ON/OFF, instructions, into a struct region_options. */
int region_option_sample(void *options, const char *argument, struct bt_error *error);

/* Checks combinations. 0 or BT_USAGE. */
int region_options_check(const struct region_options *options, struct bt_error *error);

/* The regions as the program's process needs them, without addresses that are not known yet. */
struct process_regions region_options_regions(const struct region_options *options);

/* The places where regions open and close. */
struct region_places {
    struct exec_symbol from, until;
};

/* Parses the texts; empty ones, or NULL, are no place. 0, BT_USAGE or BT_MEMORY; clear it in any
 * case. */
int region_places_parse(struct region_places *places, const char *from, const char *until,
                        struct bt_error *error);
void region_places_clear(struct region_places *places);

/* Searches the modules that were added since. Returns the place that was not found, or NULL. */
const struct exec_symbol *region_places_look(struct region_places *places,
                                             const struct modules *modules);

/* The addresses as in process_regions. */
void region_places_addresses(const struct region_places *places, uint64_t *from, uint64_t *until);

/* After the program: reports places that it did not have, or did not reach. messages may be NULL.
 */
void region_places_report(const struct region_places *places, bool opened, bool markers,
                          FILE *messages);
void region_places_report_missing(const struct exec_symbol *symbol, FILE *messages);

#endif
