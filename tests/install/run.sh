#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh BUILDDIR - installs into a folder of its own, runs what is there as a user would, and
# uninstalls. Prints TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd)
O=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
prefix=$work/root/opt/tools
number=0
failed=0

# check NAME COMMAND...: ok if the command succeeds; what it printed is shown otherwise
check() {
	name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "ok $number - $name"
	else
		failed=1
		echo "not ok $number - $name"
		head -n 40 "$work/out" | sed 's/^/# /'
	fi
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # skip $2 is not installed"
}

lists_what_is_installed() {
	(cd "$work/root" && find . -type f | LC_ALL=C sort) >"$work/files"
	sed "/^$/d" <<END | diff -u - "$work/files"
./opt/tools/bin/sidewinder
$(cd "$O" && ls lttng-*.so 2>/dev/null | sed 's|^|./opt/tools/lib/sidewinder/|')
./opt/tools/lib/sidewinder/sidewinder-agent.so
./opt/tools/share/bash-completion/completions/sidewinder
./opt/tools/share/fish/vendor_completions.d/sidewinder.fish
$("$O/sidewinder" help --list=verbs | sed 's|^\([a-z]*\).*|./opt/tools/share/man/man1/sidewinder-\1.1|' | LC_ALL=C sort)
./opt/tools/share/man/man1/sidewinder.1
./opt/tools/share/sidewinder/tracecompass.xml
./opt/tools/share/zsh/site-functions/_sidewinder
END
}

# what was built is what the program prints now
are_the_same() {
	"$prefix/bin/sidewinder" help --man | diff -u - "$prefix/share/man/man1/sidewinder.1" &&
		"$prefix/bin/sidewinder" help --man record |
		diff -u - "$prefix/share/man/man1/sidewinder-record.1"
}

# finds NAME TEXT: man finds the page by its name in the installed folder, and shows TEXT in it
finds() {
	MANPATH=$prefix/share/man MANWIDTH=80 LC_ALL=C.UTF-8 man "$1" 2>&1 | tr -s " " | grep -F -- "$2"
}

# every page without a word of warning
is_silent() {
	for page in "$prefix"/share/man/man1/*.1; do
		"$@" "$page" 2>&1 >/dev/null || return 1
	done >"$work/words" 2>&1
	cat "$work/words"
	[ ! -s "$work/words" ]
}

lint() {
	mandoc -T lint -W warning "$1" >&2
}

removes_all() {
	make -s O="$O" DESTDIR="$work/root" PREFIX=/opt/tools uninstall &&
		[ -z "$(find "$work/root" -type f)" ]
}

check 'make install puts everything under DESTDIR and PREFIX' \
	make -s O="$O" DESTDIR="$work/root" PREFIX=/opt/tools install
check 'it installs a program, a page for every verb, and three completions' lists_what_is_installed
check 'the installed program runs' "$prefix/bin/sidewinder" --version
check 'the installed pages are those that the program prints' are_the_same

if command -v man >/dev/null && ! man --version 2>&1 | grep -q minimized; then
	check 'man finds the page of a verb' finds sidewinder-record 'also the processes that these made'
	check 'man shows every page without a warning' is_silent man --warnings -l
else
	skip 'man finds the page of a verb' man
	skip 'man shows every page without a warning' man
fi
if command -v mandoc >/dev/null; then
	check 'mandoc finds nothing wrong in any page' is_silent lint
else
	skip 'mandoc finds nothing wrong in any page' mandoc
fi

# what the shells are asked about: a trace, a folder, a file, and a process that runs Python
mkdir "$work/place" "$work/place/sidewinder-a" "$work/place/other"
: >"$work/place/sidewinder-a/metadata"
: >"$work/place/sidewinder-a/stream"
: >"$work/place/file"
cd "$work/place" || exit 1
PATH=$prefix/bin:$PATH
export PATH
python3 -c 'import time; time.sleep(600)' &
sleeper=$!
tries=0
until "$prefix/bin/sidewinder" help --list=pids | grep -q "^$sleeper" || [ $tries = 600 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
check 'the program lists a Python process' eval '"$prefix/bin/sidewinder" help --list=pids |
	grep "^$sleeper" || { tr "\0" " " </proc/$sleeper/cmdline; false; }'
for shell in bash zsh fish; do
	if command -v $shell >/dev/null; then
		while IFS='|' read -r name line want; do
			# both may name the sleeper
			line=$(eval "echo \"$line\"")
			check "$shell: $name" timeout 60 "$shell" "$here/complete.$shell" "$prefix" "$line" \
				"$(eval "echo \"$want\"")"
		done <"$here/cases"
	else
		skip "$shell completes verbs, options and values" $shell
	fi
done
kill $sleeper
cd "$here/../.." || exit 1

check 'make uninstall takes away what make install brought' removes_all
echo "1..$number"
exit $failed
