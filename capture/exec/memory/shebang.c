#include "capture/exec/memory/shebang.h"

#include <string.h>

static bool blank(char character)
{
    return character == ' ' || character == '\t';
}

bool shebang_parse(struct shebang *script, const uint8_t *bytes, size_t size)
{
    if (size < 2 || bytes[0] != '#' || bytes[1] != '!')
        return false;
    char line[SHEBANG_HEAD_BYTES] = "";
    size_t length = size - 2 < sizeof line - 1 ? size - 2 : sizeof line - 1;
    memcpy(line, bytes + 2, length);
    bool whole = size < SHEBANG_HEAD_BYTES || strlen(line) < length;
    char *end = strchr(line, '\n');
    if (end) {
        *end = '\0';
        whole = true;
    }
    for (size_t i = strlen(line); i > 0 && blank(line[i - 1]); i--)
        line[i - 1] = '\0';
    size_t start = strspn(line, " \t");
    size_t name = strcspn(line + start, " \t");
    size_t rest = start + name + strspn(line + start + name, " \t");
    *script = (struct shebang){.interpreter = "", .argument = ""};
    /* an argument may be truncated, a name may not */
    if (name > 0 && (whole || line[start + name] != '\0')) {
        memcpy(script->interpreter, line + start, name);
        memcpy(script->argument, line + rest, strlen(line + rest));
    }
    return true;
}
