/*
 * Dinero's din: a line "LABEL ADDRESS" for each reference, the address hexadecimal; what stands
 * behind them is a comment. Labels: 0 read, 1 write, 2 fetch; 3 (unknown) and 4 (flush) are no
 * references. Dinero IV's extended din has letters for labels, r w i m c v, and a hexadecimal size
 * behind the address.
 */
#ifndef FORMATS_FOREIGN_DIN_H
#define FORMATS_FOREIGN_DIN_H

#include "formats/foreign/sink.h"
#include "formats/foreign/source.h"

/* Reads both forms. A reference without a size has 4 bytes, as in Dinero. */
extern const struct foreign_decoder din_decoder;

/* Writes extended din where options ask for sizes. */
extern const struct foreign_encoder din_encoder;

#endif
