#include "capture/status_json.h"

#include "capture/json.h"

#include <stdlib.h>
#include <string.h>

/* A text, or null where it is empty. */
static void put_text_or_null(yajl_gen json, const char *key, const char *text)
{
    if (text[0]) {
        json_text(json, key, text);
    } else {
        json_key(json, key);
        yajl_gen_null(json);
    }
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

static void put_lost(yajl_gen json, const struct capture_status *status)
{
    struct loss lost = lost_of(status);
    json_key(json, "lost");
    yajl_gen_map_open(json);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        json_count(json, loss_stage_name((enum loss_stage)stage), lost.count[stage]);
    json_count(json, "total", loss_total(&lost));
    yajl_gen_map_close(json);
}

static void put_source(yajl_gen json, const struct source_totals *source)
{
    json_key(json, "source");
    yajl_gen_map_open(json);
    json_bool(json, "known", source->known);
    json_count(json, "seen", source->seen);
    json_count(json, "accepted", source->accepted);
    json_count(json, "filtered", source->filtered);
    json_count(json, "above_4gib", source->above_4gib);
    json_count(json, "undecoded", source->undecoded);
    json_count(json, "lost_bus", source->lost_bus);
    yajl_gen_map_close(json);
}

static void put_rates(yajl_gen json, const struct capture_status *status)
{
    double seconds = (double)status->elapsed_ns / 1e9;
    double raw = (double)status->raw_bytes;
    double compressed = (double)status->compressed_bytes;
    json_real(json, "ratio", compressed > 0 ? raw / compressed : 0);
    json_real(json, "elapsed_s", seconds);
    json_real(json, "records_per_s", seconds > 0 ? (double)status->records / seconds : 0);
}

static const char *state_name(const struct capture_status *status)
{
    if (status->running)
        return "running";
    return status->failed ? "failed" : "ended";
}

int status_json_put(yajl_gen json, const struct capture_status *status, struct bt_error *error)
{
    if (yajl_gen_map_open(json) != yajl_gen_status_ok)
        return bt_fail(error, BT_MEMORY, "no memory for a status");
    put_text_or_null(json, "state", state_name(status));
    put_text_or_null(json, "end", status->running ? "" : capture_end_name(status->end));
    json_count(json, "records", status->records);
    put_lost(json, status);
    json_bool(json, "complete", status_json_complete(status));
    json_count(json, "files", status->files);
    json_count(json, "raw_bytes", status->raw_bytes);
    json_count(json, "compressed_bytes", status->compressed_bytes);
    put_rates(json, status);
    json_count(json, "queue_fill", status->queue_fill);
    json_count(json, "queue_size", status->queue_size);
    json_count(json, "after_stop", status->after_stop);
    json_count(json, "damaged", status->damaged);
    json_count(json, "gaps", status->gaps);
    json_real(json, "gap_s", (double)status->gap_ns / 1e9);
    json_count(json, "chosen_gaps", status->chosen_gaps);
    if (status->quantum > 0) {
        json_count(json, "quantum", status->quantum);
        json_count(json, "switches", status->switches);
    }
    put_text_or_null(json, "absent", status->absent.code ? status->absent.message : "");
    put_source(json, &status->source);
    json_count(json, "clock_hz", status->clock_hz);
    json_count(json, "last_tick", status->last_tick);
    put_text_or_null(json, "file", status->file);
    put_text_or_null(json, "error", status->error.code ? status->error.message : "");
    if (yajl_gen_map_close(json) == yajl_gen_in_error_state)
        return bt_fail(error, BT_MEMORY, "no memory for a status");
    return 0;
}

char *status_json_text(const struct capture_status *status, struct bt_error *error)
{
    char *text = NULL;
    const unsigned char *bytes;
    size_t size;
    yajl_gen json = yajl_gen_alloc(NULL);
    if (!json) {
        bt_fail(error, BT_MEMORY, "no memory for a status");
        return NULL;
    }
    if (status_json_put(json, status, error) < 0)
        goto out;
    if (yajl_gen_get_buf(json, &bytes, &size) == yajl_gen_status_ok)
        text = malloc(size + 1);
    if (!text) {
        bt_fail(error, BT_MEMORY, "no memory for a status");
        goto out;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
out:
    yajl_gen_free(json);
    return text;
}
