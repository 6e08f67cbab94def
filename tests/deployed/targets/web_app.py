# SPDX-License-Identifier: MIT
"""A WSGI application that works in view for 10 ms of CPU time a request."""
import time


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(300))


def view():
    spin(0.01)
    return b"ok\n"


def app(environ, start_response):
    body = view()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
