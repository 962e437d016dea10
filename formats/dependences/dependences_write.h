/*
 * Writes dependences in the formats of doc/dependences-file.md. Rows are written in their order:
 * dependences_group() sorts them. Functions return 0, or BT_MEMORY and *error; the caller checks
 * the stream for errors.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_WRITE_H
#define FORMATS_DEPENDENCES_DEPENDENCES_WRITE_H

#include "formats/dependences/dependences.h"

#include <stdio.h>

/* For people: a summary, judged loops, rows, notes. */
int dependences_write_text(const struct dependences *dependences, FILE *out,
                           struct bt_error *error);

/* The rows, with one heading (RFC 4180). */
void dependences_write_csv(const struct dependences *dependences, FILE *out);

/* Everything, as one object. */
int dependences_write_json(const struct dependences *dependences, FILE *out,
                           struct bt_error *error);

/* A graph for Graphviz: places are nodes, rows are edges from source to sink. */
int dependences_write_dot(const struct dependences *dependences, FILE *out, struct bt_error *error);

#endif
