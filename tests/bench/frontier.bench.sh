#!/bin/bash
# Ratio and speed of writing records: gzip, zstd, xz, lz4 and bustap's columns, one thread each, processor time. bustap's
# includes reading the input and the check of what it writes. Four captures: a Pentium II trace (made up without
# it), and parts of executions of gzip, compute and sqlite3. frontier.tsv has the figures, frontier.svg the picture, if gnuplot
# is there.
set -eu
. "$TOP/tests/bench/traced_programs.sh"
make_programs
records=${RECORDS:-500000}

"$BUILD/tests/e2e/make_trace" --seed 1 "$records" >bus.byu
real=${SHARED:-}/data/pentium2.byu
if [ -f "$real" ]; then
    head -c "$(($(stat -c %s "$real") / 12 * 12))" "$real" >bus.byu
fi
part() { # NAME COMMAND...
    local name=$1
    shift
    bustap exec --skip 2M -n "$records" --exit -q -o "part_$name" -- "$@" >program_output 2>&1 </dev/null || true
    bustap convert --to byu -o "$name.byu" "part_$name"_00001_*
}
part gzip gzip -9 -c text
part compute ./compute
part sqlite3 sqlite3 :memory: '.read queries'

TIMEFORMAT='%U %S'
# seconds RUNS COMMAND...: processor seconds of a run
seconds() {
    local runs=$1
    shift
    { time for _ in $(seq "$runs"); do "$@" >coded 2>messages </dev/null; done; } 2>&1 |
        awk -v runs="$runs" '{ printf "%.5f", ($1 + $2 + 0.0005) / runs }'
}
row() { # CAPTURE TOOL SECONDS BYTES
    awk -v capture="$1" -v tool="$2" -v seconds="$3" -v bytes="$4" -v size="$(stat -c %s "$1.byu")" \
        'BEGIN { printf "%s\t%s\t%.2f\t%.1f\n", capture, tool, size / bytes, size / 1e6 / seconds }' | tee -a frontier.tsv
}
color_of() { # TOOL
    case $1 in
    lz4) echo dark-violet ;;
    gzip) echo sky-blue ;;
    zstd) echo gold ;;
    xz) echo red ;;
    *) echo black ;;
    esac
}
printf 'capture\ttool\tratio\tMB/s\n' | tee frontier.tsv
for capture in bus gzip compute sqlite3; do
    runs=1
    [ $capture != bus ] || runs=10 # it is short
    for tool in 'lz4 -1' 'lz4 -9' 'gzip -1' 'gzip -6' 'gzip -9' 'zstd -1' 'zstd -3' 'zstd -9' 'zstd -19' 'xz -1' 'xz -6' 'xz -9'; do
        # shellcheck disable=SC2086 # two words
        if command -v ${tool% *} >/dev/null; then
            row $capture "$tool" "$(seconds $runs $tool -c $capture.byu)" "$(stat -c %s coded)"
        fi
    done
    bustap cut -q -o $capture.byu.gz --raw $capture.byu
    bustap pack -q --level 1 -o $capture.byb $capture.byu.gz
    for level in 1 3 5 6 7; do
        used=$(seconds $runs bustap pack -q -j 1 --level $level -o - $capture.byb)
        row $capture "bustap -$level" "$used" "$(stat -c %s coded)"
    done
done
command -v gnuplot >/dev/null || exit 0
for capture in bus gzip compute sqlite3; do
    for tool in lz4 gzip zstd xz bustap; do
        sed -n "s/^$capture\t$tool -/$capture\t/p" frontier.tsv >"$capture.$tool"
    done
done
{
    echo 'set terminal svg size 900,640 font "sans,11"; set output "frontier.svg"; set multiplot layout 2,2'
    echo 'set datafile separator "\t"; set logscale xy; set xlabel "ratio"; set ylabel "MB/s of records"; set key bottom left; set grid'
    echo 'set offsets graph 0.1, graph 0.2, graph 0.1, graph 0.1'
    for capture in bus gzip compute sqlite3; do
        echo "set title '$capture'; plot \\"
        for tool in lz4 gzip zstd xz bustap; do
            [ ! -s $capture.$tool ] ||
                echo "'$capture.$tool' using 3:4 with linespoints linecolor rgb '$(color_of $tool)' title '$tool', '' using 3:4:2 with labels offset 0.8,0.5 font 'sans,8' notitle, \\"
        done
        echo
    done
} >frontier.gnuplot
gnuplot frontier.gnuplot
expand frontier.svg | sed 's/ *$//' >tidy.svg
mv tidy.svg frontier.svg
