/* Annotations as one HTML page that needs nothing else. */
#ifndef TOOLS_DCFG_ANNOTATE_HTML_H
#define TOOLS_DCFG_ANNOTATE_HTML_H

#include "tools/dcfg/annotation.h"

/* Writes the page of the functions in graph->order to the file path ("-": standard output), which
 * gets its name when it is complete. 0 or a negative code. */
int annotate_html_write(struct annotation *annotation, const char *path, struct bt_error *error);

#endif
