/* Fills a picture at random, smooths it, and prints its brightness: loops that could run in
 * parallel, and one that could not (doc/tutorial.md). */
#include <stdio.h>
#include <stdlib.h>

#define ROWS    1000
#define COLUMNS 1000

static unsigned char picture[ROWS][COLUMNS], result[ROWS][COLUMNS];

static void fill(void)
{
    unsigned random = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        random = random * 1103515245 + 12345;
        picture[i / COLUMNS][i % COLUMNS] = (unsigned char)(random >> 16);
    }
}

/* The mean of nine neighbours, by sums of columns. */
static void smooth(void)
{
    static int sums[COLUMNS];
#pragma omp parallel for private(sums)
    for (int row = 1; row < ROWS - 1; row++) {
        for (int i = 0; i < COLUMNS; i++)
            sums[i] = picture[row - 1][i] + picture[row][i] + picture[row + 1][i];
        for (int i = 1; i < COLUMNS - 1; i++)
            result[row][i] = (unsigned char)((sums[i - 1] + sums[i] + sums[i + 1]) / 9);
    }
}

static long brightness(void)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS; i++)
            sum += result[row][i];
    return sum;
}

int main(int count, char **arguments)
{
    int times = count > 1 ? atoi(arguments[1]) : 1;
    fill();
    for (int time = 0; time < times; time++)
        smooth();
    printf("%ld\n", brightness());
    return 0;
}
