#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh COMPARE REMOTE - has every interpreter found say what its code objects are, and compares.
#
# COMPARE and REMOTE are the programs built from compare.c and remote.c. Prints TAP; status 1 if
# anything differs.
set -u

compare=$1
remote=$2
tests=$(dirname "$0")
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
interpreters=$("$tests/../tools/interpreters.sh") || exit 1
number=0
failed=0

# report STATUS FACT RESULT
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2: $3"
	else
		echo "not ok $number - $2"
		echo "$3" | sed 's/^/# /'
		failed=1
	fi
}

while read -r version python; do
	# both at once
	nice "$python" -E -s "$tests/names.py" "$remote" >"$data/names" 2>&1 &
	names=$!
	result=$(nice "$python" -E -s "$tests/tables.py" >"$data/tables" && "$compare" <"$data/tables" 2>&1)
	report $? "lines of CPython $version" "$result"
	wait $names
	status=$?
	case $version in 2.*) continue ;; esac # its names are plain bytes
	report $status "names of CPython $version" "$(cat "$data/names")"
done <<END
$interpreters
END
echo "1..$number"
exit $failed
