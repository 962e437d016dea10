/*
 * libCacheSim's oracleGeneral: 24 bytes for each access, little endian, without padding:
 *
 *   0      4         12     16                24
 *   +------+---------+------+-----------------+
 *   | time | object  | size | next access     |
 *   +------+---------+------+-----------------+
 *
 * The next access to the same object is a number, 1 for the file's first access; -1 for none.
 */
#ifndef FORMATS_FOREIGN_ORACLE_H
#define FORMATS_FOREIGN_ORACLE_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define ORACLE_BYTES 24u

/* Accesses are reads: the format has no types. */
extern const struct foreign_decoder oracle_decoder;

/* Computes the next accesses from a temporary file ($TMPDIR, 16 bytes an access); memory is 8 bytes
 * an object. */
extern const struct foreign_encoder oracle_encoder;

#endif
