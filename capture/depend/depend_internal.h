/* Shared by the files of the engine. */
#ifndef CAPTURE_DEPEND_DEPEND_INTERNAL_H
#define CAPTURE_DEPEND_DEPEND_INTERNAL_H

#include "capture/depend/depend.h"

/* Ends the counting: nothing found so far is lost. */
void depend_stop(struct depend *depend, enum depend_end end);

#endif
