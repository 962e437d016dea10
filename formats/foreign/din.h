/*
 * Dinero's two text formats, with one reference a line.
 *
 * Plain din, "LABEL ADDRESS": labels 0 read, 1 write, 2 fetch; 3 (unknown) and 4 (flush) are not
 * references. The address is hexadecimal, the rest of the line a comment. Dinero rounds addresses
 * down to a multiple of 4, and each reference has 4 bytes.
 *
 * Extended din, "LABEL ADDRESS SIZE": labels r w i, and m c v, which are not references. Address
 * and size are hexadecimal, the rest of the line a comment.
 */
#ifndef FORMATS_FOREIGN_DIN_H
#define FORMATS_FOREIGN_DIN_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

/* Reads both formats, which the label of each line distinguishes. A reference of plain din keeps
 * its address, and extends to the end of its aligned word of 4 bytes: it touches the same bytes as
 * Dinero's. In extended din a missing size is 4 bytes. */
extern const struct foreign_decoder din_decoder;

/* Writes extended din if options.sizes is set. */
extern const struct foreign_encoder din_encoder;

#endif
