#!/bin/bash
# Every command of README.md runs as printed, where bustap is installed, without the source; or it is named here, with
# the reason why not.
set -eu -o pipefail
for tool in gnuplot gzip; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
. "$TOP/tests/support/installed.sh"

# COMMAND | why it is not run
not_run() {
    sed '/^$/d' <<'END'
make demo | needs the source; e2e/demo runs it
make check | runs this test
make | makes what is installed here
.ci/packages build mpi && make MPI=1 | needs the source, and the network for packages
mpirun --bind-to none -n 2 build/mpi/bustap mrc trace_*.byu.gz | needs that build; tools/mpi runs it
sudo make install | needs root; this test installs into its folder
sudo udevadm control --reload | needs root
bustap doctor | needs a board
bustap capture --board ftdi -o board | needs a board
sudo install -D -m 644 /usr/local/share/doc/bustap/doc/bustapd.conf /etc/bustap/bustapd.conf | needs root
sudoedit /etc/bustap/bustapd.conf | needs root and an editor
bustapd --check | needs the file of the commands before; e2e/install checks the sample
sudo systemctl daemon-reload | needs root and systemd
sudo systemctl enable --now bustapd | needs root and systemd; host/service_example starts the unit's command
sudo bustap ctl status | needs root and the service
END
}

install_documents
# the blocks of commands, without comments
sed -nE 's/^    ([^ ].*)/\1/p' README.md | sed -E 's/  +#.*//; s/ +$//' >commands
not_run | sed 's/ | .*//' >named
grep -vxFf commands named && { echo "README.md does not have these commands, which are named here"; exit 1; }
grep -vxFf named commands >all
if [ -z "$NO_EXEC" ]; then cp all possible; else grep -vE '^build/bustap (exec|profile|rondo|wet) ' all >possible; fi
# only programs that are installed, and those that everybody has: another command is to be named above
grep -vE '^(build/(bustap|b2a)|zcat) ' all && { echo "README.md has these commands: run them, or name them with a reason"; exit 1; }
[ "$(wc -l <all)" -ge 13 ]

less() { head -n 20; } # the page that the reader looks at
seq 2000 >FILE
installed_names <possible | sed 's/time=10s/time=300ms/' >script
set +o pipefail # less ends before b2a
# shellcheck disable=SC1091
. ./script >out 2>err || { cat script err; exit 1; }
set -o pipefail
grep -q '^complete: ' out
grep -q 'INVALIDATIONS' out
[ $(($(stat -c %s trace.byu) % 12)) = 0 ] && [ -s trace.byu ] || exit 1
grep -q '^</svg>' addresses.svg
grep -q '^</svg>' misses.svg
[ -s trace.din.gz ]
[ -n "$NO_EXEC" ] || bustap wet check gzip.wet >checked
