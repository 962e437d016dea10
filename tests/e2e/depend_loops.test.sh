#!/bin/bash
# Loops of known verdict get it, without and with optimization; two runs of a program print the same.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >loops.c <<'C'
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#define N 4000
static int a[N], b[N], h[64];
static double x[N];
static float f[N];
static int d[N], follow[N];
static double m[3][N];
static unsigned long q[3][N];
static char text[N + 1];
struct node { struct node *next; int value; };
__attribute__((noipa)) static void each(int n) { for (int i = 0; i < n; i++) b[i] = a[i] * 3 + 1; }
__attribute__((noipa)) static void stencil(int n) { for (int i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1]; }
__attribute__((noipa)) static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
__attribute__((noipa)) static double product(int n) { double s = 1; for (int i = 0; i < n; i++) s *= x[i]; return s; }
__attribute__((noipa)) static void histogram(int n) { for (int i = 0; i < n; i++) h[a[i] & 63]++; }
__attribute__((noipa)) static int walk(const struct node *p) { int s = 0; for (; p; p = p->next) s ^= p->value; return s; }
__attribute__((noipa)) static void far(int n) { for (int i = 16; i < n; i++) b[i] = b[i - 16] + 1; }
__attribute__((noipa)) static void prefix(int n) { for (int i = 1; i < n; i++) b[i] = b[i - 1] + a[i]; }
__attribute__((noipa)) static unsigned chaos(int n) { unsigned s = 1; for (int i = 0; i < n; i++) b[i] = (int)(s = s * 1664525u + 1013904223u); return s; }
__attribute__((noipa)) static int compact(int n) { int k = 0; for (int i = 0; i < n; i++) if (a[i] & 1) b[k++] = a[i]; return k; }
__attribute__((noipa)) static int minimum(int n) { int s = d[0]; for (int i = 1; i < n; i++) if (d[i] < s) s = d[i]; return s; }
__attribute__((noipa)) static double greatest(int n) { double s = x[0]; for (int i = 1; i < n; i++) s = x[i] > s ? x[i] : s; return s; }
__attribute__((noipa)) static int where(int n) { int s = a[0], at = 0; for (int i = 1; i < n; i++) if (a[i] > s) s = a[i], at = i; return at; }
__attribute__((noipa)) static float add_floats(int n) { float s = 0; for (int i = 0; i < n; i++) s += f[i]; return s; }
__attribute__((noipa)) static long double add_long(int n) { long double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
__attribute__((noipa)) static int count(int n) { int s = 0; for (int i = 0; i < n; i++) if (a[i] % 3 == 1) s += a[i]; return s; }
__attribute__((noipa)) static int some(int n) { int s = 0; for (int i = 0; i < n; i++) s |= a[i] > 77; return s; }
/* what they carry decides what they do */
__attribute__((noipa)) static int chain(int n) { int s = 0; for (int i = 0; i < n; i++) if (a[i] == s) s = follow[i]; return s; }
__attribute__((noipa)) static int above(int n) { int s = 1; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i] + 1; return s; }
__attribute__((noipa)) static int records(int n) { int s = -1, k = 0; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i], k++; return k; }
__attribute__((noipa)) static void mark(int n) { int s = -1; for (int i = 0; i < n; i++) if (a[i] > s) s = a[i], b[i] = 1; }
__attribute__((noipa)) static int restart(int n) { int s = 0; for (int i = 0; i < n; i++) { s += a[i] - 100; if (s < 0) s = 0; } return s; }
__attribute__((noipa)) static int falls(int n) { int s = 0, k = 0; for (int i = 0; i < n; i++) { s += a[i] - 100; if (s < 0) k++; } return k; }
__attribute__((noipa)) static long double converge(int n) { long double s = 0; for (int i = 0; i < n; i++) s = s * s * 0.25L + x[i]; return s; }
/* what an update computes, or overwrites, is needed */
__attribute__((noipa)) static void tickets(int n) { for (int i = 0; i < n; i++) b[i] = h[i / 7 & 63]++; }
__attribute__((noipa)) static void totals(int n) { for (int i = 0; i < n; i++) { h[i / 7 & 63] += a[i]; b[i] = h[i / 7 & 63]; } }
__attribute__((noipa)) static void mixed(int n) { for (int i = 0; i < n; i++) { if (a[i] & 1) h[i / 7 & 63] += 3; else h[i / 7 & 63] *= 5; } }
__attribute__((noipa)) static void last(int n) { for (int i = 0; i < n; i++) h[i / 7 & 63] = a[i] & 1 ? a[i] : h[i / 7 & 63]; }
__attribute__((noipa)) static void shift(int n) { int s = 0; for (int i = 0; i < n; i++) { const int t = a[i]; a[i] = t + s; s = t; } }
/* calls pass values on */
__attribute__((noipa)) static int step(int v) { return v * 3 % 1000003; }
__attribute__((noipa)) static double half(double v) { return v / 2 + 1; }
__attribute__((noipa)) static int iterate(int n) { int s = 7; for (int i = 0; i < n; i++) s = step(s); return s; }
__attribute__((noipa)) static double settle(int n) { double s = 7; for (int i = 0; i < n; i++) s = half(s); return s; }
__attribute__((noipa)) static void map(int n) { for (int i = 0; i < n; i++) b[i] = step(a[i]); }
__attribute__((noipa)) static void keep(int i, int c, int d, int e, int f, int g, int v) { b[i + c + d + e + f + g] = v; }
__attribute__((noipa)) static int pass(int n) { int s = 0; for (int i = 0; i < n; i++) { s += a[i]; keep(i, 0, 0, 0, 0, 0, s); } return s; }
__attribute__((noipa)) static int peek(int n, int **at) { int s = 0; *at = &s; for (int i = 0; i < n; i++) { s += a[i]; b[i] = **at; } return s; }
__attribute__((noipa)) static void carry(int n)
{
    unsigned long c = 0;
    for (int i = 0; i < n; i++) {
        const unsigned __int128 t = (unsigned __int128)q[0][i] + q[1][i] + c;
        q[2][i] = (unsigned long)t;
        c = (unsigned long)(t >> 64);
    }
}
/* the loop ends at what it finds */
__attribute__((noipa)) static int drain(int file) { int s = 0; while (s < 2000 && read(file, text, 8) > 0) s++; return s; }
__attribute__((noipa)) static int search(int n) { for (int i = 0; i < n; i++) if (a[i] == 7 * (N - 5)) return i; return -1; }
__attribute__((noipa)) static int length(const char *p) { int s = 0; while (*p) s += *p++ == 'x'; return s; }
__attribute__((noipa)) static void multiply(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += m[0][i * n + k] * m[1][k * n + j];
            m[2][i * n + j] = s;
        }
}
static int buffer[8];
__attribute__((noipa)) static void scratch(int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 8; k++) buffer[k] = a[i] + k;
        b[i] = buffer[a[i] & 7];
    }
}
__attribute__((noipa)) static void cases(int n)
{
    for (int i = 0; i < n; i++)
        switch (a[i] % 7) {
        case 0: b[i] = a[i] + 1; break;
        case 1: b[i] = a[i] * 3; break;
        case 2: b[i] = a[i] ^ 5; break;
        case 3: b[i] = a[i] << 2; break;
        case 4: b[i] = -a[i]; break;
        case 5: b[i] = a[i] / 3; break;
        default: b[i] = h[i & 63]; break;
        }
}
/* the compiler may keep what the next iteration overwrites: serial, then */
__attribute__((noipa)) static void blend(int n) { for (int i = 0; i < n - 1; i++) d[i] = d[i] + d[i + 1]; }
int main(int argc, char **argv)
{
    struct node *list = NULL;
    for (int i = 0; i < N; i++) {
        struct node *p = malloc(sizeof *p);
        *p = (struct node){list, i};
        list = p;
        a[i] = i * 7;
        x[i] = 1 + 1e-6 * i;
        f[i] = 1;
        d[i] = N - i;
        follow[i] = (i + 1) * 7;
        text[i] = 'x';
        q[0][i] = q[1][i] = -1ul - (unsigned long)i % 2;
    }
    int *at;
    switch (argc > 1 ? *argv[1] : 0) {
    case '1':
        each(N); stencil(N); histogram(N); far(N); prefix(N); scratch(N); map(N); multiply(24);
        printf("%d %g %d %u %d %d\n", sum(N), product(N), walk(list), chaos(N), compact(N), h[7]);
        break;
    case '2':
        printf("%d %g %d %d %g\n", minimum(N), greatest(N), where(N), count(N), (double)add_floats(N));
        printf("%d %g %d %d %d\n", iterate(N), settle(N), search(N), length(text), some(N));
        printf("%g %g\n", (double)add_long(N), (double)converge(N));
        break;
    default:
        printf("%d %d %d %d %d\n", chain(N), above(N), records(N), restart(N), falls(N));
        printf("%d %d %d\n", pass(N), peek(N, &at), drain(open("/dev/zero", O_RDONLY)));
        cases(N); blend(N); carry(N); mark(N); tickets(N); totals(N); mixed(N); last(N); shift(N);
    }
    return 0;
}
C
# the loop of each function with most instructions; of `multiply` all, outermost first
cat >verdicts.py <<'PY'
import collections, json, sys
report = json.load(open(sys.argv[1]))
loops = collections.defaultdict(list)
for loop in report["loops"]:
    place = report["places"][loop["place"]]
    name = (place.get("function") or "").split(".")[0]
    if loop["verdict"] not in (None, "unjudged") and name not in ("main", ""):
        assert name != "blend" or loop["verdict"] in ("privatizable", "serial"), loop
        if name == "blend":
            continue
        loops[name].append((-loop["instructions"], loop["verdict"], loop["reasons"]))
