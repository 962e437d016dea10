/* options: -O0 -g */
/* Nested loops and branches, with lines. */
#include "tests/e2e/wet_programs/start.h"

static int cells[5][5];

int program(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            if (i == j)
                continue;
            if (i + j == 7)
                break;
            cells[i][j] = i > j ? i * j : j - i;
        }
        if (i % 2 && cells[i][0] > 1)
            sum += cells[i][1];
        else
            sum -= cells[0][i];
    }
    do {
        sum--;
        while (sum % 3)
            sum--;
    } while (sum > 0 || sum < -100);
    return sum & 1;
}
