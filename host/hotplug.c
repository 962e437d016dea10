#include "host/hotplug.h"

#include "driver/boards_watch.h"
#include "formats/base/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct hotplug {
    struct runner *const *runners;
    size_t count;
    struct boards_watch *watch;
    pthread_t thread;
    atomic_bool quit;
};

static void *run(void *context)
{
    struct hotplug *hotplug = context;
    thread_set_name("hotplug");
    while (!atomic_load(&hotplug->quit))
        if (boards_watch_wait(hotplug->watch, -1))
            for (size_t i = 0; i < hotplug->count; i++)
                runner_poke(hotplug->runners[i]);
    return NULL;
}

struct hotplug *hotplug_new(struct runner *const *runners, size_t count, struct bt_error *error)
{
    struct hotplug *hotplug = calloc(1, sizeof *hotplug);
    if (hotplug) {
        hotplug->runners = runners;
        hotplug->count = count;
        hotplug->watch = boards_watch_new();
        if (hotplug->watch && pthread_create(&hotplug->thread, NULL, run, hotplug) == 0)
            return hotplug;
        boards_watch_free(hotplug->watch);
        free(hotplug);
    }
    bt_fail(error, BT_MEMORY, "no memory or no thread to watch for boards");
    return NULL;
}

void hotplug_free(struct hotplug *hotplug)
{
    if (!hotplug)
        return;
    atomic_store(&hotplug->quit, true);
    boards_watch_wake(hotplug->watch);
    pthread_join(hotplug->thread, NULL);
    boards_watch_free(hotplug->watch);
    free(hotplug);
}
