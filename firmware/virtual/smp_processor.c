#include "firmware/virtual/random.h"
#include "firmware/virtual/smp_machine.h"

#define UNCACHEABLE 0u

/* In ticks. */
#define INTERRUPT_PERIOD 20000u
#define EVENT_PERIOD     30000u
#define STOPPED          3000u /* clock stopped, or before a restart */
#define DEVICE_LATENCY   60u
#define TRACED_BRANCHES  100u

static void transfer(struct smp_processor *processor, uint64_t tick, uint32_t latency)
{
    processor->time = tick + latency;
}

static void special(struct smp *smp, struct smp_processor *processor, enum request_type type)
{
    transfer(processor, smp_request(smp, processor, type, 0, 0, UNCACHEABLE), 10);
}

static void call(struct smp_processor *processor, uint32_t target)
{
    processor->returns[processor->depth++ % SMP_CALL_DEPTH] = processor->pc;
    processor->pc = target;
}

/* A random external event at a processor. */
static void event(struct smp *smp, struct smp_processor *processor)
{
    processor->next_event =
        processor->time + EVENT_PERIOD + virtual_random_below(&smp->random, 2 * EVENT_PERIOD);
    switch (virtual_random_below(&smp->random, 6)) {
    case 0: /* system management interrupt */
        special(smp, processor, REQUEST_SMIACK);
        call(processor, smp->program.management);
        break;
    case 1: /* STPCLK# */
        special(smp, processor, REQUEST_STOPCLKACK);
        processor->time += STOPPED;
        break;
    case 2: /* FLUSH# */
        smp_write_back(smp, processor);
        special(smp, processor, REQUEST_FLUSHACK);
        break;
    case 3: /* it shuts down and restarts, with its caches invalidated */
        smp_write_back(smp, processor);
        special(smp, processor, REQUEST_SHUTDOWN);
        processor->time += STOPPED;
        special(smp, processor, REQUEST_FLUSH);
        processor->depth = 0;
        processor->pc = smp->program.start;
        break;
    case 4: /* a transaction of the chip set */
        smp_request(smp, processor, REQUEST_CNTRLAGNTRES, 0, 0, UNCACHEABLE);
        break;
    default: /* a debugger's branch trace */
        processor->traced_branches = TRACED_BRANCHES;
        break;
    }
}

/* Only at calls, where no processor holds a lock. Returns true if the call must wait. */
static bool disturbed(struct smp *smp, struct smp_processor *processor)
{
    if (processor->time >= processor->next_interrupt) {
        processor->next_interrupt =
            processor->time + INTERRUPT_PERIOD + virtual_random_below(&smp->random, 1000);
        transfer(processor, smp_request(smp, processor, REQUEST_INTA, 0, 1, UNCACHEABLE),
                 DEVICE_LATENCY);
        call(processor, smp->program.interrupt);
        return true;
    }
    if (processor->time < processor->next_event)
        return false;
    event(smp, processor);
    return true;
}

static void branch(struct smp *smp, struct smp_processor *processor, uint32_t target)
{
    processor->pc = target;
    if (processor->traced_branches) {
        processor->traced_branches--;
        transfer(processor, smp_request(smp, processor, REQUEST_BRTRACEREC, 0, 8, UNCACHEABLE), 6);
    }
}

static void device(struct smp *smp, struct smp_processor *processor, enum request_type type,
                   uint32_t address, uint8_t size)
{
    transfer(processor, smp_request(smp, processor, type, address, size, UNCACHEABLE),
             DEVICE_LATENCY);
}

/* A slow port: one read in four is answered later, by a transaction of the chip set. */
static void port_in(struct smp *smp, struct smp_processor *processor, uint32_t port, uint8_t size)
{
    device(smp, processor, REQUEST_IOREAD, port, size);
    if (virtual_random_below(&smp->random, 4) == 0) {
        processor->deferred_reply =
            (uint32_t)processor->number << 20 | (uint32_t)processor->transaction << 16 | 0x8000u;
        processor->time += 100 + virtual_random_below(&smp->random, 300);
    }
}

