#include "formats/base/suggestion.h"

#include "formats/base/edit_distance.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EDITS_MAX  2u /* more are not a typing error, nor are these of a short name */
#define PREFIX_MIN 2u /* letters that a prefix needs */

void suggestion_begin(struct suggestion *suggestion, const char *given)
{
    *suggestion = (struct suggestion){.given = given, .distance = EDITS_MAX + 1};
}

void suggestion_try(struct suggestion *suggestion, const char *name)
{
    size_t length = strlen(suggestion->given);
    size_t distance = edit_distance(suggestion->given, name);
    if (distance > (length + 1) / 3)
        distance = SIZE_MAX;
    if (distance > EDITS_MAX && length >= PREFIX_MIN &&
        strncmp(name, suggestion->given, length) == 0)
        distance = EDITS_MAX;
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->nearest = name;
    }
}

const char *suggestion_among(const char *given, const char *const *names)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, given);
    for (; *names; names++)
        suggestion_try(&suggestion, *names);
    return suggestion.nearest;
}

int suggestion_add(struct bt_error *error, const char *name)
{
    if (!error)
        return BT_USAGE;
    size_t used = strlen(error->message);
    char text[96];
    int length = name ? snprintf(text, sizeof text, ", did you mean '%s'?", name) : 0;
    if (length > 0 && (size_t)length < sizeof text && used + (size_t)length < sizeof error->message)
        memcpy(error->message + used, text, (size_t)length + 1);
    return error->code;
}

int suggestion_add_listed(struct bt_error *error, const char *given)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    if (!error)
        return BT_USAGE;
    char list[sizeof error->message], nearest[EDIT_DISTANCE_BYTES] = "";
    size_t distance = SIZE_MAX;
    struct suggestion suggestion;
    suggestion_begin(&suggestion, given);
    memcpy(list, error->message, sizeof list);
    char *word = list;
    for (char *mark; (mark = strpbrk(word, ";:"));)
        word = mark + 1;
    for (word += strcspn(word, letters); *word; word += strcspn(word, letters)) {
        char *end = word + strspn(word, letters);
        const char after = *end;
        *end = '\0';
        suggestion_try(&suggestion, word);
        if (suggestion.distance < distance && suggestion.nearest == word) {
            distance = suggestion.distance;
            snprintf(nearest, sizeof nearest, "%s", word);
        }
        *end = after;
        word = end;
    }
    return suggestion_add(error, *nearest ? nearest : NULL);
}
