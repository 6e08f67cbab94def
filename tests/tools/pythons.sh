#!/bin/bash
# SPDX-License-Identifier: MIT
#
# pythons.sh [SOURCE:VERSION...] - fetches CPythons that this machine lacks into the user's cache.
#
# SOURCE:VERSION is one of
#   SUITE:3.14, SUITE:3.14-dbg  a Debian suite's package, or its debug build, with a C library and a loader
#                               of its own, which the interpreter is told to use
#   SUITE:3.13t, SUITE:3.13m    built from the suite's source package: without a GIL; against musl (ten
#                               minutes each; musl needs Debian's musl-tools)
#   maven:3.7.3-1.5.1           the artifact org.bytedeco:cpython of that version: a shared libpython
#   go:3.14.6-20260610-1        the Go module github.com/kluctl/go-embed-python of that version, which holds
#                               python-build-standalone's interpreter, as uv installs it
# Without any: all of them that are worth having. interpreters.sh finds what is in
# ${XDG_CACHE_HOME:-~/.cache}/sidewinder/pythons. Needs Debian's apt, dpkg, patchelf; mvn; go; no root.
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
	python3 "$here/join_segments.py" "$2"
}

# say PROGRAM: that it works
say() {
	"$1" -I -c 'import sys; print("got", sys.version.split()[0], sys.executable)'
}

# unpack_source SUITE PACKAGE FOLDER
unpack_source() {
	local suite=$1 package=$2 folder=$3 state=$cache/apt/$1-src
	mkdir -p "$state" "$folder/build"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $suite main" \
		>"$state/sources.list"
	debian_apt "$suite-src" apt-get -qq update
	(cd "$folder" && debian_apt "$suite-src" apt-get -qq --download-only source "$package")
	tar -xf "$folder/$package"_*.orig.tar.?z -C "$folder" --strip-components=1
}

# build TREE FOLDER ARGUMENT...: configures, builds and installs what is in FOLDER
build() {
	local tree=$1 folder=$2
	shift 2
	(
		cd "$folder/build"
		../configure --prefix="$tree" CFLAGS=-O2 LDFLAGS="-Wl,-rpath,$tree/lib" "$@"
		nice make -j"$(nproc)"
		make install
	) >"$folder/log" 2>&1 </dev/null || {
		tail -n 5 "$folder/log" >&2
		return 1
	}
}

# what no test needs
PYTHON_OPTIONS="--enable-shared --disable-test-modules --with-ensurepip=no"

# build_free_threaded SUITE MINOR: no suite has a package of it
build_free_threaded() {
	local tree=$cache/pythons/${2}t folder=$cache/src/${2}t
	[ ! -e "$tree/complete" ] || return 0
	unpack_source "$1" "python$2" "$folder"
	# words, not names with spaces
	# shellcheck disable=SC2086
	build "$tree" "$folder" $PYTHON_OPTIONS --disable-gil
	say "$tree/bin/python${2}t"
	rm -rf "$folder"
	: >"$tree/complete"
}

# build_musl SUITE MINOR: with libffi for ctypes, without modules that need other libraries
build_musl() {
	local tree=$cache/pythons/${2}m folder=$cache/src/${2}m module modules=
	[ ! -e "$tree/complete" ] || return 0
	command -v musl-gcc >/dev/null || {
		echo "pythons.sh: no musl-gcc here (Debian: musl-tools)" >&2
		return 1
	}
	unpack_source "$1" "python$2" "$folder"
	mkdir -p "$folder/kernel"
	ln -sfn /usr/include/linux /usr/include/asm-generic "$folder/kernel/"
	ln -sfn /usr/include/x86_64-linux-gnu/asm "$folder/kernel/asm"
	cat >"$folder/cc" <<-END
		#!/bin/sh
		[ "\$1" != --print-multiarch ] || { echo x86_64-linux-musl; exit; }
		exec musl-gcc "\$@" -idirafter "$folder/kernel"
	END
	chmod +x "$folder/cc"
	unpack_source bookworm libffi "$folder/libffi" # the last one with a configure script
	build "$tree" "$folder/libffi" CC="$folder/cc" --host=x86_64-linux-musl --disable-docs --disable-static
	for module in _ssl _hashlib _bz2 _lzma zlib _sqlite3 _curses _curses_panel readline _tkinter \
		_uuid _dbm _gdbm; do
		modules="$modules py_cv_module_$module=n/a"
	done
	# words, not names with spaces
	# shellcheck disable=SC2086
	build "$tree" "$folder" $PYTHON_OPTIONS CC="$folder/cc" PKG_CONFIG=/bin/false $modules \
		LIBFFI_CFLAGS="-I$tree/include" LIBFFI_LIBS="-L$tree/lib -lffi"
	say "$tree/bin/python$2"
	rm -rf "$folder"
	: >"$tree/complete"
}

