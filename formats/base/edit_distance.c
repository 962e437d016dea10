#include "formats/base/edit_distance.h"

#include <string.h>

size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][EDIT_DISTANCE_BYTES + 1]; /* of the last two prefixes of a, and this one */
    size_t width = strnlen(b, EDIT_DISTANCE_BYTES);
    size_t height = strnlen(a, EDIT_DISTANCE_BYTES);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t least = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (least > above[j] + 1)
                least = above[j] + 1;
            if (least > row[j - 1] + 1)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                least > before[j - 2] + 1)
                least = before[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[height % 3][width];
}
