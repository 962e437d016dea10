#!/bin/bash
# bustap wet report counts what an obvious program counts from the steps of a replay; with limits that make it forget,
# too. Files that were cut off, other streams, and all outputs have the same counts.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
[ -x /usr/bin/python3 ] || { echo "/usr/bin/python3 is missing"; exit 77; }
PATH="$BUILD/tests/e2e:$PATH"

# Calls, recursion, repeated moves (one over itself, one of nothing), pushes, conditional moves, signals, threads.
cat >program.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int cells[64];
static char text[256] = "a text";
static volatile int caught;
static void handle(int number)
{
    caught += number;
}
static void copy(char *to, const char *from, unsigned long size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
}
static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
static void *work(void *argument)
{
    for (int i = 1; i < 64; i++)
        __atomic_fetch_add(&cells[i], cells[i - 1] + *(int *)argument, __ATOMIC_RELAXED);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    int own = 3, pipe_ends[2];
    signal(SIGUSR1, handle);
    copy(text + 1, text, 200);
    copy(text, text + 100, 0);
    copy(text + 50, text, 30);
    raise(SIGUSR1);
    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, NULL, work, &own);
        work(&own);
        pthread_join(thread, NULL);
    }
    if (pipe(pipe_ends) == 0 && write(pipe_ends[1], cells, sizeof cells) == sizeof cells &&
        read(pipe_ends[0], cells, sizeof cells) == sizeof cells)
        own = cells[5] > 7 ? cells[9] : own;
    printf("%d %d %s\n", own, fibonacci(8), text);
    return 0;
}
C
gcc -O1 -g -pthread -o program program.c
bustap wet -o file.wet --chunk 2000 -- ./program >out
wet_steps file.wet >steps

# compare FILE STEPS WITHIN BYTES
compare() {
    bustap wet report --json --within "$3" --max-memory "$4" "$1" >report.json
    python3 "$TOP/tests/e2e/wet_report.py" "$2" report.json "$3" "$4"
}
compare file.wet steps 128 $((256 << 20))
compare file.wet steps 1 $((256 << 20))
compare file.wet steps 16 $((64 << 10))
grep -q '"loads_cut": [1-9]' report.json
grep -q '"complete": true' report.json
bustap wet -o plain.wet --no-values -- ./program >out
wet_steps plain.wet >plain
compare plain.wet plain 64 $((1 << 20))

# text and CSV have the same numbers
bustap wet report --json file.wet >report.json
bustap wet report --top 3 file.wet >report.txt
bustap wet report --csv - <file.wet >report.csv
python3 - <<'PY'
import csv, json, re
report = json.load(open("report.json"))
text = open("report.txt").read()
for row in csv.DictReader(open("report.csv", newline=""), strict=True):
    value = report[row["table"]][int(row["row"])][row["column"]]
    if isinstance(value, float):
        assert abs(value - float(row["value"])) < 1e-5, row
    else:
        assert row["value"] == ("" if value is None else str(value)), row
assert f": {report['instructions']} instructions, {report['loads']} loads, {report['stores']} stores\n" in text
assert re.search(rf"^data  +{report['critical_paths'][0]['length']} ", text, re.M)
far = f"{report['far_load_instructions']} of {report['load_instructions']} instructions that load never"
assert far in text and "The first 3:\n" in text
PY

# a file that was cut off
head -c $(($(stat -c %s file.wet) * 2 / 3)) file.wet >cut.wet
status=0
bustap wet report --json cut.wet >cut.json 2>errors || status=$?
[ "$status" = 1 ]
grep -q '^bustap: cut.wet: .*; the report is about what is before$' errors
grep -q '"complete": false' cut.json
wet_steps cut.wet >cut.steps
python3 "$TOP/tests/e2e/wet_report.py" cut.steps cut.json 128 $((256 << 20))

# usage, and outputs that fail
for options in "" "file.wet file.wet" "--csv --json file.wet" "--max-memory 1K file.wet" "--within 0 file.wet"; do
    status=0
    # shellcheck disable=SC2086 # a list
    bustap wet report $options >out 2>&1 || status=$?
    [ "$status" = 2 ] || { echo "$options: $status"; exit 1; }
done
status=0
bustap wet report file.wet >/dev/full 2>errors || status=$?
[ "$status" = 3 ]
status=0
bustap wet report program.c >out 2>errors || status=$?
[ "$status" = 1 ]
grep -q 'program.c: it is no WET file' errors
bustap wet report /dev/zero >out 2>errors || status=$?
[ "$status" = 1 ]
