/*
 * Comma separated values as libCacheSim reads them: time, object, size, operation, with a heading.
 * Operations: "get" is a fetch, "read" a read, "write" a write. For libCacheSim: csv -t
 * "time-col=1,obj-id-col=2,obj-size-col=3,has-header=true,obj-id-is-num=true". The reader accepts
 * columns of these names, or of similar ones such as clock_time, obj_id, obj_size; without a
 * heading it assumes these columns.
 */
#ifndef FORMATS_FOREIGN_LIBCACHESIM_CSV_H
#define FORMATS_FOREIGN_LIBCACHESIM_CSV_H

#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"

extern const struct foreign_decoder libcachesim_csv_decoder;
extern const struct foreign_encoder libcachesim_csv_encoder;

/* Whether a line is a heading that names an object. */
bool libcachesim_csv_is_header(const uint8_t *line, size_t size);

#endif
