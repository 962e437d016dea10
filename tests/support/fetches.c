#include "tests/support/fetches.h"

#include "tests/support/random.h"

#define THREADS_MAX 8u

/* Returns the properties of the instruction at an offset, always the same number. */
static uint64_t nature(const struct fetches *fetches, uint32_t offset)
{
    uint64_t state = random_seed(fetches->seed * 1000003u + offset);
    random_next(&state);
    return random_next(&state);
}

/* Returns the offset of an instruction's successor. */
static uint32_t successor(const struct fetches *fetches, uint32_t offset, uint32_t size,
                          uint64_t *random)
{
    uint64_t bits = nature(fetches, offset);
    uint32_t next = offset + size;
    if (next >= fetches->span)
        next = 0;
    if (fetches->jumps == 0 || (bits >> 32) % fetches->jumps != 0)
        return next;
    uint64_t choice = random_below(random, fetches->choices + 1u);
    if (choice == 0)
        return next;
    return (uint32_t)(nature(fetches, offset + (uint32_t)choice * 65537u) % fetches->span);
}

void fetches_fill(const struct fetches *fetches, struct record *records, size_t count)
{
    uint64_t random = random_seed(fetches->seed + 77);
    uint32_t at[THREADS_MAX] = {0};
    unsigned thread = 0;
    for (size_t i = 0; i < count; i++) {
        if (fetches->burst == 0 || random_one_in(&random, fetches->burst))
            thread = (unsigned)random_below(&random, fetches->threads);
        uint32_t size = 1 + (uint32_t)(nature(fetches, at[thread]) % 8);
        if (fetches->overlaps != 0 && random_one_in(&random, fetches->overlaps))
            size = (uint32_t)random_below(&random, 9);
        records[i] = (struct record){.address = fetches->base + at[thread],
                                     .type = REQUEST_FETCH,
                                     .size = (uint8_t)size,
                                     .attribute = ATTRIBUTE_WRITE_BACK,
                                     .processor = (uint8_t)(255 - thread * 31),
                                     .time = 1};
        if (fetches->others != 0 && random_one_in(&random, fetches->others))
            records[i].type = REQUEST_MEMREAD;
        else
            at[thread] = successor(fetches, at[thread], size, &random);
    }
}
