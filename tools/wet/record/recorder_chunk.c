/* Chunks of a recording. */
#include "tools/wet/record/recorder_internal.h"

#define CHECK_BLOCKS 4096u /* after so many, limits are checked */

/* The number of instances of an instruction that shadow entries can name, less those of a chunk. */
#define INSTANCES_MAX (SHADOW_TIME_MAX - (UINT64_C(1) << 32))

/* Counts the blocks since the last time, and sets the next one. */
static void count_blocks(struct recorder *recorder)
{
    const uint64_t limit = recorder->settings.chunk_blocks;
    recorder->chunk_blocks += recorder->left_checked - recorder->left;
    const uint64_t rest = limit - recorder->chunk_blocks;
    recorder->left = recorder->left_checked = rest < CHECK_BLOCKS ? rest : CHECK_BLOCKS;
}

void recorder_fold(struct recorder *recorder)
{
    struct wet_block *blocks = recorder->code.code.blocks;
    for (size_t i = 0; i < recorder->block_capacity; i++)
        for (struct record_block *block = recorder->blocks[i]; block;
             block = block == recorder->blocks[i] ? block->parts : block->next) {
            blocks[block->number - WET_FIRST_BLOCK + 1].executions += block->executions;
            block->executions = 0;
        }
}

static bool has_too_many_instances(const struct record_code *code)
{
    for (size_t id = 1; id < code->code.instruction_count; id++)
        if (code->counts[id] > INSTANCES_MAX)
            return true;
    return false;
}

/* Forgets what the next chunk must not depend on. */
static void begin_chunk(struct recorder *recorder)
{
    wet_chunk_empty(&recorder->chunk);
    wet_sequence_reset(&recorder->sequence);
    recorder->instructions += recorder->chunk_instructions;
    recorder->blocks_executed += recorder->chunk_blocks;
    recorder->chunk_instructions = recorder->chunk_blocks = recorder->port_bytes = 0;
    recorder->left = recorder->left_checked = 0;
    count_blocks(recorder);
    for (size_t i = 0; i < recorder->thread_count; i++) {
        recorder->threads[i]->context = (struct wet_context){.before = {0}};
        recorder->threads[i]->has_event = true;
    }
    recorder->current = recorder->thread_count > 0 ? recorder->threads[0] : NULL;
    if (recorder->code.values) {
        value_coder_write_to(recorder->code.values->coder,
                             &recorder->chunk.streams[WET_STREAM_VALUES]);
        if (value_coder_switch(recorder->code.values->coder, 0) < 0)
            recorder->out_of_memory = true;
    }
}

static int put(struct recorder *recorder)
{
    const struct recorder_settings *settings = &recorder->settings;
    struct wet_bytes *sequence = &recorder->chunk.streams[WET_STREAM_SEQUENCE];
    struct bt_error error;
    recorder_fold(recorder);
    if ((recorder->code.values && value_coder_finish(recorder->code.values->coder) < 0) ||
        wet_sequence_finish(&recorder->sequence, sequence) < 0 ||
        record_ports_finish(&recorder->code.ports, &recorder->chunk) < 0)
        return recorder_stop(recorder, NULL);
    if (settings->describe && settings->describe(settings->context, &recorder->code.code) < 0)
        return recorder_stop(recorder, NULL);
    if (settings->sink.put(settings->sink.context, &recorder->code.code, &recorder->chunk,
                           recorder->chunk_instructions, &error) < 0) {
        recorder->has_sink_failed = true;
        return recorder_stop(recorder, &error);
    }
    if (has_too_many_instances(&recorder->code)) {
        bt_fail(&error, BT_USAGE, "an instruction was executed more than %llu times",
                (unsigned long long)INSTANCES_MAX);
        return recorder_stop(recorder, &error);
    }
    return 0;
}

int recorder_check(struct recorder *recorder)
{
    size_t bytes = (size_t)recorder->port_bytes;
    for (unsigned i = 0; i < WET_STREAMS; i++)
        bytes += recorder->chunk.streams[i].size;
    count_blocks(recorder);
    if (recorder->out_of_memory || recorder->chunk.streams[WET_STREAM_SEQUENCE].out_of_memory ||
        recorder->chunk.streams[WET_STREAM_EVENTS].out_of_memory)
        return recorder_stop(recorder, NULL);
    if (recorder->chunk_blocks < recorder->settings.chunk_blocks &&
        bytes < recorder->settings.chunk_bytes)
        return 0;
    const int result = put(recorder);
    if (result == 0)
        begin_chunk(recorder);
    return result;
}

/* Puts the current chunk, unless it is empty. */
static void finish_chunk(struct recorder *recorder)
{
    if (recorder->is_stopped)
        return;
    count_blocks(recorder);
    if (recorder->out_of_memory) {
        recorder_stop(recorder, NULL);
        return;
    }
    const bool is_empty = recorder->chunk_blocks == 0 &&
                          recorder->chunk.streams[WET_STREAM_EVENTS].size == 0 &&
                          recorder->blocks_executed > 0;
    if (!is_empty && put(recorder) == 0)
        begin_chunk(recorder);
}

void recorder_close(struct recorder *recorder, struct wet_closing *closing)
{
    struct bt_error error;
    const struct record_sink *sink = &recorder->settings.sink;
    finish_chunk(recorder);
    closing->instructions = recorder->instructions;
    closing->blocks = recorder->blocks_executed;
    closing->unknown_calls = recorder->unknown_calls;
    if (recorder->has_sink_failed)
        return;
    if (recorder->is_stopped) {
        closing->ending = WET_FAILED;
        closing->value = (uint32_t)-recorder->error.code;
        closing->has_fault = false;
    }
    if (sink->close(sink->context, closing, &error) < 0)
        recorder_stop(recorder, &error);
}
