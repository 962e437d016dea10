#include "formats/dependences/dependences_write_internal.h"

int dependences_write(const struct dependences *dependences, enum dependences_format format,
                      FILE *out, struct bt_error *error)
{
    switch (format) {
    case DEPENDENCES_CSV:
        dependences_write_csv(dependences, out);
        return 0;
    case DEPENDENCES_JSON:
        return dependences_write_json(dependences, out, error);
    case DEPENDENCES_DOT:
        return dependences_write_dot(dependences, out, error);
    default:
        return dependences_write_text(dependences, out, error);
    }
}
