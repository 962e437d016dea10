#include "capture/status_json.h"

#include "formats/text/json_members.h"

#include <stdlib.h>
#include <string.h>

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

static void put_lost(struct json_put *json, const struct capture_status *status)
{
    struct loss lost = lost_of(status);
    json_object(json, "lost");
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        json_count(json, loss_stage_name((enum loss_stage)stage), lost.count[stage]);
    json_count(json, "total", loss_total(&lost));
    json_put_object_end(json);
}

static void put_source(struct json_put *json, const struct source_totals *source)
{
    json_object(json, "source");
    json_bool(json, "known", source->known);
    json_count(json, "seen", source->seen);
    json_count(json, "accepted", source->accepted);
    json_count(json, "filtered", source->filtered);
    json_count(json, "removed", source->removed);
    json_count(json, "above_4gib", source->above_4gib);
    json_count(json, "undecoded", source->undecoded);
    json_count(json, "lost_bus", source->lost_bus);
    json_count(json, "stalled", source->stalled);
    json_count(json, "stalls", source->stalls);
    json_put_object_end(json);
}

static void put_filter(struct json_put *json, const struct capture_status *status)
{
    if (!status->filter[0]) {
        json_text_or_null(json, "filter", "");
        return;
    }
    json_object(json, "filter");
    json_text(json, "expression", status->filter);
    json_text(json, "board", status->host_filters ? status->board_filter : status->filter);
    json_bool(json, "host", status->host_filters);
    json_put_object_end(json);
}

static void put_rates(struct json_put *json, const struct capture_status *status)
{
    double seconds = (double)status->elapsed_ns / 1e9;
    double raw = (double)status->raw_bytes;
    double compressed = (double)status->compressed_bytes;
    json_real(json, "ratio", compressed > 0 ? raw / compressed : 0);
    json_real(json, "elapsed_s", seconds);
    json_real(json, "records_per_s", seconds > 0 ? (double)status->records / seconds : 0);
}

static void put_trigger(struct json_put *json, const struct capture_status *status)
{
    const struct trigger_counts *trigger = &status->trigger;
    json_object(json, "trigger");
    json_count(json, "matches", trigger->matches);
    json_count(json, "windows", trigger->windows);
    json_count(json, "outside", trigger->outside);
    json_count(json, "short_windows", trigger->short_windows);
    json_bool(json, "stopped", trigger->stopped);
    if (trigger->stopped) {
        json_count(json, "stop_index", trigger->stop_index);
        json_count(json, "stop_tick", trigger->stop_tick);
    }
    json_count(json, "snapshots", status->snapshots);
    json_text_or_null(json, "snapshot_file", status->snapshot_file);
    json_put_object_end(json);
}

static void put_command(struct json_put *json, const struct file_command_counts *command)
{
    json_object(json, "exec_on_file");
    json_count(json, "run", command->run);
    json_count(json, "failed", command->failed);
    json_count(json, "skipped", command->skipped);
    json_count(json, "waiting", command->waiting);
    json_put_object_end(json);
}

static const char *state_name(const struct capture_status *status)
{
    if (status->running)
        return "running";
    return status->failed ? "failed" : "ended";
}

void status_json_put(struct json_put *json, const struct capture_status *status)
{
    json_put_object(json);
    json_text_or_null(json, "state", state_name(status));
    json_text_or_null(json, "end", status->running ? "" : capture_end_name(status->end));
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
    if (status->selects || status->trigger.stopped)
        put_trigger(json, status);
    if (status->runs_command)
        put_command(json, &status->command);
    json_text_or_null(json, "absent", status->absent.code ? status->absent.message : "");
    put_filter(json, status);
    put_source(json, &status->source);
    json_count(json, "clock_hz", status->clock_hz);
    json_count(json, "last_tick", status->last_tick);
    json_text_or_null(json, "file", status->file);
    json_text_or_null(json, "error", status->error.code ? status->error.message : "");
    json_put_object_end(json);
}

char *status_json_text(const struct capture_status *status, struct bt_error *error)
{
    struct json_put *json = json_put_new_memory();
    if (json)
        status_json_put(json, status);
    char *text = json_put_take(json, NULL);
    if (!text)
        bt_fail(error, BT_MEMORY, "no memory for a status");
    return text;
}
