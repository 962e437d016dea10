/*
 * Filter expressions: `type=FETCH|MEMREAD and processor=0-1|3 and address!=0xfee00000-0xfee00fff`.
 *
 *   expression = clause { ( "and" | "," ) clause }
 *   clause     = ( "type" | "processor" | "address" ) ( "=" | "!=" ) value { "|" value }
 *   value      = a request type's name, in either case | number [ "-" number ], decimal or 0x
 *
 * White space is ignored; each field may occur once; short forms are "proc" and "addr".
 */
#ifndef FORMATS_RECORD_FILTER_TEXT_H
#define FORMATS_RECORD_FILTER_TEXT_H

#include "formats/base/error.h"
#include "formats/record/filter.h"

/* Parses an expression; an empty or blank one passes everything. 0, or BT_USAGE with the column and
 * what is allowed there. */
int filter_parse(struct filter *filter, const char *text, struct bt_error *error);

#endif
