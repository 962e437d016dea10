#!/bin/bash
# Loops of known verdict get it, without and with optimization; two runs of a program print the same.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >loops.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#define N 4000
static int a[N], b[N], h[64];
static double x[N];
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
__attribute__((noipa)) static void shift(int n) { for (int i = 0; i < n - 1; i++) a[i] = a[i] + a[i + 1]; }
int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < N; i++) {
        struct node *p = malloc(sizeof *p);
        *p = (struct node){list, i};
        list = p;
        a[i] = i;
        x[i] = 1 + 1e-6 * i;
    }
    each(N); cases(N); shift(N); stencil(N); histogram(N); far(N); prefix(N); scratch(N);
    printf("%d %g %d %u %d %d\n", sum(N), product(N), walk(list), chaos(N), compact(N), h[7]);
    return 0;
}
C
cat >expected <<'E2'
cases independent
chaos serial
compact serial
each independent
far distance
histogram reduction
prefix serial
product reduction
scratch privatizable
shift privatizable
stencil independent
sum reduction
walk serial
E2
for options in -O0 "-O1 -fno-tree-vectorize" "-O2 -fno-tree-vectorize" -O2; do
    # shellcheck disable=SC2086 # a list
    gcc -g $options -o loops loops.c
    for i in 1 2; do bustap depend --json -o report$i.json ./loops >out; done
    cmp report1.json report2.json
    bustap depend check report1.json
    # the outermost loop of a function
    python3 - report1.json <<'PY' | sort >found
import json, sys
report = json.load(open(sys.argv[1]))
loops = {}
for loop in report["loops"]:
    place = report["places"][loop["place"]]
    name = (place.get("function") or "").split(".")[0]
    if loop["verdict"] not in (None, "unjudged") and name not in ("main", "") and \
       (name not in loops or loop["instructions"] > loops[name]["instructions"]):
        loops[name] = loop
for name, loop in loops.items():
    print(name, loop["verdict"] if loop["entries"] == 1 else "entered %d times" % loop["entries"])
PY
    diff expected found || { echo "$options"; exit 1; }
done

# --- more loops: a verdict that would let a serial loop run in parallel is wrong, also of vectorized code ---
compilers=("gcc -O0" "gcc -O1 -fno-tree-vectorize" "gcc -O2 -fno-tree-vectorize" "gcc -O3")
! command -v clang >/dev/null || compilers+=("clang -O2 -fno-vectorize -fno-slp-vectorize" "clang -O2")
for compiler in "${compilers[@]}"; do
    $compiler -g -o verdicts "$TOP/tests/e2e/programs/verdicts.c"
    bustap depend --json -o verdicts.json ./verdicts >out
    python3 - verdicts.json "$TOP/tests/e2e/programs/verdicts.c" "$compiler" <<'PY'
import json, re, sys
report, source = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
known = {name: verdicts.split() for verdicts, name in
         re.findall(r"^/\* verdict: ([a-z ]+) \*/\nLOOP [^(]*?(\w+)\(", source, re.M)}
loops = {}
for loop in report["loops"]:
    name = report["places"][loop["place"]].get("function")
    if name in known and (name not in loops or loop["instructions"] > loops[name]["instructions"]):
        loops[name] = loop
judged, wrong, strict = 0, [], "tree-vectorize" in sys.argv[3] or "-O0" in sys.argv[3]
for name, loop in loops.items():
    if loop["verdict"] == "unjudged":
        continue
    judged += 1
    if loop["verdict"] not in known[name] + ([] if strict else ["serial"]):
        wrong.append((name, loop["verdict"], loop["reasons"]))
assert not wrong and len(known) >= 44 and judged >= 20, (sys.argv[3], judged, wrong)
PY
done
