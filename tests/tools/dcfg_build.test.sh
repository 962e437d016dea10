#!/bin/bash
# Graphs of captures (several files, any order, losses, a real one): counts equal those of the
# fetches.
set -eu
PATH="$BUILD/tests/e2e:$PATH"

# sums GRAPH: instructions, from the header, the threads, the blocks, and the edges
sums() {
    jq -c '.PROCESSES[1][1] as $p
        | [$p.IMAGES[1:][][3].BASIC_BLOCKS[1:][]] as $blocks
        | ($blocks | map({key: (.[0] | tostring), value: .[3]}) | from_entries) as $size
        | [$p.INSTR_COUNT, ($p.INSTR_COUNT_PER_THREAD | add), ($blocks | map(.[3] * .[5]) | add),
           ($p.EDGES[1:] | map(select(.[2] > 3) | $size[.[2] | tostring] * (.[4] | add)) | add)]' "$1"
}

# --- several files, in any order ---
make_capture files=3 file_records=5000 block_records=1000 p
fetches=$(bustap info --json p_*.byu.gz | jq '.by_type.FETCH')
bustap dcfg build --bus chunk=8 p_1.byu.gz p_2.byu.gz p_3.byu.gz -o sorted.json --trace sorted.trace.json 2>err
grep hole err && exit 1
bustap dcfg build --bus chunk=8 p_3.byu.gz p_1.byu.gz p_2.byu.gz -o mixed.json --trace mixed.trace.json 2>/dev/null
cmp sorted.json mixed.json
cmp sorted.trace.json mixed.trace.json
cat p_1.byu.gz p_2.byu.gz p_3.byu.gz | bustap dcfg build --bus chunk=8 - -o cat.json 2>/dev/null
cmp sorted.json cat.json
[ "$(sums sorted.json)" = "[$fetches,$fetches,$fetches,$fetches]" ] || { sums sorted.json; exit 1; }

# --- compression by file name ---
bustap dcfg build --bus chunk=8 p_?.byu.gz -o a.json.gz --trace a.trace.json.bz2 2>/dev/null
zcat a.json.gz | cmp - sorted.json
bzcat a.trace.json.bz2 | cmp - sorted.trace.json

# --- a missing file and reported losses are holes ---
status=0
bustap dcfg build --bus chunk=8 p_1.byu.gz p_3.byu.gz -o hole.json 2>err || status=$?
[ $status -eq 1 ] && grep -q 'file 2 is missing between p_1.byu.gz and p_3.byu.gz' err || exit 1
grep -q '1 hole in the capture' err
make_capture files=2 link=5 lossy
bustap dcfg build --bus chunk=8 --json lossy_?.byu.gz -o lossy.json --trace lossy.trace.json |
    jq -e '.holes > 0' >/dev/null
# each loss ends a chunk of the traces
[ "$(jq '[.PROCESSES[1][3][1:][][1][1:][]] | length' lossy.trace.json)" -gt \
    "$(jq '.PROCESSES[1][1].INSTR_COUNT_PER_THREAD | length' lossy.json)" ]

# --- a trace's sums equal the graph's counts ---
jq -c '[.PROCESSES[1][3][1:][][1][1:] | map(.[1]) | add]' sorted.trace.json >from_trace
jq -c '.PROCESSES[1][1].INSTR_COUNT_PER_THREAD' sorted.json | cmp - from_trace

# --- all outputs are valid ---
bustap dcfg check sorted.json --trace sorted.trace.json >/dev/null
bustap dcfg check lossy.json --trace lossy.trace.json >/dev/null
bustap dcfg check hole.json >/dev/null
for seed in 1 2 3 4; do
    make_fetches --program "$seed" 5000 x >x.byu
    bustap dcfg build --image x.user --image x.kernel x.byu --trace x.trace.json -o x.json 2>/dev/null
    bustap dcfg check x.json --trace x.trace.json >/dev/null
done

# --- the file names of images are full paths ---
mkdir linked
ln -s ../x.user linked/x
(cd linked && bustap dcfg build --image x --image ./../x.kernel ../x.byu -o x.json 2>/dev/null)
jq -r '.FILE_NAMES[1:][][1]' linked/x.json | diff - <(printf '%s\n' "$(pwd -P)/x.user" "$(pwd -P)/x.kernel")

# --- code at an image's first byte, and directly after its last: no block is at offset 0 ---
make_fetches --program 3 10 low >/dev/null
end=$((0xc0101012))
for start in 0xc0100000 "$end"; do
    printf '%s 2\n' 0xc0101000 "$start" 0xc0101002 "$start" | make_fetches >low.byu
    bustap dcfg build --fetch instr --image low.kernel low.byu -o low.json --trace low.trace.json 2>err ||
        { cat err; exit 1; }
    bustap dcfg check low.json --trace low.trace.json
    bustap dcfg blocks --csv low.json | grep -q "$(printf '^2,[0-9]*,[0-9.]*,0x%x,' "$start")"
done
printf '0x1000 2\n0 2\n' | make_fetches >zero.byu
status=0
bustap dcfg build --fetch instr zero.byu -o zero.json 2>err || status=$?
[ "$status" -eq 1 ] && grep -q 'fetch at address 0x0,' err || exit 1

# --- blocks hold fetches of 0 bytes, too ---
make_fetches >none.byu <<END
0x1000 0
0x1000 2
0x1002 0
0x1002 4
0x1000 0
0x1000 0
0x3000 0 1
END
for kind in instr bus; do
    bustap dcfg build --fetch $kind none.byu -o none.json --trace none.trace.json 2>/dev/null
    bustap dcfg check none.json --trace none.trace.json
    [ "$(sums none.json)" = "[7,7,7,7]" ] || { sums none.json; exit 1; }
done

