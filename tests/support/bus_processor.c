#include "tests/support/bus_processor.h"

#include "tests/support/random.h"

#include <stdlib.h>

/* Address lines on which a probe samples too early or too late. */
static const uint8_t weak_bits[] = {3, 4, 5, 10, 11, 12, 13, 14, 15};

struct bus_processor {
    struct bus_processor_model model;
    uint64_t random;
    uint32_t *cached; /* by line: address of the chunk, plus 1; NULL without a cache */
    uint64_t next;    /* address after the last instruction */
    uint64_t fetched; /* end of the bytes fetched since the last taken branch */
    struct record *out;
    size_t count;
};

struct bus_processor *bus_processor_new(const struct bus_processor_model *model, uint64_t seed)
{
    struct bus_processor *processor = calloc(1, sizeof *processor);
    if (!processor)
        return NULL;
    processor->model = *model;
    processor->random = random_seed(seed);
    processor->next = UINT64_MAX;
    if (model->cache > 0)
        processor->cached = calloc(model->cache / model->chunk, sizeof *processor->cached);
    if (model->cache == 0 || processor->cached)
        return processor;
    free(processor);
    return NULL;
}

void bus_processor_free(struct bus_processor *processor)
{
    if (processor)
        free(processor->cached);
    free(processor);
}

static bool hit(struct bus_processor *processor, uint32_t address)
{
    if (!processor->cached)
        return false;
    uint32_t *line = &processor->cached[address / processor->model.chunk %
                                        (processor->model.cache / processor->model.chunk)];
    if (*line == address + 1)
        return true;
    *line = address + 1;
    return false;
}

static void fetch(struct bus_processor *processor, uint64_t at)
{
    uint32_t address = (uint32_t)at;
    if (hit(processor, address) || processor->count == BUS_PROCESSOR_FETCHES)
        return;
    if (random_below(&processor->random, 100) < processor->model.noise_percent)
        for (uint64_t bits = 1 + random_below(&processor->random, 2); bits > 0; bits--) {
            uint32_t bit = 1u << weak_bits[random_below(&processor->random, sizeof weak_bits)];
            if (bit >= processor->model.chunk)
                address ^= bit;
        }
    processor->out[processor->count++] = (struct record){.address = address,
                                                         .size = (uint8_t)processor->model.chunk,
                                                         .type = REQUEST_FETCH,
                                                         .time = 1};
}

size_t bus_processor_execute(struct bus_processor *processor, uint32_t address, uint8_t size,
                             struct record *fetches)
{
    const struct bus_processor_model *model = &processor->model;
    uint64_t start = address / model->chunk * model->chunk;
    uint64_t end = (uint64_t)address + size;
    uint64_t ahead = (end - 1) / model->chunk * model->chunk + (1 + model->ahead) * model->chunk;
    processor->out = fetches;
    processor->count = 0;
    bool again =
        model->refetch == 2 || (model->refetch == 1 && random_one_in(&processor->random, 2));
    bool taken = address != processor->next;
    if (model->refetch == 1 && taken &&
        start == (processor->next - 1) / model->chunk * model->chunk)
        taken = false;
    if (taken || again)
        processor->fetched = start;
    for (; processor->fetched < ahead; processor->fetched += model->chunk)
        fetch(processor, processor->fetched);
    processor->next = end;
    return processor->count;
}
