#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build.sh BUILDDIR VERSION DATE - a Debian package of what make install installs: BUILDDIR/sidewinder_VERSION_ARCH.deb
#
# What it depends on is found out by dpkg-shlibdeps, so it is for the suite that it is built on (and for newer ones
# as long as they have the same libraries). Needs no root.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
O=$1
version=$2-1
released=$3
architecture=$(dpkg --print-architecture)
work=$O/package
root=$work/root
package=$O/sidewinder_${version}_$architecture.deb
unset MAKEFLAGS MFLAGS MAKELEVEL
umask 022

rm -rf "$work"
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/sidewinder" "$work/debian"
make -s O="$O" DESTDIR="$(cd "$root" && pwd)" PREFIX=/usr install
find "$root/usr" -type f \( -perm -u=x -o -name '*.so' \) -exec strip --strip-unneeded {} +
find "$root/usr/share/man" -type f -exec gzip -9n {} +
install -m 0644 "$here/copyright" "$root/usr/share/doc/sidewinder/copyright"
printf 'sidewinder (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' "$version" "$2" \
	'The Sidewinder authors <sidewinder@localhost>' "$(LC_ALL=C date -u -d "$released" '+%a, %d %b %Y %T %z')" |
	gzip -9n >"$root/usr/share/doc/sidewinder/changelog.Debian.gz"

# dpkg-shlibdeps wants the folder of a source package
printf 'Source: sidewinder\n\nPackage: sidewinder\nArchitecture: any\n' >"$work/debian/control"
# the program is needed; what it loads if somebody asks for it is recommended with what that needs
plugins=$(find "$root/usr" -type f -name '*.so' -printf '-e root/usr/%P ')
# shellcheck disable=SC2086 # a word each
libraries=$(cd "$work" && dpkg-shlibdeps -O -dDepends -e root/usr/bin/sidewinder -dRecommends $plugins 2>/dev/null)
depends=$(echo "$libraries" | sed -n 's/^shlibs:Depends=//p')
recommends=$(echo "$libraries" | sed -n 's/^shlibs:Recommends=//p')
[ -n "$depends" ] || {
	echo "build.sh: dpkg-shlibdeps finds nothing that the program depends on" >&2
	exit 1
}

cat >"$root/DEBIAN/control" <<END
Package: sidewinder
Version: $version
Architecture: $architecture
Maintainer: The Sidewinder authors <sidewinder@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $depends
${recommends:+Recommends: $recommends
}Suggests: babeltrace2
Section: devel
Priority: optional
Description: profiler for unmodified Python programs, with BPF
 Shows where an unmodified CPython program spends its time: hottest functions
 and lines, who calls them, a flame graph page, a trace. No restart, no agent,
 no stop. A BPF program reads the interpreter's stack out of the interrupted
 thread's memory; native and kernel frames are laid in where they were called.
END
(cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 0755 {} +
SOURCE_DATE_EPOCH=$(date -u -d "$released" +%s) dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
