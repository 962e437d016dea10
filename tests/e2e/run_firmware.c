/*
 * Runs the board's riscv32 image in a simulator, between simulated FIFOs, and compares every
 * record. With stall the link accepts nothing until the board has stalled the bus for a while.
 *
 * usage: run_firmware IMAGE plain|delta [stall]
 * (IMAGE: the raw contents of the ROM, built for rv32im)
 */
#include "firmware/p6.h"
#include "formats/wire/wire_reader.h"
#include "tests/support/rv32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROM_BYTES    32768u
#define RAM_ADDRESS  0x10000000u
#define RAM_BYTES    131072u
#define PHASES       3000u
#define PHASES_STALL 12000u /* more than the queue holds */
#define LINK_ROOM    64u
#define STALL        100000u             /* instructions */
#define INSTRUCTIONS UINT64_C(100000000) /* limit for a run */

/* The processor and its surroundings: firmware/README.md, "Registers". */
struct machine {
    struct rv32 processor;
    uint8_t rom[ROM_BYTES], ram[RAM_BYTES];
    uint8_t commands[512];
    size_t command_size, command_taken;
    struct bus_phase phases[PHASES_STALL];
    struct record records[PHASES_STALL];
    size_t phase_count;  /* in a run */
    size_t there, taken; /* phases on the bus, phases taken */
    uint64_t taken_when; /* number of instructions when the last phase was taken */
    struct wire_reader *reader;
    bool stall;            /* the board has a stall line, and is to use it */
    uint32_t stall_now;    /* as written to the register */
    uint64_t stalled_from; /* number of instructions when the stall that lasts began */
    struct bus_stalls stalls;
};

/* With the stall that lasts. */
static struct bus_stalls stalls_now(const struct machine *machine)
{
    struct bus_stalls stalls = machine->stalls;
    if (machine->stall_now == BUS_STALL_NOW)
        stalls.ticks += machine->processor.instructions - machine->stalled_from;
    return stalls;
}

static void set_stall(struct machine *machine, uint32_t stall)
{
    machine->stalls = stalls_now(machine);
    machine->stalls.count += stall == BUS_STALL_NOW;
    machine->stalled_from = machine->processor.instructions;
    machine->stall_now = stall;
}

/* The link is closed from the first phase on, until the bus has been stalled for long. */
static uint32_t link_room(const struct machine *machine)
{
    bool closed = machine->stall && machine->there > 0 && stalls_now(machine).ticks <= STALL;
    return closed ? 0 : LINK_ROOM;
}

static uint32_t phase_register(const struct machine *machine, uint32_t address)
{
    const struct bus_phase *phase = &machine->phases[machine->taken];
    switch (address & 0xffu) {
    case 0x20:
        return (uint32_t)phase->tick;
    case 0x24:
        return (uint32_t)(phase->tick >> 32);
    case 0x28:
        return (uint32_t)phase->address_a;
    case 0x2c:
        return (uint32_t)(phase->address_a >> 32 & 15u) | (uint32_t)phase->request_a << 8 |
               (uint32_t)phase->request_b << 16;
    case 0x30:
        return phase->address_b;
    default:
        return phase->missed;
    }
}

static uint32_t device_load(struct machine *machine, uint32_t address)
{
    switch (address) {
    case 0x80000000:
        return (machine->taken < machine->there) | (machine->stall ? 2u : 0);
    case 0x80000004:
        return (uint32_t)machine->processor.instructions;
    case 0x8000000c:
        return (uint32_t)(machine->processor.instructions / 100);
    case 0x80001000:
        return (uint32_t)(machine->command_size - machine->command_taken);
    case 0x80001004:
        return link_room(machine);
    case 0x80001008:
        return machine->commands[machine->command_taken++];
    case 0x80000040:
        return (uint32_t)stalls_now(machine).ticks;
    case 0x80000044:
        return (uint32_t)(stalls_now(machine).ticks >> 32);
    case 0x80000048:
        return (uint32_t)machine->stalls.count;
    case 0x80002000:
        return 100000000;
    default:
        return address >= 0x80000020 && address <= 0x80000034 ? phase_register(machine, address)
                                                              : 0;
    }
}

static void device_store(struct machine *machine, uint32_t address, uint32_t value)
{
    size_t capacity, size = address == 0x8000100c ? 4 : 1;
    if (address == 0x80000038 && ++machine->taken == machine->phase_count)
        machine->taken_when = machine->processor.instructions;
    if (address == 0x8000003c)
        set_stall(machine, value);
    if (address != 0x80001008 && address != 0x8000100c)
        return;
    uint8_t *space = wire_reader_space(machine->reader, &capacity);
    for (size_t i = 0; i < size; i++)
        space[i] = (uint8_t)(value >> 8 * i);
    wire_reader_added(machine->reader, size);
}

/* Returns memory at an address; ends the program if the address is invalid. */
static uint8_t *memory(struct machine *machine, uint32_t address, unsigned bytes, bool write)
{
    if (!write && address < ROM_BYTES && address % bytes == 0)
        return machine->rom + address;
    if (address - RAM_ADDRESS < RAM_BYTES && address % bytes == 0)
        return machine->ram + (address - RAM_ADDRESS);
    fprintf(stderr, "run_firmware: bad address %08x at %08x\n", address, machine->processor.pc);
    exit(1);
}

