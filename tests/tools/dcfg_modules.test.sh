#!/bin/bash
# dcfg build finds the list of modules beside a capture; --image and --modules come first.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >first.c <<'C'
__attribute__((noinline)) int twice(int n) { return 2 * n; }
int main(int count, char **arguments) { return !arguments[twice(count) - 2]; }
C
sed 's/twice/double_it/g' first.c >second.c
for program in first second; do
    gcc -g -O1 -fno-ipa-cp -fno-pie -no-pie -o $program $program.c
    bustap exec -q -o $program -- ./$program
done
build() { # ARGUMENT... -> graph, messages
    bustap dcfg build -o graph.json "$@" 2>messages || { cat messages; exit 1; }
    bustap dcfg check graph.json >/dev/null
}
has() { bustap dcfg functions --csv graph.json | grep -q "\<$1\>"; }
said() { grep -q "$1" messages || { cat messages; exit 1; }; }

# the same graph as with the files named
mapfile -t images < <(sed 's/^/--image=/' first.modules)
build "${images[@]}" first_*
mv graph.json named.json
build first_*
cmp graph.json named.json
has twice || { bustap dcfg functions graph.json; exit 1; }
build --modules first.modules first_*
cmp graph.json named.json

# what is named wins: the program alone
build --image "$PWD/first" first_*
if cmp -s graph.json named.json; then exit 1; fi
said 'are in no image'
build --modules second.modules first_* # the other program has its code at the same addresses
has double_it || { bustap dcfg functions graph.json; exit 1; }
if has twice; then exit 1; fi

# several lists, one that cannot be read, and one without any of the code: a graph without images, or of none
build --concatenate first_* second_*
said 'several lists of modules, first.modules and second.modules: none is used'
if has twice; then exit 1; fi
bustap dcfg build --json --concatenate -o other.json first_* second_* 2>/dev/null >several
jq -e '.places == .places_in_no_image' several >/dev/null
echo "$PWD/none@0x400000" >first.modules
build first_*
said 'the list is not used: .*first.modules: line 1: .*none'
gcc -shared -fPIC -o far.so second.c
echo "$PWD/far.so@0x10000" >first.modules
build first_*
said 'are in no image'
status=0
bustap dcfg build --modules first.modules -o named.json first_* 2>messages || status=$?
[ "$status" = 1 ] || exit 1
said 'the images are not what was executed'
