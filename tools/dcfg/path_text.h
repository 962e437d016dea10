/* The steps and the source lines of a path as text. */
#ifndef TOOLS_DCFG_PATH_TEXT_H
#define TOOLS_DCFG_PATH_TEXT_H

#include "tools/dcfg/graph/hot_paths.h"
#include "tools/dcfg/view_command.h"

/* A text that grows; zeroed at first. Free with path_text_clear. */
struct path_text {
    char *text; /* NULL: nothing was ever put into it */
    size_t used, capacity;
    char *brief; /* see path_text_short */
    struct path_line *lines;
    size_t line_count, line_capacity;
};

/* "0x401000 [0x401010] 0x401020": the addresses of the blocks, those of heads of inner loops in
 * brackets. 0 or BT_MEMORY. */
int path_text_steps(struct path_text *text, const struct dcfg_process *process,
                    const struct hot_step *steps, uint32_t count);

/* "0x401000 0x401020": the addresses of blocks. 0 or BT_MEMORY. */
int path_text_blocks(struct path_text *text, const struct dcfg_process *process,
                     const uint32_t *blocks, uint32_t count);

/* "main.c:22-25,27 list.h:8": the lines of the blocks, by file, in the order of the path; "": none
 * is known. 0 or BT_MEMORY. */
int path_text_lines(struct path_text *text, const struct view *view, const struct hot_step *steps,
                    uint32_t count);

/* The text; cut at a space or comma, with "..." at the end, if it has more than size bytes. Valid
 * until the text changes; NULL without memory or text. */
const char *path_text_short(struct path_text *text, size_t size);

void path_text_clear(struct path_text *text);

#endif
