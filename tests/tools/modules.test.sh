#!/bin/bash
# Captures of executed programs know their modules, in every command: those of threads, of followed processes, and of
# several runs to one prefix.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >threads.c <<'C'
#include <pthread.h>
volatile long counter[2];
__attribute__((noinline)) void *worker(void *cell)
{
    for (int i = 0; i < 500; i++)
        ++*(volatile long *)cell;
    return 0;
}
int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, (void *)&counter[1]);
    worker((void *)&counter[0]);
    return pthread_join(other, 0);
}
C
cat >parent.c <<'C'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int begun(int n) { return n + 1; }
int main(int count, char **arguments)
{
    int status = begun(count);
    if (fork() == 0)
        execv(arguments[1], arguments + 1);
    wait(&status);
    return status;
}
C
gcc -g -O1 -pthread -o threads threads.c
gcc -g -O1 -o parent parent.c

# matches FILE SYMBOL PROGRAM LIST: as many requests as with the address that nm tells
matches() {
    local load start size
    load=$(sed -n "s,.*/$3@,,p" "$4")
    read -r start size < <(nm -S "$3" | awk -v name="$2" '$4 == name { print $1, $2 }')
    bustap dump "$1" -f "addr=$((load + 0x$start))+$((0x$size))" >expected
    [ "$(wc -l <expected)" -ge 1 ] || { echo "$1: nothing in $2"; exit 1; }
    bustap dump "$1" -f "symbol=$2" | cmp - expected
}
refused() {
    local status=0
    bustap dump "$1" -f "symbol=$2" >out 2>err || status=$?
    [ "$status" = 2 ] || exit 1
    grep -q "$3" err || { cat err; exit 1; }
}

# threads have the list of their process
bustap exec -q --quantum 20 --split-threads -o split -- ./threads
for file in split-t0_*.gz split-t1_*.gz; do
    matches "$file" worker threads split.modules
    matches "$file" counter threads split.modules
done
refused split-t1_*.gz workr "did you mean 'worker'"
[ ! -e split.modules.part ]

# every command
bustap exec -q --quantum 20 -o one -- ./threads
file=$(ls one_*.byu.gz)
count=$(bustap dump "$file" -f symbol=counter | wc -l)
[ "$(bustap cache --json -f symbol=counter "$file" | jq .records)" = "$count" ]
[ "$(bustap top --by type --json -f symbol=counter "$file" | jq '[.rows[].count] | add')" = "$count" ]
[ "$(bustap convert -q -f symbol=counter --to byu -o - "$file" | wc -c)" = $((12 * count)) ]
bustap mrc -f symbol=counter "$file" >out
grep -q ": $count references" out
bustap plot -f symbol=counter -o mix.svg "$file" >out
bustap doctor -f symbol=counter "$file" >out || [ $? -le 1 ]
bustap dcfg fetches -f symbol=worker "$file" >out
grep -q 0x out
bustap dcfg build -f symbol=worker -o graph.json "$file" >out 2>&1 || [ $? -le 1 ]
bustap follow -f symbol=counter one >out
[ "$(wc -l <out)" = "$count" ]
# top names what it counts, also in a running capture
bustap top --by symbol "$file" >out
grep -q "^counter  *$count " out
bustap top --by symbol,source --csv -n 1000 one >out
grep -q "^worker,.*threads.c:6," out
bustap top -n 1000 "$file" >out
grep -q "PROCESSORS  SYMBOL" out
# a cut keeps the list
bustap cut -q -o part.byu.gz -f symbol=counter "$file"
cmp part.byu.gz.modules one.modules
[ "$(bustap dump -f 'symbol=counter' part.byu.gz | wc -l)" = "$count" ]
# so does a merge of captures with one list, in any folder; the list of a file that is replaced goes with it
mkdir moved
bustap cut -q -n 100 -o moved/a.byu.gz "$file"
bustap cut -q --skip 100 -o b.byu.gz "$file"
bustap merge -q moved/a.byu.gz b.byu.gz -o both.byu.gz
cmp both.byu.gz.modules one.modules
rm moved/a.byu.gz.modules
bustap merge -q moved/a.byu.gz b.byu.gz -o both.byu.gz --force
cmp both.byu.gz.modules one.modules
rm b.byu.gz.modules
bustap merge -q moved/a.byu.gz b.byu.gz -o both.byu.gz --force
[ ! -e both.byu.gz.modules ]
# different lists, and times that do not fit, are not copied
sed 's/$/@5-/' one.modules >moved/a.byu.gz.modules
bustap merge moved/a.byu.gz part.byu.gz -o both.byu.gz --force 2>err
grep -q '^bustap: moved/a.byu.gz.modules and part.byu.gz.modules are different lists' err
[ ! -e both.byu.gz.modules ]
cp moved/a.byu.gz.modules b.byu.gz.modules
bustap merge -q moved/a.byu.gz b.byu.gz -o both.byu.gz --force
cmp both.byu.gz.modules b.byu.gz.modules
bustap merge moved/a.byu.gz b.byu.gz --offset b.byu.gz=7ticks -o both.byu.gz --force 2>err
grep -q 'a.byu.gz.modules has times of modules' err
[ ! -e both.byu.gz.modules ]
# a list that is read stays
bustap merge -q moved/a.byu.gz part.byu.gz -o part --force 2>err
cmp part.byu.gz.modules one.modules
cp part.byu.gz.modules part.modules
mv part.byu.gz part_1.byu.gz
rm part.byu.gz.modules
bustap merge -q moved/a.byu.gz part_1.byu.gz -o part --force 2>err
cmp part.modules one.modules
mv part_1.byu.gz part.byu.gz
[ "$(bustap info --json -f 'symbol=counter' "$file" | jq .records)" = "$count" ]
# without a list, or with one that names no file
refused - worker 'the program with this symbol is not known' <"$file"
bustap dump - -f symbol=counter --modules one.modules <"$file" | cmp - <(bustap dump "$file" -f symbol=counter)
status=0
bustap top --by symbol - <"$file" 2>err || status=$?
[ "$status" = 2 ]
grep -q 'need the program' err
status=0
bustap dump "$file" --modules missing -f symbol=counter 2>err || status=$?
[ "$status" -ge 1 ]
grep -q 'cannot open the list of modules missing' err

# a process of its own has a list of its own, whether it executes another program or not
bustap exec -q --follow -o tree -- ./parent ./threads
grep -q '/parent@' tree.modules
! grep -q '/threads@' tree.modules || exit 1
matches tree_*.gz begun parent tree.modules
child=$(ls tree-p*.byu.gz | tail -n 1)
matches "$child" worker threads "${child%%_*}.modules"
refused "$child" begun 'no symbol of the modules'

# runs to one prefix
bustap exec -q -o runs -- ./parent /bin/true
first=$(ls runs_*.byu.gz)
bustap exec -q --quantum 20 --append -o runs -- ./threads
second=$(ls runs_*.byu.gz | grep -v "$first")
aside=$(ls runs_*.modules)
matches "$first" begun parent "$aside"
matches "$second" worker threads runs.modules
refused "$first" worker 'no symbol of the modules'
refused "$second" begun 'no symbol of the modules'
bustap exec -q --append -o runs -- ./parent /bin/true
matches "$first" begun parent "$aside"
matches "$second" worker threads "$(ls runs_*.modules | tail -n 1)"
# all runs at once: the symbols of all programs
bustap cache --concatenate --json -f 'symbol=worker or symbol=begun' runs_*.byu.gz >out
[ "$(jq .records out)" -gt "$(bustap dump "$second" -f symbol=worker | wc -l)" ]
