/*
 * Who wrote the registers of a thread last, byte by byte (flags: bit by bit).
 */
#ifndef TOOLS_WET_REPLAY_WET_REGISTERS_H
#define TOOLS_WET_REPLAY_WET_REGISTERS_H

#include "capture/exec/translate/data_flow.h"
#include "formats/base/error.h"
#include "formats/wet/wet_labels.h"

/* Numbers of registers: those that data_flow_kind names, x87 and MMX by physical number. */
enum {
    WET_GENERAL = 0,
    WET_FLAGS = 16,
    WET_VECTOR = 17,
    WET_X87 = 49,
    WET_CODES = 57,
    WET_MASK = 58,
    WET_REGISTERS = 66
};

/* Bytes of a register that one instance wrote last. */
struct wet_written {
    uint64_t bytes; /* a bit for each */
    uint64_t instance;
    uint32_t id;
};

/* A register's bytes; those that nothing wrote are in no element. Masks are disjoint. */
struct wet_register {
    struct wet_written *written;
    uint32_t count, capacity;
};

/* Zeroed: nothing is written. */
struct wet_registers {
    struct wet_register registers[WET_REGISTERS];
    uint8_t top; /* of x87's stack */
};

void wet_registers_clear(struct wet_registers *registers);
/* Replaces *to. 0 or BT_MEMORY. */
int wet_registers_copy(struct wet_registers *to, const struct wet_registers *from);

/* The number of a part's register, with x87's top as it is. Not for memory. */
unsigned wet_register_of(const struct data_flow_part *part, unsigned top);

/* An instance writes bytes of a register; id 0: nothing that is known does. 0 or BT_MEMORY. */
int wet_register_write_parts(struct wet_register *reg, uint64_t bytes, uint32_t id,
                             uint64_t instance);

static inline int wet_register_write(struct wet_register *reg, uint64_t bytes, uint32_t id,
                                     uint64_t instance)
{
    if (reg->count != 1 || id == 0 || reg->written[0].bytes != bytes)
        return wet_register_write_parts(reg, bytes, id, instance);
    reg->written[0].instance = instance;
    reg->written[0].id = id;
    return 0;
}

/* Appends the writers of bytes of a register, ascending by id, then instance, each once. 0 or
 * BT_MEMORY. */
int wet_register_read(const struct wet_register *reg, uint64_t bytes, struct wet_ranges *to);

#endif
