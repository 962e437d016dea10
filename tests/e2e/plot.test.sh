#!/bin/bash
# Pictures are whole, have their labels and their size; names and titles are never commands; a failed
# command leaves no file.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }

make_trace --types all 5000 >trace.byu
make_capture files=2 file_records=2000 block_records=500 bus=40 gap_ms=20 lossy
bustap capture -q --board virtual:smp=4,requests=20000 -o smp

# has FILE TEXT...: the texts are in an SVG picture
has() {
    local file=$1 text
    shift
    for text; do
        grep -qF ">$text<" "$file" || { echo "$file lacks '$text'"; exit 1; }
    done
}

# --- every kind, in all formats, with the labels that belong to it ---

for of in addresses mix sharing; do
    for format in svg png pdf; do
        bustap plot --of $of -o $of.$format smp_*.byu.gz
        check_picture $of.$format 1200 800
    done
done
has addresses.svg "address" "time since the first request" "addresses not used"
grep -Eq ">requests per [0-9.]+ (B|KiB) and [0-9.]+ (µs|ms)<" addresses.svg
has mix.svg "requests a second" "time since the first request" FETCH MEMREAD MEMWRITE
has sharing.svg "Lines of 64 B used by both" "Lines of 64 B by number of users" "written by any" \
    "processors that use a line"

# without a clock, in ticks
bustap plot -o ticks.svg trace.byu
has ticks.svg "ticks since the first request" trace.byu

# missing data is marked and reported
for of in addresses mix; do
    bustap plot --of $of -o lossy.svg lossy_*.byu.gz
    has lossy.svg "requests are missing"
    grep -q "80 were lost; 2 gaps" lossy.svg
done

# corrupt data is reported, and the rest is drawn
head -c 4000 smp_*.byu.gz >cut.byu.gz
bustap plot -o cut.png cut.byu.gz 2>message && exit 1
[ $? = 1 ] || exit 1
check_picture cut.png 1200 800
[ "$(wc -l <message)" -ge 1 ]

# --- sizes, formats, standard streams ---

bustap plot --size 300x200 -o small.png trace.byu
check_picture small.png 300 200
bustap plot --plot-format png -o - <trace.byu >piped
check_picture piped 1200 800
bustap plot --of sharing --line 32 --line 4K -o two.SVG smp_*.byu.gz
has two.SVG "Lines of 32 B used by both" "Lines of 4096 B used by both"

# the data with the picture are the data without it
for of in addresses mix sharing; do
    bustap plot --of $of --csv smp_*.byu.gz >alone.csv
    bustap plot --of $of --csv -o with.png smp_*.byu.gz | cmp - alone.csv
    [ "$(wc -l <alone.csv)" -gt 10 ]
    bustap plot --of $of --json smp_*.byu.gz | jq -e ".of == \"$of\" and .requests > 19000" >/dev/null
done

# --- a sweep's curves ---

bustap cache --sweep size=1K..8K,ways=1,2,line=32,64 --plot sweep.svg trace.byu >/dev/null
check_picture sweep.svg 1200 800
# colours for one dimension, dashes for the other: each name is once in the legend
has sweep.svg "direct mapped" "2 ways" "lines of 32 B" "lines of 64 B"
[ "$(grep -c '>2 ways<' sweep.svg)" = 1 ]
bustap cache --sweep size=1K..8K,ways=1,2 --plot ways.svg trace.byu >/dev/null
has ways.svg "direct mapped" "2 ways"
grep -q "lines of 64 B, attributes ignored<" ways.svg
bustap cache --l1 split --sweep size=1K,2K --plot sweep --plot-format png trace.byu >/dev/null
check_picture sweep 1200 800

# --- curves: a sample's intervals; windows of time end with the trace ---

bustap mrc --sample-rate 20% --by kind --plot sample.svg trace.byu >/dev/null
check_picture sample.svg 1200 800
grep -q "from 20 % of the lines; shaded: 95 % confidence intervals" sample.svg
[ "$(grep -c 'fill-opacity.*0.20' sample.svg)" -ge 3 ]
bustap mrc --by kind --plot whole.svg trace.byu >/dev/null
if grep -q -e shaded -e 'fill-opacity.*0.20' whole.svg; then exit 1; fi
bustap mrc --working-set 200 --plot windows.svg trace.byu >/dev/null
has windows.svg "4.5 k"
if grep -q '>[5-9]\(\.5\)\? k<' windows.svg; then exit 1; fi

