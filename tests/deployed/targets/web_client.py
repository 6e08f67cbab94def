# SPDX-License-Identifier: MIT
"""Asks the server at the unix socket argv[1] without a pause, three requests at a time, until it is killed."""
import socket
import sys
import threading
import time


def ask():
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(20)
                connection.connect(sys.argv[1])
                connection.sendall(b"GET / HTTP/1.0\r\nHost: x\r\n\r\n")
                while connection.recv(4096):
                    pass
        except OSError:  # it reloads
            time.sleep(0.02)


for _ in range(3):
    threading.Thread(target=ask).start()
