#include "capture/exec/translate/vector_state.h"

#include "capture/exec/translate/xsave_area.h"

#include <cpuid.h>
#include <string.h>

#define MXCSR_USUAL 0xffffu

/* Components: bit numbers in the header. */
enum { COMPONENT_X87, COMPONENT_SSE, COMPONENT_AVX, COMPONENT_OPMASK = 5, UPPER_HALVES, UPPER_16 };

void vector_layout_init(struct vector_layout *layout, uint64_t mask)
{
    *layout = (struct vector_layout){.mask = mask};
    for (unsigned i = 2; i < 8; i++) {
        unsigned a, b, c, d;
        if (!(mask >> i & 1))
            continue;
        __cpuid_count(0xd, i, a, b, c, d);
        layout->components[i].size = a;
        layout->components[i].offset = b;
    }
}

static uint64_t components_of(const uint8_t *area)
{
    uint64_t components;
    memcpy(&components, area + XSAVE_HEADER, sizeof components);
    return components;
}

static void set_components(uint8_t *area, uint64_t components)
{
    memcpy(area + XSAVE_HEADER, &components, sizeof components);
}

void vector_state_copy(const struct vector_layout *layout, uint8_t *to, const uint8_t *from)
{
    uint64_t components = components_of(from);
    memcpy(to, from, XSAVE_OTHERS);
    for (unsigned i = 2; i < 8; i++)
        if (components >> i & layout->mask >> i & 1)
            memcpy(to + layout->components[i].offset, from + layout->components[i].offset,
                   layout->components[i].size);
}

void vector_state_normalize(const struct vector_layout *layout, uint8_t *area)
{
    uint32_t mxcsr;
    uint64_t components = components_of(area) & layout->mask;
    memcpy(&mxcsr, area + XSAVE_MXCSR, sizeof mxcsr);
    mxcsr &= MXCSR_USUAL;
    memcpy(area + XSAVE_MXCSR, &mxcsr, sizeof mxcsr);
    memset(area + XSAVE_HEADER, 0, XSAVE_HEADER_BYTES);
    set_components(area, components);
}

bool vector_state_has_sse(const uint8_t *area)
{
    return components_of(area) >> 1 & 1;
}

/* A component's bytes; NULL: not supported, or in its initial state, 0. */
static const uint8_t *find(const struct vector_layout *layout, const uint8_t *area, unsigned which)
{
    if (!((layout->mask & components_of(area)) >> which & 1))
        return NULL;
    return area + (which < 2 ? 0 : layout->components[which & 7].offset);
}

void vector_state_get(const struct vector_layout *layout, const uint8_t *area, unsigned number,
                      uint8_t bytes[VECTOR_STATE_BYTES])
{
    const uint8_t *part;
    memset(bytes, 0, VECTOR_STATE_BYTES);
    if (number >= 16) {
        if ((part = find(layout, area, UPPER_16)))
            memcpy(bytes, part + (number - 16) * 64, 64);
        return;
    }
    if ((part = find(layout, area, COMPONENT_SSE)))
        memcpy(bytes, part + XSAVE_XMM + number * 16, 16);
    if ((part = find(layout, area, COMPONENT_AVX)))
        memcpy(bytes + 16, part + number * 16, 16);
    if ((part = find(layout, area, UPPER_HALVES)))
        memcpy(bytes + 32, part + number * 32, 32);
}

/* The same for writing: a component in its initial state is zeroed first. NULL: not supported. */
static uint8_t *touch(const struct vector_layout *layout, uint8_t *area, unsigned which)
{
    uint64_t components = components_of(area);
    uint8_t *part = area + (which < 2 ? XSAVE_XMM : layout->components[which & 7].offset);
    if (!(layout->mask >> which & 1))
        return NULL;
    if (!(components >> which & 1))
        memset(part, 0, which < 2 ? 16 * 16 : layout->components[which & 7].size);
    set_components(area, components | (uint64_t)1 << which);
    return part;
}

void vector_state_set(const struct vector_layout *layout, uint8_t *area, unsigned number,
                      const uint8_t bytes[VECTOR_STATE_BYTES])
{
    uint8_t *part;
    if (number >= 16) {
        if ((part = touch(layout, area, UPPER_16)))
            memcpy(part + (number - 16) * 64, bytes, 64);
        return;
    }
    if ((part = touch(layout, area, COMPONENT_SSE)))
        memcpy(part + number * 16, bytes, 16);
    if ((part = touch(layout, area, COMPONENT_AVX)))
        memcpy(part + number * 16, bytes + 16, 16);
    if ((part = touch(layout, area, UPPER_HALVES)))
        memcpy(part + number * 32, bytes + 32, 32);
}

uint64_t vector_state_opmask(const struct vector_layout *layout, const uint8_t *area,
                             unsigned number)
{
    const uint8_t *part = find(layout, area, COMPONENT_OPMASK);
    uint64_t mask = 0;
    if (part)
        memcpy(&mask, part + number * 8, sizeof mask);
    return mask;
}

/* mm0 is physical x87 register 0; the area begins with the top of the stack. */
uint64_t vector_state_mmx(const uint8_t *area, unsigned number)
{
    uint64_t value = 0;
    unsigned top = area[3] >> 3 & 7; /* of the status word */
    if (components_of(area) & 1)
        memcpy(&value, area + XSAVE_X87 + 16 * ((number - top) & 7), sizeof value);
    return value;
}
