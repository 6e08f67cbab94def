#!/bin/sh
# SPDX-License-Identifier: MIT
#
# demo.sh BUILDDIR - records a real program: docutils making web pages of its own documentation.
#
# Installs what is missing, builds, records, prints the hottest functions, and leaves under
# BUILDDIR/demo the trace, a flame graph page, and the pages that docutils made.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
O=${1:-build}
demo=$O/demo
unset MAKEFLAGS MFLAGS MAKELEVEL

"$here/packages.sh" build demo
make -s -j"$(nproc)" O="$O" all

rm -rf "$demo"
mkdir -p "$demo"
# images of containers may come without documentation; the package has it
if [ -e /usr/share/doc/docutils-doc/FAQ.txt ]; then
	cp -rL /usr/share/doc/docutils-doc "$demo/pages"
else
	(cd "$demo" && apt-get download docutils-doc && dpkg-deb -x docutils-doc_*.deb package) \
		>/dev/null 2>&1
	cp -r "$demo/package/usr/share/doc/docutils-doc" "$demo/pages"
	rm -rf "$demo/package" "$demo"/docutils-doc_*.deb
fi
find "$demo/pages" -name '*.gz' -exec gunzip {} +

echo "Recording: docutils makes web pages of $(find "$demo/pages" -name '*.txt' | wc -l) documents."
echo "\$ sidewinder record -o $demo/trace -- python3 /usr/bin/rst-buildhtml --silent $demo/pages"
# what docutils has to say about its documents is not ours
"$O/sidewinder" record -o "$demo/trace" --no-report -- \
	/usr/bin/python3 /usr/bin/rst-buildhtml --silent "$demo/pages" 2>"$demo/messages" || {
	status=$?
	grep '^sidewinder' "$demo/messages" >&2 || tail -n 5 "$demo/messages" >&2
	exit $status
}
sed -n -e '/^sidewinder/p' -e '/^[0-9]* samples in/,$p' "$demo/messages"

echo
echo "\$ sidewinder report --limit=20 $demo/trace"
"$O/sidewinder" report --limit=20 "$demo/trace" | cat
"$O/sidewinder" export "$demo/trace" --to=flamegraph -o "$demo/flamegraph.html"

echo
echo "The flame graph:     $demo/flamegraph.html (any browser opens it)"
echo "The trace:           $demo/trace (sidewinder report $demo/trace, or babeltrace2)"
