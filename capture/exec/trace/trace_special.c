#include "capture/exec/trace/trace_expand_internal.h"

#include <cpuid.h>
#include <string.h>

#define CHUNK              64u
#define REPETITION_RECORDS 3u /* a repetition makes no more */

#define XSAVE_LEGACY 512u
#define XSAVE_HEADER 64u

void trace_expander_init(struct trace_expander *expander)
{
    unsigned a, b, c, d;
    expander->component_mask = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    expander->component_mask = a;
    for (unsigned i = 2; i < TRACE_COMPONENTS; i++) {
        if (!(expander->component_mask >> i & 1))
            continue;
        __cpuid_count(0xd, i, a, b, c, d);
        expander->components[i].size = a;
        expander->components[i].offset = b;
        expander->components[i].aligned = (c & 2) != 0;
    }
}

static int add_range(struct trace_expander *expander, uint32_t address, bool write, uint32_t size)
{
    int result = 0;
    for (uint32_t done = 0; done < size && result == 0; done += CHUNK)
        result = trace_expander_add(expander, address + done, write,
                                    size - done < CHUNK ? size - done : CHUNK);
    return result;
}

static uint64_t mask_of(const struct decode_access *access, const uint32_t *entries)
{
    uint64_t mask = entries[0];
    if (access->lanes > 16)
        mask |= (uint64_t)entries[1] << 32;
    else
        mask &= 0xffff; /* kmovw wrote 16 bits */
    return access->lanes == 64 ? mask : mask & (((uint64_t)1 << access->lanes) - 1);
}

/* The highest bit of each element of a vector. */
static uint64_t vector_mask_of(const struct decode_access *access, const uint32_t *entries)
{
    const uint8_t *bytes = (const uint8_t *)entries;
    uint64_t mask = 0;
    for (unsigned lane = 0; lane < access->lanes; lane++)
        mask |= (uint64_t)(bytes[(lane + 1) * access->element - 1] >> 7) << lane;
    return mask;
}

/* Accessed elements; adjacent ones become one reference. */
static int add_elements(struct trace_expander *expander, const struct decode_access *access,
                        bool write, uint32_t address, uint64_t mask)
{
    int result = 0;
    for (unsigned lane = 0; lane < access->lanes && result == 0; lane++) {
        unsigned first = lane;
        while (lane < access->lanes && (mask >> lane & 1))
            lane++;
        if (lane > first)
            result = trace_expander_add(expander, address + first * access->element, write,
                                        (lane - first) * access->element);
    }
    return result;
}

static int add_gather(struct trace_expander *expander, const struct decode_access *access,
                      bool write, uint32_t address, uint64_t mask, const uint32_t *indices)
{
    int result = 0;
    for (unsigned lane = 0; lane < access->lanes && result == 0; lane++)
        if (mask >> lane & 1)
            result = trace_expander_add(
                expander, address + indices[lane * access->index_size / 4] * access->scale, write,
                access->element);
    return result;
}

/* The element that contains a bit. */
static uint32_t bit_address(const struct decode_access *access, const uint32_t *entries)
{
    uint64_t bit;
    memcpy(&bit, entries + 1, sizeof bit);
    return entries[0] + (uint32_t)decode_bit_offset(access, bit);
}

static int add_frames(struct trace_expander *expander, const struct decode_access *access,
                      bool write, uint32_t address)
{
    int result = 0;
    for (unsigned i = 0; i < access->lanes && result == 0; i++)
        result = trace_expander_add(expander, address - i * access->size, write, access->size);
    return result;
}

struct trace_areas trace_expander_areas(const struct trace_expander *expander,
                                        enum decode_xsave which, uint64_t asked, uint64_t in_use,
                                        uint64_t form)
{
    struct trace_areas areas = {.asked = asked & expander->component_mask, .form = asked};
    if (which == DECODE_XSAVE_RESTORE)
        areas.form = form;
    if (which != DECODE_XSAVE_ALL)
        areas.touched = areas.asked & in_use;
    else
        areas.touched = areas.asked;
    areas.compact = which == DECODE_XSAVE_COMPACT || (which == DECODE_XSAVE_RESTORE && form >> 63);
    areas.end = XSAVE_LEGACY + XSAVE_HEADER;
    return areas;
}

bool trace_expander_next_area(const struct trace_expander *expander, struct trace_areas *areas,
                              uint32_t *offset, uint32_t *size)
{
    for (unsigned i = areas->next < 2 ? 2 : areas->next; i < TRACE_COMPONENTS; i++) {
        *offset = expander->components[i].offset;
        *size = expander->components[i].size;
        areas->next = i + 1;
        if (areas->compact && (areas->form & expander->component_mask) >> i & 1) {
            if (expander->components[i].aligned)
                areas->end = (areas->end + CHUNK - 1) & ~(CHUNK - 1);
            *offset = areas->end;
            areas->end += *size;
        }
        if (areas->touched >> i & 1)
            return true;
    }
    return false;
}

/* Legacy area and header, then components. Entries: the address, edx:eax, and, written after the
 * instruction, the header's components in use and form. */
static int add_xsave(struct trace_expander *expander, const struct decode_access *access,
                     bool write, uint32_t address, const uint32_t *entries)
{
    struct trace_areas areas = trace_expander_areas(
        expander, (enum decode_xsave)access->element, entries[1] | (uint64_t)entries[2] << 32,
        entries[3] | (uint64_t)entries[4] << 32, entries[5] | (uint64_t)entries[6] << 32);
    uint32_t offset, size;
    int result = add_range(expander, address, write, XSAVE_LEGACY + XSAVE_HEADER);
    while (result == 0 && trace_expander_next_area(expander, &areas, &offset, &size))
        result = add_range(expander, address + offset, write, size);
    return result;
}

