/* The studies of `bustap plot`: a study processes batches, then draws and prints. */
#ifndef TOOLS_PLOT_PLOT_STUDY_H
#define TOOLS_PLOT_PLOT_STUDY_H

#include "formats/record/batch.h"
#include "formats/record/capture_info.h"
#include "tools/input/record_input.h"
#include "tools/plot/figure.h"

#define PLOT_LINES_MAX 4u /* maximum number of line sizes */

enum plot_form { PLOT_NO_DATA, PLOT_CSV, PLOT_JSON };

struct plot_study_settings {
    const char *title;
    size_t bins; /* maximum number of bins of time; 0: as suits the picture */
    const struct record_input_settings *input; /* what is drawn of the trace */
    bool whole;                                /* show all addresses from..to, used or not */
    uint32_t from, to;                         /* address range, both included */
    uint32_t lines[PLOT_LINES_MAX];
    size_t line_count;
    uint64_t memory;                    /* limit in bytes, for all lines */
    unsigned width, height;             /* in pixels */
    enum plot_form form;                /* form of the data on standard output */
    const struct figure_output *output; /* NULL: no picture */
};

struct plot_study {
    const char *name; /* name in the option --of */

    /* Begins a study. The caller keeps the settings alive. NULL and *error on failure. */
    void *(*begin)(const struct plot_study_settings *settings, struct bt_error *error);

    /* A batch without records only extends the time. info may be NULL. 0 or a negative code. */
    int (*put)(void *state, const struct batch *batch, const struct capture_info *info,
               struct bt_error *error);

    /* Draws and prints as the settings say. 0 or a negative code. */
    int (*finish)(void *state, struct bt_error *error);

    void (*free)(void *state); /* state may be NULL */
};

extern const struct plot_study plot_study_addresses;
extern const struct plot_study plot_study_mix;
extern const struct plot_study plot_study_sharing;

#endif
