#include "tools/input/trigger_windows.h"

#include <inttypes.h>
#include <stdio.h>

static const struct capture_window *window_of(const struct trace_file *file)
{
    bool has = file->closed && file->totals.window.kind != CAPTURE_WINDOW_NONE;
    return has ? &file->totals.window : NULL;
}

static void print_matches(const struct capture_window *window)
{
    if (window->matches == 0)
        printf("snapshot");
    else
        printf("%" PRIu64 " %s: record %" PRIu64 " at tick %" PRIu64, window->matches,
               window->matches == 1 ? "match" : "matches", window->first_index, window->first_tick);
    if (window->matches > 1)
        printf(" to record %" PRIu64 " at tick %" PRIu64, window->last_index, window->last_tick);
}

void trigger_windows_print(const struct trace_file *files, size_t count)
{
    const char *label = "windows";
    for (size_t i = 0; i < count; i++) {
        const struct capture_window *window = window_of(&files[i]);
        if (!window)
            continue;
        printf("%-13s file %u, ", label, (unsigned)files[i].info.file_number);
        print_matches(window);
        printf("; %" PRIu64 " records left out before it\n", window->omitted);
        label = "";
    }
}

void trigger_windows_json(struct json_put *json, const struct trace_file *files, size_t count)
{
    json_array(json, "windows");
    for (size_t i = 0; i < count; i++) {
        const struct capture_window *window = window_of(&files[i]);
        if (!window)
            continue;
        json_put_object(json);
        json_text(json, "path", files[i].path);
        json_count(json, "file_number", files[i].info.file_number);
        json_bool(json, "snapshot", window->kind == CAPTURE_WINDOW_SNAPSHOT);
        json_count(json, "records", files[i].records);
        json_count(json, "omitted", window->omitted);
        json_count(json, "matches", window->matches);
        if (window->matches > 0) {
            json_count(json, "first_match_index", window->first_index);
            json_count(json, "first_match_tick", window->first_tick);
            json_count(json, "last_match_index", window->last_index);
            json_count(json, "last_match_tick", window->last_tick);
        }
        json_put_object_end(json);
    }
    json_put_array_end(json);
}
