"""A host among ten thousand who want nothing of it: crowd.py HOLDFAST SCRATCH

Some connect and say nothing, some begin a request and do not end it, some have asked something and stay.
Whoever comes meanwhile and asks is served, and the host does not grow.
"""
import http.client
import json
import pathlib
import re
import resource
import socket
import subprocess
import sys
import time

MANY = 10_000
MOST_KILOBYTES = 64 << 10


class Host:
    def __init__(self, holdfast, scratch):
        ready = scratch / "ready.json"
        self.process = subprocess.Popen([
            holdfast, "serve", "--state", scratch / "state", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
            "--ready-file", ready, "--no-auth", "--log-level", "warning",
        ])
        while not ready.exists():
            time.sleep(0.01)
        host, port = json.loads(ready.read_text())["api"].split(":")
        self.address = host, int(port)

    def kilobytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def serves(self):
        """Returns how long somebody waited who has just come."""
        line, began = http.client.HTTPConnection(*self.address, timeout=5), time.perf_counter()
        line.request("GET", "/status")
        answer = line.getresponse()
        answer.read()
        line.close()
        assert answer.status == 200, answer.status
        return time.perf_counter() - began


def question(host):
    return f"GET /status HTTP/1.1\r\nHost: {host.address[0]}:{host.address[1]}\r\n\r\n".encode()


def crowd(host, words, asks):
    """Connects many, and returns the longest that anybody else had to wait meanwhile."""
    present, longest = [], 0
    for number in range(MANY):
        client = socket.create_connection(host.address)
        if words:
            client.sendall(words)
        if asks:
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        present.append(client)
        if number % 500 == 499:
            longest = max(longest, host.serves())
    return present, max(longest, host.serves())


def main(holdfast, scratch):
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (MANY + 1_000, MANY + 1_000))
    host = Host(holdfast, scratch)
    try:
        host.serves()
        before = host.kilobytes()
        for name, words, asks in (
            ("say nothing", b"", False),
            ("begin a request", question(host)[:40], False),
            ("have asked something", question(host), True),
        ):
            present, longest = crowd(host, words, asks)
            more = host.kilobytes() - before
            print(f"{MANY} that {name}: {more} KB more, somebody else waited {longest * 1000:.1f} ms at most")
            assert more < MOST_KILOBYTES, more
            for client in present:
                client.close()
    finally:
        host.process.terminate()
        assert host.process.wait(15) == 0


if __name__ == "__main__":
    main(*sys.argv[1:])
