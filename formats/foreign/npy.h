/*
 * NumPy's .npy: a head that describes an array, then its bytes. Written is version 1.0, one
 * dimension, the record's fields as a structured type: address '<u4', type, size, attribute,
 * processor '|u1', time '<u4', which are the 12 bytes of a BYU record. Read are fields of these
 * names and, little-endian, of any whole width, in any order; others are skipped; address and type
 * must be there.
 */
#ifndef FORMATS_FOREIGN_NPY_H
#define FORMATS_FOREIGN_NPY_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define NPY_MAGIC       "\x93NUMPY"
#define NPY_MAGIC_BYTES 6u

extern const struct foreign_decoder npy_decoder;
extern const struct foreign_encoder npy_encoder;

#endif
