#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh BUILDDIR - builds and runs every test; stops at nothing, ends with a summary.
#
# Status 1 if anything failed. What each step printed is kept in BUILDDIR/check/STEP.log.
set -u

O=${1:-build}
logs=$O/check
mkdir -p "$logs"
unset MAKEFLAGS MFLAGS MAKELEVEL # each step is a make of its own
PATH=$PATH:/usr/sbin:/sbin
export PATH
jobs=$(nproc)
summary=
failed=0

# step NAME MAKE-ARGUMENT...: runs it, keeps its output, and shows the end of it if it failed
step() {
	name=$1
	shift
	echo "== $name"
	began=$(date +%s)
	make -j"$jobs" O="$O" "$@" >"$logs/$name.log" 2>&1 </dev/null
	status=$?
	took=$(($(date +%s) - began))
	skips=$(grep -ci '^ok.*# skip' "$logs/$name.log")
	[ "$skips" = 0 ] || skipped=", $skips skipped"
	if [ $status = 0 ]; then
		line=$(printf 'ok      %-12s %4d s%s' "$name" $took "${skipped:-}")
	else
		failed=1
		line=$(printf 'FAILED  %-12s %4d s%s, see %s' "$name" $took "${skipped:-}" "$logs/$name.log")
		# what failed, with the lines below it that say why
		awk '/^not ok/ { print; more = 6; next } /^#/ && more-- > 0 { print substr($0, 1, 400); next }
		     { more = 0 } /FAILED|error:|warning:|\*\*\*/' "$logs/$name.log" | head -n 80
		echo "-- the end of it:"
		tail -n 15 "$logs/$name.log"
	fi
	skipped=
	summary="$summary$line
"
	echo "$line"
}

step build all
step unit unit
step asan asan
step lint lint LINT_STATES=75000
for target in $(make -s O="$O" list-checks); do
	step "$target" "$target"
done

echo
echo "summary"
printf '%s' "$summary"
grep -h '^# once more at the end' "$logs"/*.log | cut -c 1-400
grep -hi '^ok.*# skip' "$logs"/*.log | sed 's/^ok [0-9]* -/skipped:/' | sort | uniq -c |
	sort -rn | head -n 40
exit $failed
