#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pythons.sh [SUITE:VERSION...] - fetches CPythons of other Debian suites into the user's cache.
#
# VERSION is that of a package, e.g. 3.14, or 3.14-dbg for the debug build; 3.13t is built from the source
# package without a GIL (ten minutes). Without any: all that this machine may lack. interpreters.sh finds
# them in ${XDG_CACHE_HOME:-~/.cache}/sidewinder/pythons/SUITE, a tree with a C library and a loader of
# its own, which the interpreters are told to use. Needs Debian's apt, dpkg, patchelf; no root.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/sidewinder
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/kernels/debian.sh
. "$here/../kernels/debian.sh"

LIBRARIES="libc6 libexpat1 zlib1g libbz2-1.0 liblzma5 libsqlite3-0 libuuid1 libcrypt1 libtinfo6
	libncursesw6 libgcc-s1 libstdc++6"

for program in apt-get dpkg patchelf; do
	command -v $program >/dev/null || {
		echo "pythons.sh: no $program here" >&2
		exit 1
	}
done

# packages VERSION: what an interpreter takes besides libraries, its headers too
packages() {
	local minor=${1%-dbg}
	echo "python$minor python$minor-minimal libpython$minor-minimal libpython$minor-stdlib" \
		"libpython$minor-dev libpython$minor"
	[ "$minor" = "$1" ] || echo "python$minor-dbg libpython$minor-dbg"
}

# libraries SUITE: their names differ where 32-bit systems got a 64-bit time
libraries() {
	case $1 in
	bullseye) echo "$LIBRARIES libffi7 libssl1.1 libreadline8 libmpdec3" ;;
	bookworm) echo "$LIBRARIES libffi8 libssl3 libreadline8" ;;
	*) echo "$LIBRARIES libffi8 libssl3t64 libreadline8t64 libzstd1" ;;
	esac
}

# use_own_loader TREE PROGRAM
use_own_loader() {
	local loader
	loader=$(find "$1/usr/lib" "$1/lib" -name 'ld-linux-x86-64.so.2' 2>/dev/null | head -n 1)
	patchelf --set-interpreter "$loader" --force-rpath --set-rpath \
		"$1/usr/lib/x86_64-linux-gnu:$1/lib/x86_64-linux-gnu" "$2"
}

# build_free_threaded SUITE MINOR: no suite has a package of it
build_free_threaded() {
	local suite=$1 minor=$2 tree=$cache/pythons/${2}t state=$cache/apt/$1-src folder=$cache/src/${2}t
	[ ! -e "$tree/complete" ] || return 0
	mkdir -p "$state" "$folder"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $suite main" \
		>"$state/sources.list"
	debian_apt "$suite-src" apt-get -qq update
	(cd "$folder" && debian_apt "$suite-src" apt-get -qq --download-only source "python$minor")
	tar -xf "$folder"/python"$minor"_*.orig.tar.xz -C "$folder" --strip-components=1
	(
		mkdir -p "$folder/build"
		cd "$folder/build"
		../configure --prefix="$tree" --disable-gil --enable-shared --disable-test-modules \
			--with-ensurepip=no CFLAGS=-O2 LDFLAGS="-Wl,-rpath,$tree/lib"
		nice make -j"$(nproc)"
		make install
	) >"$folder/log" 2>&1 </dev/null || {
		tail -n 5 "$folder/log" >&2
		return 1
	}
	"$tree/bin/python${minor}t" -I -c 'import sys; print("got", sys.version.split()[0], sys.executable)'
	rm -rf "$folder"
	: >"$tree/complete"
}

# fetch SUITE VERSION
fetch() {
	local suite=$1 version=$2 tree=$cache/pythons/$1 program=python${2%-dbg}
	if [ "$version" != "${version%t}" ]; then
		build_free_threaded "$suite" "${version%t}"
		return
	fi
	[ "$version" = "${version%-dbg}" ] || program=${program}d
	[ ! -e "$tree/complete-$version" ] || return 0
	debian_update "$suite"
	mkdir -p "$tree/usr/bin" "$tree/usr/lib" "$tree/usr/lib64" "$tree/usr/sbin"
	for folder in bin lib lib64 sbin; do
		ln -sfn "usr/$folder" "$tree/$folder"
	done
	# words, not names with spaces
	# shellcheck disable=SC2046
	debian_unpack "$suite" "$tree" $(libraries "$suite") $(packages "$version")
	use_own_loader "$tree" "$tree/usr/bin/$program"
	"$tree/usr/bin/$program" -I -c 'import sys; print("got", sys.version.split()[0], sys.executable)'
	: >"$tree/complete-$version"
}

[ $# -gt 0 ] || set -- forky:3.14 forky:3.15 forky:3.14-dbg forky:3.15-dbg trixie:3.13 \
	bookworm:3.11-dbg bullseye:3.9 trixie:3.13t
for each; do
	fetch "${each%%:*}" "${each#*:}"
done
