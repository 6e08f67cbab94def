#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD [--json] [--quick] [--only SECTION,...]: measures the profiler in BUILD, prints one table
here=$(dirname "$(readlink -f "$0")")
if [ -n "$JSON" ] && [ "$JSON" != 0 ]; then set -- "$@" --json; fi
if [ -n "$QUICK" ] && [ "$QUICK" != 0 ]; then set -- "$@" --quick; fi
exec "${PYTHON:-python3}" -B "$here/bench.py" "$@"
