/* options: -O3 */
/* A hash table and text, with vector code where the compiler likes it. */
#include "tests/e2e/wet_programs/start.h"

static struct {
    unsigned key, count;
} table[32];
static char text[64];
static const char words[] = "the cat and the dog and the other cat saw a dog";

__attribute__((noinline)) static unsigned hash(const char *word, unsigned size)
{
    unsigned value = 2166136261u;
    for (unsigned i = 0; i < size; i++)
        value = (value ^ (unsigned char)word[i]) * 16777619u;
    return value | 1;
}

__attribute__((noinline)) static unsigned count(unsigned key)
{
    unsigned at = key % 32;
    while (table[at].key && table[at].key != key)
        at = (at + 1) % 32;
    table[at].key = key;
    return ++table[at].count;
}

int program(void)
{
    unsigned start = 0, most = 0;
    for (unsigned i = 0; i < sizeof words; i++) {
        text[i] = (char)(words[i] >= 'a' ? words[i] - 32 : words[i]);
        if (words[i] > ' ')
            continue;
        const unsigned times = count(hash(words + start, i - start));
        most = times > most ? times : most;
        start = i + 1;
    }
    for (unsigned i = 0; i < sizeof text; i++)
        most += (unsigned char)text[i];
    return (int)(most & 15);
}
