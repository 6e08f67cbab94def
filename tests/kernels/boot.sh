#!/bin/bash
# SPDX-License-Identifier: MIT
#
# boot.sh CACHE SHARE SUITE COMMAND - runs COMMAND as root under the kernel of a Debian suite.
#
# The kernel (that of the package linux-image-cloud-amd64) is fetched once into CACHE. The machine is
# emulated, as not every host lets its guests use KVM. It sees this machine's files, read-only but for
# the folder SHARE, which is /run/share there; /tmp and /run are empty. The exit status is that of
# COMMAND; 124: TIMEOUT (in seconds) was over; 125: the machine went down before. The console is in
# SHARE/console.log.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1" "$2"
cache=$(readlink -f "$1")
share=$(readlink -f "$2")
suite=$3
shift 3
# shellcheck source-path=SCRIPTDIR source=debian.sh
. "$here/debian.sh"

timeout=${TIMEOUT:-900}
parameters="console=ttyS0 quiet loglevel=1 panic=-1 reboot=t nokaslr mitigations=off no_timer_check"
parameters="$parameters tsc=reliable random.trust_cpu=on"
# a busy host stops the guest for seconds: no fault of its own
parameters="$parameters nowatchdog rcupdate.rcu_cpu_stall_suppress=1"
memory=${MEMORY:-1024}
processors=${PROCESSORS:-2}
kernel=$cache/kernel/$suite
virtiofsd=/usr/lib/qemu/virtiofsd # of Debian 12's QEMU; a package of its own later
[ -x "$virtiofsd" ] || virtiofsd=/usr/libexec/virtiofsd

# Unpacks the kernel of the suite into $kernel, whole or not at all, and names it in $kernel/version.
fetch_kernel() {
	local version
	[ ! -e "$kernel/version" ] || return 0
	rm -rf "$kernel"
	mkdir -p "$kernel"
	version=$(debian_kernel "$suite")
	# from 7.x on the image package is empty, and depends on the parts
	if ! debian_apt "$suite" apt-cache show "linux-binary-$version" >/dev/null 2>&1; then
		debian_unpack "$suite" "$kernel" "linux-image-$version"
	else
		debian_unpack "$suite" "$kernel" "linux-base-$version" "linux-binary-$version" \
			"linux-modules-$version"
	fi
	# where all is below /usr, depmod still wants /lib
	[ -e "$kernel/lib/modules" ] || {
		mkdir -p "$kernel/lib"
		ln -s ../usr/lib/modules "$kernel/lib/modules"
	}
	depmod -b "$kernel" "$version" 2>/dev/null
	echo "$version" >"$kernel/version"
}

# Copies the modules that $root needs, with those that they need, unpacked and in order.
add_modules() {
	local module name
	: >"$root/modules/list"
	# built in, from 6.12 on: no output
	for module in "$@"; do
		modprobe -d "$kernel" -S "$version" --show-depends "$module" 2>/dev/null || :
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r module; do
		name=$(basename "${module%.xz}")
		case $module in
		*.xz) xz -dc "$module" >"$root/modules/$name" ;;
		*) cp "$module" "$root/modules/$name" ;;
		esac
		echo "$name" >>"$root/modules/list"
	done
}

# The emulated time stamp counter is the host's. On a busy host the guest measures its rate wrong by
# any factor, and takes seconds for minutes: it is told.
clock_rate() {
	dmesg 2>/dev/null |
		sed -n 's/.*tsc: Detected \([0-9]*\)\.\([0-9]*\) MHz.*/tsc_early_khz=\1\2/p' | head -n 1
}

# The first file system: busybox, modules, the command.
make_initramfs() {
	local root=$work/root
	mkdir -p "$root"/{bin,modules,proc,sys,dev,tmp,host}
	cp "$(command -v busybox)" "$root/bin/busybox"
	install -m 0755 "$here/init.sh" "$root/init"
	printf '%s\n' "$*" >"$root/command"
	add_modules virtio_pci virtiofs
	(cd "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) | gzip -1 >"$work/initramfs"
}

share_files() {
	"$virtiofsd" --socket-path="$work/socket" -o source=/ -o cache=always -o sandbox=chroot \
		--thread-pool-size=4 >"$work/virtiofsd.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do
		[ ! -S "$work/socket" ] || return 0
		sleep 0.1
	done
	cat "$work/virtiofsd.log" >&2
	return 1
}

# Prints what lies between the marks; status 125 if the last one never came.
between_marks() {
	tr -d '\r' | awk '
		/^<<<BEGIN>>>/ { on = 1; next }
		/^<<<END / { status = $2 + 0; on = 0; seen = 1; next }
		on { print; fflush() }
		END { exit seen ? status : 125 }'
}

work=$(mktemp -d "$cache/run.XXXXXX")
server=
trap 'rm -rf "$work"; [ -z "$server" ] || kill "$server" 2>/dev/null || :' EXIT
fetch_kernel
version=$(cat "$kernel/version")
image=$kernel/boot/vmlinuz-$version
[ -e "$image" ] || image=$kernel/lib/modules/$version/vmlinuz
make_initramfs "$*"
share_files

set +e
timeout --foreground "$timeout" qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max \
	-m "$memory" -smp "$processors" -kernel "$image" -initrd "$work/initramfs" \
	-append "$parameters $(clock_rate) share=$share" \
	-object "memory-backend-memfd,id=memory,size=${memory}M,share=on" -numa node,memdev=memory \
	-chardev "socket,id=files,path=$work/socket" -device vhost-user-fs-pci,chardev=files,tag=host \
	-nodefaults -no-user-config -display none -no-reboot -serial stdio </dev/null \
	2>"$work/qemu.log" | tee "$share/console.log" | between_marks
status=("${PIPESTATUS[@]}")
[ "${status[0]}" != 124 ] || exit 124
[ "${status[2]}" != 125 ] || cat "$work/qemu.log" >&2
exit "${status[2]}"
