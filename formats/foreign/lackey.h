/*
 * The output of valgrind's lackey with --trace-mem=yes: "I  ADDRESS,SIZE" for an instruction, " L
 * ADDRESS,SIZE" for a load, " S ..." for a store, " M ..." for a load and a store of one
 * instruction; the address hexadecimal, the size decimal. Valgrind's own lines begin with "==".
 */
#ifndef FORMATS_FOREIGN_LACKEY_H
#define FORMATS_FOREIGN_LACKEY_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

/* An M is a read, then a write. */
extern const struct foreign_decoder lackey_decoder;
extern const struct foreign_encoder lackey_encoder;

#endif
