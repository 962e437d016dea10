#include "tools/common/output.h"

#include "formats/base/file_io.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define OUTPUT_BYTES (2u * OUTPUT_RESERVE_MAX)

struct output {
    int file;
    const char *name;
    size_t fill;
    char bytes[OUTPUT_BYTES];
};

struct output *output_new(int file, const char *name, struct bt_error *error)
{
    struct output *output = malloc(sizeof *output);
    if (!output) {
        bt_fail(error, BT_MEMORY, "no memory for output");
        return NULL;
    }
    output->file = file;
    output->name = name;
    output->fill = 0;
    return output;
}

void output_free(struct output *output)
{
    free(output);
}

int output_flush(struct output *output, struct bt_error *error)
{
    size_t fill = output->fill;
    output->fill = 0;
    if (file_write(output->file, output->bytes, fill, NULL) == 0)
        return 0;
    return errno == EPIPE ? bt_fail(error, BT_CLOSED, "%s: closed by its reader", output->name)
                          : bt_fail_errno(error, "cannot write %s", output->name);
}

char *output_reserve(struct output *output, size_t size, struct bt_error *error)
{
    if (OUTPUT_BYTES - output->fill < size && output_flush(output, error) < 0)
        return NULL;
    return output->bytes + output->fill;
}

void output_filled(struct output *output, size_t size)
{
    output->fill += size;
}
