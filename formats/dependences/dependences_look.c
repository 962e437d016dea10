#include "formats/dependences/dependences_look_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *dependences_file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path;
}

/* "a.c:12", or "a.c" if the line is unknown. */
static char *put_line(char *at, const struct dependence_place *place)
{
    if (place->file)
        at += sprintf(at, "%s", dependences_file_name(place->file));
    if (place->file && place->line > 0)
        at += sprintf(at, ":%" PRIu32, place->line);
    return at;
}

/* "prog+0x1139"; "0x401139" outside of modules; or the module, if there is no file. */
static char *put_instruction(char *at, const struct dependence_place *place)
{
    const char *module = dependences_file_name(place->module);
    if (module && place->offset != DEPENDENCES_UNKNOWN)
        at += sprintf(at, " %s+0x%" PRIx64, module, place->offset);
    else if (place->address != DEPENDENCES_UNKNOWN)
        at += sprintf(at, " 0x%" PRIx64, place->address);
    else if (module && !place->file)
        at += sprintf(at, " %s", module);
    return at;
}

const char *dependences_look(const struct dependences *dependences, uint32_t place,
                             char text[DEPENDENCES_LOOK_BYTES])
{
    char *at = text;
    text[0] = text[1] = 0;
    if (place == DEPENDENCES_NONE)
        return text;
    const struct dependence_place *known = &dependences->places[place];
    at = put_line(at, known);
    if (known->function)
        at += sprintf(at, " %s", known->function);
    at = put_instruction(at, known);
    if (at == text)
        return "?";
    return text[0] == ' ' ? text + 1 : text;
}

const char *dependences_look_distance(const struct dependence *row,
                                      char text[DEPENDENCES_DISTANCE_BYTES])
{
    const char *more = row->at_least ? " or more" : "";
    if (row->least == row->greatest)
        snprintf(text, DEPENDENCES_DISTANCE_BYTES, "%" PRIu64 "%s", row->least, more);
    else
        snprintf(text, DEPENDENCES_DISTANCE_BYTES, "%" PRIu64 " to %" PRIu64 "%s, mean %.2f",
                 row->least, row->greatest, more, dependence_mean(row));
    return text;
}
