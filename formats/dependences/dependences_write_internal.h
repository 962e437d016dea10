/* One function for each format of dependences_write(). */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_WRITE_INTERNAL_H
#define FORMATS_DEPENDENCES_DEPENDENCES_WRITE_INTERNAL_H

#include "formats/dependences/dependences_write.h"

int dependences_write_text(const struct dependences *dependences, FILE *out,
                           struct bt_error *error);
void dependences_write_csv(const struct dependences *dependences, FILE *out);
int dependences_write_json(const struct dependences *dependences, FILE *out,
                           struct bt_error *error);
int dependences_write_dot(const struct dependences *dependences, FILE *out, struct bt_error *error);

#endif
