#include "firmware/p6.h"
#include "firmware/virtual/smp_machine.h"

#include <stddef.h>

/* All ATTR bits of write-back memory, as real traces hold them. */
#define WRITE_BACK_MEMORY 7u

/* Latency of the first data, in ticks. */
#define FROM_OPEN_PAGE   9u
#define FROM_CLOSED_PAGE 17u
#define FROM_OTHER_CACHE 7u
#define WITHOUT_DATA     5u

uint64_t smp_request(struct smp *smp, struct smp_processor *processor, enum request_type type,
                     uint32_t address, uint8_t size, uint8_t attribute)
{
    struct bus_phase *phase = &smp->phases[(smp->first + smp->pending++) % SMP_PENDING];
    struct record record = {.address = address,
                            .type = (uint8_t)type,
                            .size = size,
                            .attribute = attribute,
                            .processor = processor->number};
    /* Cannot fail: the machine makes only P6 requests (tests/firmware). */
    p6_encode(&record, phase);
    processor->transaction = (processor->transaction + 1u) & 15u;
    phase->address_b |= (uint32_t)processor->transaction << 16;
    phase->tick = processor->time > smp->bus_free ? processor->time : smp->bus_free;
    /* A request phase has 3 clocks; four clocks of data delay the next line. */
    smp->bus_free = phase->tick + (size == SMP_LINE_BYTES ? 4 : 3);
    return phase->tick;
}

/* Memory has four banks with one open page each. */
static uint32_t memory_latency(struct smp *smp, uint32_t address)
{
    uint32_t *open = &smp->open_page[address >> 12 & 3];
    uint32_t page = address >> 14;
    uint32_t latency = *open == page ? FROM_OPEN_PAGE : FROM_CLOSED_PAGE;
    *open = page;
    return latency;
}

/* The snoop phase's result from the other data caches: the highest state, before they change. */
static enum smp_state snoop(struct smp *smp, const struct smp_processor *asking, uint32_t address,
                            enum smp_state becomes)
{
    enum smp_state found = SMP_INVALID;
    for (unsigned i = 0; i < smp->count; i++) {
        if (&smp->processors[i] == asking)
            continue;
        smp_line *line = smp_cache_find(&smp->processors[i].data, address);
        if (!line)
            continue;
        if (smp_line_state(*line) > found)
            found = smp_line_state(*line);
        *line = smp_line_address(*line) | becomes;
    }
    return found;
}

/* Loads the line into the data cache. */
static void fill(struct smp *smp, struct smp_processor *processor, uint32_t address,
                 enum request_type type)
{
    bool own = type == REQUEST_MEMREADINV;
    /* The critical word comes first. */
    uint64_t tick =
        smp_request(smp, processor, type, address & ~7u, SMP_LINE_BYTES, WRITE_BACK_MEMORY);
    enum smp_state others = snoop(smp, processor, address, own ? SMP_INVALID : SMP_SHARED);
    enum smp_state state = own ? SMP_MODIFIED : others != SMP_INVALID ? SMP_SHARED : SMP_EXCLUSIVE;
    smp_line old = smp_cache_put(&processor->data, address, state);
    if (smp_line_state(old) == SMP_MODIFIED)
        smp_request(smp, processor, REQUEST_MEMWRITE, smp_line_address(old), SMP_LINE_BYTES,
                    WRITE_BACK_MEMORY);
    processor->time =
        tick + (others == SMP_MODIFIED ? FROM_OTHER_CACHE : memory_latency(smp, address));
}

static uint32_t *word_at(struct smp *smp, uint32_t address)
{
    uint32_t own = (address - SMP_PRIVATE_ADDRESS) / SMP_PRIVATE_BYTES;
    return address >= SMP_PRIVATE_ADDRESS && own < SMP_PROCESSORS_MAX
               ? &smp->own[own][address % SMP_PRIVATE_BYTES / 4]
               : &smp->shared[address % SMP_SHARED_BYTES / 4];
}

uint32_t smp_load(struct smp *smp, struct smp_processor *processor, uint32_t address)
{
    if (!smp_cache_use(&processor->data, address))
        fill(smp, processor, address, REQUEST_MEMREAD);
    return *word_at(smp, address);
}

void smp_store(struct smp *smp, struct smp_processor *processor, uint32_t address, uint32_t value)
{
    smp_line *line = smp_cache_use(&processor->data, address);
    if (!line) {
        fill(smp, processor, address, REQUEST_MEMREADINV);
    } else {
        if (smp_line_state(*line) == SMP_SHARED) {
            /* The data is present: only the other copies are invalidated. */
            processor->time =
                WITHOUT_DATA + smp_request(smp, processor, REQUEST_MEMREADINV,
                                           smp_line_address(address), 0, WRITE_BACK_MEMORY);
            snoop(smp, processor, address, SMP_INVALID);
        }
        *line = smp_line_address(address) | SMP_MODIFIED;
    }
    *word_at(smp, address) = value;
}

void smp_fetch(struct smp *smp, struct smp_processor *processor, uint32_t address)
{
    if (smp_cache_use(&processor->code, address))
        return;
    uint64_t tick = smp_request(smp, processor, REQUEST_FETCH, address & ~7u, SMP_LINE_BYTES,
                                WRITE_BACK_MEMORY);
    smp_cache_put(&processor->code, address, SMP_SHARED);
    processor->time = tick + memory_latency(smp, address);
}

void smp_write_back(struct smp *smp, struct smp_processor *processor)
{
    for (unsigned set = 0; set < SMP_CACHE_SETS; set++)
        for (unsigned way = 0; way < SMP_CACHE_WAYS; way++) {
            smp_line line = processor->data.lines[set][way];
            if (smp_line_state(line) == SMP_MODIFIED)
                processor->time =
                    3 + smp_request(smp, processor, REQUEST_MEMWRITE, smp_line_address(line),
                                    SMP_LINE_BYTES, WRITE_BACK_MEMORY);
        }
    processor->data = processor->code = (struct smp_cache){0};
    processor->fetched_line = UINT32_MAX;
}