/* Adds the fetch of another repetition. */
static int add_fetch(struct trace_expander *expander, const struct record *fetch)
{
    if (expander->count == expander->capacity) {
        int result = trace_expander_flush(expander);
        if (result < 0)
            return result;
    }
    expander->records[expander->count++] = *fetch;
    return 0;
}

/* Adds repetitions from number `at` on of a string instruction, as many as there is room for.
 * Returns their number. */
static uint32_t add_run(struct trace_expander *expander, const struct special *special,
                        const uint32_t *pointers, bool down, uint32_t at, uint32_t times)
{
    const unsigned accesses = special->accesses;
    const size_t left = (expander->capacity - expander->count) / accesses;
    const uint32_t count = times - at < left ? times - at : (uint32_t)left;
    for (unsigned a = 0; a < accesses; a++) {
        const struct decode_access *access = &special->access[a];
        const uint32_t step = down ? -(uint32_t)access->size : access->size;
        struct record record = {.address = pointers[a] + at * step +
                                           (access->fs ? (uint32_t)expander->fs_base : 0),
                                .type = access->write ? REQUEST_MEMWRITE : REQUEST_MEMREAD,
                                .size = (uint8_t)access->size,
                                .attribute = ATTRIBUTE_WRITE_BACK,
                                .processor = expander->processor};
        struct record *to = expander->records + expander->count + a;
        for (uint32_t i = 0; i < count; i++, record.address += step, to += accesses)
            *to = record;
    }
    expander->count += (size_t)count * accesses;
    return count;
}

bool trace_goes_backwards(const struct special *special, const uint32_t *entries)
{
    const uint32_t *after = entries + 1 + special->accesses;
    const uint32_t moved = after[1] - entries[1];
    const uint32_t bytes = (entries[0] - after[0]) * special->access[0].size;
    return bytes == 0 - bytes ? entries[1] > UINT32_MAX - bytes + 1 && bytes > 0 : moved != bytes;
}

/* Entries: count and pointers before, count and first pointer after the instruction. With
 * `repetitions` the last record is its fetch. */
static int add_repeated(struct trace_expander *expander, const struct special *special,
                        const uint32_t *entries)
{
    const uint32_t *after = entries + 1 + special->accesses;
    uint32_t times = entries[0] - after[0];
    const bool down = trace_goes_backwards(special, entries);
    struct trace_pause *pause = &expander->pause;
    const uint32_t begun = pause->repetition;
    int result = 0;
    if (expander->repetitions && begun == 0) {
        pause->fetch = expander->records[expander->count - 1];
        pause->fetch.time = 0;
    }
    pause->repetition = 0;
    for (uint32_t i = begun; i < times && result == 0; i++) {
        if (expander->pauses && expander->capacity - expander->count < REPETITION_RECORDS) {
            pause->on = true;
            pause->repetition = i;
            return TRACE_PAUSED;
        }
        if (expander->capacity - expander->count < REPETITION_RECORDS)
            result = trace_expander_flush(expander);
        if (!expander->repetitions && result == 0) {
            i += add_run(expander, special, entries + 1, down, i, times) - 1;
            continue;
        }
        if (i > 0 && expander->repetitions && result == 0)
            result = add_fetch(expander, &pause->fetch);
        for (unsigned a = 0; a < special->accesses && result == 0; a++) {
            const struct decode_access *access = &special->access[a];
            uint32_t step = i * access->size;
            uint32_t address = entries[1 + a] + (down ? -step : step) +
                               (access->fs ? (uint32_t)expander->fs_base : 0);
            result = trace_expander_add(expander, address, access->write, access->size);
        }
    }
    return result;
}

int trace_special(struct trace_expander *expander, const struct special *special,
                  const uint32_t *entries)
{
    const struct decode_access *access = &special->access[0];
    uint32_t fs = access->fs ? (uint32_t)expander->fs_base : 0;
    bool write = special->write;
    entries += special->slot;
    switch (access->form) {
    case DECODE_REPEATED:
        return add_repeated(expander, special, entries);
    case DECODE_TABLE:
        return trace_expander_add(expander, entries[0] + fs, write, access->size);
    case DECODE_BITS:
        return trace_expander_add(expander, bit_address(access, entries) + fs, write, access->size);
    case DECODE_OPMASK:
        return add_elements(expander, access, write, entries[0] + fs,
                            decode_elements(access, mask_of(access, entries + 1)));
    case DECODE_OPMASK_PACKED: {
        unsigned count = (unsigned)__builtin_popcountll(mask_of(access, entries + 1));
        return add_range(expander, entries[0] + fs, write, count * access->element);
    }
    case DECODE_VECTOR_MASK:
        return add_elements(expander, access, write, entries[0] + fs,
                            vector_mask_of(access, entries + 1));
    case DECODE_GATHER:
        return add_gather(expander, access, write, entries[0] + fs, mask_of(access, entries + 1),
                          entries + (access->lanes > 16 ? 3 : 2));
    case DECODE_GATHER_VECTOR:
        return add_gather(expander, access, write, entries[0] + fs,
                          vector_mask_of(access, entries + 1),
                          entries + 1 + (access->lanes * access->element > 16 ? 8 : 4));
    case DECODE_FRAMES:
        return add_frames(expander, access, write, entries[0] + fs);
    default:
        return add_xsave(expander, access, write, entries[0] + fs, entries);
    }
}
