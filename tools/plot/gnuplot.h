/* Runs gnuplot(1) over a script and gives what it drew. */
#ifndef TOOLS_PLOT_GNUPLOT_H
#define TOOLS_PLOT_GNUPLOT_H

#include "formats/base/error.h"

#include <stddef.h>

/* Whether gnuplot is on the PATH. 0 or BT_IO, with what to install. */
int gnuplot_find(struct bt_error *error);

/*
 * Has gnuplot carry out the script. *picture is what it wrote to its standard output, with a 0
 * behind it, to be freed by the caller. 0, BT_IO, BT_FULL or BT_MEMORY.
 */
int gnuplot_run(const char *script, size_t script_size, char **picture, size_t *picture_size,
                struct bt_error *error);

#endif
