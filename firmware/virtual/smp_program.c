#include "firmware/virtual/smp_program.h"

#include "firmware/virtual/random.h"
#include "firmware/virtual/smp_cache.h"

/* Scratch registers of functions, and those of the interrupt handlers. */
enum { R_AT = 5, R_END, R_VALUE, R_SUM, R_FROM, R_LIMIT, R_LOCK, R_IRQ = 12, R_IRQ_COUNT = 13 };

struct maker {
    struct smp_program *program;
    uint64_t *random;
};

static uint32_t pick(struct maker *maker, uint32_t low, uint32_t high)
{
    return low + virtual_random_below(maker->random, high - low + 1);
}

/* Appends an instruction; returns its ordinal. */
static uint32_t put(struct maker *maker, enum smp_operation operation, unsigned d, unsigned a,
                    unsigned b, uint32_t number)
{
    struct smp_program *program = maker->program;
    program->text[program->count] = (struct smp_instruction){.operation = (uint8_t)operation,
                                                             .d = (uint8_t)d,
                                                             .a = (uint8_t)a,
                                                             .b = (uint8_t)b,
                                                             .number = number};
    return program->count++;
}

static uint32_t here(const struct maker *maker)
{
    return maker->program->count;
}

/* Sets the target of an earlier jump to the next instruction. */
static void aim(struct maker *maker, uint32_t jump)
{
    maker->program->text[jump].number = here(maker);
}

/* Points a register at an array in private memory; returns the array's offset. */
static void point(struct maker *maker, unsigned at, uint32_t bytes)
{
    uint32_t offset = pick(maker, 1, (SMP_CHAIN - bytes) / SMP_LINE_BYTES - 1) * SMP_LINE_BYTES;
    put(maker, SMP_ADDI, at, SMP_R_PRIVATE, 0, offset);
}

/* Ends a loop over R_AT: returns to start until R_END. */
static void loop(struct maker *maker, uint32_t start, uint32_t step)
{
    put(maker, SMP_LOOP, R_AT, R_END, step, start);
}

static void make_sum(struct maker *maker)
{
    uint32_t step = pick(maker, 1, 4) * 8, bytes = pick(maker, 8, 96) * 32;
    point(maker, R_AT, bytes);
    put(maker, SMP_ADDI, R_END, R_AT, 0, bytes);
    put(maker, SMP_SET, R_SUM, 0, 0, 0);
    uint32_t start = put(maker, SMP_ADD_LOAD, R_SUM, R_AT, 0, 0);
    loop(maker, start, step);
}

static void make_copy(struct maker *maker)
{
    uint32_t step = pick(maker, 1, 2) * 8, bytes = pick(maker, 8, 64) * 32;
    point(maker, R_FROM, bytes);
    point(maker, R_AT, bytes);
    put(maker, SMP_ADDI, R_END, R_AT, 0, bytes);
    uint32_t start = put(maker, SMP_LOAD, R_VALUE, R_FROM, 0, 0);
    put(maker, SMP_STORE, 0, R_AT, R_VALUE, 0);
    put(maker, SMP_ADDI, R_FROM, R_FROM, 0, step);
    loop(maker, start, step);
}

static void make_update(struct maker *maker)
{
    uint32_t step = pick(maker, 1, 4) * 8, bytes = pick(maker, 8, 64) * 32;
    point(maker, R_AT, bytes);
    put(maker, SMP_ADDI, R_END, R_AT, 0, bytes);
    uint32_t start = put(maker, SMP_LOAD, R_VALUE, R_AT, 0, 0);
    put(maker, SMP_MULTIPLY, R_VALUE, R_VALUE, 0, pick(maker, 1, 1000) * 2 + 1);
    put(maker, SMP_ADDI, R_VALUE, R_VALUE, 0, pick(maker, 1, 1000));
    put(maker, SMP_STORE, 0, R_AT, R_VALUE, 0);
    loop(maker, start, step);
}

/* Follows the ring of nodes: each load depends on the previous one. */
static void make_chain(struct maker *maker)
{
    put(maker, SMP_SHIFT, R_AT, SMP_R_RANDOM, 0, 8);
    put(maker, SMP_AND, R_AT, R_AT, 0, (SMP_CHAIN_NODES - 1) * SMP_CHAIN_STRIDE);
    put(maker, SMP_ADDI, R_AT, R_AT, 0, SMP_CHAIN);
    put(maker, SMP_SET, R_SUM, 0, 0, 0);
    put(maker, SMP_SET, R_LIMIT, 0, 0, pick(maker, 8, 64));
    uint32_t start = put(maker, SMP_ADD, R_FROM, R_AT, SMP_R_PRIVATE, 0);
    put(maker, SMP_LOAD, R_AT, R_FROM, 0, 0);
    put(maker, SMP_LOOP, R_SUM, R_LIMIT, 1, start);
}

