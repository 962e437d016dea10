#include "tools/dcfg/graph/bus_code.h"

#include "tools/symbols/image_names.h"

#include <stdlib.h>

void bus_code_free(struct bus_code *code)
{
    for (size_t i = 0; code && i < code->count; i++)
        free(code->ranges[i].at);
    if (code)
        free(code->ranges);
    free(code);
}

static struct bus_code_range *find_range(const struct bus_code *code, uint64_t address)
{
    size_t low = 0;
    size_t high = code->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->ranges[low].start <= address ? &code->ranges[low] : NULL;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct bus_code_range *x = a;
    const struct bus_code_range *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int add_ranges(struct bus_code *code, const struct image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *segment = &image->segments[i];
        if (segment->size == 0 || segment->address > UINT32_MAX)
            continue;
        struct bus_code_range *grown =
            realloc(code->ranges, (code->count + 1) * sizeof *code->ranges);
        struct bus_instruction *at = calloc(segment->size, sizeof *at);
        if (grown)
            code->ranges = grown;
        if (!grown || !at) {
            free(at);
            return BT_MEMORY;
        }
        code->ranges[code->count++] =
            (struct bus_code_range){.start = segment->address,
                                    .end = segment->address + segment->size,
                                    .first_routine = UINT64_MAX,
                                    .at = at};
    }
    return 0;
}

static void mark_routine(struct bus_code *code, uint64_t address)
{
    struct bus_code_range *range = find_range(code, address);
    if (!range)
        return;
    range->at[address - range->start].flags |= BUS_ROUTINE;
    if (address < range->first_routine)
        range->first_routine = address;
}

static int mark_routines(struct bus_code *code, const struct image *image, struct bt_error *error)
{
    struct image_names names = {.symbol_count = 0};
    int result = image_names_read_routines(&names, image, error);
    for (size_t i = 0; result == 0 && i < names.symbol_count; i++)
        mark_routine(code, names.symbols[i].address);
    for (size_t i = 0; result == 0 && i < names.start_count; i++)
        mark_routine(code, names.starts[i]);
    for (size_t i = 0; result == 0 && i < names.section_count; i++)
        mark_routine(code, names.sections[i]);
    image_names_clear(&names);
    return result;
}

struct bus_code *bus_code_new(const struct images *images, struct bt_error *error)
{
    struct bus_code *code = calloc(1, sizeof *code);
    uint32_t count = images ? images_count(images) : 0;
    int result = code ? 0 : BT_MEMORY;
    if (code)
        code->images = images;
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = add_ranges(code, images_get(images, i));
    if (code && code->count > 0)
        qsort(code->ranges, code->count, sizeof *code->ranges, compare_ranges);
    if (result != 0)
        bt_fail(error, BT_MEMORY, "no memory for the code of the images");
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = mark_routines(code, images_get(images, i), error);
    if (result == 0)
        return code;
    bus_code_free(code);
    return NULL;
}

static const struct bus_instruction *decode(struct bus_code *code, uint64_t address,
                                            struct bus_instruction *made)
{
    struct image_instruction instruction;
    if (!images_instruction(code->images, address, &instruction)) {
        made->flags |= BUS_INVALID;
        return NULL;
    }
    made->target = (uint32_t)instruction.target;
    made->branch = instruction.branch;
    made->size = instruction.size;
    return made;
}

const struct bus_instruction *bus_code_decode(struct bus_code *code, uint32_t address)
{
    const struct bus_code_range *range = find_range(code, address);
    if (!range)
        return NULL;
    code->last = *range;
    struct bus_instruction *found = &range->at[address - range->start];
    if (found->size != 0)
        return found;
    return found->flags & BUS_INVALID ? NULL : decode(code, address, found);
}

bool bus_code_withdraw(struct bus_code *code, uint32_t address, uint8_t limit)
{
    const struct bus_code_range *range = find_range(code, address);
    struct bus_instruction *found = range ? &range->at[address - range->start] : NULL;
    if (!found || found->withdrawn >= limit)
        return false;
    found->withdrawn++;
    return true;
}

bool bus_code_has(const struct bus_code *code, uint32_t address, uint32_t size)
{
    const struct bus_code_range *range = &code->last;
    uint64_t end = (uint64_t)address + size;
    if (range->start <= address && end <= range->end)
        return true;
    return find_range(code, address) || find_range(code, end - 1);
}

/* --- boundaries --- */

/*
 * Marks the boundaries of instructions from the start of the routine that an address is in to the
 * next routine. False if no routine is known to begin before the address: code cannot be read from
 * an arbitrary place.
 */
static bool read_routine(struct bus_code *code, struct bus_code_range *range, uint64_t address)
{
    uint64_t start = address;
    if (address < range->first_routine)
        return false;
    while (!(range->at[start - range->start].flags & (BUS_ROUTINE | BUS_BOUNDARY)))
        start--;
    if (range->at[start - range->start].flags & BUS_BOUNDARY)
        return true; /* it was read before */
    for (uint64_t at = start; at < range->end;) {
        struct bus_instruction *made = &range->at[at - range->start];
        if (at > start && made->flags & BUS_ROUTINE)
            break;
        const struct bus_instruction *instruction = bus_code_at(code, (uint32_t)at);
        if (instruction)
            made->flags |= BUS_BOUNDARY;
        at += instruction ? instruction->size : 1;
    }
    return true;
}

unsigned bus_code_entries(struct bus_code *code, uint32_t address, uint32_t size,
                          uint32_t entries[BUS_ENTRIES])
{
    unsigned count = 0;
    for (uint32_t i = 0; i < size && i < BUS_ENTRIES; i++) {
        struct bus_code_range *range = find_range(code, (uint64_t)address + i);
        if (!range)
            continue;
        bool known = read_routine(code, range, (uint64_t)address + i);
        if (known ? range->at[address + i - range->start].flags & BUS_BOUNDARY
                  : bus_code_at(code, address + i) != NULL)
            entries[count++] = address + i;
    }
    return count;
}
