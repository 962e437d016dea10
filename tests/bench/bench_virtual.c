/*
 * The whole way: a virtual board whose bus is as fast as the board takes it -> link -> session ->
 * capture -> files; records a second, losses, and the processor time of each thread.
 */
#include "capture/board_capture.h"
#include "tests/support/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 5

static void run(const char *specification, enum wire_packing packing)
{
    struct bt_error error;
    struct session_settings session = session_settings_default();
    struct capture_settings settings = capture_settings_default();
    struct capture_status status;
    struct measure measure;
    struct measure_threads threads = {0};
    strcpy(settings.prefix, "virtual/trace");
    settings.append = true; /* one prefix for all rounds */
    settings.rotate_bytes = 64u << 20;
    settings.keep = 2;
    settings.stop_ns = (int64_t)SECONDS * 1000000000;
    session.packing = packing;
    measure_begin(&measure);
    struct capture *capture = board_capture_new(specification, &session, &settings, &error);
    if (!capture) {
        fprintf(stderr, "bench_virtual: %s\n", error.message);
        exit(3);
    }
    while (!capture_wait(capture, 100))
        measure_threads(&threads);
    measure_end(&measure);
    capture_get_status(capture, &status);
    capture_free(capture);
    uint64_t lost = 0;
    for (int i = 0; i < LOSS_STAGES; i++)
        lost += status.lost[i];
    printf("%s, %s: %.1f M records/s, %llu lost, %.2f cores, ratio %.2f\n", specification,
           packing == WIRE_DELTA ? "packed" : "plain", (double)status.records / measure.wall / 1e6,
           (unsigned long long)lost, measure.cpu / measure.wall,
           (double)status.raw_bytes / (double)status.compressed_bytes);
    for (int i = 0; i < threads.count; i++)
        if (threads.threads[i].cpu / measure.wall > 0.005)
            printf("    thread %-16s %5.1f %% of a core\n", threads.threads[i].name,
                   100 * threads.threads[i].cpu / measure.wall);
}

int main(void)
{
    const char *shared = getenv("SHARED");
    char replay[4200];
    run("virtual:smp=4,rate=max", WIRE_DELTA);
    run("virtual:smp=4,rate=max", WIRE_PLAIN);
    if (shared && shared[0]) {
        snprintf(replay, sizeof replay, "virtual:replay=%s/data/pentium2.byu,loop,rate=max",
                 shared);
        run(replay, WIRE_DELTA);
    }
    return 0;
}
