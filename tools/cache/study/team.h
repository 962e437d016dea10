/* Threads that process the same records, each for its own part of a study. */
#ifndef TOOLS_CACHE_STUDY_TEAM_H
#define TOOLS_CACHE_STUDY_TEAM_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#define TEAM_MEMBERS_MAX 256u

struct team;

/* A member's function for records. 0 or a negative code. */
typedef int team_work(void *context, unsigned member, const struct record *records, size_t count,
                      struct bt_error *error);

/* members: 1 to TEAM_MEMBERS_MAX; the first one is the calling thread. 0 or BT_MEMORY. */
int team_new(struct team **team, unsigned members, team_work *work, void *context,
             struct bt_error *error);

/* Lets all members process records, and waits for all. 0, or the code of the first that failed. */
int team_put(struct team *team, const struct record *records, size_t count, struct bt_error *error);

/* team may be NULL. */
void team_free(struct team *team);

/* Number of processors of the host, at most TEAM_MEMBERS_MAX. */
unsigned team_processors(void);

#endif
