/* What a graph from a bus tells about the bus and its fetches (formats/dcfg/dcfg_bus.h). */
#ifndef TOOLS_DCFG_BUS_REPORT_H
#define TOOLS_DCFG_BUS_REPORT_H

#include "formats/dcfg/dcfg_bus.h"

#include <stdio.h>

#define BUS_REPORT_BYTES 320u

/* The model, where it is from, and how well it was verified: "chunk=8,refetch=none, found in ...".
 */
void bus_report_model(char text[BUS_REPORT_BYTES], const struct dcfg_bus *bus);

/* Prints a line for each of: the model, the fetches, and the errors of the probe if there are any.
 * Each begins with the prefix. */
void bus_report_put(const struct dcfg_bus *bus, const char *prefix, FILE *out);

/* "bus": an object, or null without a bus. */
void bus_report_json(struct json_put *json, const struct dcfg_bus *bus);

#endif
