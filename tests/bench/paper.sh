#!/bin/sh
# SPDX-License-Identifier: MIT
# paper.sh BUILD [--json] [--quick] [--only R1,...]: the rows of the work that Sidewinder comes from, measured here
here=$(dirname "$(readlink -f "$0")")
if [ -n "$JSON" ] && [ "$JSON" != 0 ]; then set -- "$@" --json; fi
if [ -n "$QUICK" ] && [ "$QUICK" != 0 ]; then set -- "$@" --quick; fi
exec "${PYTHON:-python3}" -B "$here/paper.py" "$@"
