#include "tools/cfg/code_window.h"

#include "capture/exec/translate/decode.h"

static void fill(struct code_window *window, code_window_read_function *read, void *context,
                 uint64_t address)
{
    const size_t page = CODE_WINDOW_PAGE - (size_t)(address % CODE_WINDOW_PAGE);
    window->begin = address;
    window->size = 0;
    if (read(context, window->bytes, address, page) != 0)
        return;
    window->size = page;
    if (read(context, window->bytes + page, address + page, CODE_WINDOW_MORE) == 0)
        window->size += CODE_WINDOW_MORE;
}

size_t code_window_read(struct code_window *window, code_window_read_function *read, void *context,
                        uint64_t address, const uint8_t **code)
{
    if (address < window->begin || address - window->begin + DECODE_BYTES_MAX > window->size)
        fill(window, read, context, address);
    *code = window->bytes + (address - window->begin);
    return window->size - (size_t)(address - window->begin);
}
