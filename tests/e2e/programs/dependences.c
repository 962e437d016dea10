/* References of all kinds, without libraries: overlapping sizes, string instructions, recursion,
 * pointers to the caller's stack. Built with -nostdlib. */
static long system_call(long number, long a)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a) : "rcx", "r11", "memory");
    return result;
}

static unsigned char bytes[4096];
static unsigned short *const halves = (unsigned short *)bytes;
static unsigned long *const words = (unsigned long *)bytes;
static unsigned histogram[16];
static double sums[8];

struct node {
    struct node *next;
    long value;
};
static struct node nodes[64];

static void move(void *to, const void *from, unsigned long count)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static void fill(void *to, unsigned char value, unsigned long count)
{
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
}

__attribute__((noinline)) static long add(long *total, long n)
{
    long copy[3] = {n, *total, 1};
    *total += copy[0] + copy[2];
    return n == 0 ? copy[1] : add(total, n - 1) + copy[2];
}

__attribute__((noinline)) static long walk(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}

static void overlap(void)
{
    for (unsigned i = 0; i < 200; i++) {
        words[i % 50] += i;
        halves[(7 * i) % 400] = (unsigned short)i;
        bytes[(13 * i) % 1000] ^= bytes[i];
        *(volatile unsigned *)(bytes + (i * 5) % 1000 + 1) = i;
    }
    move(bytes + 100, bytes + 96, 64); /* each byte is read after it was written */
    move(bytes + 300, bytes + 310, 64);
    fill(bytes + 90, 7, 33);
    move(bytes + 2000, bytes, 1001);
}

void _start(void)
{
    long total = 0;
    overlap();
    for (unsigned i = 0; i < 64; i++) {
        nodes[i].value = bytes[i];
        nodes[i].next = i + 1 < 64 ? &nodes[(i * 5 + 1) % 64 > i ? (i * 5 + 1) % 64 : i + 1] : 0;
        histogram[nodes[i].value & 15]++;
        sums[i & 7] += (double)i;
    }
    total += walk(nodes) + add(&total, 20) + (long)sums[3];
    system_call(231, total & 63);
}
