#!/bin/sh
# SPDX-License-Identifier: MIT
#
# private.sh COMMAND... - runs it where /run and /dev/shm are its own, and empty: LTTng's daemons
# and buffers there are not those of the machine. All processes of the command end with it.
set -eu

if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP a mount namespace of one's own takes root"
	exit 0
fi
for program in lttng lttng-sessiond lttng-relayd babeltrace2; do
	if ! command -v "$program" >/dev/null; then
		echo "1..0 # SKIP there is no $program"
		exit 0
	fi
done
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
unshare --mount --propagation private sh -c '
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /dev/shm
	exec env HOME="$0" "$@"' "$home" "$@"
