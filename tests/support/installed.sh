# shellcheck shell=bash
# Functions for tests of documents, to be sourced: the documents' commands, as a user runs them who has installed bustap.

# Installs into root/, copies the documents to documents/, and changes to that folder. PATH then has the installed
# programs and the system's, nothing of the source or its build.
install_documents() {
    local prefix=$PWD/root/usr/local
    make -s -C "$TOP" -o all BUILD="$BUILD" DESTDIR="$PWD/root" PREFIX=/usr/local install
    cp -r "$prefix/share/doc/bustap" documents
    mkdir -p documents/build
    cd documents
    PATH=$prefix/bin:$prefix/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
    [ "$(command -v bustap b2a bustapd | xargs -n 1 dirname | sort -u | xargs)" = "$prefix/bin $prefix/sbin" ]
    ! command -v make_trace single_step || exit 1
}

# Lines of a document's commands, which name the programs as the build makes them, for installed programs.
installed_names() {
    sed -E 's,build/(bustap|b2a|bustapd)\>,\1,g'
}
