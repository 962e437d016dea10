/*
 * x87, vector and mask registers as XSAVE lays them out in its standard form (Intel SDM, volume 1,
 * 13.4): a legacy area, a header whose first 8 bytes name the components that are not in their
 * initial state, then each component at its offset.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_VECTOR_STATE_H
#define CAPTURE_EXEC_TRANSLATE_VECTOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VECTOR_STATE_BYTES 64u /* maximum size of a register */

/* Offsets and sizes of the components, from CPUID; size 0: not supported. */
struct vector_layout {
    uint64_t mask; /* saved components */
    struct {
        uint32_t offset, size;
    } components[8];
};

void vector_layout_init(struct vector_layout *layout, uint64_t mask);

/* Copies the components that are not in their initial state. */
void vector_state_copy(const struct vector_layout *layout, uint8_t *to, const uint8_t *from);

/* Makes an area of any content valid for XRSTOR. */
void vector_state_normalize(const struct vector_layout *layout, uint8_t *area);

/* Whether xmm0 to xmm15 are not in their initial state. */
bool vector_state_has_sse(const uint8_t *area);

/* All 64 bytes of xmm/ymm/zmm0 to 31; bytes that the processor does not have are 0. */
void vector_state_get(const struct vector_layout *layout, const uint8_t *area, unsigned number,
                      uint8_t bytes[VECTOR_STATE_BYTES]);
void vector_state_set(const struct vector_layout *layout, uint8_t *area, unsigned number,
                      const uint8_t bytes[VECTOR_STATE_BYTES]);

/* k0 to k7, and mm0 to mm7. */
uint64_t vector_state_opmask(const struct vector_layout *layout, const uint8_t *area,
                             unsigned number);
uint64_t vector_state_mmx(const uint8_t *area, unsigned number);

#endif
