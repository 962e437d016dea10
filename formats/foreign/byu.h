/* BYU records without a container, 12 bytes each (formats/record/record.h), or 24 from programs
 * whose `unsigned long` has 8 bytes. Read by formats/capture/trace_reader.h. */
#ifndef FORMATS_FOREIGN_BYU_H
#define FORMATS_FOREIGN_BYU_H

#include "formats/foreign/foreign_sink.h"

extern const struct foreign_encoder byu_encoder;
extern const struct foreign_encoder byu_lp64_encoder;

#endif
