#include "tools/dcfg/graph/bus_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const refetches[] = {"none", "some", "each"};

static bool take_number(const char *text, uint32_t max, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return end != text && *end == '\0' && *text != '-' && value <= max;
}

static bool take_part(struct bus_model *model, const char *part)
{
    uint32_t number;
    if (strncmp(part, "chunk=", 6) == 0) {
        if (!take_number(part + 6, BUS_CHUNK_MAX, &number) || number < BUS_CHUNK_MIN ||
            (number & (number - 1)) != 0)
            return false;
        model->chunk = number;
        return true;
    }
    if (strncmp(part, "ahead=", 6) == 0) {
        if (!take_number(part + 6, BUS_AHEAD_MAX, &number))
            return false;
        model->ahead = (uint8_t)number;
        return true;
    }
    if (strcmp(part, "noise") == 0) {
        model->noise = true;
        return true;
    }
    if (strcmp(part, "refetch") == 0) {
        model->refetch = BUS_REFETCH_EACH;
        return true;
    }
    for (uint8_t i = 0; strncmp(part, "refetch=", 8) == 0 && i <= BUS_REFETCH_EACH; i++)
        if (strcmp(part + 8, refetches[i]) == 0) {
            model->refetch = i;
            return true;
        }
    return false;
}

int bus_model_parse(struct bus_model *model, const char *text, struct bt_error *error)
{
    static const char parts[] = "canr"; /* their first letters differ */
    char part[24];
    bool given[sizeof parts] = {false};
    *model = (struct bus_model){.chunk = 0};
    for (;;) {
        size_t size = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)(size < sizeof part ? size : sizeof part), text);
        if (size >= sizeof part || !take_part(model, part))
            return bt_fail(error, BT_USAGE,
                           "'%s' is not part of a bus model: chunk=4, 8, 16 or 32, "
                           "refetch=none, some or each, ahead=0 to %u, noise",
                           part, BUS_AHEAD_MAX);
        bool *again = &given[strchr(parts, part[0]) - parts];
        if (*again)
            return bt_fail(error, BT_USAGE, "'%s' is the second of its kind", part);
        *again = true;
        if (text[size] == '\0')
            return 0;
        text += size + 1;
    }
}

char *bus_model_text(char text[BUS_MODEL_TEXT_BYTES], const struct bus_model *model)
{
    char ahead[16] = "";
    if (model->ahead != BUS_AHEAD_UNKNOWN)
        snprintf(ahead, sizeof ahead, ",ahead=%u", model->ahead);
    snprintf(text, BUS_MODEL_TEXT_BYTES, "chunk=%u,refetch=%s%s%s", model->chunk,
             refetches[model->refetch % 3], ahead, model->noise ? ",noise" : "");
    return text;
}
