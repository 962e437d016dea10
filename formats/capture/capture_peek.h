/* Looks at the first members of a capture file that is open. */
#ifndef FORMATS_CAPTURE_CAPTURE_PEEK_H
#define FORMATS_CAPTURE_CAPTURE_PEEK_H

#include "formats/capture/capture_file.h"

/* Whether the file begins with the header of a capture that has an id; then sets *header. */
bool capture_peek_header(int descriptor, struct capture_member *header);

/* Whether a data member follows the header; then sets *data, without its records. */
bool capture_peek_data(int descriptor, const struct capture_member *header,
                       struct capture_member *data);

#endif
