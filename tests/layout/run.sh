#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh PRINT - compares the layout that is used for each interpreter found with its own headers.
#
# PRINT is the program built from print.c: it looks at a living process, as the profiler does. What
# the headers say comes from probe.c, compiled against them. Prints TAP; status 1 if a field differs.
set -u

print=$1
tests=$(dirname "$0")
work=$(mktemp -d)
sleeper=
trap 'rm -rf "$work"; [ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null' EXIT
interpreters=$("$tests/../tools/interpreters.sh") || exit 1
number=0
failed=0

# used PYTHON: writes the layout that is used for a process of PYTHON to $work/used
used() {
	rm -f "$work/started"
	"$1" -E -s -c 'import os, time; os.write(1, b"started"); time.sleep(60)' >"$work/started" &
	sleeper=$!
	for _ in $(seq 100); do
		[ -s "$work/started" ] && break
		sleep 0.1
	done
	"$print" "$sleeper" >"$work/used" 2>"$work/error"
	status=$?
	kill "$sleeper"
	wait "$sleeper" 2>/dev/null
	sleeper=
	return $status
}

# report STATUS TEXT: one line of TAP; what went wrong is in $work/error
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		sed 's/^/# /' "$work/error"
		failed=1
	fi
}

# known VERSION: without the fields that are not used there: 3.7.4 moved two, which are left out before it
known() {
	case $1 in
	3.7.[0-3]) grep -v -e runtime_tstate_current -e runtime_gc_collecting ;;
	*) cat ;;
	esac
}

while read -r version python; do
	include=$("$python" -E -s -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
	if ! [ -e "$include/internal/pycore_pystate.h" ] && ! [ -e "$include/internal/pystate.h" ] &&
		! { [ -e "$include/pystate.h" ] && [ ! -e "$include/cpython" ]; }; then
		number=$((number + 1))
		echo "ok $number - layout of CPython $version # skip no headers of its inside in $include"
		continue
	fi
	${CC:-cc} -w -Iinclude -I"$include" -I"$include/internal" -I"$include/.." -o "$work/probe" \
		"$tests/probe.c" 2>"$work/error" && "$work/probe" | known "$version" >"$work/true" && used "$python" &&
		known "$version" <"$work/used" | diff "$work/true" - >"$work/error"
	report $? "layout of CPython $version is that of its headers"
done <<END
$interpreters
END
echo "1..$number"
exit $failed
