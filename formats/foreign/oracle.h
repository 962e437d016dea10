/*
 * libCacheSim's oracleGeneral: 24 bytes for each access, little endian, without padding:
 *
 *   0      4         12     16                24
 *   +------+---------+------+-----------------+
 *   | time | object  | size | next access     |
 *   +------+---------+------+-----------------+
 *
 * The next access to the same object is told by its number, the first of the file being 1; -1 where
 * there is none.
 */
#ifndef FORMATS_FOREIGN_ORACLE_H
#define FORMATS_FOREIGN_ORACLE_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define ORACLE_BYTES 24u

/* Accesses are reads: the format does not say. */
extern const struct foreign_decoder oracle_decoder;

/* Knows the future from accesses that are put aside in a file ($TMPDIR, 16 bytes each): memory is 8
 * bytes an object. */
extern const struct foreign_encoder oracle_encoder;

#endif
