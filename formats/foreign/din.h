/*
 * Dinero's two text formats; a line is a reference.
 *
 * Plain din, "LABEL ADDRESS": labels 0 read, 1 write, 2 fetch; 3 (unknown) and 4 (flush) are no
 * references. The address is hexadecimal, the rest of the line a comment. Dinero takes addresses
 * down to a multiple of 4, and each reference for 4 bytes.
 *
 * Extended din, "LABEL ADDRESS SIZE": labels r w i, and m c v, which are no references. Address and
 * size are hexadecimal, the rest of the line a comment.
 */
#ifndef FORMATS_FOREIGN_DIN_H
#define FORMATS_FOREIGN_DIN_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

/* Reads both; the label tells which one a line is in. A reference of plain din keeps its address,
 * and its size is what is left of the aligned word of 4 bytes: it touches what Dinero's does. In
 * extended din one without a size has 4 bytes. */
extern const struct foreign_decoder din_decoder;

/* Writes extended din where options ask for sizes. */
extern const struct foreign_encoder din_encoder;

#endif
