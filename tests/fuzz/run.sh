#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh FOLDER SECONDS [NAME] - runs the fuzzers of FOLDER, one a processor, and prints TAP.
#
# A new input that finds something is left in FOLDER/found/NAME; what earlier ones found is kept in
# tests/fuzz/inputs/NAME and always tried first.
set -u

folder=$1
seconds=$2
only=${3:-}
here=$(dirname "$0")

# fuzz PROGRAM: runs it; the status is in FOLDER/NAME.status
fuzz() {
	name=${1##*/fuzz_}
	corpus=$folder/corpus/$name
	found=$folder/found/$name
	mkdir -p "$corpus" "$found" "$folder/seeds/$name"
	kept=$(ls -d "$here/inputs/$name" 2>/dev/null)
	# 256 MiB at once is more than any stage may ask for; a leak is a fault too. -timeout is by the clock: an
	# input without end takes longer than any pause that a busy machine makes. Places have no names, which takes long.
	"$1" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=256 \
		-max_len=20000 -close_fd_mask=3 -verbosity=1 -print_final_stats=1 -print_funcs=0 \
		-artifact_prefix="$found/" "$corpus" "$folder/seeds/$name" $kept >"$folder/$name.log" 2>&1
	echo $? >"$folder/$name.status"
}

python3 -B "$here/seeds.py" "$folder/seeds" || exit 1
rm -f "$folder"/*.status
programs=
running=0
for program in "$folder"/fuzz_*; do
	[ -x "$program" ] && [ ! -d "$program" ] || continue
	[ -z "$only" ] || [ "$only" = "${program##*/fuzz_}" ] || continue
	programs="$programs $program"
	fuzz "$program" &
	running=$((running + 1))
	[ $((running % $(nproc))) != 0 ] || wait
done
wait

number=0
failed=0
for program in $programs; do
	name=${program##*/fuzz_}
	log=$folder/$name.log
	number=$((number + 1))
	if [ "$(cat "$folder/$name.status" 2>/dev/null)" = 0 ]; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
		echo "ok $number - $name: $runs inputs, $covered places"
	else
		failed=1
		echo "not ok $number - $name: see $log, inputs in $folder/found/$name"
		grep -E 'ERROR|runtime error|SUMMARY|#[0-9]+ 0x' "$log" | head -n 20 | sed 's/^/#   /'
	fi
done
echo "1..$number"
exit $failed
