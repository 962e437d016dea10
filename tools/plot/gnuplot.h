/* Runs gnuplot(1) on a script and returns the picture. */
#ifndef TOOLS_PLOT_GNUPLOT_H
#define TOOLS_PLOT_GNUPLOT_H

#include "formats/base/error.h"

#include <stddef.h>

/* Checks that gnuplot is on the PATH. 0, or BT_IO with the package to install. */
int gnuplot_find(struct bt_error *error);

/* Runs a script. *picture becomes gnuplot's standard output, terminated with 0, which the caller
 * frees. 0, BT_IO, BT_FULL or BT_MEMORY. */
int gnuplot_run(const char *script, size_t script_size, char **picture, size_t *picture_size,
                struct bt_error *error);

#endif
