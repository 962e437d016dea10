/* Arrays that grow by half, for an unknown number of elements. */
#ifndef FORMATS_BASE_GROW_H
#define FORMATS_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* For GROW_ROOM(). */
static inline bool grow_replace(void *array, void *grown)
{
    if (grown)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

/* Makes room for needed elements in the array `array`, a pointer from malloc with room for
 * `capacity`; both are lvalues. False without memory, with the array unchanged. */
#define GROW_ROOM(array, capacity, needed)                                                         \
    grow_replace(&(array), grow_array((array), &(capacity), (needed), sizeof *(array)))

#endif
