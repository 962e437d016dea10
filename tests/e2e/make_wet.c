/* Writes a WET file of a loop to standard output: tests/support/wet_made.h.
 *
 * usage: make_wet ITERATIONS [FIRST]
 */
#include "tests/support/wet_made.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct wet_bytes file = {.bytes = NULL};
    if (argc < 2)
        return 2;
    wet_made_loop(&file, (unsigned)atoi(argv[1]), argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    const size_t written = fwrite(file.bytes, 1, file.size, stdout);
    const int failed = written != file.size || fflush(stdout) != 0;
    free(file.bytes);
    return failed;
}
