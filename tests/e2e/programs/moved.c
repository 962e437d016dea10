/* A block that realloc() moves keeps its writers: mremap() copies nothing. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int *cells, *before = malloc(400000 * sizeof *before), sum = 0;
    for (int i = 0; i < 400000; i++)
        before[i] = i; /* written */
    cells = realloc(before, 4000000 * sizeof *cells);
    for (int i = 0; i < 400000; i++)
        sum += cells[i] & 1; /* read */
    printf("%d\n", sum);
    free(cells);
    return 0;
}
