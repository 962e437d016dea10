/*
 * Writes dependences in the formats of doc/dependences-file.md. Rows are written in their order:
 * dependences_group() sorts them. 0, or BT_MEMORY and *error; the caller checks the stream for
 * errors.
 */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_WRITE_H
#define FORMATS_DEPENDENCES_DEPENDENCES_WRITE_H

#include "formats/dependences/dependences.h"

#include <stdio.h>

#define DEPENDENCES_TEXT_ROWS 20u /* default number of rows in a text report */

enum dependences_format {
    DEPENDENCES_TEXT, /* for people: a summary, judged loops, rows, notes */
    DEPENDENCES_CSV,  /* the rows, with one heading (RFC 4180) */
    DEPENDENCES_JSON, /* everything, as one object */
    DEPENDENCES_DOT,  /* a graph for Graphviz: places are nodes, rows edges from source to sink */
    DEPENDENCES_FORMATS
};

int dependences_write(const struct dependences *dependences, enum dependences_format format,
                      FILE *out, struct bt_error *error);

#endif
