/* The byte pipe to the host, as the board sees it: a FIFO each way. */
#ifndef FIRMWARE_LINK_H
#define FIRMWARE_LINK_H

#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

struct NAMED_FIELDS board_link {
    /* Puts up to size bytes into the FIFO to the host; returns how many it took (0: full). Never
     * waits. */
    size_t (*send)(void *context, const uint8_t *bytes, size_t size);
    /* Takes up to capacity bytes that the host sent. Never waits. */
    size_t (*receive)(void *context, uint8_t *bytes, size_t capacity);
    void *context;
};

#endif