/* Increments random entries of a table, a number of times. */
static void make_table(struct maker *maker)
{
    uint32_t bytes = 256u << pick(maker, 1, 6);
    point(maker, R_FROM, bytes);
    put(maker, SMP_SET, R_SUM, 0, 0, 0);
    put(maker, SMP_SET, R_LIMIT, 0, 0, pick(maker, 8, 40));
    put(maker, SMP_ADDI, R_VALUE, SMP_R_RANDOM, 0, 0);
    uint32_t start = put(maker, SMP_MULTIPLY, R_VALUE, R_VALUE, 0, 1103515245u);
    put(maker, SMP_ADDI, R_VALUE, R_VALUE, 0, 12345);
    put(maker, SMP_SHIFT, R_AT, R_VALUE, 0, 12);
    put(maker, SMP_AND, R_AT, R_AT, 0, bytes - 4);
    put(maker, SMP_ADD, R_AT, R_AT, R_FROM, 0);
    put(maker, SMP_LOAD, R_END, R_AT, 0, 0);
    put(maker, SMP_ADDI, R_END, R_END, 0, 1);
    put(maker, SMP_STORE, 0, R_AT, R_END, 0);
    put(maker, SMP_LOOP, R_SUM, R_LIMIT, 1, start);
}

/* Long code without a loop. */
static void make_straight(struct maker *maker)
{
    uint32_t length = pick(maker, 20, 160);
    put(maker, SMP_SET, R_SUM, 0, 0, 1);
    for (uint32_t i = 0; i < length; i++)
        if (i % 12 == 5)
            put(maker, SMP_LOAD, R_VALUE, SMP_R_PRIVATE, 0, pick(maker, 16, 96) * 4);
        else
            put(maker, SMP_ADD, R_SUM, R_SUM, R_VALUE, 0);
}

/* Takes the lock at R_LOCK: spins until it seems free, then tries. */
static void take_lock(struct maker *maker)
{
    uint32_t look = put(maker, SMP_LOAD, R_VALUE, R_LOCK, 0, 0);
    put(maker, SMP_NOT_EQUAL, 0, R_VALUE, SMP_R_ZERO, look);
    put(maker, SMP_ADDI, R_VALUE, SMP_R_SELF, 0, 0);
    put(maker, SMP_SWAP, R_VALUE, R_LOCK, 0, 0);
    put(maker, SMP_NOT_EQUAL, 0, R_VALUE, SMP_R_ZERO, look);
}

static void release_lock(struct maker *maker)
{
    put(maker, SMP_STORE, 0, R_LOCK, SMP_R_ZERO, 0);
}

/* Adds to the word at a register plus offset. */
static void add_to(struct maker *maker, unsigned base, uint32_t offset, unsigned amount)
{
    put(maker, SMP_LOAD, R_VALUE, base, 0, offset);
    put(maker, SMP_ADD, R_VALUE, R_VALUE, amount, 0);
    put(maker, SMP_STORE, 0, base, R_VALUE, offset);
}

static void make_counter(struct maker *maker)
{
    uint32_t counter = pick(maker, 0, SMP_COUNTERS - 1);
    put(maker, SMP_ADDI, R_LOCK, SMP_R_SHARED, 0, SMP_COUNTER(counter));
    put(maker, SMP_SET, R_SUM, 0, 0, pick(maker, 1, 9));
    take_lock(maker);
    add_to(maker, R_LOCK, SMP_COUNTER_VALUE, R_SUM);
    release_lock(maker);
    add_to(maker, SMP_R_PRIVATE, SMP_ADDED(counter), R_SUM);
}

/* Points R_AT at the queue's item whose number is in R_FROM. */
static void point_at_item(struct maker *maker)
{
    put(maker, SMP_AND, R_AT, R_FROM, 0, SMP_QUEUE_LENGTH - 1);
    put(maker, SMP_MULTIPLY, R_AT, R_AT, 0, 4);
    put(maker, SMP_ADD, R_AT, R_AT, R_LOCK, 0);
}

static void begin_queue(struct maker *maker)
{
    put(maker, SMP_ADDI, R_LOCK, SMP_R_SHARED, 0, SMP_QUEUE(pick(maker, 0, SMP_QUEUES - 1)));
    take_lock(maker);
    put(maker, SMP_LOAD, R_END, R_LOCK, 0, SMP_QUEUE_HEAD);
    put(maker, SMP_LOAD, R_FROM, R_LOCK, 0, SMP_QUEUE_TAIL);
}

