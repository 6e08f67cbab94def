#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check.sh PACKAGE [new] - installs the package, uses it, removes it. Prints TAP.
#
# Without "new" by dpkg into a folder, with what this machine has installed taken for installed there (seconds, no
# network). With "new" by apt into a fresh minimal root of this Debian, made by debootstrap and kept in SDW_CACHE, where
# the package's dependencies must be all that it needs. Both need root.
set -u

here=$(cd "$(dirname "$0")" && pwd)
package=$(cd "$(dirname "$1")" && pwd)/${1##*/}
how=${2:-here}
cache=${SDW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidewinder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
failed=0

check() {
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		head -n 30 "$work/out" | sed 's/^/# /'
	fi
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

field() {
	dpkg-deb -f "$package" "$1"
}

is_well_formed() {
	local files
	files=$(dpkg-deb -c "$package" | awk '$1 !~ /^d/ { print $1, $2, $6 }') || return 1
	echo "$files"
	! grep -v ' root/root ' <<<"$files" &&
		! grep -vE '^-rw(x|-)r-(x|-)r-(x|-) root/root \./usr/' <<<"$files" &&
		grep -q ' ./usr/share/doc/sidewinder/copyright$' <<<"$files" &&
		grep -q ' ./usr/share/man/man1/sidewinder-record.1.gz$' <<<"$files" &&
		[ "$(field Package)" = sidewinder ] && [ "$(field Architecture)" = "$(dpkg --print-architecture)" ]
}

# each library that the program names must come from a package that is depended on
depends_on_its_libraries() {
	local depends library file owner missing=0
	depends=", $(field Depends | sed 's/([^)]*)//g; s/|/,/g; s/  */ /g'),"
	dpkg-deb -x "$package" "$work/unpacked"
	for library in $(objdump -p "$work/unpacked/usr/bin/sidewinder" | awk '$1 == "NEEDED" { print $2 }'); do
		file=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
		owner=$(dpkg -S "$(realpath "$file")" "$file" "/usr$file" 2>/dev/null | sed 's/:.*//' | sort -u | head -n 1)
		case $depends in
		*", $owner "*|*", $owner,"*) ;;
		*) echo "$library is of $owner, which is not in: $depends"; missing=1 ;;
		esac
	done
	return $missing
}

# ---- into a folder ----
here_dpkg() {
	dpkg --root="$work/root" --force-not-root --force-unsafe-io --no-triggers "$@"
}

make_folder() {
	mkdir -p "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates" "$work/root/var/log"
	cp /var/lib/dpkg/status "$work/root/var/lib/dpkg/status"
	touch "$work/root/var/lib/dpkg/available"
}

# ---- into a root of its own ----
make_root() {
	. "$here/../kernels/debian.sh"
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
	root=$cache/suites/package-$suite
	if [ ! -e "$root/complete" ]; then
		rm -rf "$root"
		mkdir -p "$cache/suites"
		debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$(debian_mirror)" >&2 || return 1
		touch "$root/complete"
	fi
}

in_root() {
	unshare --mount --pid --fork sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && mount --rbind /dev "$1/dev" || exit 1
		mount -t tmpfs tmpfs "$1/tmp" && cp "$2" "$1/tmp/sidewinder.deb" || exit 1
		exec chroot "$1" /usr/bin/env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive /bin/sh -c "$3"' \
		in-root "$root" "$package" "$1" </dev/null
}

records() { # PROGRAM, or with "new" in the root
	local code="
end = __import__('time').process_time() + 0.5
def burn():
    while __import__('time').process_time() < end: sum(range(1000))
burn()"
	if [ "$how" = new ]; then
		in_root "cd /tmp && sidewinder record -o trace -- python3 -c \"$code\" && sidewinder report trace" | tee "$work/shown"
	else
		"$1" --no-config record -o "$work/trace" -- python3 -c "$code" && "$1" --no-config report "$work/trace" | tee "$work/shown"
	fi
	grep -q 'burn .*<string>:3' "$work/shown"
}

nothing_is_left() {
	(cd "$1" && find usr etc opt -name '*sidewinder*' 2>/dev/null) >"$work/left"
	cat "$work/left"
	[ ! -s "$work/left" ]
}

[ "$(id -u)" = 0 ] || skip_all 'dpkg needs root'
check 'the package is well-formed' is_well_formed
check 'what it depends on has its libraries' depends_on_its_libraries
if [ "$how" = new ]; then
	make_root >"$work/made" 2>&1 || {
		cat "$work/made"
		echo "Bail out! no root of Debian could be made"
		exit 1
	}
	check 'apt installs it in a fresh root, with what it depends on' in_root \
		'apt-get -qq update && apt-get -qq -y --no-install-recommends install /tmp/sidewinder.deb python3-minimal'
	check 'it runs there' in_root 'sidewinder --version'
	check 'it records there' records
	check 'apt removes it' in_root 'apt-get -qq -y purge sidewinder'
	check 'nothing of it is left' nothing_is_left "$root"
else
	make_folder
	check 'dpkg installs it' here_dpkg --install "$package"
	check 'it is installed' grep -A 8 '^Package: sidewinder$' "$work/root/var/lib/dpkg/status"
	check 'dpkg finds its files as they were packed' here_dpkg --verify sidewinder
	check 'it runs' "$work/root/usr/bin/sidewinder" --version
	check 'it records' records "$work/root/usr/bin/sidewinder"
	check 'its manual can be read' sh -c 'zcat "$1"/usr/share/man/man1/sidewinder.1.gz | head -n 3 | grep SIDEWINDER' \
		manual "$work/root"
	check 'dpkg removes it' here_dpkg --purge sidewinder
	check 'nothing of it is left' nothing_is_left "$work/root"
fi
echo "1..$number"
exit $failed
