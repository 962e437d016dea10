#!/bin/bash
# Every command reads symbols and source lines from separate debug files, by build id and by debug link, and refuses a
# file that does not match, with the reason.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v objcopy >/dev/null || { echo "objcopy is missing"; exit 77; }
mkdir home
export HOME=$PWD/home XDG_CACHE_HOME='' DEBUGINFOD_CACHE_PATH=''

fail() {
    echo "$*"
    exit 1
}

cat >source.c <<'END'
static volatile long counted[1024];
static __attribute__((noinline)) void inner(void)
{
    for (int i = 0; i < 2000; i++)
        counted[i % 1024] += i;
}
/* an alias, which is not shown */
void __GI_inner(void) __attribute__((alias("inner")));
int main(void)
{
    inner();
    return 0;
}
END
# make NAME OPTIONS...: NAME without symbols and lines; NAME.debug has them
make() {
    local name=$1
    shift
    cc -O1 -g -no-pie -fcf-protection=none "$@" -o "$name" source.c
    objcopy --only-keep-debug "$name" "$name.debug"
    objcopy --strip-all "$name"
    [ "$(nm "$name" 2>/dev/null | wc -l)" = 0 ] || fail "$name has symbols"
}

# names PROGRAM: every command shows names of the program's debug file and prints no message
names() {
    local program=$1
    bustap profile --by function --csv -o table "$program" 2>err
    grep -q ',inner,' table || fail "profile: $program has no inner: $(grep "$program" table)"
    bustap profile --by line --csv -o table "$program" 2>>err
    grep -q 'source.c,5,' table || fail "profile: $program has no line"
    bustap rondo -p bimodal --by-branch --csv --top 0 -o table "$program" 2>>err
    grep -q ',inner+0x.*source.c:[45],' table || fail "rondo: $program has no inner"
    rm -f run_*
    bustap exec -q --start-at inner --modules modules -o run "$program" 2>>err
    local images=()
    while read -r image; do
        images+=(--image "$image")
    done <modules
    bustap dump --csv run_*.byu.gz | grep -q FETCH || fail "exec --start-at: $program has no inner"
    bustap dcfg build "${images[@]}" -o graph.json run_*.byu.gz 2>build_err
    grep 'debug file' build_err >>err || true
    bustap dcfg blocks --csv graph.json >table
    grep -q ',inner,.*source.c,[45]\|source.c.*inner' table || fail "dcfg: $program has no inner: $(head -n 5 table)"
    # a line that two processors write is shared: data symbols
    bustap cache --coherence mesi "${images[@]}" shared.csv --from csv >table 2>>err
    grep -q 'counted' table || fail "cache: $program has no counted: $(cat table)"
    [ ! -s err ] || fail "$program: $(cat err)"
}
# refused PROGRAM REASON: no command shows names; each prints the reason
refused() {
    local program=$1 reason="is not used as the debug file of .*/${1#./}: $2"
    bustap profile --by function --csv -o table "$program" 2>err
    ! grep -q ',inner,' table || fail "profile: $program has inner"
    grep -q "^bustap: .* $reason" err || fail "profile: $(cat err)"
    bustap rondo -p bimodal --by-branch --csv --top 0 -o table "$program" 2>err
    grep -q "$reason" err || fail "rondo: $(cat err)"
    rm -f run_*
    bustap exec -q --start-at inner -o run "$program" 2>err || true
    grep -q "$reason" err || fail "exec: $(cat err)"
    bustap dcfg build --image "$program" -o graph.json some_*.byu.gz 2>err
    grep -q "$reason" err || fail "dcfg: $(cat err)"
    bustap cache --coherence mesi --image "$program" shared.csv --from csv >table 2>err
    grep -q "$reason" err || fail "cache: $(cat err)"
}

# two processors alternate in writing the variable, whose address is the same in all these programs
cc -O1 -g -no-pie -fcf-protection=none -Wl,--build-id=none -o whole source.c
address=$(nm whole | awk '$3 == "counted" { print $1 }')
{
    echo "tick,time,address,type,size,attribute,processor"
    for i in $(seq 40); do
        echo "$i,1,0x${address#????????},MEMWRITE,4,0x6,$((i % 2))"
    done
} >shared.csv
bustap exec -q -o some ./whole

# by debug link: beside the program, and in .debug
make linked -Wl,--build-id=none
objcopy --add-gnu-debuglink=linked.debug linked
names ./linked
mkdir .debug
mv linked.debug .debug
names ./linked
# a wrong CRC
printf x >>.debug/linked.debug
refused ./linked "its CRC is not that of the debug link"
echo text >.debug/linked.debug
refused ./linked "it is not an ELF file"

# by build id: in the cache of debuginfod clients, in each place
id=b1d0b1d0b1d0b1d0
make known -Wl,--build-id=0x$id
for cache in "$HOME/.cache/debuginfod_client" "$PWD/xdg/debuginfod_client" "$PWD/own"; do
    mkdir -p "$cache/$id"
    cp known.debug "$cache/$id/debuginfo"
    case $cache in
    */xdg/*) export XDG_CACHE_HOME=$PWD/xdg ;;
    */own) export DEBUGINFOD_CACHE_PATH=$PWD/own ;;
    esac
    names ./known
    rm -r "$cache"
done
mkdir -p "own/$id"
make other -Wl,--build-id=0xb1d0b1d0b1d0b1d1
cp other.debug "own/$id/debuginfo"
refused ./known "it has another build id"
# a matching file elsewhere is used without a message
objcopy --add-gnu-debuglink=known.debug known
names ./known

# libc's symbols, if installed
libc=$(ldd "$(command -v sort)" | awk '/libc\.so/ { print $3 }')
id=$(readelf -n "${libc:-/}" 2>/dev/null | awk '/Build ID/ { print $3 }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
    bustap profile --by function --csv -o table sort -n source.c >sorted
    grep -q "libc.*,_int_malloc," table || fail "libc has no symbols"
fi
