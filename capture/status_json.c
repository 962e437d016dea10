#include "capture/status_json.h"

#include "capture/json_text.h"

#include <stdlib.h>
#include <string.h>

static void put_text(yajl_gen generator, const char *text)
{
    yajl_gen_string(generator, (const unsigned char *)text, strlen(text));
}

/* A key with a text, or with null where the text is empty. File names may hold any octets. */
static void put_string(yajl_gen generator, const char *key, const char *text)
{
    put_text(generator, key);
    if (text[0])
        json_text_put(generator, text);
    else
        yajl_gen_null(generator);
}

/* A count may be above what a signed 64-bit number holds. */
static void put_count(yajl_gen generator, const char *key, uint64_t count)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + count % 10);
    while (count /= 10);
    put_text(generator, key);
    yajl_gen_number(generator, digits + at, sizeof digits - at);
}

static void put_bool(yajl_gen generator, const char *key, bool value)
{
    put_text(generator, key);
    yajl_gen_bool(generator, value);
}

static void put_real(yajl_gen generator, const char *key, double value)
{
    put_text(generator, key);
    yajl_gen_double(generator, value);
}

static struct loss lost_of(const struct capture_status *status)
{
    struct loss lost = {.first_tick = 0};
    memcpy(lost.count, status->lost, sizeof lost.count);
    return lost;
}

bool status_json_complete(const struct capture_status *status)
{
    struct loss lost = lost_of(status);
    const struct source_totals *source = &status->source;
    if (loss_total(&lost) > 0 || status->failed)
        return false;
    return status->running ||
           (source->known && source->accepted == status->records + status->after_stop);
}

static void put_lost(yajl_gen generator, const struct capture_status *status)
{
    struct loss lost = lost_of(status);
    put_text(generator, "lost");
    yajl_gen_map_open(generator);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        put_count(generator, loss_stage_name((enum loss_stage)stage), lost.count[stage]);
    put_count(generator, "total", loss_total(&lost));
    yajl_gen_map_close(generator);
}

static void put_source(yajl_gen generator, const struct source_totals *source)
{
    put_text(generator, "source");
    yajl_gen_map_open(generator);
    put_bool(generator, "known", source->known);
    put_count(generator, "seen", source->seen);
    put_count(generator, "accepted", source->accepted);
    put_count(generator, "filtered", source->filtered);
    put_count(generator, "above_4gib", source->above_4gib);
    put_count(generator, "undecoded", source->undecoded);
    put_count(generator, "lost_bus", source->lost_bus);
    yajl_gen_map_close(generator);
}

static void put_rates(yajl_gen generator, const struct capture_status *status)
{
    double seconds = (double)status->elapsed_ns / 1e9;
    double raw = (double)status->raw_bytes;
    double compressed = (double)status->compressed_bytes;
    put_real(generator, "ratio", compressed > 0 ? raw / compressed : 0);
    put_real(generator, "elapsed_s", seconds);
    put_real(generator, "records_per_s", seconds > 0 ? (double)status->records / seconds : 0);
}

static const char *state_name(const struct capture_status *status)
{
    if (status->running)
        return "running";
    return status->failed ? "failed" : "ended";
}

int status_json_put(yajl_gen generator, const struct capture_status *status, struct bt_error *error)
{
    if (yajl_gen_map_open(generator) != yajl_gen_status_ok)
        return bt_fail(error, BT_MEMORY, "no memory for a status");
    put_string(generator, "state", state_name(status));
    put_string(generator, "end", status->running ? "" : capture_end_name(status->end));
    put_count(generator, "records", status->records);
    put_lost(generator, status);
    put_bool(generator, "complete", status_json_complete(status));
    put_count(generator, "files", status->files);
    put_count(generator, "raw_bytes", status->raw_bytes);
    put_count(generator, "compressed_bytes", status->compressed_bytes);
    put_rates(generator, status);
    put_count(generator, "queue_fill", status->queue_fill);
    put_count(generator, "queue_size", status->queue_size);
    put_count(generator, "after_stop", status->after_stop);
    put_count(generator, "damaged", status->damaged);
    put_source(generator, &status->source);
    put_count(generator, "clock_hz", status->clock_hz);
    put_count(generator, "last_tick", status->last_tick);
    put_string(generator, "file", status->file);
    put_string(generator, "error", status->error.code ? status->error.message : "");
    if (yajl_gen_map_close(generator) == yajl_gen_in_error_state)
        return bt_fail(error, BT_MEMORY, "no memory for a status");
    return 0;
}

char *status_json_text(const struct capture_status *status, struct bt_error *error)
{
    char *text = NULL;
    const unsigned char *bytes;
    size_t size;
    yajl_gen generator = yajl_gen_alloc(NULL);
    if (!generator) {
        bt_fail(error, BT_MEMORY, "no memory for a status");
        return NULL;
    }
    if (status_json_put(generator, status, error) < 0)
        goto out;
    if (yajl_gen_get_buf(generator, &bytes, &size) == yajl_gen_status_ok)
        text = malloc(size + 1);
    if (!text) {
        bt_fail(error, BT_MEMORY, "no memory for a status");
        goto out;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
out:
    yajl_gen_free(generator);
    return text;
}
