/* Suggestions for misspelt names: of options, their words, commands, keys. */
#ifndef FORMATS_BASE_SUGGESTION_H
#define FORMATS_BASE_SUGGESTION_H

#include "formats/base/error.h"

#include <stddef.h>

struct suggestion {
    const char *given;   /* the misspelt name */
    const char *nearest; /* the most similar name so far; NULL: none is similar */
    size_t distance;     /* its edits */
};

/* Begins the search for a name similar to `given`, which must stay valid. */
void suggestion_begin(struct suggestion *suggestion, const char *given);

/* Considers a name, which must stay valid. A name is similar if it is at most two edits away, and
 * one edit for three letters, or if it begins with the given one. */
void suggestion_try(struct suggestion *suggestion, const char *name);

/* The most similar of the names, which end with NULL; NULL: none is similar. */
const char *suggestion_among(const char *given, const char *const *names);

/* Appends ", did you mean 'NAME'?" to the message; nothing if name is NULL, or if the message would
 * be too long. Returns error->code; BT_USAGE if error is NULL. */
int suggestion_add(struct bt_error *error, const char *name);

/* The same with the name that is most similar to `given` among those that the message lists after
 * its last ';' or ':'. */
int suggestion_add_listed(struct bt_error *error, const char *given);

#endif
