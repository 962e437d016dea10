#include "tools/doctor/checks.h"

#include "driver/session.h"
#include "tools/common/progress.h"

#include <inttypes.h>

#define MEGABYTE        1000000.0
#define FRAME_BYTES_MIN 512u /* smaller frame sizes from boards are ignored */
#define GOOD_MB_PER_S   30.0 /* high speed reaches 40; a busy bus needs at least this rate */

static void check_identity(struct findings *findings, const struct wire_identity *identity)
{
    findings_add(findings, FINDING_OK, "protocol", "", "version %u, which this bustap speaks",
                 identity->protocol);
    findings_add(findings, FINDING_OK, "firmware", "",
                 "%s serial %s: version %u.%u, %s bus, clock %g MHz, a queue of %u frames%s",
                 identity->name, identity->serial[0] ? identity->serial : "none",
                 identity->firmware >> 16, identity->firmware & 0xffffu,
                 identity->bus == WIRE_BUS_P6 ? "P6" : "unknown", (double)identity->clock_hz / 1e6,
                 identity->queue_frames,
                 identity->features & WIRE_FEATURE_STALL ? ", can stall the bus" : "");
}

static void rate_link(struct findings *findings, const struct session_test_result *result,
                      bool program)
{
    double seconds = result->seconds > 0 ? result->seconds : 1e-9;
    double rate = (double)result->bytes / MEGABYTE / seconds;
    double size = (double)result->bytes / MEGABYTE;
    if (result->bad_bytes > 0 || result->missing_frames > 0)
        findings_add(findings, FINDING_PROBLEM, "link",
                     program ? "check the program"
                             : "try another cable and another port, without a hub between",
                     "%.1f MB in %.2f s, but %" PRIu64 " wrong bytes and %" PRIu64 " of %" PRIu64
                     " frames missing",
                     size, seconds, result->bad_bytes, result->missing_frames,
                     result->frames + result->missing_frames);
    else if (rate < GOOD_MB_PER_S)
        findings_add(findings, FINDING_WARNING, "link",
                     program ? "check the machine's load"
                             : "use a port without a hub, on a controller without other devices; "
                               "check the machine's load",
                     "slow: %.1f MB/s, %.1f MB without errors", rate, size);
    else
        findings_add(findings, FINDING_OK, "link", "", "%.1f MB/s, %.1f MB without errors", rate,
                     size);
}

static void show(void *argument, uint64_t done, uint64_t total)
{
    progress_show(argument, "test of the link", done, total);
}

static void measure(struct findings *findings, struct session *session, uint32_t megabytes,
                    bool program)
{
    const struct wire_identity *identity = session_identity(session);
    uint32_t frame_bytes = identity->payload_max;
    struct session_test_result result;
    struct bt_error error = {0};
    if (frame_bytes < FRAME_BYTES_MIN)
        frame_bytes = FRAME_BYTES_MIN;
    uint64_t frames = megabytes * UINT64_C(1000000) / frame_bytes + 1;
    frames = frames < UINT32_MAX ? frames : UINT32_MAX;
    struct progress progress;
    progress_begin(&progress, true);
    session_watch_test(session, show, &progress);
    int code = session_self_test(session, (uint32_t)frames, &result, &error);
    progress_clear(&progress);
    if (code < 0)
        findings_add(findings, FINDING_PROBLEM, "link",
                     program ? "check the program"
                             : "try another cable and another port; check the board's power",
                     "%s", error.message);
    else
        rate_link(findings, &result, program);
}

void check_link(struct findings *findings, struct stream *stream, uint32_t megabytes)
{
    const bool program = stream->operations->program;
    struct bt_error error = {0};
    struct session *session = session_new(stream, &error);
    if (!session) {
        findings_add(findings, FINDING_PROBLEM, "protocol",
                     program
                         ? "check that the program is a board of this release"
                         : "check the board's power and that it runs the firmware of this release",
                     "%s", error.message);
        return;
    }
    check_identity(findings, session_identity(session));
    if (megabytes > 0)
        measure(findings, session, megabytes, program);
    session_free(session);
}
