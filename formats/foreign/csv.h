/*
 * Comma separated values, as `bustap dump --csv` prints them. A heading names the columns: index,
 * tick, address, type, size, attribute, processor, time; a reader accepts them in any order, skips
 * others, and requires only address and type. Addresses and unknown types are 0x and hexadecimal.
 */
#ifndef FORMATS_FOREIGN_CSV_H
#define FORMATS_FOREIGN_CSV_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

extern const struct foreign_decoder csv_decoder;
extern const struct foreign_encoder csv_encoder;

/* Whether a line is such a heading. */
bool csv_is_header(const uint8_t *line, size_t size);

#endif
