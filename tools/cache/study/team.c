#include "tools/cache/study/team.h"

#include "formats/base/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct team_member {
    struct team *team;
    unsigned number;
    pthread_t thread;
    bool started;
    int result;
    struct bt_error error;
};

struct team {
    team_work *work;
    void *context;
    unsigned count;
    pthread_mutex_t mutex;
    pthread_cond_t begin, done;
    uint64_t round; /* number of calls of team_put */
    unsigned busy;
    bool ending;
    const struct record *records;
    size_t record_count;
    struct team_member members[];
};

static void work(struct team_member *member)
{
    struct team *team = member->team;
    if (member->result == 0)
        member->result = team->work(team->context, member->number, team->records,
                                    team->record_count, &member->error);
}

static void *run(void *argument)
{
    struct team_member *member = argument;
    struct team *team = member->team;
    uint64_t round = 0;
    thread_set_name("cache");
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (team->round == round && !team->ending)
            pthread_cond_wait(&team->begin, &team->mutex);
        if (team->ending)
            break;
        round = team->round;
        pthread_mutex_unlock(&team->mutex);
        work(member);
        pthread_mutex_lock(&team->mutex);
        if (--team->busy == 0)
            pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

int team_new(struct team **team, unsigned members, team_work *work_of, void *context,
             struct bt_error *error)
{
    struct team *made = calloc(1, sizeof *made + members * sizeof *made->members);
    *team = made;
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", members);
    made->work = work_of;
    made->context = context;
    made->count = members;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->begin, NULL);
    pthread_cond_init(&made->done, NULL);
    for (unsigned i = 0; i < members; i++) {
        struct team_member *member = &made->members[i];
        member->team = made;
        member->number = i;
        if (i > 0 && pthread_create(&member->thread, NULL, run, member) != 0) {
            team_free(made);
            *team = NULL;
            return bt_fail(error, BT_MEMORY, "cannot start thread %u of %u", i + 1, members);
        }
        member->started = i > 0;
    }
    return 0;
}

int team_put(struct team *team, const struct record *records, size_t count, struct bt_error *error)
{
    pthread_mutex_lock(&team->mutex);
    team->records = records;
    team->record_count = count;
    team->busy = team->count - 1;
    team->round++;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    work(&team->members[0]);
    pthread_mutex_lock(&team->mutex);
    while (team->busy > 0)
        pthread_cond_wait(&team->done, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    for (unsigned i = 0; i < team->count; i++)
        if (team->members[i].result < 0) {
            if (error)
                *error = team->members[i].error;
            return team->members[i].result;
        }
    return 0;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    pthread_mutex_lock(&team->mutex);
    team->ending = true;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
    for (unsigned i = 0; i < team->count; i++)
        if (team->members[i].started)
            pthread_join(team->members[i].thread, NULL);
    pthread_mutex_destroy(&team->mutex);
    pthread_cond_destroy(&team->begin);
    pthread_cond_destroy(&team->done);
    free(team);
}

unsigned team_processors(void)
{
    const unsigned count = thread_processors();
    return count < TEAM_MEMBERS_MAX ? count : TEAM_MEMBERS_MAX;
}
