#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage.sh SIDEWINDER - messages and exit statuses of wrong use and of what cannot work here. Prints TAP.
#
# Nothing here records: each run must end before that, leave no file, and say one line.
set -u

case $1 in
/*) program=$1 ;;
*) program=$PWD/$1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir empty && cd empty || exit 1
number=0
failed=0

ok() {
	number=$((number + 1))
	echo "ok $number - $1"
}

not_ok() {
	number=$((number + 1))
	failed=1
	echo "not ok $number - $1"
	sed 's/^/# /' "$work/err"
}

# refuses NAME STATUS TEXT ARGUMENT...: one line on stderr that holds TEXT, that status, no file left
refuses() {
	name=$1
	want=$2
	text=$3
	shift 3
	"$program" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	# the choice of another event is said before; it is no error
	lines=$(grep -vc 'counting cpu-clock instead' "$work/err")
	if [ $status = "$want" ] && [ "$lines" = 1 ] && grep -qF -- "$text" "$work/err" &&
		[ ! -s "$work/out" ] && [ -z "$(ls -A)" ]; then
		ok "$name"
	else
		echo "# status $status, wanted $want with: $text; files: $(ls -A)" >>"$work/err"
		not_ok "$name"
	fi
}

# prints NAME TEXT ARGUMENT...: status 0, TEXT on stdout, nothing on stderr
prints() {
	name=$1
	text=$2
	shift 2
	if "$program" "$@" >"$work/out" 2>"$work/err" </dev/null && grep -qF -- "$text" "$work/out" &&
		[ ! -s "$work/err" ]; then
		ok "$name"
	else
		not_ok "$name"
	fi
}

# allowed: can this user record here at all?
allowed() {
	"$program" record -q -o "$work/allowed" -- true >/dev/null 2>"$work/err"
	result=$?
	rm -rf "$work/allowed"
	return $result
}

prints 'the version comes with those of the libraries' 'libunwind 1.' --version
prints 'help lists the verbs' 'record' --help
for verb in record report diff export dump doctor; do
	prints "help $verb is the help of that verb" "Usage: sidewinder $verb" help $verb
	prints "$verb --help has examples" 'Examples:' $verb --help
	refuses "$verb with an unknown option is wrong use" 2 \
		"$verb: unknown option '--no-such'; 'sidewinder $verb --help' lists all" $verb --no-such
done
refuses 'an unknown verb names the nearest' 2 "no verb 'recrod': did you mean 'record'?" recrod
refuses 'help for an unknown verb names the nearest' 2 "did you mean 'report'?" help reprot
refuses 'a mistyped option names the nearest' 2 "did you mean '--duration'?" record --durtion 3 -- true

refuses 'no target is wrong use' 2 'nothing to record: give a command, --pid PID, --container NAME or --all' record
refuses 'two targets are wrong use' 2 'only one of a command, --pid, --container or --cgroup, and --all' record -a -p 1
refuses 'rate and period exclude each other' 2 'exclude each other' record -F 1 -c 100000 -- true
refuses 'a rate of nothing is wrong use' 2 '0 is too small, the least is 1' record -F 0 -- true
refuses 'an unknown event lists the known' 2 'there are cpu-clock, task-clock,' record -e bogus -- true
refuses 'a ring that is no power of two is wrong use' 2 'a power of two' record --ring-bytes 3M -- true

limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null || echo 1000000)
if [ "$limit" -lt 1000000 ]; then
	refuses 'a rate above the limit names the sysctl' 2 \
		"above kernel.perf_event_max_sample_rate, which is $limit" record -F 1000000 -- true
else
	ok 'a rate above the limit names the sysctl # skip the limit is that of the program'
fi

refuses 'an unknown pid is named' 1 'pid 4194303: No such process' record -p 4194303
refuses 'an unknown container is named' 1 '--container sdwtest-none: no running container is called so' \
	record --container sdwtest-none
refuses 'an unknown control group is named' 1 '--cgroup /sdwtest/none: there is no such control group' \
	record --cgroup /sdwtest/none
refuses 'a container without a name is wrong use' 2 'record: --container: the name is empty' record --container=
refuses 'children of a container are in it' 2 '--children and --no-children mean nothing with --all, --container' \
	record --container x --children
refuses 'an unknown program has the status of a shell' 127 'cannot run no-such-program: not found in PATH' \
	record -- no-such-program
refuses 'a program that may not be run has the status of a shell' 126 'cannot run /etc/passwd: Permission denied' \
	record -- /etc/passwd
refuses 'a BTF file that is not there is named' 1 '--btf /nonexistent/btf: No such file or directory' \
	record --btf /nonexistent/btf -- true

if allowed; then
	refuses 'an output without a parent is named' 1 \
		'cannot create output /nonexistent/trace: No such file or directory' \
		record -o /nonexistent/trace -- touch ran
	refuses 'an output that exists is named' 1 "output $work exists already" record -o "$work" -- touch ran
	refuses 'an output that is no trace is not replaced' 1 "output $work" record -f -o "$work" -- touch ran
	printf '#!/nonexistent/interpreter\n' >"$work/script"
	chmod +x "$work/script"
	refuses 'a script without its interpreter has the status of a shell and leaves nothing' 127 \
		'its interpreter, as the first line names it, is not there' record -- "$work/script"
else
	for name in 'an output without a parent is named' 'an output that exists is named' \
		'an output that is no trace is not replaced' \
		'a script without its interpreter has the status of a shell and leaves nothing'; do
		ok "$name # skip may not record here: $(head -n 1 "$work/err")"
	done
fi

# as nobody: the same program, copied to where nobody may run it
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 0755 "$work"
	install -m 0755 "$program" "$work/sidewinder"
	mkdir -m 0777 "$work/open"
	cd "$work/open" || exit 1
	real=$program
	printf '#!/bin/sh\nexec timeout 2 setpriv --reuid=65534 --regid=65534 --clear-groups %s "$@"\n' \
		"$work/sidewinder" >"$work/as-nobody"
	chmod 0755 "$work/as-nobody"
	program=$work/as-nobody
	refuses 'without rights each capability is named, within two seconds' 1 \
		'CAP_BPF, CAP_PERFMON are missing' record -- touch ran
	refuses 'without rights the way out is named' 1 'sudo sidewinder record' record -p $$
	cp "$real" "$work/setuid" && chmod 4755 "$work/setuid"
	printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups %s "$@"\n' \
		"$work/setuid" >"$work/as-nobody"
	refuses 'a setuid copy refuses to run' 1 'refuses to run setuid' record -- true
	program=$real
	cd "$work/empty" || exit 1
else
	ok 'without rights each capability is named, within two seconds # skip not root, or no setpriv'
	ok 'without rights the way out is named # skip not root, or no setpriv'
	ok 'a setuid copy refuses to run # skip not root, or no setpriv'
fi

# with 0-2 closed, no file that is opened later may be taken for one of them
if "$program" --version <&- >&- 2>&-; then
	ok 'closed standard files do no harm'
else
	not_ok 'closed standard files do no harm'
fi
"$program" help record 2>"$work/err" | head -n 1 >"$work/out"
if [ ! -s "$work/err" ]; then
	ok 'a closed pipe ends quietly'
else
	not_ok 'a closed pipe ends quietly'
fi
if [ -w /dev/full ]; then
	"$program" help record >/dev/full 2>"$work/err"
	if [ $? = 1 ] && grep -q 'No space left on device' "$work/err"; then
		ok 'a full device is a fault'
	else
		not_ok 'a full device is a fault'
	fi
fi
echo "1..$number"
exit $failed