# --- corruption is reported once, and the rest is used ---
head -c $(($(stat -c %s p_1.byu.gz) * 2 / 3)) p_1.byu.gz >cut.byu.gz
status=0
bustap dcfg build --bus chunk=8 cut.byu.gz -o cut.json --trace cut.trace.json 2>err || status=$?
[ "$status" -eq 1 ] || { cat err; exit 1; }
bustap info cut.byu.gz 2>&1 >/dev/null | diff - <(grep offset err)

# --- neither an input nor the trace is overwritten ---
refused() {
    status=0
    bustap dcfg build "$@" 2>err || status=$?
    [ "$status" -eq 2 ] || { echo "dcfg build $*: $status"; cat err; exit 1; }
}
mkdir own
cp p_1.byu.gz own/capture.byu.gz
ln -s own/capture.byu.gz link.byu.gz
make_fetches --program 5 50 own/x >own/x.byu
md5sum own/* >own.md5
refused own/capture.byu.gz -o own/capture.byu.gz
refused own/capture.byu.gz -o link.byu.gz
refused p_2.byu.gz own/capture.byu.gz -o other.json --trace own/../own/capture.byu.gz
refused own/x.byu --image own/x.user --image own/x.kernel -o own/x.kernel
refused own/x.byu -o both.json --trace ./both.json
refused own/x.byu -o sorted.json --trace sorted.json
[ ! -e both.json ] && [ ! -e other.json ] || exit 1
md5sum --quiet -c own.md5
bustap dcfg build own/x.byu -o /dev/null --trace /dev/null 2>err
bustap dcfg build own/x.byu -o again.json --trace again.trace.json 2>err
bustap dcfg build own/x.byu -o again.json --trace again.trace.json 2>err

# --- a reader that closes early is no error, a full disk is ---
bustap dcfg build --bus chunk=8 p_1.byu.gz -o - 2>err | head -c 10 >/dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] || { cat err; exit 1; }
status=0
bustap dcfg build --bus chunk=8 p_1.byu.gz -o - 2>err >/dev/full || status=$?
[ "$status" -eq 3 ] || { cat err; exit 1; }
grep -q "No space left on device" err

# --- a real capture ---
if [ -n "$SHARED" ] && [ -f "$SHARED/data/pentium2.byu" ]; then
    # fetches, those unlike the one before, and among these the excursions after which the processor continues
    bustap dump --csv --filter type=FETCH "$SHARED/data/pentium2.byu" 2>/dev/null | python3 -c '
import sys
fetches = [int(line.split(",")[2], 16) for line in list(sys.stdin)[1:]]
visits = [b for a, b in zip([None] + fetches, fetches) if a != b]
excursions = [b for a, b, c in zip(visits, visits[1:], visits[2:])
              if b != a + 8 and c != b + 8 and c in (a, a + 8, a + 16)]
print(len(fetches), len(visits), len(excursions))' >expected
    read -r fetches visits excursions <expected
    bustap dcfg build "$SHARED/data/pentium2.byu" -o p2.json --trace p2.trace.json 2>/dev/null
    bustap dcfg check p2.json --trace p2.trace.json >/dev/null
    # an excursion takes at most two visits: its own, and that of the chunk that came again
    jq -e --argjson fetches "$fetches" --argjson visits "$visits" --argjson excursions "$excursions" '
        .PROCESSES[1][1].INSTR_COUNT as $count | .BUSTAP_BUS |
        .MODEL == "chunk=8,refetch=some,noise" and .FETCHES == $fetches and
        .NOISE <= $excursions and .NOISE >= $excursions / 2 and
        $count < $visits and $count >= $visits - 2 * .NOISE' p2.json >/dev/null || {
        cat expected
        jq -c .BUSTAP_BUS p2.json
        exit 1
    }
    [ "$(sums p2.json | jq -c unique)" = "[$(jq '.PROCESSES[1][1].INSTR_COUNT' p2.json)]" ] || { sums p2.json; exit 1; }
    # 791 of 944 loops had one block, because a chunk that is fetched again followed itself
    [ "$(bustap dcfg loops --json p2.json | jq '[.loops[] | select(.blocks == 1)] | length')" -le 4 ]
    bustap dcfg build --keep-noise "$SHARED/data/pentium2.byu" -o noisy.json 2>/dev/null
    [ "$(sums noisy.json)" = "[$visits,$visits,$visits,$visits]" ] || { sums noisy.json; exit 1; }
fi

# --- a symbol larger than its image: check accepts what build writes ---
[ -z "$NO_EXEC" ] || exit 0
cat >huge.s <<'END'
.globl _start
_start:
    mov $60, %eax
    xor %edi, %edi
    syscall
.type _start, @function
.size _start, 0x7fffffffffffffff
END
gcc -nostdlib -static -no-pie -o huge huge.s
bustap exec -q -o huge_trace -- ./huge
bustap dcfg build --image huge huge_trace_*.byu.gz -o huge.json 2>/dev/null
jq -e '[.PROCESSES[1][1].IMAGES[1:][][3].SYMBOLS[1:][] | select(.[0] == "_start")] | length == 1' huge.json >/dev/null
bustap dcfg check huge.json

# --- values that make no sense ---
refused() { # MESSAGE ARGUMENT...
    local status=0
    bustap dcfg build -o refused.json "${@:2}" 2>messages || status=$?
    [ "$status" = 2 ] && grep -q -e "$1" messages && [ ! -e refused.json ] || { cat messages; exit 1; }
}
printf '' >nothing.byu
refused '--chunk takes 1 or more edges' --chunk 0 nothing.byu
refused "--unknown-branches: 'foo' is not branch or indirect" --unknown-branches foo nothing.byu
refused "'chunk=16' is the second of its kind" --bus chunk=8,chunk=16 nothing.byu
