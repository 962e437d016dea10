# Debian's kernel for a guest, fetched and unpacked without privilege. For bash scripts that source it with
# $lab, the folder where packages are kept, and $work, a temporary one.
# shellcheck shell=bash disable=SC2154 # set by the caller

# Runs apt-get or apt-cache without privilege, with separate lists if the machine has none.
apt() {
    local command=$1 own=()
    shift
    if [ -d "$lab/apt" ]; then
        own=(-o "Dir::State::Lists=$lab/apt/lists" -o "Dir::Cache=$lab/apt/cache" -o Debug::NoLocking=1)
    fi
    "apt-$command" -q -q "${own[@]}" "$@"
}

kernel_package() {
    apt cache show --no-all-versions linux-image-amd64 2>/dev/null |
        sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p'
}

# Fetches the packages, without installing them.
fetch_packages() {
    local attempt
    [ ! -f "$lab/debs/kernel" ] || return 0
    for attempt in lists fresh-lists; do
        # a machine's lists may be missing, or name packages that are no longer in the archive
        if [ "$attempt" = fresh-lists ]; then
            mkdir -p "$lab/apt/lists/partial" "$lab/apt/cache/archives/partial"
            apt get update
        fi
        rm -rf "$lab/debs"
        mkdir -p "$lab/debs"
        kernel=$(kernel_package) || kernel=
        [ -n "$kernel" ] || continue
        echo "lab: fetching $kernel and udev"
        if (cd "$lab/debs" && apt get download "$kernel" udev) 2>"$lab/apt.log"; then
            echo "$kernel" >"$lab/debs/kernel"
            return
        fi
    done
    cat "$lab/apt.log" >&2
    exit 3
}

unpack_packages() {
    local package
    kernel=$(cat "$lab/debs/kernel")
    unpacked=$work/unpacked
    for package in "$lab"/debs/*.deb; do
        dpkg -x "$package" "$unpacked"
    done
}

# Extracts the uncompressed kernel, which QEMU boots 2 s faster. Debian compresses it with xz.
make_kernel() {
    local image=$unpacked/boot/vmlinuz-${kernel#linux-image-} offset
    while IFS=: read -r offset _; do
        tail -c "+$((offset + 1))" "$image" | xz -dc 2>/dev/null >"$lab/kernel.new" || true
        if [ "$(head -c 4 "$lab/kernel.new" | tail -c 3)" = ELF ]; then
            mv "$lab/kernel.new" "$lab/kernel"
            return
        fi
    done < <(LC_ALL=C grep -abo $'\xfd7zXZ' "$image")
    echo "lab: $image contains no kernel compressed with xz" >&2
    exit 3
}

# Adds a module to $root after those it depends on, once each.
add_module() {
    local tree=$unpacked/lib/modules/${kernel#linux-image-} name=${1//-/_} path part
    path=$(find "$tree/kernel" -name '*.ko' | awk -v name="$name" -F/ '
        { file = $NF; sub(/\.ko$/, "", file); gsub(/-/, "_", file) } file == name { print }')
    [ -n "$path" ] || { echo "lab: the kernel has no module $1" >&2; exit 3; }
    [ ! -f "$root/lib/modules/$name.ko" ] || return 0
    for part in $(tr '\0' '\n' <"$path" | LC_ALL=C sed -n 's/^depends=//p' | tr , ' '); do
        add_module "$part"
    done
    cp "$path" "$root/lib/modules/$name.ko"
    echo "$name" >>"$root/lib/modules/order"
}

# Makes an initramfs archive of a tree; root owns all files.
pack() {
    (cd "$1" && find . -print0 | LC_ALL=C sort -z | cpio --quiet -0 -o -H newc -R 0:0) >"$2"
}