for name, judged in loops.items():
    judged.sort()
    print(name, *(loop[1] for loop in (judged if name == "multiply" else judged[:1])))
    print(name, *judged, file=sys.stderr)
PY
cat >expected <<'E2'
above serial
add_floats reduction
add_long reduction
carry serial
cases independent
chain serial
chaos serial
compact serial
converge serial
count reduction
drain serial
each independent
falls serial
far distance
greatest reduction
histogram reduction
iterate serial
last serial
length serial
map independent
mark serial
minimum reduction
mixed serial
multiply independent independent reduction
pass serial
peek serial
prefix serial
product reduction
records serial
restart serial
scratch privatizable
search serial
settle serial
shift serial
some reduction
stencil independent
sum reduction
tickets serial
totals serial
walk serial
where serial
E2
failed=
for options in -O0 "-O1 -fno-tree-vectorize" "-O2 -fno-tree-vectorize" -O2; do
    # shellcheck disable=SC2086 # a list
    gcc -g $options -o loops loops.c
    : >found
    : >why
    for part in 1 2 3; do
        for i in 1 2; do bustap depend --json -o report$i.json ./loops "$part" >out; done
        cmp report1.json report2.json
        bustap depend check report1.json >/dev/null
        python3 verdicts.py report1.json >>found 2>>why
    done
    sort -o found found
    # vectors of the compiler keep elements in registers for the next iteration
    sed "s/^stencil .*/stencil $([ "$options" = -O2 ] && echo serial || echo independent)/" expected >wanted
    diff wanted found >different || {
        echo "$options"
        cat different
        sed -n 's/^> \([^ ]*\).*/\1/p' different | while read -r name; do grep "^$name " why; done
        failed=1
    }
done
[ -z "$failed" ]
