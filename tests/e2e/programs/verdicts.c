/* Loops whose verdicts are known, for depend_loops.test.sh: of each function, the loop with most
 * instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 9000
#ifdef __clang__
#define LOOP __attribute__((noinline))
#else
#define LOOP __attribute__((noipa)) static
#endif
int a[N], b[N], h[64], key[N], next[N];
double x[N], m1[80][80], m2[80][80], m3[80][80];
char text[N], out[N];
struct p {
    int x, y;
} ps[N];
/* verdict: serial */
LOOP int chain(int n)
{
    int cur = 0;
    for (int i = 0; i < n; i++)
        if (key[i] == cur)
            cur = next[i];
    return cur;
}

/* verdict: serial */
LOOP int sign_of_sum(int n)
{
    int s = 0, c = 0;
    for (int i = 0; i < n; i++) {
        s += a[i] - 2000;
        if (s < 0)
            c++;
    }
    return c;
}

/* verdict: distance serial */
LOOP void used_histogram(int n)
{
    for (int i = 0; i < n; i++)
        b[i] = h[a[i] & 63]++;
}

/* verdict: serial distance */
LOOP int thresholds(int n)
{
    int hits = 0;
    for (int i = 0; i < n; i++)
        if (++h[a[i] & 63] == 3)
            hits++;
    return hits;
}

/* verdict: reduction */
LOOP int minimum(int n)
{
    int s = 1 << 30;
    for (int i = 0; i < n; i++)
        if (a[i] < s)
            s = a[i];
    return s;
}

/* verdict: serial */
LOOP int argmin(int n)
{
    int s = 1 << 30, k = 0;
    for (int i = 0; i < n; i++)
        if (a[i] < s) {
            s = a[i];
            k = i;
        }
    return k;
}

/* verdict: reduction */
LOOP double float_sum(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

/* verdict: reduction */
LOOP int conditional_sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        if (a[i] & 1)
            s += a[i];
    return s;
}

/* verdict: serial */
LOOP int search(int n, int v)
{
    for (int i = 0; i < n; i++)
        if (a[i] == v)
            return i;
    return -1;
}

/* verdict: independent */
LOOP void multiply(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += m1[i][k] * m2[k][j];
            m3[i][j] = s;
        }
}

/* verdict: serial */
LOOP int polynomial(int n)
{
    int s = 1;
    for (int i = 0; i < n; i++)
        s = s * 31 + a[i];
    return s;
}

/* verdict: serial */
LOOP int fib(int n)
{
    int p = 0, q = 1;
    for (int i = 0; i < n; i++) {
        int t = (p + q) & 0xffff;
        p = q;
        q = t;
    }
    return p;
}

/* verdict: reduction */
LOOP int byte_sum(int n)
{
    unsigned char s = 0;
    for (int i = 0; i < n; i++)
        s += text[i];
    return s;
}

/* verdict: serial */
LOOP int crc(int n)
{
    unsigned s = 0xffff;
    for (int i = 0; i < n; i++)
        s = (s >> 1) ^ (text[i] & 1 ? 0xa001 : 0) ^ text[i];
    return (int)s;
}

/* verdict: independent */
LOOP void upper(int n)
{
    for (int i = 0; i < n; i++) {
        char c = text[i];
        if (c >= 'a' && c <= 'z')
            c -= 32;
        out[i] = c;
    }
}

/* verdict: independent */
LOOP void fields(int n)
{
    for (int i = 0; i < n; i++)
        ps[i].y = ps[i].x * 2;
}

/* verdict: privatizable */
LOOP int last(int n)
{
    int l = -1;
    for (int i = 0; i < n; i++)
        if (a[i] % 100 == 5)
            l = i;
    return l;
}

/* verdict: serial */
LOOP int toggle(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        b[i] = s;
        s = !s;
    }
    return s;
}

/* verdict: privatizable */
LOOP void copyback(int n)
{
    for (int i = n - 1; i > 0; i--)
        a[i] = a[i - 1];
}

/* verdict: serial */
LOOP int used_sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += a[i];
        b[i] = s;
    }
    return s;
}

/* verdict: serial */
LOOP int saturate(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += a[i];
        if (s > 100000)
            s = 100000;
    }
    return s;
}

/* verdict: serial */
LOOP int sum_of_sums(int n)
{
    int s = 0, t = 0;
    for (int i = 0; i < n; i++) {
        s += a[i];
        t += s;
    }
    return t;
}

/* verdict: serial */
LOOP int alternate(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s = a[i] - s;
    return s;
}

/* verdict: serial */
LOOP int shifted(int n)
{
    int s = 1;
    for (int i = 0; i < n; i++)
        s = (s << 1) ^ a[i];
    return s;
}

/* verdict: serial */
LOOP int longest_run(int n)
{
    int r = 0, m = 0;
    for (int i = 0; i < n; i++) {
        r = a[i] & 4 ? r + 1 : 0;
        if (r > m)
            m = r;
    }
    return m;
}

/* verdict: serial */
LOOP unsigned lfsr(int n)
{
    unsigned s = 1;
    for (int i = 0; i < n; i++)
        s = s >> 1 ^ (-(s & 1u) & 0xd0000001u);
    return s;
}

/* verdict: serial */
LOOP int pointer(int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        k = next[k];
    return k;
}

