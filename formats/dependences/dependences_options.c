#include "formats/dependences/dependences_options.h"

#include "formats/dependences/dependences.h"

#include <string.h>
#include <strings.h>

/* The number of the word among count names; count: it is none of them. */
static unsigned find(const char *const *names, unsigned count, const char *word, size_t size)
{
    unsigned number = 0;
    while (number < count &&
           (strlen(names[number]) != size || strncasecmp(names[number], word, size) != 0))
        number++;
    return number;
}

int dependences_take_by(void *field, const char *argument, struct bt_error *error)
{
    const unsigned by = find(dependences_by_names, DEPENDENCES_BYS, argument, strlen(argument));
    if (by == DEPENDENCES_BYS)
        return bt_fail(error, BT_USAGE, "'%.40s' is not instruction, line or function", argument);
    *(enum dependences_by *)field = (enum dependences_by)by;
    return 0;
}

int dependences_take_level(void *field, const char *argument, struct bt_error *error)
{
    const unsigned level =
        find(dependences_level_names, DEPENDENCES_LEVELS, argument, strlen(argument));
    if (level == DEPENDENCES_LEVELS)
        return bt_fail(error, BT_USAGE, "'%.40s' is not function or access", argument);
    *(enum dependences_level *)field = (enum dependences_level)level;
    return 0;
}

int dependences_take_kinds(void *field, const char *argument, struct bt_error *error)
{
    unsigned kinds = 0;
    for (const char *at = argument;; at++) {
        const size_t size = strcspn(at, ",");
        const unsigned kind = find(dependence_kind_names, DEPENDENCE_KINDS, at, size);
        if (kind == DEPENDENCE_KINDS)
            return bt_fail(error, BT_USAGE, "'%.*s' is not raw, war or waw",
                           (int)(size < 40 ? size : 40), at);
        kinds |= 1u << kind;
        at += size;
        if (*at == '\0')
            break;
    }
    *(unsigned *)field = kinds;
    return 0;
}
