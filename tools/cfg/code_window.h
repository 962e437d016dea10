/* A window on the code in a program's memory, for walks: it is read a page at a time. */
#ifndef TOOLS_CFG_CODE_WINDOW_H
#define TOOLS_CFG_CODE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define CODE_WINDOW_PAGE 4096u
#define CODE_WINDOW_MORE 16u /* of the next page: an instruction may lie in both */

/* Reads the program's memory, as process_read() does. */
typedef int code_window_read_function(void *context, void *bytes, uint64_t address, size_t size);

/* Zeroed is empty; private. */
struct code_window {
    uint8_t bytes[CODE_WINDOW_PAGE + CODE_WINDOW_MORE];
    uint64_t begin;
    size_t size;
};

/* The code at an address, as in code_walk_settings: the number of bytes at *code, 0: none. They are
 * valid until the next call. */
size_t code_window_read(struct code_window *window, code_window_read_function *read, void *context,
                        uint64_t address, const uint8_t **code);

/* The program's memory may have changed. */
static inline void code_window_forget(struct code_window *window)
{
    window->size = 0;
}

#endif
