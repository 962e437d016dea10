#include "tests/support/records.h"

#include "tests/support/random.h"

void records_fill_like_a_bus(struct record *records, size_t count, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH,      REQUEST_FETCH,     REQUEST_FETCH,
                                    REQUEST_MEMREAD,    REQUEST_MEMREAD,   REQUEST_MEMWRITE,
                                    REQUEST_MEMREADINV, REQUEST_DEFERREPLY};
    uint32_t streams[8] = {0x3ff010,   0x87eed18,  0x161e89e0, 0x2548fe58,
                           0x27485448, 0x2001ff50, 0x3462fdd0, 0xc335d90};
    for (size_t i = 0; i < count; i++) {
        unsigned stream = (unsigned)random_below(random, 8);
        if (random_below(random, 16) == 0)
            streams[stream] = (uint32_t)random_next(random) & 0x3ffffff8u;
        streams[stream] += 8;
        uint8_t type = types[stream];
        records[i] = (struct record){.address = streams[stream],
                                     .type = type,
                                     .size = type == REQUEST_DEFERREPLY ? 0 : 8,
                                     .attribute = 0,
                                     .processor = (uint8_t)(stream & 3),
                                     .time = (uint32_t)random_below(random, 32) * 8 + 7};
    }
}

void records_fill_random(struct record *records, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_next(random);
        records[i] =
            (struct record){.address = (uint32_t)random_next(random),
                            .type = request_type_at((unsigned)random_below(random, REQUEST_TYPES)),
                            .size = (uint8_t)bits,
                            .attribute = (uint8_t)(bits >> 8),
                            .processor = (uint8_t)(bits >> 16),
                            .time = (uint32_t)(bits >> 24)};
    }
}

const struct record records_worked_example[RECORDS_WORKED_EXAMPLE] = {{.address = 0x000f1000,
                                                                       .type = REQUEST_FETCH,
                                                                       .size = 8,
                                                                       .attribute = 7,
                                                                       .processor = 0,
                                                                       .time = 96},
                                                                      {.address = 0x000f1008,
                                                                       .type = REQUEST_FETCH,
                                                                       .size = 8,
                                                                       .attribute = 7,
                                                                       .processor = 0,
                                                                       .time = 110},
                                                                      {.address = 0x007016c0,
                                                                       .type = REQUEST_MEMWRITE,
                                                                       .size = 8,
                                                                       .attribute = 7,
                                                                       .processor = 1,
                                                                       .time = 900},
                                                                      {.address = 0x000f0ff8,
                                                                       .type = REQUEST_FETCH,
                                                                       .size = 8,
                                                                       .attribute = 7,
                                                                       .processor = 0,
                                                                       .time = 110},
                                                                      {.address = 0xfee00300,
                                                                       .type = REQUEST_MEMWRITE,
                                                                       .size = 4,
                                                                       .attribute = 0,
                                                                       .processor = 1,
                                                                       .time = 100000},
                                                                      {.address = 0x007016e0,
                                                                       .type = REQUEST_MEMWRITE,
                                                                       .size = 8,
                                                                       .attribute = 7,
                                                                       .processor = 1,
                                                                       .time = 100000}};
