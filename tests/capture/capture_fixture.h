/* A capture of a scripted source into a new folder. */
#ifndef TESTS_CAPTURE_CAPTURE_FIXTURE_H
#define TESTS_CAPTURE_CAPTURE_FIXTURE_H

#include "capture/capture.h"
#include "tests/support/capture_check.h"
#include "tests/support/folder.h"

#include <stdio.h>

struct capture_fixture {
    char folder[FOLDER_PATH_BYTES];
    struct capture_settings settings;
    struct script script;
    struct capture_status status;
    struct capture_check check;
};

static inline void set_up(struct capture_fixture *s)
{
    *s = (struct capture_fixture){.settings = capture_settings_default(),
                                  .script = {.seed = 1, .total = 100000, .chunk = 100}};
    folder_make(s->folder);
    snprintf(s->settings.prefix, sizeof s->settings.prefix, "%s/t", s->folder);
    s->settings.workers = 2;
}

#endif
