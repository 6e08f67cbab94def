#!/bin/bash
# SPDX-License-Identifier: MIT
#
# image.sh SUITE - prints the folder of a minimal Debian of that suite with its own python3.
#
# Made once by debootstrap from the archive that this machine's apt uses, kept in SDW_CACHE (default
# ~/.cache/sidewinder).
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${SDW_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sidewinder}
root=$cache/images/$1
# shellcheck source=tests/kernels/debian.sh
. "$here/../kernels/debian.sh"

if [ ! -e "$root/complete" ]; then
	command -v debootstrap >/dev/null || {
		echo "no debootstrap: apt-get install debootstrap" >&2
		exit 1
	}
	script=
	[ -e "/usr/share/debootstrap/scripts/$1" ] || script=/usr/share/debootstrap/scripts/sid
	rm -rf "$root"
	mkdir -p "$root"
	# $script is one word or none
	# shellcheck disable=SC2086
	debootstrap --variant=minbase --include=python3-minimal "$1" "$root" "$(debian_mirror)" $script >&2
	touch "$root/complete"
fi
echo "$root"
