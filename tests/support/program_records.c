#include "tests/support/program_records.h"

#include "tests/support/random.h"

#define BLOCKS     60u
#define REFERENCES 4u

/* How a reference finds its next address. */
enum motion { CONSTANT, STRIDE, STACK, POINTER, ANY, MOTIONS };

struct made_block {
    uint32_t address;
    unsigned instructions;
    uint32_t next[2];
    unsigned odds; /* that the first one is next, of 16 */
    enum motion motion[REFERENCES];
    uint32_t at[REFERENCES], stride[REFERENCES];
    unsigned instruction[REFERENCES]; /* ascending */
};

struct made_program {
    struct made_block blocks[BLOCKS];
    uint32_t stack, pointers[64];
    unsigned kinds;
    uint8_t processor;
    uint64_t *random;
};

static void make(struct made_program *program)
{
    uint32_t address = 0x401000;
    for (unsigned i = 0; i < BLOCKS; i++) {
        struct made_block *block = &program->blocks[i];
        block->address = address;
        block->instructions = 1 + (unsigned)random_below(program->random, 12);
        address += block->instructions * 4 + (random_one_in(program->random, 3) ? 0 : 64);
        block->odds = (unsigned)random_below(program->random, 17);
        for (unsigned k = 0; k < 2; k++)
            block->next[k] = (uint32_t)random_below(program->random, BLOCKS);
        for (unsigned k = 0; k < REFERENCES; k++) {
            block->motion[k] = (enum motion)random_below(program->random, MOTIONS);
            block->at[k] = 0x10000000 + (uint32_t)random_below(program->random, 1 << 24) * 8;
            block->stride[k] = 1u << random_below(program->random, 7);
            block->instruction[k] = k * block->instructions / REFERENCES;
        }
    }
    for (unsigned i = 0; i < 64; i++)
        program->pointers[i] = 0x20000000 + random_next32(program->random) % (1 << 20) * 16;
}

static uint32_t address_of(struct made_program *program, struct made_block *block, unsigned k)
{
    switch (block->motion[k]) {
    case STRIDE:
        return block->at[k] += block->stride[k];
    case STACK:
        return program->stack + block->stride[k];
    case POINTER:
        return block->at[k] = program->pointers[(block->at[k] >> 4) % 64];
    case ANY:
        return random_next32(program->random);
    default:
        return block->at[k];
    }
}

/* Writes one execution; returns the number of records, up to `room`. */
static size_t execute(struct made_program *program, struct made_block *block,
                      struct record *records, size_t room)
{
    size_t count = 0;
    bool rep = program->kinds & PROGRAM_RECORDS_REP && block->odds == 7;
    unsigned times = rep ? (unsigned)random_below(program->random, 100) : 1;
    for (unsigned i = 0; i < block->instructions; i++) {
        if (count < room)
            records[count++] = (struct record){.address = block->address + 4 * i,
                                               .size = 4,
                                               .attribute = ATTRIBUTE_WRITE_BACK,
                                               .time = 1};
        for (unsigned k = 0; k < REFERENCES; k++)
            for (unsigned n = 0; n < times && block->instruction[k] == i && k < block->odds; n++) {
                if (n > 0 && k == 1 && count < room) {
                    records[count] = records[0];
                    records[count].address = block->address + 4 * i;
                    records[count++].time = 0;
                }
                if (count < room)
                    records[count++] =
                        (struct record){.address = address_of(program, block, k),
                                        .type = k & 1 ? REQUEST_MEMWRITE : REQUEST_MEMREAD,
                                        .size = (uint8_t)(k == 2 ? 4 : 8),
                                        .attribute = ATTRIBUTE_WRITE_BACK};
            }
    }
    for (size_t i = 0; i < count; i++)
        records[i].processor = program->processor;
    return count;
}

/* What makes programs' records irregular. */
static void disturb(struct made_program *program, struct record *records, size_t count)
{
    if (program->kinds & PROGRAM_RECORDS_EVENTS && random_one_in(program->random, 50))
        records->attribute |= (uint8_t)((1 + random_below(program->random, 3)) << 4);
    if (program->kinds & PROGRAM_RECORDS_EVENTS && random_one_in(program->random, 50))
        records->attribute |= ATTRIBUTE_PART;
    if (program->kinds & PROGRAM_RECORDS_THREADS && random_one_in(program->random, 40))
        program->processor = (uint8_t)random_below(program->random, 3);
    if (program->kinds & PROGRAM_RECORDS_NOISE && random_one_in(program->random, 30)) {
        struct record *changed = &records[random_below(program->random, count)];
        uint8_t *bytes = (uint8_t *)changed;
        bytes[random_below(program->random, sizeof *changed)] ^=
            (uint8_t)random_below(program->random, 256);
        if (random_one_in(program->random, 9))
            changed->time = UINT32_MAX;
    }
    program->stack += 8 * (uint32_t)random_below(program->random, 3) - 8;
}

void program_records_fill(struct record *records, size_t count, unsigned kinds, uint64_t *random)
{
    struct made_program program = {.stack = 0xfffff000, .kinds = kinds, .random = random};
    make(&program);
    uint32_t next = 0;
    for (size_t at = 0; at < count;) {
        struct made_block *block = &program.blocks[next];
        size_t made = execute(&program, block, records + at, count - at);
        disturb(&program, records + at, made);
        at += made;
        next = block->next[random_below(random, 16) >= block->odds];
    }
}
