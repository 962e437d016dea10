#include "tests/support/raw_capture.h"

#include "capture/capture.h"
#include "formats/capture/trace_reader.h"

#include <stdio.h>
#include <string.h>

int raw_file_write(const char *path, const struct record *records, size_t count)
{
    uint8_t bytes[4096 * RECORD_BYTES];
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    size_t written = 0;
    while (written < count) {
        size_t some = count - written < 4096 ? count - written : 4096;
        records_put(bytes, records + written, some);
        if (fwrite(bytes, RECORD_BYTES, some, file) != some)
            break;
        written += some;
    }
    return fclose(file) == 0 && written == count ? 0 : -1;
}

int raw_capture_write(const char *raw, const char *prefix, char *path, size_t size)
{
    struct capture_settings settings = capture_settings_default();
    struct trace_reader *reader;
    struct bt_error error;
    if (trace_reader_open(&reader, raw, false, &error) < 0)
        return -1;
    snprintf(settings.prefix, sizeof settings.prefix, "%s", prefix);
    settings.names = true;
    struct capture *capture = capture_new(&settings, trace_reader_source(reader), &error);
    if (!capture)
        return -1;
    capture_wait(capture, -1);
    struct capture_status status;
    capture_get_status(capture, &status);
    bool named = capture_take_name(capture, path, size);
    capture_free(capture);
    return named && !status.failed && status.files == 1 ? 0 : -1;
}
