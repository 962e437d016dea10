#include "tools/plot/figure_options.h"

#include "tools/plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a length with or without a unit; *text is advanced. False: it is none. */
static bool take_length(const char **text, unsigned *pixels)
{
    static const struct {
        const char *name;
        double pixels;
    } units[] = {{"px", 1}, {"in", 96}, {"cm", 96 / 2.54}, {"mm", 96 / 25.4}};
    char *end;
    if (**text < '0' || **text > '9' || (*text)[1] == 'x' || (*text)[1] == 'X')
        return false; /* strtod reads signs and "0x10", too */
    double number = strtod(*text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(end, units[i].name, 2) == 0) {
            number *= units[i].pixels;
            end += 2;
            break;
        }
    *pixels = number < 1e6 ? (unsigned)lround(number) : 1000000;
    *text = end;
    return true;
}

int figure_options_size(void *options, const char *argument, struct bt_error *error)
{
    struct figure_options *figure = options;
    const char *rest = argument;
    bool valid = take_length(&rest, &figure->width) && (*rest == 'x' || *rest == 'X');
    if (valid) {
        rest++;
        valid = take_length(&rest, &figure->height) && !*rest;
    }
    if (!valid)
        return bt_fail(
            error, BT_USAGE,
            "'%.40s' is not a size: use WIDTHxHEIGHT, in pixels or with in, cm, mm: 88mmx60mm",
            argument);
    return figure_size_check(figure->width, figure->height, error);
}

int figure_options_log(void *options, const char *argument, struct bt_error *error)
{
    static const char *const names[] = {[FIGURE_LOG_NONE] = "none",
                                        [FIGURE_LOG_X] = "x",
                                        [FIGURE_LOG_Y] = "y",
                                        [FIGURE_LOG_XY] = "xy"};
    for (enum figure_log log = FIGURE_LOG_NONE; log <= FIGURE_LOG_XY; log++)
        if (strcmp(argument, names[log]) == 0) {
            ((struct figure_options *)options)->log = log;
            return 0;
        }
    return bt_fail(error, BT_USAGE, "'%.40s' is not x, y, xy or none", argument);
}

bool figure_options_given(const struct figure_options *options)
{
    return options->format || options->title || options->width > 0 ||
           options->log != FIGURE_LOG_SUITABLE;
}
