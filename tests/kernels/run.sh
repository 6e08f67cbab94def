#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILDDIR - the built profiler under the kernels of Debian's suites. Prints TAP and a table.
#
# KERNELS picks suites, SDW_PYTHONS interpreters, STEPS (a regular expression) steps of guest.sh. Status
# 0 if all is well, 1 if not; where a virtual machine cannot run, it says why and that is no failure.
# What was recorded stays in BUILDDIR/kernels/SUITE.
set -uo pipefail

here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "${1:-build}")
suites=${KERNELS:-bullseye bookworm trixie forky}
cache=$build/kernels/cache

skip() {
	echo "1..0 # SKIP $*"
	exit 0
}

[ "$(uname -m)" = x86_64 ] || skip "only x86-64 so far"
[ "$(id -u)" = 0 ] || skip "sharing this machine's files with the virtual machine needs root"
for program in qemu-system-x86_64 busybox cpio depmod xz apt-get dpkg; do
	command -v $program >/dev/null || skip "no $program here: tests/tools/packages.sh kernels"
done
[ -x /usr/lib/qemu/virtiofsd ] || [ -x /usr/libexec/virtiofsd ] || skip "no virtiofsd here"

# the static one of the distribution first, then one of each version
own=$(command -v /usr/bin/python3) || skip "no /usr/bin/python3 here"
others=$(sh "$here/../tools/interpreters.sh" 2>/dev/null |
	awk '$1 ~ /^3\.([89]|1[0-3])\./ && $2 !~ "^/usr/bin/" { split($1, v, "."); path[v[2]] = $2 }
		END { for (i in path) print path[i] }')

mkdir -p "$cache"
judged=
for suite in $suites; do
	share=$build/kernels/$suite
	rm -rf "$share"
	mkdir -p "$share"
	chmod 1777 "$share" # steps run as nobody write there
	echo "${STEPS:-.*}" >"$share/steps"
	cp "$build/sidewinder" "$here/guest.sh" "$here/targets/work.py" \
		"$here"/../system/targets/stacks.py "$here"/../system/targets/stacks_new.py \
		"$here"/../system/targets/compat.py "$share"
	echo "# $suite: booting" >&2
	# shellcheck disable=SC2086
	nice -n 4 "$here/boot.sh" "$cache" "$share" "$suite" /run/share/guest.sh "$own" $others >&2
	echo $? >"$share/status"
	judged="$judged $share"
done
# shellcheck disable=SC2086
python3 "$here/judge.py" "$build/sidewinder" $judged
