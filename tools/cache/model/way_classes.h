/*
 * The ways of each set in a few classes of age, as bits: the lowest way of the oldest class is
 * found in constant time, however many ways a set has, and ageing a set moves no way.
 */
#ifndef TOOLS_CACHE_MODEL_WAY_CLASSES_H
#define TOOLS_CACHE_MODEL_WAY_CLASSES_H

#include <stddef.h>
#include <stdint.h>

struct way_classes;

/* classes: 2 to 255; class 0 is the youngest. No way has a class yet. NULL: out of memory. */
struct way_classes *way_classes_new(uint32_t sets, uint32_t ways, unsigned classes);
void way_classes_free(struct way_classes *ages);

/* Moves a way, slot % ways of set slot / ways, to a class. */
void way_classes_put(struct way_classes *ages, size_t slot, unsigned number);

/* The lowest way of the oldest class. While that is empty, all ways of the set move to the next
 * older class. At least one way of the set has a class. */
uint32_t way_classes_oldest(struct way_classes *ages, uint32_t set);

#endif
