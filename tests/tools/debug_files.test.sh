#!/bin/bash
# Symbols and source lines come from separate debug files wherever they are looked up, by build id and by debug link; a
# file that does not belong is refused, with the reason.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v objcopy >/dev/null || { echo "there is no objcopy"; exit 77; }
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
/* another name, which is not shown */
void __GI_inner(void) __attribute__((alias("inner")));
int main(void)
{
    inner();
    return 0;
}
END
# make NAME OPTIONS...: NAME without symbols and lines, which are in NAME.debug
make() {
    local name=$1
    shift
    cc -O1 -g -no-pie -fcf-protection=none "$@" -o "$name" source.c
    objcopy --only-keep-debug "$name" "$name.debug"
    objcopy --strip-all "$name"
    [ "$(nm "$name" 2>/dev/null | wc -l)" = 0 ] || fail "$name has symbols"
}

# names PROGRAM: every command that looks up names knows those of a program's debug file, and complains of nothing
names() {
    local program=$1
    bustap profile --by function --csv -o table "$program" 2>told
    grep -q ',inner,' table || fail "profile: $program has no inner: $(grep "$program" table)"
    bustap profile --by line --csv -o table "$program" 2>>told
    grep -q 'source.c,5,' table || fail "profile: $program has no line"
    bustap rondo -p bimodal --by-branch --csv --top 0 -o table "$program" 2>>told
    grep -q ',inner+0x.*source.c:[45],' table || fail "rondo: $program has no inner"
    rm -f run_*
    bustap exec -q --start-at inner --modules modules -o run "$program" 2>>told
    local images=()
    while read -r image; do
        images+=(--image "$image")
    done <modules
    bustap dump --csv run_*.byu.gz | grep -q FETCH || fail "exec --start-at: $program has no inner"
    bustap dcfg build "${images[@]}" -o graph.json run_*.byu.gz 2>build_told
    grep 'debug file' build_told >>told || true
    bustap dcfg blocks --csv graph.json >table
    grep -q ',inner,.*source.c,[45]\|source.c.*inner' table || fail "dcfg: $program has no inner: $(head -n 5 table)"
    # a line that two processors write is shared: data symbols
    bustap cache --coherence mesi "${images[@]}" shared.csv --from csv >table 2>>told
    grep -q 'counted' table || fail "cache: $program has no counted: $(cat table)"
    [ ! -s told ] || fail "$program: $(cat told)"
}
# refused PROGRAM REASON: they have no names, and say why
refused() {
    local program=$1 reason=$2
    bustap profile --by function --csv -o table "$program" 2>told
    ! grep -q ',inner,' table || fail "profile: $program has inner"
    grep -q "^bustap: .* is not used as the debug file of .*/${program#./}: $reason" told || fail "profile: $(cat told)"
    bustap rondo -p bimodal --by-branch --csv --top 0 -o table "$program" 2>told
    grep -q "is not used as the debug file of .*/${program#./}: $reason" told || fail "rondo: $(cat told)"
    rm -f run_*
    bustap exec -q --start-at inner -o run "$program" 2>told || true
    grep -q "is not used as the debug file of .*/${program#./}: $reason" told || fail "exec: $(cat told)"
    bustap dcfg build --image "$program" -o graph.json some_*.byu.gz 2>told
    grep -q "is not used as the debug file of .*/${program#./}: $reason" told || fail "dcfg: $(cat told)"
    bustap cache --coherence mesi --image "$program" shared.csv --from csv >table 2>told
    grep -q "is not used as the debug file of .*/${program#./}: $reason" told || fail "cache: $(cat told)"
}

# what two processors write in turns, in the variable, which is where it is in all these programs
cc -O1 -g -no-pie -fcf-protection=none -Wl,--build-id=none -o whole source.c
address=$(nm whole | awk '$3 == "counted" { print $1 }')
{
    echo "tick,time,address,type,size,attribute,processor"
    for i in $(seq 40); do
        echo "$i,1,0x${address#????????},MEMWRITE,4,0x6,$((i % 2))"
    done
} >shared.csv
bustap exec -q -o some ./whole

# by the debug link: beside the program, and in .debug
make linked -Wl,--build-id=none
objcopy --add-gnu-debuglink=linked.debug linked
names ./linked
mkdir .debug
mv linked.debug .debug
names ./linked
# the CRC of another
printf x >>.debug/linked.debug
refused ./linked "its CRC is not that of the debug link"
echo text >.debug/linked.debug
refused ./linked "it is not an ELF file"

# by the build id: in the cache of debuginfod clients, wherever that is
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
# a right one elsewhere is taken without a word
objcopy --add-gnu-debuglink=known.debug known
names ./known

# libc's, where they are installed
libc=$(ldd "$(command -v sort)" | awk '/libc\.so/ { print $3 }')
id=$(readelf -n "${libc:-/}" 2>/dev/null | awk '/Build ID/ { print $3 }')
if [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
    bustap profile --by function --csv -o table sort -n source.c >sorted
    grep -q "libc.*,_int_malloc," table || fail "libc has no names"
fi
