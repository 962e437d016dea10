#include "tools/common/module_list_text.h"

#include "formats/base/printable.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool module_list_is(const char *path)
{
    struct stat status;
    char line[PATH_MAX + 32] = "";
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    do
        if (!fgets(line, sizeof line, file))
            line[0] = '\0';
    while (line[0] == '\n');
    fclose(file);
    return line[0] == '/' && strstr(line, "@0x");
}

int module_list_skip(int *count, char **operands)
{
    int kept = 0;
    int lists = 0;
    for (int i = 0; i < *count; i++)
        lists += module_list_is(operands[i]);
    if (lists == 0 || lists == *count)
        return lists;
    for (int i = 0; i < *count; i++)
        if (module_list_is(operands[i]))
            fprintf(stderr, "bustap: %s is a list of modules, not a capture: skipped\n",
                    PRINTABLE(operands[i]));
        else
            operands[kept++] = operands[i];
    *count = kept;
    return 0;
}
