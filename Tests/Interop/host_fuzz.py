"""Hostile requests to a running host: host_fuzz.py HOLDFAST SCRATCH SECONDS [SEED]

Needs the Python package `cryptography`. Requests are made of the host's own description and of what goes
wrong with requests: lines cut off, doubled, out of order, bytes that belong nowhere, lengths that are not
so, bodies that are almost JSON. Whatever is sent, what comes back is HTTP with an answer that says what is
wrong, never a 500; others are served meanwhile, and the host does not grow.
"""
import errno
import http.client
import json
import pathlib
import random
import re
import socket
import sys
import threading
import time

from house import House, item

MOST_MEGABYTES = 256
LINES = 4
ODD = [
    b"\0", b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"%", b"%00", b"%2e%2e", b"\xff\xfe", b"{", b"}", b"[" * 600,
    b'"', b"\\u0000", b"\\ud800", b":", b"/" * 40, b"A" * 9_000, b"-1", b"1e999", b"9" * 20, b"null", b";", b"?",
]
FIELDS = [
    b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 5, 5", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Expect: 100-continue", b"Connection: close", b"Origin: null",
    b"Connection: upgrade\r\nUpgrade: x", b"Content-Type: application/json", b"X: " + b"y" * 20_000, b" folded: x",
    b"Content-Type: multipart/form-data; boundary=x", b"Accept-Encoding: gzip", b"Range: bytes=0-1", b"no colon",
    b": no name", b"Host: evil.example", b"Last-Event-ID: x",
]
OPTIONS = ["search", "folderid", "trash", "limit", "since", "permanent", "itemid", "pretty", "length", "force", "%"]


