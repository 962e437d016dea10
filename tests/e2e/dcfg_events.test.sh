#!/bin/bash
# Graphs of executed programs have the signals and the threads of the program, with and without images.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
gcc -O1 -w -static -no-pie -pthread -o interrupted "$TOP/tests/e2e/programs/interrupted.c"

# build NAME ARGUMENT...: NAME.json, of the captures in the folder NAME
build() {
    bustap dcfg build "${@:2}" -o "$1.json" --trace "$1.trace.json" "$1"/*.byu.gz 2>told || { cat told; exit 1; }
    bustap dcfg check "$1.json" --trace "$1.trace.json" >/dev/null
    python3 "$TOP/tests/support/graph_edges.py" "$1.json" >"$1.edges"
}

# expect NAME LINE: an edge with these counts
expect() {
    grep -qx "$2" "$1.edges" || { echo "$1: no edge '$2'"; grep CONTEXT "$1.edges"; exit 1; }
}

bustap exec -q -o one/x --modules modules -- ./interrupted 4
bustap verify one/*.byu.gz >/dev/null
mapfile -t images < <(sed 's/^/--image=/' modules)
build one "${images[@]}"

# --- signals: into the handler, out of it, and over it ---
none='0 0 0 0'
expect one "CONTEXT_CHANGE write_page+0x[0-9a-f]* on_fault+0x0 1 $none"
expect one "CONTEXT_CHANGE_RETURN __restore_rt+0x0 write_page+0x[0-9a-f]* 1 $none"
expect one "CONTEXT_CHANGE_BYPASS write_page+0x[0-9a-f]* write_page+0x[0-9a-f]* 0 $none"
expect one "CONTEXT_CHANGE fill_pages+0x[0-9a-f]* on_fault+0x0 1 $none"
expect one "CONTEXT_CHANGE_BYPASS \(fill_pages+0x[0-9a-f]*\) \1 0 $none" # the rest of the repetitions
expect one "CONTEXT_CHANGE illegal+0x[0-9a-f]* on_illegal+0x0 1 $none"
expect one "CONTEXT_CHANGE_RETURN __restore_rt+0x0 illegal+0x[0-9a-f]* 1 $none"
expect one "CONTEXT_CHANGE_BYPASS illegal+0x[0-9a-f]* illegal+0x[0-9a-f]* 0 $none" # after it
expect one "CONTEXT_CHANGE divide+0x[0-9a-f]* on_division+0x0 1 $none"             # never returns
expect one "CONTEXT_CHANGE [^ ]* on_user+0x0 1 $none"
[ "$(grep -c '^CONTEXT_CHANGE ' one.edges)" = 5 ]
[ "$(grep '^CONTEXT_CHANGE_RETURN ' one.edges | grep -c ' __restore_rt+0x0 ')" = 4 ]
[ "$(grep -c '^CONTEXT_CHANGE_BYPASS ' one.edges)" = 4 ]
if grep -E '^(SYSTEM_CALL|SYSTEM_RETURN|UNKNOWN|BRANCH) ' one.edges; then exit 1; fi

# --- the instruction that faulted is fetched, and fetched again; so is the string instruction, once for each part ---
# fetches SYMBOL BYTES: of each instruction whose code begins with these bytes, in hexadecimal
fetches() {
    start=$(objdump -d --no-show-raw-insn interrupted | grep "^[0-9a-f]* <$1>:" | cut -d ' ' -f 1)
    address=$(objdump -d interrupted | sed -n "/^$start /,/^$/p" | grep -P ":\t$2 " | head -n 1 | tr -d ' ' | cut -d : -f 1)
    bustap dump -f type=FETCH one/*.byu.gz | grep -ci "^0*$address "
}
[ "$(fetches fill_pages 'f3 aa')" = 2 ]
[ "$(fetches illegal '0f 0b')" = 1 ]
[ "$(fetches write_page 'c6 00 01')" = 2 ]

# --- without images the edges are the same ---
cp -r one plain
build plain
for kind in CONTEXT_CHANGE CONTEXT_CHANGE_RETURN CONTEXT_CHANGE_BYPASS; do
    [ "$(grep -c "^$kind " plain.edges)" = "$(grep -c "^$kind " one.edges)" ]
done

# --- each thread that lived is one: begin, end, instructions ---
threads() {
    jq -c '.PROCESSES[1][1].INSTR_COUNT_PER_THREAD | [length, (.[1:] | unique | length)]' "$1.json"
}
[ "$(threads one)" = '[5,1]' ]
expect one 'ENTRY START clone3+0x[0-9a-f]* 0 1 1 1 1\|ENTRY START clone+0x[0-9a-f]* 0 1 1 1 1'
bustap exec -q -o many/x -- ./interrupted 300
build many
[ "$(threads many)" = '[301,1]' ]
grep -q ' instructions by 301 threads$' told || { cat told; exit 1; }
[ "$(jq '.PROCESSES[1][3][1:] | length' many.trace.json)" = 301 ]

# --- as captures of their own, with names of their own ---
bustap exec -q --split-threads -o split/x -- ./interrupted 300
for thread in 0 1 255 256 300; do
    bustap verify split/x-t${thread}_*.byu.gz >/dev/null
done
[ "$(find split -name '*.byu.gz' | wc -l)" = 301 ]

# --- repetitions of string instructions: 6 and 6 of one that faulted between them ---
bustap exec -q --rep --modules modules -o rep/x -- ./interrupted
build rep "${images[@]}"
expect rep 'REP \(fill_pages+0x[0-9a-f]*\) \1 10'
expect rep 'CONTEXT_CHANGE_RETURN __restore_rt+0x0 fill_pages+0x[0-9a-f]* 1'
bustap exec -q --rep --only-fetch -o repfetch/x -- ./interrupted
build repfetch "${images[@]}"
expect repfetch 'REP \(fill_pages+0x[0-9a-f]*\) \1 10'

# --- a board has eight processors and no events ---
bustap exec -q --virtual-board -o board/x -- ./interrupted 7
bustap info --json board/*.byu.gz | jq -e '.by_processor | length == 8' >/dev/null
bustap exec -q --virtual-board -o again/x -- ./interrupted 20
bustap info --json again/*.byu.gz | jq -e '.by_processor | length == 8' >/dev/null
