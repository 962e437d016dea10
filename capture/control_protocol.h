/*
 * The protocol of bustapd: one JSON object a line, each way, over a Unix stream socket.
 * bustapd(8), "CONTROL SOCKET", is the specification.
 *
 *   request  {"command": "status"}
 *            {"command": "stop", "capture": "NAME"}
 *   answer   {"ok": false, "error": "a sentence"}
 *            {"ok": true, "version": "0.1.0", "pid": 1, "uptime_s": 4.5, "captures": [CAPTURE...]}
 *   CAPTURE  {"name": "p2", "board": "virtual:smp=4", "output": "/data/p2", "state": "running",
 *             "starts": 1, "gap_s": 0.0, "error": "", "status": {...} or null}
 *
 * Commands: status, start, stop, rotate, snapshot. Without a name, or with "all", they mean every
 * capture, and the answer has the captures they were about. start answers once each capture runs or
 * has failed to (then "ok" is false), stop once the files are complete, snapshot once its file is,
 * or after 30 s ("ok" is false: a window is open).
 *
 * States: "starting" (the board is being opened), "running", "stopping", "stopped" (by a command,
 * or not started yet), "finished" (a stop rule, or the bus ended), "waiting" (failed; will be
 * retried). "error" says why it waits, does not start or ended early. "starts" counts captures
 * begun, "gap_s" the seconds without one between them. "status" is the object of
 * capture/status_json.h for the running or the last capture.
 */
#ifndef CAPTURE_CONTROL_PROTOCOL_H
#define CAPTURE_CONTROL_PROTOCOL_H

#define CONTROL_SOCKET_DEFAULT   "/run/bustap/control"
#define CONTROL_LINE_BYTES_MAX   65536u     /* of a request, newline included */
#define CONTROL_ANSWER_BYTES_MAX (4u << 20) /* of an answer: 64 captures with the longest paths */

#endif
