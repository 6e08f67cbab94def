#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh COMPARE - has every interpreter found say the lines of its own code, and compares.
#
# COMPARE is the program built from compare.c. Prints TAP; status 1 if a line differs.
set -u

compare=$1
tests=$(dirname "$0")
data=$(mktemp)
trap 'rm -f "$data"' EXIT
interpreters=$("$tests/../tools/interpreters.sh") || exit 1
number=0
failed=0

while read -r version python; do
	number=$((number + 1))
	if nice "$python" -I "$tests/tables.py" >"$data" && result=$("$compare" <"$data"); then
		echo "ok $number - lines of CPython $version: $result"
	else
		echo "not ok $number - lines of CPython $version ($python)"
		echo "${result:-cannot have its tables}" | sed 's/^/# /'
		failed=1
	fi
done <<END
$interpreters
END
echo "1..$number"
exit $failed
