/* Repeated string instructions: many times, once, never, and until something is found. */
#include <stdio.h>

static char source[200];
static char target[200];

#ifdef __x86_64__
static void copy(void *to, const void *from, unsigned long count)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static void fill(void *to, unsigned long words)
{
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0x0101010101010101) : "memory");
}

static unsigned long length(const char *text)
{
    unsigned long left = 1000;
    __asm__ volatile("repne scasb" : "+D"(text), "+c"(left) : "a"(0) : "memory", "cc");
    return 1000 - left - 1;
}

static unsigned long same(const char *a, const char *b, unsigned long count)
{
    unsigned long left = count;
    __asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(left) : : "memory", "cc");
    return count - left;
}
#endif

int main(void)
{
    unsigned long found = 0;
#ifdef __x86_64__
    for (unsigned i = 0; i < 20; i++) {
        fill(source, 24);
        copy(target, source, i * 9 % 100);
        copy(target, source, i % 2);
        found += length("from here to there");
        found += same(source, target, 150);
    }
#endif
    printf("%lu\n", found);
    return 8;
}
