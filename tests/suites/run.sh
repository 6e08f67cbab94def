#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILDDIR - builds and tests this commit inside other Debian suites, and prints a table.
#
# SUITES picks them. A suite is a root made by debootstrap, kept in SDW_CACHE (default
# ~/.cache/sidewinder); what is built in it stays there too. Needs root and the network. Status 1 if
# anything failed; what was printed is in BUILDDIR/suites/SUITE.log.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cache=${SDW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidewinder}
logs=${1:-build}/suites
mkdir -p "$logs" "$cache/suites"
. "$here/../kernels/debian.sh"

# inside SUITE: everything that happens within its root, run in mount and pid namespaces of its own
inside() {
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/tmp"
	chroot "$1" /bin/sh -c '
		cd /sidewinder && export LC_ALL=C.UTF-8 || exit 1
		tests/tools/packages.sh build || exit 1
		apt-get -qq -y --no-install-recommends install python3 libcmocka-dev babeltrace2 \
			procps strace tmux >/dev/null 2>&1 || exit 1
		make -k -j"$(nproc)" all unit || exit 1
		build/sidewinder --version
		clang --version | head -n 1
		python3 tests/system/run.py build/sidewinder'
}

prepare() {
	local root=$cache/suites/$1 script=
	if [ ! -e "$root/complete" ]; then
		rm -rf "$root"
		# debootstrap of an older Debian has no script for newer suites: they are made like sid
		[ -e "/usr/share/debootstrap/scripts/$1" ] || script=/usr/share/debootstrap/scripts/sid
		debootstrap --variant=minbase --include=git,make,ca-certificates "$1" "$root" \
			"$(debian_mirror)" $script >&2 || return 1
		touch "$root/complete"
	fi
	rm -rf "$root/sidewinder"
	git clone -q "$top" "$root/sidewinder"
}

failed=0
for suite in ${SUITES:-trixie forky}; do
	log=$logs/$suite.log
	if prepare "$suite" >"$log" 2>&1 &&
	   unshare --mount --pid --fork bash -c "$(declare -f inside); inside '$cache/suites/$suite'" \
			>>"$log" 2>&1 </dev/null; then
		result=ok
	else
		result=FAILED
		failed=1
	fi
	libraries=$(sed -n 's/^\(libbpf\|libunwind\|babeltrace2\) /\1 /p; s/.*clang version \([0-9]*\).*/clang \1/p;
		s/^built with \([^ ]* [^ ]*\).*/\1/p' "$log" | sort -u | paste -sd, | sed 's/,/, /g')
	tests=$(sed -n 's/^\([0-9]* of [0-9]* failed\)$/system tests: \1/p' "$log" | tail -n 1)
	printf '%-8s %-7s %s; %s\n' "$suite" "$result" "$libraries" "$tests"
	[ $result = ok ] || grep -E '^not ok|FAILED|: error:|\*\*\*|Aborted' "$log" | head -n 20
done
exit $failed