# kinds have dashes beside the colours of processors, each name is once in the legend; simulated sizes have marks
bustap mrc --by processor,kind --plot kinds.svg smp_*.byu.gz >/dev/null
has kinds.svg "processor 0" "processor 1" fetch write
[ "$(grep -c '>write<' kinds.svg)" = 1 ]
bustap mrc --replacement fifo --plot fifo.svg trace.byu >/dev/null
has fifo.svg "Miss ratio of FIFO caches" "128 B"
grep -q "lines of 64 B, simulated" fifo.svg

# their confidence intervals have no steps: two corners at each size
bustap mrc --replacement fifo --sample-rate 1/2 --plot band.svg trace.byu >/dev/null
grep "fill-opacity.*0.20" band.svg | grep -o '[0-9]*\.[0-9]*,' | sort | uniq -c | awk '{ print $1 }' >corners
[ "$(wc -l <corners)" -gt 2 ]
if grep -qv '^2$' corners; then exit 1; fi

# a small picture with many names leaves the curves their room: the y axis has all its ticks
bustap mrc --by processor --split --plot crowded.svg --size 88mmx60mm smp_*.byu.gz >/dev/null
has crowded.svg "processor 1, data" "100 %" "60 %" "20 %"

# one that is too small for its names says so
bustap mrc --by processor,kind --line 64,128 --plot crowded.svg --size 88mmx55mm smp_*.byu.gz >/dev/null
has crowded.svg "100 %"
grep -q "; no room for" crowded.svg
if grep -q "processor 1" crowded.svg; then exit 1; fi

# --- sizes of paper, titles, scales, filters: the same options for each command ---

bustap plot --size 88mmx60mm -o paper.pdf trace.byu
check_picture paper.pdf 333 227
bustap mrc --plot paper.pdf --size 3.5inx2.5in trace.byu >/dev/null
check_picture paper.pdf 336 240
bustap cache --sweep size=1K..8K --plot paper --plot-format pdf --size 10cmX254px trace.byu >/dev/null
check_picture paper 378 254
bustap mrc --title 'A title' --plot title.svg trace.byu >/dev/null
has title.svg "A title"
bustap mrc --title '' --plot title.svg trace.byu >/dev/null
if grep -q "Miss ratio of" title.svg; then exit 1; fi
bustap mrc --log none --plot linear.svg smp_*.byu.gz >/dev/null
bustap mrc --log xy --plot log.svg smp_*.byu.gz >/dev/null
has log.svg "10 %" "1 KiB"
if grep -q ">1 KiB<" linear.svg; then exit 1; fi
bustap plot --of mix -f 'type=MEMREAD and processor=1' -o filtered.svg smp_*.byu.gz
grep -q "; filter: type=MEMREAD and processor=1<" filtered.svg
bustap mrc -f type=MEMREAD --plot filtered.svg smp_*.byu.gz >/dev/null
grep -q "; filter: type=MEMREAD<" filtered.svg
bustap cache -f type=MEMREAD --sweep size=1K --plot filtered.svg smp_*.byu.gz >/dev/null
grep -q "; filter: type=MEMREAD<" filtered.svg
# a part of the trace fills the axis, which counts from tick 0; a filter does not change the axis
bustap plot --of mix --time 500us..1ms -o part.svg --json smp_*.byu.gz >part.json
has part.svg "time since the trace began" "0.50 ms" "1.00 ms"
if grep -q -e ">0.45 ms<" -e ">1.05 ms<" part.svg; then exit 1; fi
jq -e '.first_tick == 50000 and .last_tick == 100000 and .time_range == "500us..1ms"' part.json >/dev/null
wanted=$(bustap dump --csv smp_*.byu.gz | awk -F, 'NR > 1 && $2 >= 50000 && $2 <= 100000' | wc -l)
[ "$(jq .requests part.json)" = "$wanted" ]
for of in mix addresses; do
    bustap plot --of $of --json smp_*.byu.gz | jq '[.first_tick, .last_tick, .bins]' >all.json
    bustap plot --of $of --json -f 'type=IOREAD' smp_*.byu.gz | jq '[.first_tick, .last_tick, .bins]' | cmp all.json -
