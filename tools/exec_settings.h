/* What `bustap exec` was asked for. */
#ifndef TOOLS_EXEC_SETTINGS_H
#define TOOLS_EXEC_SETTINGS_H

#include "capture/capture.h"

struct exec_settings {
    struct capture_settings capture; /* first: capture_options.h */
    bool only_fetch, only_data;
    bool quiet;
    const char *summary;            /* a file for it; NULL: none */
    const char *const *arguments;   /* of the program, its name first; NULL ends them */
    const char *const *environment; /* NULL ends it */
};

#endif