static uint32_t load(void *context, uint32_t address, unsigned bytes)
{
    if (address >= 0x80000000u)
        return device_load(context, address);
    const uint8_t *at = memory(context, address, bytes, false);
    return bytes == 1 ? at[0] : bytes == 2 ? bytes_get16(at) : bytes_get32(at);
}

static void store(void *context, uint32_t address, uint32_t value, unsigned bytes)
{
    if (address >= 0x80000000u) {
        device_store(context, address, value);
        return;
    }
    uint8_t *at = memory(context, address, bytes, true);
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void say(struct machine *machine, enum wire_command_code code, const uint8_t *body,
                size_t size)
{
    struct wire_command command = {
        .version = WIRE_VERSION, .code = (uint8_t)code, .body_bytes = (uint16_t)size, .body = body};
    machine->command_size += wire_command_put(machine->commands + machine->command_size, &command);
}

static void arm(struct machine *machine, enum wire_packing packing)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES], id[4] = {7};
    struct wire_configuration configuration = {.filter = filter_all(),
                                               .packing = (uint8_t)packing,
                                               .stall = machine->stall,
                                               .flush_us = 20000};
    wire_configuration_put(body, &configuration);
    say(machine, WIRE_IDENTIFY, NULL, 0);
    say(machine, WIRE_CONFIGURE, body, sizeof body);
    say(machine, WIRE_ARM, id, sizeof id);
}

/* Puts the phases on the bus, beginning at the current tick. */
static void make_phases(struct machine *machine)
{
    uint64_t tick = machine->processor.instructions;
    for (uint32_t i = 0; i < machine->phase_count; i++) {
        struct record *record = &machine->records[i];
        *record = (struct record){.address = i * 24,
                                  .type = (uint8_t)(i % 3),
                                  .size = (uint8_t)(i % 9),
                                  .attribute = i & 7,
                                  .processor = i >> 3 & 7,
                                  .time = 10 + i % 50};
        machine->phases[i].tick = tick += record->time;
        if (p6_encode(record, &machine->phases[i]))
            abort();
    }
    machine->there = machine->phase_count;
}

/* Compares a frame's records with the phases, beginning with record number `number`. Returns their
 * number. The first time is relative to the arming, and is not compared. */
static size_t compare(const struct machine *machine, const struct wire_frame *frame, size_t number)
{
    static struct record records[WIRE_FRAME_RECORDS_MAX];
    bool good = frame->lost == 0 && wire_frame_records(frame, records) == 0 &&
                number + frame->count <= machine->phase_count;
    for (size_t i = 0; good && i < frame->count; i++) {
        if (number + i == 0)
            records[i].time = machine->records[0].time;
        good = memcmp(&records[i], &machine->records[number + i], sizeof *records) == 0;
    }
    if (!good) {
        fprintf(stderr, "run_firmware: frame %u differs from the bus\n", frame->sequence);
        exit(1);
    }
    return frame->count;
}

/* Whether END has the stalls, if there were any. */
static bool counted_stalls(const struct machine *machine, const struct wire_frame *end)
{
    struct wire_counters counters;
    return wire_counters_get(&counters, end->payload, end->payload_bytes) == 0 &&
           counters.lost == 0 && counters.stalls == machine->stalls.count &&
           counters.stalled / 16 == machine->stalls.ticks / 16 &&
           machine->stall == (counters.stalled > STALL);
}

/* Runs until END. Returns the number of records. */
static size_t run(struct machine *machine)
{
    struct wire_frame frame;
    size_t records = 0;
    uint64_t began = 0;
    bool stopped = false;
    while (machine->processor.instructions < INSTRUCTIONS) {
        if (!rv32_step(&machine->processor)) {
            fprintf(stderr, "run_firmware: no instruction at %08x\n", machine->processor.pc);
            exit(1);
        }
        if (machine->taken == machine->phase_count && !stopped) {
            say(machine, WIRE_STOP, NULL, 0);
            stopped = true;
        }
        while (machine->processor.instructions % 256 == 0 &&
               wire_reader_next(machine->reader, &frame)) {
            if (frame.kind == WIRE_START) {
                make_phases(machine);
                began = machine->processor.instructions;
            } else if (frame.kind == WIRE_RECORDS || frame.kind == WIRE_PACKED) {
                records += compare(machine, &frame, records);
            } else if (frame.kind == WIRE_END && !counted_stalls(machine, &frame)) {
                fprintf(stderr, "run_firmware: END contradicts the stalls\n");
                exit(1);
            } else if (frame.kind == WIRE_END) {
                printf("%zu records, %llu instructions each\n", records,
                       (unsigned long long)(machine->taken_when - began) / machine->phase_count);
                return records;
            }
        }
    }
    fprintf(stderr, "run_firmware: no END\n");
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        return 2;
    struct machine *machine = calloc(1, sizeof *machine);
    FILE *image = fopen(argv[1], "rb");
    if (!machine || !image || fread(machine->rom, 1, ROM_BYTES, image) == 0)
        return 3;
    fclose(image);
    /* memory is not zero after power-on */
    memset(machine->ram, 0x5a, RAM_BYTES);
    machine->reader = wire_reader_new();
    machine->processor.load = load;
    machine->processor.store = store;
    machine->processor.context = machine;
    machine->stall = argc == 4;
    machine->phase_count = machine->stall ? PHASES_STALL : PHASES;
    arm(machine, strcmp(argv[2], "delta") == 0 ? WIRE_DELTA : WIRE_PLAIN);
    bool good = run(machine) == machine->phase_count;
    wire_reader_free(machine->reader);
    free(machine);
    return good ? 0 : 1;
}