# fetch_maven VERSION
fetch_maven() {
	local tree=$cache/pythons/maven-$1 folder minor
	[ ! -e "$tree/complete" ] || return 0
	minor=$(echo "$1" | cut -d. -f1,2)
	folder=$(mktemp -d "$cache/maven.XXXXXX")
	mvn -q -B dependency:get -Dtransitive=false "-Dartifact=org.bytedeco:cpython:$1:jar:linux-x86_64"
	mvn -q -B dependency:copy "-Dartifact=org.bytedeco:cpython:$1:jar:linux-x86_64" "-DoutputDirectory=$folder"
	(cd "$folder" && unzip -q ./*.jar 'org/bytedeco/cpython/linux-x86_64/*')
	mkdir -p "$tree"
	cp -r "$folder"/org/bytedeco/cpython/linux-x86_64/. "$tree"
	rm -rf "$folder"
	chmod +x "$tree"/bin/*
	ln -sfn "../$(cd "$tree" && ls libpython*.so.1.0)" "$tree/lib/"
	say "$tree/bin/python$minor"
	: >"$tree/complete"
}

# fetch_go VERSION: the module has each file compressed, and a list of the links
fetch_go() {
	local tree=$cache/pythons/go-${1%%-*} folder module
	[ ! -e "$tree/complete" ] || return 0
	folder=$(mktemp -d "$cache/go.XXXXXX")
	module=$(cd "$folder" && go mod init none 2>/dev/null &&
		go mod download -json "github.com/kluctl/go-embed-python@v0.0.0-$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	rm -rf "$folder" "$tree"
	mkdir -p "$tree"
	cp -r "$module/python/internal/data/linux-amd64/." "$tree"
	chmod -R u+w "$tree"
	find "$tree" -name '*.gz' -exec gunzip -f {} +
	chmod +x "$tree"/bin/*
	say "$tree/bin/python$(echo "$1" | cut -d. -f1,2)"
	: >"$tree/complete"
}

# fetch_package SUITE VERSION
fetch_package() {
	local suite=$1 version=$2 tree=$cache/pythons/$1 program=python${2%-dbg}
	[ "$version" = "${version%-dbg}" ] || program=${program}d
	if [ -e "$tree/complete-$version" ]; then
		python3 "$here/join_segments.py" "$tree/usr/bin/$program" # fetched before that was needed
		return
	fi
	debian_update "$suite"
	mkdir -p "$tree/usr/bin" "$tree/usr/lib" "$tree/usr/lib64" "$tree/usr/sbin"
	for folder in bin lib lib64 sbin; do
		ln -sfn "usr/$folder" "$tree/$folder"
	done
	# words, not names with spaces
	# shellcheck disable=SC2046
	debian_unpack "$suite" "$tree" $(libraries "$suite") $(packages "$version")
	use_own_loader "$tree" "$tree/usr/bin/$program"
	# the packages of a debug build bring the other one along
	[ "$program" = "python${version%-dbg}" ] || use_own_loader "$tree" "$tree/usr/bin/python${version%-dbg}"
	say "$tree/usr/bin/$program"
	: >"$tree/complete-$version"
}

# fetch SOURCE VERSION
fetch() {
	case $1:$2 in
	maven:*) fetch_maven "$2" ;;
	go:*) fetch_go "$2" ;;
	*t) build_free_threaded "$1" "${2%t}" ;;
	*m) build_musl "$1" "${2%m}" ;;
	*) fetch_package "$1" "$2" ;;
	esac
}

[ $# -gt 0 ] || set -- forky:3.14 forky:3.15 forky:3.14-dbg forky:3.15-dbg trixie:3.13 trixie:3.13-dbg \
	bookworm:3.11-dbg bullseye:3.9 bullseye:3.9-dbg sid:3.13 sid:3.14 sid:3.15 \
	maven:3.7.3-1.5.1 maven:3.7.9-1.5.4 maven:3.9.6-1.5.6 maven:3.10.2-1.5.7 maven:3.11.3-1.5.9 maven:3.14.3-1.5.13 \
	go:3.10.16-20241219-1 go:3.11.11-20241219-1 go:3.14.6-20260610-1 trixie:3.13t trixie:3.13m
[ $# -gt 1 ] || {
	fetch "${1%%:*}" "${1#*:}"
	exit
}
failed=0
for each; do
	# one that cannot be had does not keep the others away
	bash "$here/pythons.sh" "$each" || {
		echo "pythons.sh: $each cannot be had" >&2
		failed=1
	}
done
exit $failed
