#!/bin/bash
# Libraries that are loaded one after another at the same address are images of their own in the graph.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >plugin.c <<'C'
int NAME(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * FACTOR;
    return sum;
}
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
static int use(const char *file, const char *name, int times)
{
    void *library = dlopen(file, RTLD_NOW);
    if (!library)
        return 1;
    int (*plugin)(int) = (int (*)(int))dlsym(library, name);
    printf("%p\n", (void *)plugin);
    plugin(times);
    return dlclose(library) != 0;
}
int main(void)
{
    return use("./first.so", "first", 10) || use("./second.so", "second", 20) || use("./first.so", "first", 30);
}
C
gcc -O1 -shared -fPIC -DNAME=first -DFACTOR=3 -o first.so plugin.c
gcc -O1 -shared -fPIC -DNAME=second -DFACTOR=7 -o second.so plugin.c
gcc -O1 -w -o host host.c -ldl
bustap exec -q -o one/x --modules modules -- ./host >places
[ "$(sort -u places | wc -l)" = 1 ] || { echo "the libraries are not loaded at one address"; exit 77; }
grep -Eq '/first\.so@0x[0-9a-f]+@[0-9]+-[0-9]+,[0-9]+-[0-9]+$' modules || { cat modules; exit 1; }
grep -Eq '/second\.so@0x[0-9a-f]+@[0-9]+-[0-9]+$' modules || { cat modules; exit 1; }
grep -Eq '/host@0x[0-9a-f]+$' modules || { cat modules; exit 1; }

mapfile -t images < <(sed 's/^/--image=/' modules)
bustap dcfg build "${images[@]}" -o one.json --trace one.trace.json one/*.byu.gz 2>messages || { cat messages; exit 1; }
if grep -q 'no such' messages; then cat messages; exit 1; fi
bustap dcfg check one.json --trace one.trace.json >/dev/null
python3 "$TOP/tests/support/graph_edges.py" one.json >edges
expect() {
    grep -qx "$1" edges || { echo "no edge '$1'"; grep -E ' (first|second)' edges; exit 1; }
}
expect 'INDIRECT_CALL [^ ]* first+0x0 2'
expect 'INDIRECT_CALL [^ ]* second+0x0 1'
expect 'DIRECT_CONDITIONAL_BRANCH first+0x[0-9a-f]* first+0x[0-9a-f]* 38' # 9 and 29
expect 'DIRECT_CONDITIONAL_BRANCH second+0x[0-9a-f]* second+0x[0-9a-f]* 19'
# both have the address at which they were loaded
jq -e '.FILE_NAMES[1:] as $files | [.PROCESSES[1][1].IMAGES[1:][]
    | {address: .[1], file: (.[3].FILE_NAME_ID as $id | $files[] | select(.[0] == $id) | .[1])}
    | select(.file | test("(first|second)[.]so$")) | .address] | length == 2 and .[0] == .[1]' one.json >/dev/null

# the times are those of one capture
bustap exec -q --split-threads -o split/x --modules modules -- ./host >/dev/null
if grep '@[0-9]*-' modules; then exit 1; fi

# dcfg fetches tells them apart, too: of the functions as many fetches as the graph has instructions
bustap dcfg fetches --csv "${images[@]}" one/*.byu.gz >fetches
bustap dcfg functions --csv one.json >functions
for name in first second; do
    fetched=$(awk -F, -v name=$name '$NF == name { print $1 }' fetches)
    [ "$fetched" -gt 0 ] && awk -F, -v name=$name -v n="$fetched" '$0 ~ "," name "(,|$)" && $3 == n { found = 1 } END { exit !found }' functions ||
        { grep $name fetches functions; exit 1; }
done
[ "$(awk -F, '$NF == "first" || $NF == "second" { print $10 }' fetches | uniq | wc -l)" = 1 ]
