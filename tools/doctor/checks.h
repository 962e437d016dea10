/* The checks of `bustap doctor`. Each adds findings. */
#ifndef TOOLS_DOCTOR_CHECKS_H
#define TOOLS_DOCTOR_CHECKS_H

#include "driver/ftdi_diagnosis.h"
#include "driver/stream.h"
#include "tools/doctor/findings.h"

/* Checks the machine: its USB, the udev rules, the memory for transfers. root is the prefix of
 * system paths, "" for this machine's. */
void check_machine(struct findings *findings, const struct ftdi_diagnoses *found, const char *root);

/*
 * Checks found->boards[place] without opening it as a board. channel is 'A' or 'B'. True if the
 * link can be tested: the user may open the board, no program uses it, and no check found a
 * problem.
 */
bool check_board(struct findings *findings, const struct ftdi_diagnoses *found, size_t place,
                 char channel, const char *root);

/*
 * Checks the board of a stream: its identity, and its link with a test pattern of N megabytes (10^6
 * bytes), 0 for none. Closes the stream.
 */
void check_link(struct findings *findings, struct stream *stream, uint32_t megabytes);

/* Checks the records of a capture, whose tally has ended, for errors of the probe. In captures of
 * executed programs, which no probe made, only their types, sizes and attributes. */
struct capture_tally;
void check_capture(struct findings *findings, const struct capture_tally *tally);

#endif
