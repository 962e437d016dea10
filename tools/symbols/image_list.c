#include "tools/symbols/image_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether a line may be the name of a file: any file may be given as a list. */
static bool is_text(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            return false;
    return true;
}

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
        if (line[length - 1] == '\n')
            line[--length] = '\0';
        if (!is_text(line, (size_t)length))
            result = bt_fail(error, BT_DATA, "is not FILE@ADDRESS");
        else if (length > 0)
            result = images_add(images, line, error);
        if (result < 0)
            bt_fail_within(error, "%.200s: line %u", path, number);
    }
    if (result == 0 && ferror(file))
        result = bt_fail_errno(error, "cannot read %s", path);
    free(line);
    fclose(file);
    return result;
}
