/*
 * ChampSim's instruction trace: 64 bytes for each instruction, little endian.
 *
 *   0    8        9       10            12        16                   32               64
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *   | ip | branch | taken | 2 registers | 4 regs. | 2 written addresses| 4 read ones    |
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *
 * Registers: 2 written, 4 read; 0 is none, 6 the stack pointer, 25 the flags, 26 the instruction
 * pointer, from which ChampSim derives the kind of branch. An address of 0 is none. There are no
 * sizes, and one processor.
 *
 * Writing: a fetch is an instruction, and the data requests up to the next fetch of the same
 * processor belong to it; if they do not fit, further records of the same ip follow. The processor
 * is the one in the options, otherwise the first that fetches. If the next fetch is not at the next
 * address, the instruction is a taken branch: its registers make it a conditional one, because its
 * code is unknown.
 */
#ifndef FORMATS_FOREIGN_CHAMPSIM_H
#define FORMATS_FOREIGN_CHAMPSIM_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define CHAMPSIM_BYTES 64u

/* The size of a fetch leads to the next instruction unless that is a branch target; data, and
 * branches, have 4 bytes. After a full record, a record of the same ip continues it. */
extern const struct foreign_decoder champsim_decoder;
extern const struct foreign_encoder champsim_encoder;

#endif
