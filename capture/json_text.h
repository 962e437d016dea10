/* Text of any octets as a JSON string: what is not UTF-8 is told as U+FFFD, octet by octet. */
#ifndef CAPTURE_JSON_TEXT_H
#define CAPTURE_JSON_TEXT_H

#include <yajl/yajl_gen.h>

/* Adds text, or null where there is no memory to replace what is not UTF-8. */
void json_text_put(yajl_gen generator, const char *text);

#endif
