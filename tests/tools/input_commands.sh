# For tests of input, to be sourced: the commands that read traces, and a function that runs one.

cache='cache --l1 4K,line=32,ways=2'
commands=(dump info 'recover -o r.byu.gz' 'cut -o r.byu.gz' "$cache" "$cache -j 2" "$cache --sweep size=1K..4K" mrc 'mrc -j 3'
    'plot --csv' 'plot --of mix --csv' 'plot --of sharing --csv' 'convert --to csv -o -' 'dcfg build --bus chunk=8 -o g.json')

fail() {
    echo "$*"
    cat out err
    exit 1
}

# runs STATUS COMMAND...: the command ends with that status, and with a message unless it is 0; out, err
runs() {
    local wanted=$1 status=0
    shift
    rm -f r.byu.gz g.json
    timeout 300 bustap "$@" >out 2>err </dev/null || status=$?
    [ $status -eq "$wanted" ] || fail "status $status, wanted $wanted: bustap $*"
    [ $status -eq 0 ] || grep -q '^bustap: ' err || fail "no message: bustap $*"
}
