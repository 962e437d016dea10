/*
 * Registers of the logic around the processor: firmware/README.md, "Registers". All are 32 bits
 * wide.
 */
#ifndef FIRMWARE_RISCV_REGISTERS_H
#define FIRMWARE_RISCV_REGISTERS_H

#include <stdint.h>

/* The bus front end: a FIFO of request phases, and the clocks. */
struct bus_registers {
    uint32_t status;            /* 0x00 BUS_PHASE_THERE, BUS_CAN_STALL */
    uint32_t tick_low;          /* 0x04 the clock; reading it latches the three below */
    uint32_t tick_high;         /* 0x08 */
    uint32_t microseconds_low;  /* 0x0c */
    uint32_t microseconds_high; /* 0x10 */
    uint32_t reserved[3];
    uint32_t phase_tick_low;  /* 0x20 the oldest phase in the FIFO */
    uint32_t phase_tick_high; /* 0x24 */
    uint32_t phase_address_a; /* 0x28 Aa[31:3], and the offset of the first requested byte */
    uint32_t phase_request;   /* 0x2c Aa[35:32], REQa at bit 8, REQb at bit 16, BUS_PHASE_NONE */
    uint32_t phase_address_b; /* 0x30 */
    uint32_t phase_missed;    /* 0x34 phases dropped by the full FIFO just before this one */
    uint32_t phase_next;      /* 0x38 write: removes the phase */
    uint32_t stall;           /* 0x3c write: enum bus_stall */
    uint32_t stalled_low;     /* 0x40 ticks of the bus stalled; reading it latches the next three */
    uint32_t stalled_high;    /* 0x44 */
    uint32_t stalls_low;      /* 0x48 number of stalls */
    uint32_t stalls_high;     /* 0x4c */
};
#define BUS_PHASE_THERE 0x00000001u
#define BUS_CAN_STALL   0x00000002u /* the stall line is there */
#define BUS_PHASE_NONE  0x80000000u /* no phase, only phase_missed */

/* The link: an FT245-style FIFO each way. */
struct link_registers {
    uint32_t received; /* 0x00 readable bytes */
    uint32_t room;     /* 0x04 writable bytes */
    uint32_t data;     /* 0x08 the low 8 bits: one byte from or to the host */
    uint32_t word;     /* 0x0c write: four bytes to the host, the lowest first */
    uint32_t flush;    /* 0x10 write: SIWU#, send the partial packet */
};

/* Properties of the board. */
struct board_registers {
    uint32_t clock_hz;    /* 0x00 ticks a second */
    uint32_t serial_low;  /* 0x04 */
    uint32_t serial_high; /* 0x08 */
};

#define BUS_REGISTERS   ((volatile struct bus_registers *)0x80000000u)
#define LINK_REGISTERS  ((volatile struct link_registers *)0x80001000u)
#define BOARD_REGISTERS ((volatile struct board_registers *)0x80002000u)

#endif
