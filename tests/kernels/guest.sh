#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guest.sh PYTHON... - records, inside the virtual machine, all that judge.py looks at outside.
#
# Takes the profiler, stacks.py and work.py in /run/share. Leaves there, for each step, NAME.out,
# NAME.err, NAME.status and the trace NAME, if the expression in the file steps matches the name. The
# judging is left to the host: here all is slow.
cd /run/share || exit 1
python=$1
export PYTHONDONTWRITEBYTECODE=1

# step NAME ARGUMENT...: one recording. The emulated clock is late: most of its overflows are lost.
step() {
	local name=$1
	shift
	[[ $name =~ ^($(cat steps))$ ]] || return 0
	$as ./sidewinder record --json --quiet --max-loss=100 -o "$name" "$@" \
		>"$name.out" 2>"$name.err" </dev/null
	echo $? >"$name.status"
}

# as_nobody CAPABILITIES: the steps that follow run with these alone. Ends with: as=
as_nobody() {
	local list
	list=-all,+${1//,/,+}
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	as="$as --inh-caps=$list --ambient-caps=$list --bounding-set=$list"
}

as=
uname -r >release
step stacks -F 499 --bpf-log verifier.log -- "$python" stacks.py 0.15
step python_only -F 499 --native=none -- "$python" stacks.py 0.05
step kernel -F 499 --kernel -- "$python" work.py call 0.8
step faults -e page-faults -c 1 -- "$python" work.py fault 0
step threads -F 499 -- "$python" work.py thread 0.2
step forks -F 499 -- "$python" work.py fork 0.4
step deep -F 499 -- "$python" work.py deep 0.4
step sched -F 499 --sched -- "$python" work.py thread 0.2
step refused -e cycles -- "$python" work.py spin 0.1

"$python" work.py spin 600 >spin1.out &
one=$!
"$python" work.py spin 600 >spin2.out &
two=$!
while [ ! -s spin1.out ] || [ ! -s spin2.out ]; do sleep 0.2; done
step pid -F 499 -p $one -d 3
step all -F 499 -a -d 3

# the first in a control group: of v2, whose tasks perf counts, and of v1, where the program looks
mkdir /tmp/v2 /tmp/v1
mount -t cgroup2 cgroup2 /tmp/v2 && mkdir /tmp/v2/first && echo $one >/tmp/v2/first/cgroup.procs
step group_v2 -F 499 --cgroup /tmp/v2/first -d 3
mount -t cgroup -o pids cgroup /tmp/v1 && mkdir -p /tmp/v1/outer/first &&
	echo $one >/tmp/v1/outer/first/cgroup.procs
step group_v1 -F 499 --cgroup /tmp/v1/outer -d 3
kill $two

# with capabilities instead of root, and at the levels of the sysctl that only Debian has
paranoid=/proc/sys/kernel/perf_event_paranoid
echo 2 >$paranoid
as_nobody bpf,perfmon
step nobody_own -F 499 -- "$python" work.py spin 0.3
as_nobody bpf,perfmon,sys_ptrace
step nobody_other -F 499 -p $one -d 3
as_nobody bpf,perfmon,sys_ptrace,sys_resource
step nobody_other_resource -F 499 -p $one -d 3
echo 3 >$paranoid
step nobody_paranoid3 -F 499 -p $one -d 3
as_nobody sys_admin,sys_ptrace,sys_resource
step admin_paranoid3 -F 499 -p $one -d 3
as=
echo 4 >$paranoid
step root_paranoid4 -F 499 -p $one -d 3
kill $one

shift
for other; do
	[ -x "$other" ] || continue # below /tmp, which is empty here
	version=$("$other" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	step "stacks_$version" -F 499 -- "$other" stacks.py 0.05
done
dmesg >dmesg.log
