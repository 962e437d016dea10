/* Files that list images, as `bustap exec --modules` writes them. */
#ifndef TOOLS_SYMBOLS_IMAGE_LIST_H
#define TOOLS_SYMBOLS_IMAGE_LIST_H

#include "tools/symbols/image.h"

/* Adds the image of each line of a file, "FILE@ADDRESS" or with times; images_separate() is needed
 * after it. Errors as those of images_add(), with the line; BT_IO. */
int image_list_read(struct images *images, const char *path, struct bt_error *error);

#endif
