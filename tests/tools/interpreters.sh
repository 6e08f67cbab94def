#!/bin/sh
# SPDX-License-Identifier: MIT
#
# interpreters.sh [--all] - prints "VERSION PATH" of each CPython 2.7 and 3.6 to 3.15 here, once.
#
# VERSION is e.g. 3.14.2, 3.14.2d (a debug build), 3.14.2t (one without a GIL) or 3.14.2m (with musl), PATH the
# real executable. Looks in $SDW_PYTHONS (paths of executables, if set: only there), pyenv's versions,
# /usr/bin, /usr/local/bin, PATH, and in what pythons.sh has fetched. Without --all: the newest of each minor
# version and the machine's own, and of what was fetched only minors that are nowhere else, from a suite that
# does not change daily if there is one (others are not even asked). What is missing is said on stderr.
set -u

fetched=${XDG_CACHE_HOME:-$HOME/.cache}/sidewinder/pythons
all=0
[ "${1:-}" != --all ] && [ -z "${SDW_PYTHONS:-}" ] || all=1

PROBE='import sys, platform, os, sysconfig
if platform.python_implementation() == "CPython" \
        and ((3, 6) <= sys.version_info[:2] <= (3, 15) or sys.version_info[:2] == (2, 7)) \
        and sys.prefix == getattr(sys, "base_prefix", sys.prefix) and sys.version_info.releaselevel == "final":
    print("%d.%d.%d%s%s%s %s" % (sys.version_info[:3] + (
        "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "",
        "m" if str(sysconfig.get_config_var("MULTIARCH")).endswith("musl") else "",
        "d" if hasattr(sys, "gettotalrefcount") else "", os.path.realpath(sys.executable))))'

# the paths of executables that may be interpreters, where the machine or its user has installed them
installed() {
	if [ -n "${SDW_PYTHONS:-}" ]; then
		printf '%s\n' $SDW_PYTHONS
		return
	fi
	ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/[23].*/bin/python 2>/dev/null
	for folder in /usr/bin /usr/local/bin $(printf %s "$PATH" | tr : ' '); do
		case $folder in */shims) continue ;; esac # pyenv's scripts stand for those above
		ls "$folder"/python3 "$folder"/python2.7 "$folder"/python3.[6-9] \
			"$folder"/python3.1[0-5] 2>/dev/null
	done
}

# what pythons.sh has fetched
fetched() {
	[ -n "${SDW_PYTHONS:-}" ] || ls "$fetched"/*/usr/bin/python3.* "$fetched"/*/bin/python3.* 2>/dev/null |
		grep -E '/python3\.[0-9]+[dt]*$'
}

# asks each executable for its version
ask() {
	while read -r path; do
		[ -x "$path" ] && "$path" -E -s -c "$PROBE" 2>/dev/null </dev/null
	done
}

# release builds of a minor version that is not among the lines of $1
of_other_minors() {
	grep '[0-9]$' | while read -r path; do
		printf '%s\n' "$1" | grep -q "^${path##*/python}\." || echo "$path"
	done
}

here=$(installed | ask)
found=$({
	[ -z "$here" ] || printf '%s\n' "$here"
	if [ $all = 1 ]; then fetched; else fetched | of_other_minors "$here"; fi | ask
} | awk '!seen[$1]++' | sort -t. -k1,1n -k2,2n -k3,3n |
	awk -v all="$all" -v fetched="$fetched/" '
		{
			split($1, part, ".")
			minor[NR] = part[1] "." part[2]
			line[NR] = $0
			path[NR] = $2
			if (index($2, fetched) != 1)
				newest[minor[NR]] = NR
			else if ($1 ~ /[0-9]$/ && (!(minor[NR] in other) || $2 ~ /\/(bullseye|bookworm|trixie|forky)\//))
				other[minor[NR]] = NR
		}
		END {
			for (i = 1; i <= NR; i++) {
				chosen = minor[i] in newest ? newest[minor[i]] : other[minor[i]]
				if (all || i == chosen || path[i] ~ "^/usr/bin/")
					print line[i]
			}
		}')
[ -z "$found" ] || printf '%s\n' "$found"

missing=
for minor in 2.7 3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15; do
	printf '%s\n' "$found" | grep -q "^$minor\." || missing="$missing $minor"
done
[ -z "$missing" ] || echo "interpreters.sh: not on this machine:$missing" >&2
[ -n "$found" ]
