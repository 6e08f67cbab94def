# SPDX-License-Identifier: MIT
"""Keeps a web server busy: load.py PORT SECONDS. One connection at a time, a fixed round of requests to httpbin."""
import http.client
import json
import sys
import time

BODY = json.dumps({'items': [{'id': i, 'name': 'item %d' % i, 'tags': ['a', 'b', 'c']} for i in range(50)]})
REQUESTS = [('GET', '/get?page=2&sort=name'), ('GET', '/json'), ('POST', '/post'), ('GET', '/headers'),
            ('GET', '/base64/SFRUUEJJTiBpcyBhd2Vzb21l'), ('GET', '/html'), ('PUT', '/anything/a/b'), ('GET', '/gzip'),
            ('GET', '/cookies'), ('GET', '/uuid'), ('GET', '/links/20/0'), ('GET', '/encoding/utf8')]


def main():
    port, end, done = int(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0
    while time.monotonic() < end:
        for method, path in REQUESTS:
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
            body = BODY if method != 'GET' else None
            connection.request(method, path, body, {'Content-Type': 'application/json'} if body else {})
            reply = connection.getresponse()
            reply.read()
            connection.close()
            if reply.status != 200:
                sys.exit('%s %s: status %d' % (method, path, reply.status))
            done += 1
    print(done)


if __name__ == '__main__':
    main()
