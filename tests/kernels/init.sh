#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: MIT
#
# init.sh - the first process of the virtual machine: the host's files, read-only, and the command.
#
# Takes /modules/list, /command, and the parameters share=FOLDER (of the host, writable here as
# /run/share) of the kernel's command line. Prints marks around the output, which boot.sh looks for.
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/usr/sbin:/sbin HOME=/tmp LANG=C.UTF-8 TERM=dumb

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
while read -r module; do
	insmod "/modules/$module" || echo "cannot load $module"
done </modules/list
ip link set lo up
# everything is slow here: perf shall not lower its own rate for that
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

share=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^share=//p')
mount -t virtiofs host /host || poweroff -f
mkdir /share
mount --bind "/host$share" /share
mount -o remount,bind,ro /host
for folder in proc sys dev; do
	mount --rbind "/$folder" "/host/$folder"
done
mount -t tmpfs tmpfs /host/run
mount -t tmpfs tmpfs /host/tmp
mkdir /host/run/share
mount --bind /share /host/run/share
cp /command /host/run/command

printf '\n<<<BEGIN>>>\n'
(cd / && exec chroot /host /bin/bash /run/command) </dev/null
printf '\n<<<END %s>>>\n' $?
sync
sleep 0.2
poweroff -f
