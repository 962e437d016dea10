# Sourced by benchmarks of traced programs: what they run, and how they measure it.
# shellcheck shell=bash

# Makes ./compute and the inputs of the others.
make_programs() {
    gcc -O2 -o compute "$TOP/tests/bench/programs/compute.c"
    cat "$TOP"/capture/exec/*/*.c "$TOP"/formats/*/*.c >text
    gcc -E -I"$TOP" -D_POSIX_C_SOURCE=200809L "$TOP/capture/exec/translate/decode.c" >decode.i
    cat >queries <<'END'
create table t(a integer, b integer, c text);
with recursive n(i) as (select 1 union all select i+1 from n where i<60000)
    insert into t select i, (i*7919)%10007, 'row '||((i*31)%997) from n;
create index tb on t(b);
select count(*), sum(a) from t where b between 100 and 5000;
select c, count(*), avg(a) from t group by c order by 2 desc, 1 limit 5;
select count(*) from t x join t y on x.b=y.b where x.a<20000;
END
}

# measure RUNS COMMAND...: processor seconds and maximum memory in KiB, the least of so many runs
measure() {
    local runs=$1
    shift
    for _ in $(seq "$runs"); do
        /usr/bin/time -o used -f '%U %S %M' "$@" >output 2>messages </dev/null || true
        awk '{ printf "%.3f %d\n", $1 + $2, $3 }' used
    done | sort -n | head -n 1
}
