#include "tools/common/edit_distance.h"

#include <string.h>

size_t edit_distance(const char *a, const char *b)
{
    size_t row[EDIT_DISTANCE_BYTES + 1];
    size_t width = strnlen(b, EDIT_DISTANCE_BYTES);
    size_t height = strnlen(a, EDIT_DISTANCE_BYTES);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; i < height; i++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = diagonal + (a[i] != b[j - 1]);
            size_t added = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < added ? replaced : added;
        }
    }
    return row[width];
}
