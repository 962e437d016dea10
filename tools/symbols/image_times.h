/*
 * Images that were in memory for a part of a capture only, so that others may have been at their
 * addresses before or after. For a graph each gets addresses of its own: images_separate() moves
 * them to addresses that no image has, images_place() translates addresses in memory.
 */
#ifndef TOOLS_SYMBOLS_IMAGE_TIMES_H
#define TOOLS_SYMBOLS_IMAGE_TIMES_H

#include "tools/symbols/image.h"

/* A time, in ticks of the capture, both included. */
struct image_time {
    uint64_t first;
    uint64_t last; /* UINT64_MAX: the capture's end */
};

/* Parses "FIRST-LAST,FIRST-...", in order. False: this is no such text. On success the caller frees
 * *times, which is NULL without memory. */
bool image_times_parse(const char *text, struct image_time **times, size_t *count);

/* Whether two images were in memory at the same time. */
bool image_times_meet(const struct image *one, const struct image *other);

/* From now on images may overlap that were in memory at different times. images_separate(), after
 * the last image was added, is then needed before anything else. 0, or BT_USAGE: no addresses are
 * left. */
void images_allow_times(struct images *images);
int images_separate(struct images *images, struct bt_error *error);

/* Whether images were separated. */
bool images_are_separate(const struct images *images);

/* Translates an address in memory at some time. BT_DATA: it is an address that an image was moved
 * to. */
int images_place(const struct images *images, uint64_t tick, uint32_t *address,
                 struct bt_error *error);

#endif