class Fuzzer:
    def __init__(self, house, seed):
        self.house, self.seed, self.isOver = house, seed, False
        self.address = (house.api.split(":")[0], int(house.api.split(":")[1]))
        self.asked, self.statuses, self.findings = [0] * LINES, [{} for _ in range(LINES)], []
        paths = json.loads(house.ask("GET", "/openapi.json")[1])["paths"]
        self.routes = [(way.upper(), path) for path in paths for way in paths[path] if self.goes_on(way, path)]
        self.ids = [one["id"] for one in json.loads(house.ask("GET", "/list/object/items")[1])["data"]["data"]]
        self.account = json.loads(house.ask("GET", "/accounts")[1])["data"]["data"][0]["id"]

    @staticmethod
    def goes_on(way, path):
        """Leaving and locking would be the end of the story, and a stream never ends."""
        if way != "get" and (path in ("/accounts", "/accounts/{accountId}") or path.endswith("/network")):
            return False
        return not path.endswith(("/events", "/lock"))

    def value(self, chance):
        odd = ["item", "%00", "..", "a%2Fb", "x" * 300, "é", "1", "-1", ""]
        return chance.choice([chance.choice(self.ids), self.account, *odd])

    def target(self, chance, path):
        path = re.sub(r"\{accountId\}", lambda _: self.account, path)
        path = re.sub(r"\{\w+\}", lambda _: self.value(chance), path)
        if chance.random() < 0.3:
            path += f"?{chance.choice(OPTIONS)}={self.value(chance)}"
        return path.encode()

    def body(self, chance):
        kind = chance.random()
        if kind < 0.3:
            return b""
        member = chance.choice(["type", "name", "login", "fields"])
        wrong = chance.choice([1, 2, 6, None, "x", [], {}, [{}], {"uris": [None]}, -1, 1.5, True])
        body = json.dumps(item(chance.randrange(99)) | {member: wrong}).encode()
        return self.damaged(chance, body) if kind < 0.7 else body

    def damaged(self, chance, data):
        data = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            place = chance.randint(0, len(data))
            way = chance.random()
            if way < 0.4:
                data[place:place] = chance.choice(ODD)
            elif way < 0.6:
                del data[place:place + chance.randint(1, 30)]
            elif way < 0.8 and place < len(data):
                data[place] = chance.randrange(256)
            else:
                data[place:place] = data[:chance.randint(0, 200)]
        return bytes(data)

    def request(self, chance):
        method, path = chance.choice(self.routes)
        if chance.random() < 0.05:
            method = chance.choice(["HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW", "get", ""])
        body = self.body(chance)
        lines = [b"%s %s HTTP/1.%d" % (method.encode(), self.target(chance, path), chance.random() < 0.95),
                 b"Host: %s:%d" % (self.address[0].encode(), self.address[1])]
        if body:
            lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
        if chance.random() < 0.3:
            lines.insert(chance.randint(1, len(lines)), chance.choice(FIELDS))
        data = b"\r\n".join(lines) + b"\r\n\r\n" + body
        return self.damaged(chance, data) if chance.random() < 0.4 else data

    def exchange(self, chance):
        data = b"".join(self.request(chance) for _ in range(chance.choice([1, 1, 1, 2, 5])))
        with socket.create_connection(self.address, timeout=20) as line:
            try:
                if chance.random() < 0.2:
                    cut = chance.randint(0, len(data))
                    line.sendall(data[:cut])
                    line.sendall(data[cut:])
                else:
                    line.sendall(data)
                if chance.random() < 0.9:
                    line.shutdown(socket.SHUT_WR)
                    return data, self.everything(line)
            except OSError as error:
                # It was told no before it had said everything.
                if error.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                    raise
                return data, self.everything(line)
        return data, b""

    @staticmethod
    def everything(line):
        answer = b""
        try:
            while piece := line.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer

    def judge(self, number, data, answer):
        if answer and not re.match(rb"HTTP/1\.1 \d\d\d ", answer):
            self.findings.append(("not HTTP", data, answer[:200]))
        for status in re.findall(rb"(?:^|\n)HTTP/1\.1 (\d\d\d) ", answer):
            self.statuses[number][status.decode()] = self.statuses[number].get(status.decode(), 0) + 1
            if status in (b"500", b"502"):
                self.findings.append(("failed", data, answer[:300]))

    def work(self, number):
        chance = random.Random(f"{self.seed} {number}")
        while not self.isOver:
            try:
                data, answer = self.exchange(chance)
            except Exception as error:
                self.findings.append((repr(error), b"", b""))
                if len(self.findings) > 20:
                    return
                continue
            self.asked[number] += 1
            self.judge(number, data, answer)


def look(house):
    """Somebody else is served, whatever goes on."""
    line = http.client.HTTPConnection(house.api, timeout=20)
    line.request("GET", "/status")
    answer = line.getresponse()
    answer.read()
    assert answer.status == 200, answer.status


def main(holdfast, scratch, seconds, seed="1"):
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    house = House(holdfast, scratch)
    try:
        house.sign_in()
        for number in range(50):
            house.ask("POST", "/object/item", item(number))
        fuzzer, most, began = Fuzzer(house, seed), 0, time.monotonic()
        threads = [threading.Thread(target=fuzzer.work, args=(number,)) for number in range(LINES)]
        for thread in threads:
            thread.start()
        while time.monotonic() - began < float(seconds) and len(fuzzer.findings) < 20 and house.host.poll() is None:
            time.sleep(1)
            look(house)
            most = max(most, house.megabytes())
        fuzzer.isOver = True
        for thread in threads:
            thread.join()
        statuses = {}
        for one in fuzzer.statuses:
            for status, count in one.items():
                statuses[status] = statuses.get(status, 0) + count
        print(f"{sum(fuzzer.asked)} connections, {most:.0f} MB at most, seed {seed}; answers", dict(sorted(statuses.items())))
        for finding in fuzzer.findings[:20]:
            print("FOUND", *finding)
        assert house.host.poll() is None, "the host has died"
        assert not fuzzer.findings and most < MOST_MEGABYTES
    finally:
        house.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