/* Puts a few items, until the queue is full. */
static void make_producer(struct maker *maker)
{
    begin_queue(maker);
    put(maker, SMP_ADDI, R_LIMIT, R_FROM, 0, SMP_QUEUE_LENGTH);
    put(maker, SMP_ADDI, R_FROM, R_END, 0, 0);
    put(maker, SMP_ADDI, R_END, R_END, 0, pick(maker, 2, 12));
    uint32_t start = put(maker, SMP_EQUAL, 0, R_FROM, R_LIMIT, 0);
    point_at_item(maker);
    put(maker, SMP_ADD, R_SUM, R_FROM, SMP_R_RANDOM, 0);
    put(maker, SMP_STORE, 0, R_AT, R_SUM, SMP_QUEUE_ITEMS);
    add_to(maker, R_LOCK, SMP_QUEUE_PUT_SUM, R_SUM);
    put(maker, SMP_ADDI, R_FROM, R_FROM, 0, 1);
    put(maker, SMP_NOT_EQUAL, 0, R_FROM, R_END, start);
    aim(maker, start);
    put(maker, SMP_STORE, 0, R_LOCK, R_FROM, SMP_QUEUE_HEAD);
    release_lock(maker);
}

/* Takes items until the queue is empty. */
static void make_consumer(struct maker *maker)
{
    begin_queue(maker);
    uint32_t start = put(maker, SMP_EQUAL, 0, R_FROM, R_END, 0);
    point_at_item(maker);
    put(maker, SMP_LOAD, R_SUM, R_AT, 0, SMP_QUEUE_ITEMS);
    add_to(maker, R_LOCK, SMP_QUEUE_TAKE_SUM, R_SUM);
    put(maker, SMP_ADDI, R_FROM, R_FROM, 0, 1);
    put(maker, SMP_JUMP, 0, 0, 0, start);
    aim(maker, start);
    put(maker, SMP_STORE, 0, R_LOCK, R_FROM, SMP_QUEUE_TAIL);
    release_lock(maker);
}

static void make_device(struct maker *maker)
{
    static const uint8_t sizes[] = {1, 2, 4, 4};
    put(maker, SMP_DEVICE_IN, R_VALUE, 0, 4, pick(maker, 0, 15) * 16);
    put(maker, SMP_IN, R_VALUE, 0, sizes[pick(maker, 0, 3)], 0x1f0 + pick(maker, 0, 7));
    put(maker, SMP_OUT, 0, R_VALUE, sizes[pick(maker, 0, 3)], 0x3f8 + pick(maker, 0, 7));
    put(maker, SMP_DEVICE_OUT, 0, R_VALUE, 8, pick(maker, 0, 15) * 16);
}

static void make_halt(struct maker *maker)
{
    put(maker, SMP_HALT, 0, 0, 0, 0);
}

static void make_write_back(struct maker *maker)
{
    put(maker, SMP_WRITE_BACK, 0, 0, 0, 0);
}

/* Number of functions of each kind: SMP_FUNCTIONS in all. */
static const struct {
    void (*make)(struct maker *maker);
    unsigned count;
} kinds[] = {{make_sum, 11},     {make_copy, 8},     {make_update, 9},  {make_chain, 4},
             {make_table, 7},    {make_straight, 9}, {make_counter, 6}, {make_producer, 3},
             {make_consumer, 4}, {make_device, 1},   {make_halt, 1},    {make_write_back, 1}};

static void make_functions(struct maker *maker)
{
    uint32_t *functions = maker->program->functions;
    size_t count = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (unsigned i = 0; i < kinds[kind].count; i++) {
            functions[count++] = here(maker);
            kinds[kind].make(maker);
            put(maker, SMP_RETURN, 0, 0, 0, 0);
        }
}

void smp_program_make(struct smp_program *program, uint64_t *random)
{
    struct maker maker = {program, random};
    program->count = 0;

    program->start = put(&maker, SMP_MULTIPLY, SMP_R_RANDOM, SMP_R_RANDOM, 0, 1664525u);
    put(&maker, SMP_ADDI, SMP_R_RANDOM, SMP_R_RANDOM, 0, 1013904223u);
    put(&maker, SMP_SHIFT, R_VALUE, SMP_R_RANDOM, 0, 16);
    put(&maker, SMP_CALL, 0, R_VALUE, 0, 0);
    put(&maker, SMP_JUMP, 0, 0, 0, program->start);

    program->interrupt = put(&maker, SMP_LOAD, R_IRQ, SMP_R_PRIVATE, 0, 64);
    put(&maker, SMP_ADDI, R_IRQ, R_IRQ, 0, 1);
    put(&maker, SMP_STORE, 0, SMP_R_PRIVATE, R_IRQ, 64);
    put(&maker, SMP_DEVICE_OUT, 0, R_IRQ, 4, 0xb0);
    put(&maker, SMP_RETURN, 0, 0, 0, 0);

    program->management = put(&maker, SMP_IN, R_IRQ, 0, 1, 0xb2);
    put(&maker, SMP_ADDI, R_IRQ_COUNT, R_IRQ_COUNT, 0, 1);
    put(&maker, SMP_OUT, 0, R_IRQ_COUNT, 1, 0xb3);
    put(&maker, SMP_RESUME, 0, 0, 0, 0);

    make_functions(&maker);
}
