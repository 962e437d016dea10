/*
 * gem5's packet trace, as its CommMonitor writes it and its traffic generator plays it: the bytes
 * "gem5", then messages (gem5_packet.proto), each after its length as a varint: a header, and a
 * packet for each request. Commands are those of gem5's MemCmd: 1 ReadReq, 4 WriteReq, 22
 * ReadExReq; flags those of its Request: 0x100 instruction fetch, 0x400 uncacheable.
 *
 * Ticks are written as picoseconds, 10^12 a second, gem5's default. The header's obj_id holds the
 * original clock, so that reading restores the original ticks. pkt_id is the processor.
 */
#ifndef FORMATS_FOREIGN_GEM5_H
#define FORMATS_FOREIGN_GEM5_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

#define GEM5_MAGIC       "gem5"
#define GEM5_MAGIC_BYTES 4u

/* Reads reads and writes of all kinds; other packets (responses, prefetches) are left out. */
extern const struct foreign_decoder gem5_decoder;
extern const struct foreign_encoder gem5_encoder;

#endif