/* verdict: reduction */
LOOP int conjunction(int n)
{
    int s = -1;
    for (int i = 0; i < n; i++)
        s &= a[i] | 1;
    return s;
}

/* verdict: reduction */
LOOP float variance(int n)
{
    float s = 0, t = 0;
    for (int i = 0; i < n; i++) {
        s += (float)x[i];
        t += (float)x[i] * (float)x[i];
    }
    return t - s * s;
}

/* verdict: serial */
LOOP long mixed(int n)
{
    long s = 0;
    for (int i = 0; i < n; i++) {
        s += a[i];
        s ^= 5;
    }
    return s;
}

/* verdict: serial */
LOOP int decay(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s = s * 0.9 + x[i];
    return (int)s;
}

/* verdict: distance */
LOOP void ring(int n)
{
    int t[4] = {0};
    for (int i = 0; i < n; i++) {
        t[i & 3] = a[i];
        b[i] = t[(i + 1) & 3];
    }
}

/* verdict: privatizable independent */
LOOP void temporary(int n)
{
    char t[16];
    for (int i = 0; i < n; i++) {
        memcpy(t, &a[i], 4);
        t[4] = 1;
        out[i] = t[1] + t[4];
    }
}

/* verdict: serial */
LOOP int unioned(int n)
{
    union {
        int i;
        char c[4];
    } u;
    u.i = 0;
    int s = 0;
    for (int i = 0; i < n; i++) {
        u.c[1] = text[i];
        s += u.i;
        u.i = s;
    }
    return s;
}

/* verdict: serial */
LOOP double horner(int n)
{
    double s = 0;
    for (int i = n - 1; i >= 0; i--)
        s = s * 0.5 + x[i];
    return s;
}

/* verdict: reduction */
LOOP long count(int n)
{
    long c = 0;
    for (int i = 0; i < n; i++)
        c += a[i] > 50;
    return c;
}

/* verdict: independent privatizable serial */
LOOP void scale(int n)
{
    double s = x[0];
    for (int i = 0; i < n; i++)
        x[i] = x[i] / (1 + s);
}

/* verdict: reduction */
LOOP int parity(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s ^= a[i];
    return s;
}

/* verdict: serial */
LOOP int budget(int n)
{
    int left = 5000;
    int k = 0;
    for (int i = 0; i < n; i++) {
        left -= a[i] & 1;
        if (left == 0)
            break;
        k++;
    }
    return k;
}

__attribute__((noinline, noclone)) int f1(int v);
/* verdict: serial */
LOOP int iterate(int n)
{
    int s = 3;
    for (int i = 0; i < n; i++)
        s = f1(s);
    return s;
}

/* verdict: reduction */
LOOP int two_calls(int n)
{
    int s = 3;
    for (int i = 0; i < n; i++) {
        s += f1(a[i]);
        b[i] = f1(i);
    }
    return s;
}

/* verdict: independent */
LOOP void conditional_call(int n)
{
    for (int i = 0; i < n; i++) {
        if (a[i] & 1)
            b[i] = f1(a[i]);
        else
            b[i] = 2;
    }
}

/* verdict: reduction */
LOOP int nested(int n)
{
    int s = 0;
    for (int i = 0; i < n / 10; i++) {
        int t = 0;
        for (int k = 0; k < 10; k++)
            t += a[i * 10 + k];
        s += t * t;
    }
    return s;
}

/* verdict: reduction */
LOOP int nested_sum(int n)
{
    int s = 0;
    for (int i = 0; i < n / 10; i++)
        for (int k = 0; k < 10; k++)
            s += a[i * 10 + k];
    return s;
}

/* verdict: serial */
LOOP int bounded_sum(int n)
{
    int s = 0, i = 0;
    while (s < 1000000 && i < n)
        s += a[i++];
    return i;
}

__attribute__((noinline, noclone)) int f1(int v)
{
    return v * 3 + 1;
}
int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = (i * 37) % 4001;
        key[i] = i % 3;
        next[i] = (i * 7 + 1) % N;
        x[i] = 1 + 1e-6 * i;
        text[i] = 'A' + i % 60;
        ps[i].x = i;
    }
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++)
            m1[i][j] = m2[i][j] = i + j;
    used_histogram(N);
    multiply(40);
    upper(N);
    fields(N);
    copyback(N);
    ring(N);
    temporary(N);
    scale(N);
    printf("%d ", thresholds(N));
    printf("%d %d %d %d %g %d %d\n", chain(N), sign_of_sum(N), minimum(N), argmin(N), float_sum(N),
           conditional_sum(N), search(N, -7));
    printf("%d %d %d %d %d %d %d\n", polynomial(N), fib(N), byte_sum(N), crc(N), last(N), toggle(N),
           used_sum(N));
    printf("%d %d %d %d %d %u %d\n", saturate(N), sum_of_sums(N), alternate(N), shifted(N),
           longest_run(N), lfsr(N), pointer(N));
    printf("%d %g %ld %d %d %g %ld %d %d\n", conjunction(N), variance(N), mixed(N), decay(N),
           unioned(N), horner(N), count(N), parity(N), budget(N));
    two_calls(N);
    conditional_call(N);
    printf("%d %d %d %d %d\n", iterate(N), nested(N), nested_sum(N), bounded_sum(N), b[5]);
    return 0;
}
