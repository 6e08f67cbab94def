#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layouts.sh PRINT - compares the table of object layouts with the headers of each interpreter found.
#
# PRINT is the program built from print.c; what the headers say comes from probe.c, compiled against
# them. Prints TAP; status 1 if a field differs.
set -u

print=$1
tests=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
interpreters=$("$tests/../tools/interpreters.sh" ${EVERY:+--all}) || exit 1
number=0
failed=0

while read -r version python; do
	number=$((number + 1))
	include=$("$python" -I -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
	if ! [ -e "$include/Python.h" ] || { [ "${version%.*}" != 3.6 ] && ! [ -d "$include/internal" ]; }; then
		echo "ok $number - objects of CPython $version # skip no (internal) headers in $include"
		continue
	fi
	if ! "$print" "$version" >"$work/used"; then
		echo "ok $number - objects of CPython $version # skip not in the table"
		continue
	fi
	if ${CC:-cc} -w -Iinclude -Iuser -I"$include" -I"$include/internal" -I"$include/.." -o "$work/probe" \
		"$tests/probe.c" 2>"$work/error" && "$work/probe" >"$work/true" &&
		diff "$work/true" "$work/used" >"$work/error"; then
		echo "ok $number - objects of CPython $version are as its headers have them"
	else
		echo "not ok $number - objects of CPython $version are as its headers have them"
		sed 's/^/# /' "$work/error"
		failed=1
	fi
done <<END
$interpreters
END
echo "1..$number"
exit $failed