/* Rare instructions: devices and the machine itself. */
static void execute_seldom(struct smp *smp, struct smp_processor *processor,
                           const struct smp_instruction *instruction)
{
    uint32_t *r = processor->registers;
    switch (instruction->operation) {
    case SMP_RESUME:
        special(smp, processor, REQUEST_SMIACK);
        processor->pc = processor->returns[--processor->depth % SMP_CALL_DEPTH];
        break;
    case SMP_DEVICE_IN:
        device(smp, processor, REQUEST_MEMREAD, SMP_DEVICE_ADDRESS + instruction->number,
               instruction->b);
        r[instruction->d] = (uint32_t)processor->time;
        break;
    case SMP_DEVICE_OUT:
        device(smp, processor, REQUEST_MEMWRITE, SMP_DEVICE_ADDRESS + instruction->number,
               instruction->b);
        break;
    case SMP_IN:
        port_in(smp, processor, instruction->number, instruction->b);
        r[instruction->d] = (uint32_t)processor->time & 0xff;
        break;
    case SMP_OUT:
        device(smp, processor, REQUEST_IOWRITE, instruction->number, instruction->b);
        break;
    case SMP_HALT:
        special(smp, processor, REQUEST_HALT);
        if (processor->time < processor->next_interrupt)
            processor->time = processor->next_interrupt;
        break;
    default: /* SMP_WRITE_BACK */
        smp_write_back(smp, processor);
        special(smp, processor, REQUEST_SYNC);
        break;
    }
}

/* Instructions that change the flow of control. */
static void execute_branch(struct smp *smp, struct smp_processor *processor,
                           const struct smp_instruction *instruction)
{
    uint32_t *r = processor->registers;
    uint32_t a = r[instruction->a], b = r[instruction->b];
    bool taken = true;
    switch (instruction->operation) {
    case SMP_LESS:
        taken = a < b;
        break;
    case SMP_NOT_EQUAL:
        taken = a != b;
        break;
    case SMP_EQUAL:
        taken = a == b;
        break;
    case SMP_LOOP:
        r[instruction->d] += instruction->b;
        taken = r[instruction->d] < a;
        break;
    case SMP_CALL:
        processor->pc--;
        if (disturbed(smp, processor))
            return;
        processor->pc++;
        call(processor, smp->program.functions[a % SMP_FUNCTIONS]);
        return;
    case SMP_RETURN:
        processor->pc = processor->returns[--processor->depth % SMP_CALL_DEPTH];
        return;
    default: /* SMP_JUMP */
        break;
    }
    if (taken)
        branch(smp, processor, instruction->number);
}

static void execute(struct smp *smp, struct smp_processor *processor,
                    const struct smp_instruction *instruction)
{
    uint32_t *r = processor->registers;
    uint32_t a = r[instruction->a], b = r[instruction->b], number = instruction->number;
    uint32_t *d = &r[instruction->d];
    switch (instruction->operation) {
    case SMP_SET:
        *d = number;
        break;
    case SMP_ADD:
        *d = a + b;
        break;
    case SMP_ADDI:
        *d = a + number;
        break;
    case SMP_MULTIPLY:
        *d = a * number;
        break;
    case SMP_AND:
        *d = a & number;
        break;
    case SMP_SHIFT:
        *d = a >> number;
        break;
    case SMP_LOAD:
        *d = smp_load(smp, processor, a + number);
        break;
    case SMP_ADD_LOAD:
        *d += smp_load(smp, processor, a + number);
        break;
    case SMP_STORE:
        smp_store(smp, processor, a + number, b);
        break;
    case SMP_SWAP:
        /* The line is owned first, then read and written atomically. */
        b = smp_load(smp, processor, a + number);
        smp_store(smp, processor, a + number, *d);
        *d = b;
        break;
    default:
        if (instruction->operation <= SMP_RETURN)
            execute_branch(smp, processor, instruction);
        else
            execute_seldom(smp, processor, instruction);
        break;
    }
}

void smp_run(struct smp *smp, struct smp_processor *processor, uint64_t limit)
{
    if (processor->deferred_reply) {
        transfer(processor,
                 smp_request(smp, processor, REQUEST_DEFERREPLY, processor->deferred_reply, 0,
                             UNCACHEABLE),
                 10);
        processor->deferred_reply = 0;
    }
    while (processor->time <= limit && smp->pending < SMP_FILL_MAX) {
        uint32_t address = SMP_TEXT_ADDRESS + processor->pc * SMP_INSTRUCTION;
        if (address / SMP_LINE_BYTES != processor->fetched_line) {
            processor->fetched_line = address / SMP_LINE_BYTES;
            smp_fetch(smp, processor, address);
        }
        const struct smp_instruction *instruction = &smp->program.text[processor->pc];
        processor->pc++;
        processor->time++;
        execute(smp, processor, instruction);
        if (processor->deferred_reply)
            return;
    }
}
