/*
 * Records as text: the classic b2a dump, CSV and JSON lines. Fast: table driven, into the caller's
 * buffer.
 */
#ifndef FORMATS_RECORD_RECORD_TEXT_H
#define FORMATS_RECORD_RECORD_TEXT_H

#include "formats/record/batch.h"

enum record_text { RECORD_TEXT_B2A, RECORD_TEXT_CSV, RECORD_TEXT_JSON };

#define RECORD_TEXT_MAX_BYTES 192u /* the longest line of any form, newline included */

/* The header line before the first record, "" if the form has none (only CSV has one). */
const char *record_text_header(enum record_text form);

/*
 * Writes count records, one line each, at out (room for count * RECORD_TEXT_MAX_BYTES). tick is the
 * absolute tick of records[0], index its index; CSV and JSON print both, b2a prints neither.
 * Returns the bytes written.
 */
size_t record_text_put(enum record_text form, char *out, const struct record *records, size_t count,
                       uint64_t index, uint64_t tick);

#endif
