#include "tools/symbols/image_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int image_list_read(struct images *images, const char *path, struct bt_error *error)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return bt_fail_errno(error, "cannot open the list of modules %s", path);
    for (unsigned number = 1; result == 0 && (length = getline(&line, &room, file)) > 0; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            result = images_add(images, line, error);
        if (result < 0)
            bt_fail_within(error, "%s: line %u", path, number);
    }
    if (result == 0 && ferror(file))
        result = bt_fail_errno(error, "cannot read %s", path);
    free(line);
    fclose(file);
    return result;
}
