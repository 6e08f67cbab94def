#!/bin/sh
# SPDX-License-Identifier: MIT
# real.sh BUILD [PROGRAM...]: records real programs from PyPI with Sidewinder and with py-spy, side by side.
# Programs: web (httpbin, a Flask application, in gunicorn, under load), pytest (tests of networkx), numpy (DEAP's EMNA example).
here=$(dirname "$(readlink -f "$0")")
exec "${PYTHON:-python3}" -B "$here/real.py" "$@"
