/* Threads that all work on the same records, each on its own part of a study. */
#ifndef TOOLS_CACHE_TEAM_H
#define TOOLS_CACHE_TEAM_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#define TEAM_MEMBERS_MAX 256u

struct team;

/* What a member does with records. 0 or a negative code. */
typedef int team_work(void *context, unsigned member, const struct record *records, size_t count,
                      struct bt_error *error);

/* members: 1 to TEAM_MEMBERS_MAX; the first one is the caller's thread. 0 or BT_MEMORY. */
int team_new(struct team **team, unsigned members, team_work *work, void *context,
             struct bt_error *error);

/* Lets all members work on records, and waits until all are done. 0 or what the first that failed
 * says. */
int team_put(struct team *team, const struct record *records, size_t count, struct bt_error *error);

/* NULL is allowed. */
void team_free(struct team *team);

/* How many processors there are, at most TEAM_MEMBERS_MAX. */
unsigned team_processors(void);

#endif
