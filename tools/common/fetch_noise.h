/*
 * Fetches of a bus whose address a probe sampled wrongly.
 *
 * An excursion is a fetch of one chunk after which the processor continues where it was: at the
 * chunk before, or at one of the next two. It looks like an error if its address differs from the
 * chunk before, or the next one, in one or two bits, or only in bits that are often wrong.
 */
#ifndef TOOLS_COMMON_FETCH_NOISE_H
#define TOOLS_COMMON_FETCH_NOISE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FETCH_NOISE_BITS 32u

struct fetch_noise {
    uint32_t chunk; /* size of a fetch in bytes */
    uint32_t mask;  /* address bits that are often wrong */
};

/* What fetch_noise_find found in successive fetches of one processor. */
struct fetch_noise_finding {
    uint64_t visits;                 /* fetches without those equal to the previous one */
    uint64_t excursions;             /* of them, those that look like errors */
    uint64_t only_there;             /* of those, at chunks that are never fetched otherwise */
    uint64_t bits[FETCH_NOISE_BITS]; /* how often each address bit was wrong */
    uint32_t mask;                   /* bits that were wrong in a twentieth of the excursions */
};

/* The address bits in which `seen`, fetched between `before` and `after`, is wrong; 0: it does not
 * look like an error. None of the fetches is equal to the previous one. */
uint32_t fetch_noise_bits(const struct fetch_noise *noise, uint32_t before, uint32_t seen,
                          uint32_t after);

/* Examines the addresses of fetches, chunks of that many bytes. 0 or BT_MEMORY. */
int fetch_noise_find(struct fetch_noise_finding *finding, const uint32_t *addresses, size_t count,
                     uint32_t chunk, struct bt_error *error);

/* Whether the finding shows errors of a probe: programs without errors have few excursions to
 * chunks that are never fetched otherwise. */
bool fetch_noise_is_probe(const struct fetch_noise_finding *finding);

#endif
