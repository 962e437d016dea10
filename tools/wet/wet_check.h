/*
 * Checks WET traces: binary files, comprehensive texts, and texts of a limited history.
 */
#ifndef TOOLS_WET_WET_CHECK_H
#define TOOLS_WET_WET_CHECK_H

#include "formats/text/text_reader.h"
#include "tools/wet/replay/wet_replay.h"

enum wet_check_form { WET_CHECK_BINARY, WET_CHECK_TEXT, WET_CHECK_HISTORY };

/* What was found in a trace. Members that a form does not have are 0. */
struct wet_check {
    enum wet_check_form form;
    uint64_t lines;        /* of a text */
    uint64_t instructions; /* binary: executed */
    uint64_t blocks;       /* binary: executed */
    uint64_t chunks, threads;
    uint64_t known_instructions; /* different ones */
    uint64_t known_blocks;
    uint64_t dependences, values;
};

/*
 * Replays a file. Checks that all members are whole and undamaged, that numbers of instructions,
 * blocks and executions agree, that ids are in order of first execution, that every dependence is
 * on an instance executed before, and that each system call has one result at most. Calls progress
 * (may be NULL) between chunks with an offset. 0, BT_MEMORY, or BT_DATA: the message has the place;
 * *check is what was found up to there.
 */
int wet_check_binary(struct wet_trace *trace, struct wet_check *check,
                     void (*progress)(void *context, uint64_t done), void *context,
                     struct bt_error *error);

/*
 * Reads a text of either form. Checks of comprehensive text: syntax, ids from 1 without gaps,
 * counts, ascending instances, and that the instances depended on exist, as far as the text tells
 * how many there are. Dependences may be numbered without gaps. Of a history: syntax. 0, BT_MEMORY,
 * an error of text_reader_read(), or BT_DATA: the message has the line. Memory grows with the
 * number of instructions, not of lines.
 */
int wet_check_text(struct text_reader *reader, struct wet_check *check, struct bt_error *error);

#endif
