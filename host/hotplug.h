/* A thread that makes all captures that wait for their board retry when a device is plugged in. */
#ifndef HOST_HOTPLUG_H
#define HOST_HOTPLUG_H

#include "host/runner.h"

struct hotplug;

/* The runners, count of them, must outlive it. NULL and *error on failure. */
struct hotplug *hotplug_new(struct runner *const *runners, size_t count, struct bt_error *error);

/* NULL is allowed. */
void hotplug_free(struct hotplug *hotplug);

#endif
