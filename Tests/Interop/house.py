"""A host and its upstream, and one account, for whoever looks at them from outside."""
import http.client
import json
import pathlib
import re
import subprocess
import time

import bitwarden

EMAIL, PASSWORD = "ada@example.com", "correct horse"


class House:
    def __init__(self, holdfast, scratch):
        self.holdfast, self.scratch = holdfast, scratch
        up = scratch / "up.json"
        self.upstream = self.run("upstream", "--ready-file", up)
        self.await_file(up)
        self.server = "http://" + json.loads(up.read_text())["upstream"]
        self.start()

    def run(self, *words):
        log = open(self.scratch / f"{words[0]}.log", "a")
        return subprocess.Popen([self.holdfast, *map(str, words)], stdout=log, stderr=log)

    @staticmethod
    def await_file(path):
        while not path.exists():
            time.sleep(0.001)

    def start(self):
        """Returns after how many seconds the host was ready."""
        ready = self.scratch / "ready.json"
        ready.unlink(missing_ok=True)
        began = time.perf_counter()
        self.host = self.run(
            "serve", "--state", self.scratch / "state", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
            "--upstream", self.server, "--ready-file", ready, "--no-auth", "--log-level", "warning",
        )
        self.await_file(ready)
        took = time.perf_counter() - began
        addresses = json.loads(ready.read_text())
        self.api, self.ops = addresses["api"], addresses["ops"]
        return took

    def ask(self, method, path, body=None, line=None):
        connection = line or http.client.HTTPConnection(self.api, timeout=60)
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status == 200, (method, path, answer.status, data[:200])
        return answer, data

    def sign_in(self):
        """Of somebody who has not been there before."""
        person = bitwarden.Client(self.server, EMAIL, PASSWORD, iterations=5000)
        person.register()
        self.ask("POST", "/accounts", {"email": EMAIL, "password": PASSWORD})

    def stop(self, process):
        process.terminate()
        process.wait(15)

    def close(self):
        self.stop(self.host)
        self.stop(self.upstream)

    def megabytes(self):
        status = pathlib.Path(f"/proc/{self.host.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def item(number):
    return {
        "type": 1, "name": f"item {number}", "notes": None, "favorite": False, "fields": [],
        "login": {"username": f"user{number}", "password": f"secret {number}", "totp": None,
                  "uris": [{"match": None, "uri": f"https://site{number}.example.org/"}]},
    }
