/*
 * ChampSim's instruction trace: 64 bytes for each instruction, little endian.
 *
 *   0    8        9       10            12        16                   32               64
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *   | ip | branch | taken | 2 registers | 4 regs. | 2 written addresses| 4 read ones    |
 *   +----+--------+-------+-------------+---------+--------------------+----------------+
 *
 * Registers: 2 that are written, 4 that are read; 0 is none, 6 the stack pointer, 25 the flags, 26
 * the instruction pointer, from which ChampSim tells what kind of branch it is. An address of 0 is
 * none. Nothing has a size, and there is one processor.
 *
 * Writing: a fetch is an instruction, and the data requests up to the next fetch of the same
 * processor hang on it; more than fit make further records of the same ip. The processor is the
 * options' or else the first that fetches. An instruction behind which the next fetch is not the
 * next address is a taken branch: registers make it a conditional one, which is all that can be
 * told without its code.
 */
#ifndef FORMATS_FOREIGN_CHAMPSIM_H
#define FORMATS_FOREIGN_CHAMPSIM_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define CHAMPSIM_BYTES 64u

/* A fetch has the size that leads to the next instruction, where that was not branched to; data,
 * and branches, have 4 bytes. A record of the same ip behind one without room for more is its rest.
 */
extern const struct foreign_decoder champsim_decoder;
extern const struct foreign_encoder champsim_encoder;

#endif
