/* The instructions of images by address, each decoded once, and where branches may lead. */
#ifndef TOOLS_DCFG_GRAPH_BUS_CODE_H
#define TOOLS_DCFG_GRAPH_BUS_CODE_H

#include "tools/symbols/image.h"

struct bus_instruction {
    uint32_t target;   /* of a direct branch */
    uint8_t size;      /* in bytes; 0: not decoded yet */
    uint8_t branch;    /* enum image_branch */
    uint8_t flags;     /* enum bus_instruction_flags */
    uint8_t withdrawn; /* number of executions that bus_code_withdraw counted */
};

enum bus_instruction_flags {
    BUS_INVALID = 1,  /* the bytes are no instruction */
    BUS_BOUNDARY = 2, /* an instruction begins here if a routine's code is read from its start */
    BUS_ROUTINE = 4   /* a routine begins here */
};

/* Code at successive addresses. */
struct bus_code_range {
    uint64_t start;
    uint64_t end;
    uint64_t first_routine;     /* address; UINT64_MAX: none is known */
    struct bus_instruction *at; /* by offset from start */
};

struct bus_code {
    const struct images *images;
    struct bus_code_range *ranges; /* sorted by address */
    size_t count;
    struct bus_code_range last; /* found last */
};

/* The images, which may be NULL, must outlive it. NULL and *error: no memory, or names that cannot
 * be read. */
struct bus_code *bus_code_new(const struct images *images, struct bt_error *error);
void bus_code_free(struct bus_code *code);

/* As bus_code_at, for an address that is not decoded yet. */
const struct bus_instruction *bus_code_decode(struct bus_code *code, uint32_t address);

/* The instruction at an address; NULL where there is no code, or none that is an instruction. */
static inline const struct bus_instruction *bus_code_at(struct bus_code *code, uint32_t address)
{
    const struct bus_code_range *range = &code->last;
    uint64_t offset = address - range->start;
    if (offset < range->end - range->start && range->at[offset].size != 0)
        return &range->at[offset];
    return bus_code_decode(code, address);
}

/* Whether the instruction at an address was counted less often than limit, at most 255; then
 * counts it once more. */
bool bus_code_withdraw(struct bus_code *code, uint32_t address, uint8_t limit);

/* Whether an image has code in size bytes at address. */
bool bus_code_has(const struct bus_code *code, uint32_t address, uint32_t size);

/* The addresses in size bytes at address, at most BUS_ENTRIES, at which an indirect branch may
 * enter: the instructions' boundaries, or all addresses where no routine is known to begin before.
 * Returns their number. */
#define BUS_ENTRIES 32u
unsigned bus_code_entries(struct bus_code *code, uint32_t address, uint32_t size,
                          uint32_t entries[BUS_ENTRIES]);

#endif
