#include "tools/dcfg/graph/find_routine.h"

#include "formats/base/edit_distance.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED     4u /* maximum number of names in a message */
#define NAME_SHOW 60 /* maximum bytes of a name in a message */

/* How well a routine matches a name, in ascending order. */
enum fit { FIT_NONE, FIT_WITHIN, FIT_EXACT };

static bool is_offset(const char *text, uint64_t offset)
{
    char wanted[24];
    snprintf(wanted, sizeof wanted, "+0x%" PRIx64, offset);
    return strcmp(text, wanted) == 0;
}

static enum fit fit(const struct code_location *location, const char *name, uint64_t address,
                    bool is_address)
{
    if (is_address)
        return location->address == address ? FIT_EXACT : FIT_NONE;
    if (!location->symbol)
        return FIT_NONE;
    size_t length = strlen(location->symbol);
    if (strncmp(name, location->symbol, length) != 0)
        return FIT_NONE;
    if (name[length] == 0)
        return location->symbol_offset == 0 ? FIT_EXACT : FIT_WITHIN;
    return is_offset(name + length, location->symbol_offset) ? FIT_EXACT : FIT_NONE;
}

/* --- suggestions ----------------------------------------------------------------------------- */

struct near {
    uint32_t routine;
    size_t distance;
};

/* Distance of a name; 1 if it contains the one requested; above `most` it is not similar. */
static size_t distance(const char *name, const char *symbol, size_t most)
{
    size_t longer = strnlen(symbol, EDIT_DISTANCE_BYTES);
    size_t shorter = strnlen(name, EDIT_DISTANCE_BYTES);
    if (*name && strstr(symbol, name))
        return 1;
    size_t difference = longer > shorter ? longer - shorter : shorter - longer;
    return difference > most ? difference : edit_distance(name, symbol);
}

/* The most similar names first. */
static unsigned find_near(struct near near[NAMED], const struct dcfg_process *process,
                          const struct names *names, const char *name)
{
    unsigned found = 0;
    size_t most =
        strnlen(name, EDIT_DISTANCE_BYTES) / 3 + 1; /* larger distances are different names */
    for (uint32_t i = 0; i < process->routine_count; i++) {
        struct code_location location;
        names_of_routine(names, i, &location);
        size_t now = location.symbol ? distance(name, location.symbol, most) : SIZE_MAX;
        if (now > most || (found == NAMED && now >= near[NAMED - 1].distance))
            continue;
        unsigned at = found < NAMED ? found++ : NAMED - 1;
        for (; at > 0 && near[at - 1].distance > now; at--)
            near[at] = near[at - 1];
        near[at] = (struct near){.routine = i, .distance = now};
    }
    return found;
}

static void append(char text[360], const struct code_location *location, bool first)
{
    size_t used = strlen(text);
    snprintf(text + used, 360 - used, "%s%.*s", first ? "" : ", ", NAME_SHOW,
             location->symbol ? location->symbol : "");
    used = strlen(text);
    if (location->symbol_offset > 0)
        snprintf(text + used, 360 - used, "+0x%" PRIx64, location->symbol_offset);
    used = strlen(text);
    snprintf(text + used, 360 - used, " (0x%" PRIx64 ")", location->address);
}

static int unknown(const struct dcfg_process *process, const struct names *names, const char *name,
                   struct bt_error *error)
{
    struct near near[NAMED];
    char list[360] = "";
    unsigned found = find_near(near, process, names, name);
    for (unsigned i = 0; i < found; i++) {
        struct code_location location;
        names_of_routine(names, near[i].routine, &location);
        append(list, &location, i == 0);
    }
    if (process->routine_count == 0)
        return bt_fail(error, BT_USAGE, "there are no routines in this graph");
    if (found == 0)
        return bt_fail(error, BT_USAGE, "no routine has the name '%.*s' or a similar one",
                       NAME_SHOW, name);
    return bt_fail(error, BT_USAGE, "no routine is called '%.*s'; near it: %s", NAME_SHOW, name,
                   list);
}

static int ambiguous(const struct dcfg_process *process, const struct names *names,
                     const char *name, enum fit wanted, uint32_t count, struct bt_error *error)
{
    char list[360] = "";
    unsigned named = 0;
    for (uint32_t i = 0; i < process->routine_count && named < NAMED; i++) {
        struct code_location location;
        names_of_routine(names, i, &location);
        if (fit(&location, name, 0, false) == wanted)
            append(list, &location, named++ == 0);
    }
    return bt_fail(error, BT_USAGE, "%" PRIu32 " routines are called '%.*s', say which: %s%s",
                   count, NAME_SHOW, name, list, count > named ? ", ..." : "");
}

int find_routine(uint32_t *routine, const struct dcfg_process *process, const struct names *names,
                 const char *name, struct bt_error *error)
{
    uint32_t counts[FIT_EXACT + 1] = {0};
    uint32_t last[FIT_EXACT + 1] = {0};
    char *end;
    uint64_t address = strtoull(name, &end, 0);
    bool is_address = name[0] >= '0' && name[0] <= '9' && *end == 0;
    for (uint32_t i = 0; i < process->routine_count; i++) {
        struct code_location location;
        names_of_routine(names, i, &location);
        enum fit now = fit(&location, name, address, is_address);
        counts[now]++;
        last[now] = i;
    }
    enum fit best = counts[FIT_EXACT] > 0 ? FIT_EXACT : FIT_WITHIN;
    if (counts[best] == 0)
        return unknown(process, names, name, error);
    if (counts[best] > 1 && !is_address)
        return ambiguous(process, names, name, best, counts[best], error);
    *routine = last[best];
    return 0;
}
