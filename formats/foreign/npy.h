/*
 * NumPy's .npy: a header that describes an array, then its bytes. The writer uses version 1.0, one
 * dimension, and the record's fields as a structured type: address '<u4', type, size, attribute,
 * processor '|u1', time '<u4', which are the 12 bytes of a BYU record. The reader accepts fields of
 * these names, little-endian, of any integer width, in any order; it skips others, and requires
 * address and type.
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
