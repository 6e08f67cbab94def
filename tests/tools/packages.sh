#!/bin/sh
# SPDX-License-Identifier: MIT
#
# packages.sh SET... - installs what is missing of the named sets of Debian packages.
#
# Takes: build, check, bench, demo, kernels, pythons, suites, package. Asks dpkg first: where nothing is missing it changes nothing
# and needs neither root nor the network. Names are those of Debian 12; newer ones have them too.
set -eu

build='gcc libc6-dev make pkgconf clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev libunwind-dev
	liblttng-ust-dev liblttng-ctl-dev libjson-c-dev libncurses-dev libbabeltrace2-dev libiberty-dev
	libprotobuf-c-dev protobuf-c-compiler'
check='lttng-tools python3 python3-dev python3-venv libcmocka-dev babeltrace2 clang-tidy clang-format chromium
	fonts-dejavu-core libclang-rt-dev binutils dpkg-dev mount procps util-linux strace locales mandoc
	fish zsh runc tmux libxml2-utils libjemalloc2'
bench='python3 python3-venv'
demo='python3 python3-docutils docutils-doc'
kernels='qemu-system-x86 qemu-system-common busybox-static cpio kmod xz-utils util-linux python3'
pythons='patchelf gcc libc6-dev make xz-utils zlib1g-dev libffi-dev'
suites='debootstrap git'
package='dpkg-dev binutils'

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=
for set in "$@"; do
	case $set in
	build) wanted="$wanted $build" ;;
	check) wanted="$wanted $check" ;;
	bench) wanted="$wanted $bench" ;;
	kernels) wanted="$wanted $kernels" ;;
	suites) wanted="$wanted $suites" ;;
	package) wanted="$wanted $package" ;;
	demo) wanted="$wanted $demo" ;;
	pythons) wanted="$wanted $pythons" ;;
	*)
		echo "packages.sh: unknown set '$set': build, check, bench, demo, kernels, pythons, suites, package" >&2
		exit 2
		;;
	esac
done

if ! command -v dpkg-query >/dev/null; then
	echo "packages.sh: no dpkg here, install by hand what corresponds to:" $wanted >&2
	exit 0
fi

missing=
for package in $wanted; do
	installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "packages.sh: missing:$missing" >&2
	echo "packages.sh: run as root: apt-get install$missing" >&2
	exit 1
fi

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
	apt-get -o DPkg::Lock::Timeout=300 -y --no-install-recommends install $missing \
		</dev/null >"$log" 2>&1
}

echo "  APT  $missing"
# the lists of packages may be missing or old: fetched only when they turn out to be
if ! install; then
	apt-get -o DPkg::Lock::Timeout=300 update </dev/null >"$log" 2>&1 || {
		tail -n 5 "$log" >&2
		echo "packages.sh: apt-get update failed" >&2
		exit 1
	}
	install || {
		tail -n 20 "$log" >&2
		echo "packages.sh: apt-get cannot install:$missing" >&2
		exit 1
	}
fi
