#!/bin/bash
# A reader that closes the pipe early is not an error, whatever the command writes to it.
set -eu
bustap capture -q --board virtual:smp=2,requests=400000 -o c
capture=$(ls c_*.byu.gz)
bustap cut -q -f processor=0 "$capture" -o zero.byu.gz
bustap cut -q -f processor=1 "$capture" -o one.byu.gz

closes() {
    local status=0
    { bustap "$@" 2>err || echo $? >status; } | true
    [ ! -e status ] || { echo "$*: exit status $(cat status), $(cat err)"; exit 1; }
    ! grep -v 'closed by its reader: the capture ends' err || { echo "$*: $(cat err)"; exit 1; }
}
closes cut -q -o - "$capture"
closes merge -q -o - zero.byu.gz one.byu.gz
closes pack -q -o - "$capture"
closes recover -o - "$capture"
closes convert -q -o - --to byu "$capture"
closes dump "$capture"
closes dump --csv "$capture"
closes follow c
closes follow --raw c
closes follow -o - c
closes verify --json "$capture"
closes info --json "$capture"
closes cache --json "$capture"
closes mrc "$capture"
closes top "$capture"
closes plot --csv "$capture"
closes capture -q --board virtual:smp=2,requests=400000 -o -
