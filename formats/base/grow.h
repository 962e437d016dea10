/* Arrays that grow by half, for an unknown number of elements. */
#ifndef FORMATS_BASE_GROW_H
#define FORMATS_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Makes room for needed elements of size bytes each (size > 0) in an array from malloc with room
 * for *capacity. Returns the array, perhaps moved; or NULL without memory, with the array
 * unchanged.
 */
static inline void *grow_array(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity && array)
        return array;
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (wanted < needed)
        wanted = needed;
    if (wanted > PTRDIFF_MAX / size)
        return NULL;
    void *grown = realloc(array, wanted * size);
    if (grown)
        *capacity = wanted;
    return grown;
}

#endif
