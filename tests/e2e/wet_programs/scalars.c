/* options: -O2 */
/* Numbers with a point. */
#include "tests/e2e/wet_programs/start.h"

static double values[16];
static float narrow[16];

int program(void)
{
    double sum = 0, least = 1e9;
    for (int i = 0; i < 16; i++) {
        values[i] = (i * 37 % 11) / 3.0 - 1;
        narrow[i] = (float)values[i] * 0.5f;
    }
    for (int i = 0; i < 16; i++) {
        if (values[i] < least)
            least = values[i];
        sum += values[i] > 0 ? narrow[i] : -(double)narrow[15 - i];
    }
    return (int)(sum * least) & 15;
}
