#include "tests/support/exec_oracle.h"

#include "tests/support/random_instruction.h"

#include <signal.h>
#include <string.h>

struct oracle {
    struct record *records;
    size_t count, room;
    bool begun;
    struct machine before;          /* before the current instruction */
    struct random_instruction made; /* the current instruction, decoded */
};

static void add(struct oracle *oracle, uint32_t address, uint8_t type, uint8_t size)
{
    if (oracle->count < oracle->room)
        oracle->records[oracle->count] = (struct record){.address = address,
                                                         .type = type,
                                                         .size = size,
                                                         .attribute = ATTRIBUTE_WRITE_BACK,
                                                         .time = type == REQUEST_FETCH};
    oracle->count++;
}

/* Ends the current instruction. */
static void finish(struct oracle *oracle, const struct machine *after)
{
    static struct reference references[65536];
    add(oracle, (uint32_t)oracle->before.rip, REQUEST_FETCH, oracle->made.instruction.length);
    unsigned count =
        random_instruction_references(&oracle->made, &oracle->before, after, references);
    for (unsigned i = 0; i < count; i++)
        add(oracle, references[i].address, references[i].write ? REQUEST_MEMWRITE : REQUEST_MEMREAD,
            references[i].size);
}

static bool is_repeated(const struct oracle *oracle)
{
    return (oracle->made.instruction.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

static void step(void *context, const struct machine *machine)
{
    struct oracle *oracle = context;
    ZydisDecoder decoder;
    if (oracle->begun && is_repeated(oracle) && machine->rip == oracle->before.rip)
        return; /* another of its iterations */
    if (oracle->begun)
        finish(oracle, machine);
    oracle->begun = true;
    oracle->before = *machine;
    memcpy(oracle->made.bytes, (const void *)(uintptr_t)machine->rip, sizeof oracle->made.bytes);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderDecodeFull(&decoder, oracle->made.bytes, sizeof oracle->made.bytes,
                           &oracle->made.instruction, oracle->made.operands);
}

size_t exec_oracle_run(struct machine *machine, struct record *records, size_t room,
                       struct native_end *end)
{
    static struct oracle oracle;
    oracle = (struct oracle){.records = records, .room = room};
    *end = native_run(machine, step, &oracle);
    return oracle.count;
}
