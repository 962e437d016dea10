/* What users choose of a picture: options that all commands that draw share. */
#ifndef TOOLS_PLOT_FIGURE_OPTIONS_H
#define TOOLS_PLOT_FIGURE_OPTIONS_H

#include "formats/base/error.h"

#include <stdbool.h>

/* Scales of the axes of curves and bars. */
enum figure_log {
    FIGURE_LOG_SUITABLE, /* as suits the picture */
    FIGURE_LOG_NONE,
    FIGURE_LOG_X,
    FIGURE_LOG_Y,
    FIGURE_LOG_XY
};

struct figure_options {
    const char *format;     /* "svg", "png" or "pdf"; NULL: by the name of the picture */
    const char *title;      /* NULL: the command's */
    unsigned width, height; /* in pixels, 96 an inch; 0: FIGURE_WIDTH, FIGURE_HEIGHT */
    enum figure_log log;
    const char *filter; /* no option: the filter of the records, for the subtitle; NULL: none */
};

/* Read the arguments of --size and --log into a struct figure_options. */
int figure_options_size(void *options, const char *argument, struct bt_error *error);
int figure_options_log(void *options, const char *argument, struct bt_error *error);

/* Whether any is given. */
bool figure_options_given(const struct figure_options *options);

/* Option rows; member is a struct figure_options. */
#define FIGURE_OPTIONS(type, member)                                                               \
    {OPTION_TEXT,                                                                                  \
     0,                                                                                            \
     "plot-format",                                                                                \
     "FORMAT svg png pdf",                                                                         \
     "svg, png or pdf (default: by the name of the picture)",                                      \
     offsetof(type, member.format),                                                                \
     NULL},                                                                                        \
        {OPTION_TEXT, 0, "title", "TEXT", "title of the picture", offsetof(type, member.title),    \
         NULL},                                                                                    \
        {OPTION_CALL,                                                                              \
         0,                                                                                        \
         "size",                                                                                   \
         "WxH",                                                                                    \
         "size of the picture in pixels, or with in, cm, mm: 88mmx60mm (default: 1200x800)",       \
         offsetof(type, member),                                                                   \
         figure_options_size},                                                                     \
    {                                                                                              \
        OPTION_CALL, 0, "log", "AXES x y xy none",                                                 \
            "logarithmic axes of curves: x, y, xy or none (default: as suits the picture)",        \
            offsetof(type, member), figure_options_log                                             \
    }

#endif