done
# a stack has no logarithm: the types are drawn on their own
bustap plot --of mix --log y -o mix_log.svg smp_*.byu.gz
has mix_log.svg "1 M" "FETCH"
for draw in 'mrc --title x' 'cache --size 300x300' 'cache --sweep size=1K --log x'; do
    # shellcheck disable=SC2086 # the words of a command
    bustap $draw trace.byu >/dev/null 2>message && exit 1
    [ $? = 2 ] && grep -q "are for --plot FILE" message || exit 1
done

# windows of time are steps: two points for each
bustap mrc --window 1000 --plot steps.svg trace.byu >/dev/null
has steps.svg "request" "5.0 k" "1 KiB cache"

# --- odd traces: nothing, one record, one address, all processors, both ends of memory, years ---

: >empty.byu
head -c 12 trace.byu >one.byu
perl -e 'print pack("VCCCCV", 4096, 1, 8, 3, 0, 5) for 1 .. 100' >address.byu
perl -e 'print pack("VCCCCV", 64 * ($_ % 7), 3, 8, 3, $_ & 255, 5) for 1 .. 2000' >processors.byu
perl -e 'print pack("VCCCCV", $_ % 2 ? 0 : 0xffffffff, 0, 8, 3, 0, 5) for 1 .. 100' >ends.byu
perl -e 'print pack("VCCCCV", 997 * $_, 238 * ($_ & 1), 8, 3, 0, 0xffffffff) for 1 .. 3000' >years.byu
for odd in {empty,one,address,processors,ends,years}/addresses {empty,one,years}/mix {empty,one,processors}/sharing; do
    bustap plot --of "${odd#*/}" --raw -o odd.svg "${odd%/*}.byu"
    check_picture odd.svg 1200 800
done

# --- names and titles are no commands ---

for name in '`touch evil`' '$(touch evil)' "a'; !touch evil; '" 'a"; !touch evil; "' '"; system("touch evil"); "' \
    '@a {b}_c^d %s \\n <text> & ]]>' $'line\n!touch evil' $'\xff\xfe'; do
    cp trace.byu "$name.byu"
    bustap plot --of mix --size 400x300 -o "$name.svg" "$name.byu"
    check_picture "$name.svg" 400 300
done
bustap plot --of mix --title "$name" --size 400x300 -o title.png trace.byu
check_picture title.png 400 300
[ ! -e evil ]

# --- a failed command leaves no file and keeps an old one ---

echo kept >old.png
mkdir empty
PATH=$PWD/empty "$BUILD/bustap" plot -o old.png trace.byu 2>message && exit 1
[ $? = 3 ] && grep -q gnuplot-nox message || exit 1
mkdir false
printf '#!/bin/sh\nprintf half\nexit 0\n' >false/gnuplot
chmod +x false/gnuplot
PATH=$PWD/false:$PATH bustap plot -o old.png trace.byu 2>message && exit 1
grep -q 'no whole picture' message
printf '#!/bin/sh\necho "line 3: it cannot be" >&2\nexit 4\n' >false/gnuplot
PATH=$PWD/false:$PATH bustap plot -o old.png trace.byu 2>message && exit 1
grep -q 'status 4: line 3: it cannot be$' message
printf '#!/bin/sh\nkill -9 $$\n' >false/gnuplot
PATH=$PWD/false:$PATH bustap plot -o old.png trace.byu 2>message && exit 1
grep -q 'signal 9' message
[ "$(cat old.png)" = kept ]
cp trace.byu same.png
for draw in 'plot -o' 'mrc --plot' 'cache --sweep size=1K --plot'; do
    # shellcheck disable=SC2086
    bustap $draw same.png same.png 2>message && exit 1
    [ $? = 2 ] && cmp same.png trace.byu && grep -q 'another name' message || exit 1
done
bustap plot -o none/out.png trace.byu 2>message && exit 1
[ $? = 3 ]
[ -z "$(find . -name '*.part*')" ]

# without gnuplot, data are still printed
PATH=$PWD/empty "$BUILD/bustap" plot --csv trace.byu | head -n 1 | grep -q '^tick,'

if command -v xmllint >/dev/null; then
    find . -name '*.svg' -print0 | xargs -0 xmllint --noout
fi
