#include "formats/base/program_words.h"

#include "formats/base/program_path.h"

#include <string.h>

#define PATH_BYTES 4200u

int program_words_split(struct program_words *words, const char *command, struct bt_error *error)
{
    words->count = 0;
    if (strlen(command) >= sizeof words->text)
        return bt_fail(error, BT_USAGE, "the command is too long: at most %u bytes",
                       PROGRAM_WORDS_BYTES - 1);
    strcpy(words->text, command);
    for (char *rest = words->text, *word; (word = strtok_r(rest, " \t", &rest));)
        words->words[words->count++] = word;
    words->words[words->count] = NULL;
    return words->count > 0 ? 0 : bt_fail(error, BT_USAGE, "the command is empty");
}

int program_words_find(const struct program_words *words, struct bt_error *error)
{
    const char *name = words->words[0];
    char path[PATH_BYTES];
    if (strchr(name, '/'))
        return program_path_is_program(name)
                   ? 0
                   : bt_fail(error, BT_USAGE, "%.200s is not an executable program", name);
    if (program_path_find(path, sizeof path, name))
        return 0;
    return bt_fail(error, BT_USAGE,
                   "there is no program %.200s in the folders of PATH; a command has no shell: put "
                   "more than a program and its arguments into a script",
                   name);
}
