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
# The line and the points of a tool, which differ without colours, too; and where the labels of its levels are, in
# characters from the point.
style_of() { # TOOL
    case $1 in
    lz4) echo "dashtype 3 pointtype 4 linecolor rgb '#7b3294'" ;;
    gzip) echo "dashtype 4 pointtype 8 linecolor rgb '#2166ac'" ;;
    zstd) echo "dashtype 2 pointtype 12 linecolor rgb '#b35806'" ;;
    xz) echo "dashtype 5 pointtype 2 linecolor rgb '#b2182b'" ;;
    *) echo "dashtype 1 linewidth 2 pointtype 7 linecolor rgb '#000000'" ;;
    esac
}
labels_of() { # TOOL
    case $1 in
    lz4) echo 0,0.9 -1.2,-0.1 ;;
    gzip) echo 0.2,0.9 -1.2,-0.1 0,-0.9 ;;
    zstd) echo 0,0.9 1.2,0.3 -1.3,-0.3 0,-0.9 ;;
    xz) echo -1.2,-0.4 -1.2,-0.1 0,-0.9 ;;
    *) echo -1.2,-0.2 0.8,0.8 1.2,0.5 1.3,0.3 0,-0.9 ;;
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
# the back ends that could take the place of the archive levels' own
"$BUILD/tests/bench/backends" bus.byu sqlite3.byu gzip.byu compute.byu | tee backends.txt

command -v gnuplot >/dev/null || exit 0
# A label is the level; the key names the tools.
for capture in bus gzip compute sqlite3; do
    for tool in lz4 gzip zstd xz bustap; do
        awk -F '\t' -v capture="$capture" -v tool="$tool" '$1 == capture && $2 ~ "^" tool " -" {
            sub(/.* -/, "", $2); print $3 "\t" $4 "\t" $2 }' frontier.tsv >"$capture.$tool"
    done
done
{
    echo 'set terminal svg size 1100,860 font "sans,13" background "white"; set output "frontier.svg"'
    echo 'set multiplot layout 2,2; set datafile separator "\t"; set logscale xy; set grid; set border 3'
    echo 'set xtics nomirror (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000); set ytics nomirror (0.3, 1, 3, 10, 30, 100, 300)'
    echo 'set xlabel "ratio: size of the records / size of the file"; set ylabel "writing, MB/s of records"'
    for capture in bus gzip compute sqlite3; do
        [ $capture = bus ] && echo 'set key bottom left box opaque' || echo 'unset key'
        awk -F '\t' -v capture=$capture '$1 == capture {
            if (!n++) { x0 = x1 = $3; y0 = y1 = $4 }
            if ($3 < x0) x0 = $3; if ($3 > x1) x1 = $3; if ($4 < y0) y0 = $4; if ($4 > y1) y1 = $4
        } END { printf "set xrange [%g:%g]; set yrange [%g:%g]\n", x0 / 1.25, x1 * 1.25, y0 / 2, y1 * 2 }' frontier.tsv
        echo "set title '$capture'"
        separator='plot '
        for tool in lz4 gzip zstd xz bustap; do
            [ -s $capture.$tool ] || continue
            printf "%s'%s' using 1:2 with linespoints pointsize 0.8 %s title '%s'" "$separator" $capture.$tool "$(style_of $tool)" $tool
            separator=', '
            row=0
            for offset in $(labels_of $tool); do
                printf ", '' every ::%d::%d using 1:2:3 with labels offset %s font 'sans,11' notitle" $row $row "$offset"
                row=$((row + 1))
            done
        done
        echo
    done
} >frontier.gnuplot
gnuplot frontier.gnuplot
expand frontier.svg | sed 's/ *$//' >tidy.svg
mv tidy.svg frontier.svg
# doc/compression-frontier.svg is this file, and FRONTIER names a place for it
[ -z "${FRONTIER:-}" ] || cp frontier.svg "$FRONTIER"
