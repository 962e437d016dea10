#include "tests/support/exec_play.h"

#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS     40u
#define EXECUTIONS 6000u

static void must(bool good)
{
    if (!good)
        abort();
}

void exec_play_begin(struct exec_play *play, uint64_t seed)
{
    *play =
        (struct exec_play){.cache = code_cache_new(1 << 20, NULL),
                           .blocks = calloc(BLOCKS, sizeof *play->blocks),
                           .entries = malloc(sizeof(uint32_t) * EXECUTIONS * TRACE_BLOCKS_SLOTS),
                           .state = seed};
    play->expander.cache = play->cache;
    play->expander.repetitions = seed % 2;
    trace_blocks_make(play->blocks, BLOCKS, play->cache, &play->state);
}

void exec_play_end(struct exec_play *play)
{
    free(play->blocks);
    free(play->entries);
    code_cache_free(play->cache);
}

void exec_play_next(struct exec_play *play)
{
    static const uint8_t events[] = {EVENT_NONE, EVENT_NONE, EVENT_SIGNAL, EVENT_THREAD};
    uint64_t bits = random_next(&play->state);
    unsigned executions = (unsigned)(bits % (bits >> 60 == 0 ? 2000 : 40) + 1);
    if ((bits >> 56) % 8 == 0) {
        code_cache_flush(play->cache);
        trace_blocks_make(play->blocks, BLOCKS, play->cache, &play->state);
    }
    trace_blocks_execute(play->entries, executions, BLOCKS, (bits >> 52) % 16 == 0 ? 9000 : 9,
                         &play->state);
    play->count = (size_t)executions * TRACE_BLOCKS_SLOTS;
    play->expander.processor = bits >> 20 & 3;
    play->expander.fs_base = random_next(&play->state);
    play->marks =
        (struct exec_marks){.begins_part = bits >> 30 & 1, .event = events[bits >> 32 & 3]};
}

static int keep(void *context, struct record *records, size_t count)
{
    struct exec_play_output *output = context;
    if (output->count + count > EXEC_PLAY_ROOM)
        return -1;
    memcpy(output->records + output->count, records, count * sizeof *records);
    output->count += count;
    return 0;
}

void exec_play_expand(uint64_t seed, struct exec_play_output *output)
{
    struct exec_play play;
    exec_play_begin(&play, seed);
    play.expander.capacity = 5000;
    play.expander.records = malloc(5100 * sizeof(struct record));
    play.expander.put = keep;
    play.expander.context = output;
    for (unsigned i = 0; i < EXEC_PLAY_PIECES; i++) {
        exec_play_next(&play);
        struct record *first = output->records + output->count;
        must(trace_expand(&play.expander, play.entries, play.count) == 0);
        must(trace_expander_flush(&play.expander) == 0);
        first->attribute |= play.marks.event | (play.marks.begins_part ? ATTRIBUTE_PART : 0);
    }
    free(play.expander.records);
    exec_play_end(&play);
}

pid_t exec_play_put(struct message_ring *ring, uint64_t seed)
{
    struct exec_sender sender = {.ring = ring};
    struct exec_play play;
    pid_t child = fork();
    if (child != 0)
        return child;
    exec_play_begin(&play, seed);
    sender.flushes = code_cache_flushes(play.cache);
    for (unsigned i = 0; i < EXEC_PLAY_PIECES; i++) {
        exec_play_next(&play);
        if (exec_sender_entries(&sender, &play.expander, play.entries, play.count, &play.marks) !=
            0)
            _exit(1);
    }
    message_ring_end(ring);
    _exit(0);
}
