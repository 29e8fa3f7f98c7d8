"""A host under a supervisor, and somebody's account on it."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request

from watch import free_port, wait

EMAIL, PASSWORD = "ada@example.org", "correct horse"


class Line(http.client.HTTPConnection):
    """To a host's socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Host:
    """One that is kept running, as systemd does it: who ends it without having stopped it gets another."""

    def __init__(self, holdfast, scratch, upstream, *flags, environment={}):
        self.holdfast, self.scratch, self.state = holdfast, scratch, scratch / "state"
        scratch.mkdir(parents=True, exist_ok=True)
        self.ops = f"127.0.0.1:{free_port()}"
        self.flags = ["--ops-listen", self.ops, "--upstream", upstream, "--ready-file", scratch / "ready.json", *flags]
        self.environment = os.environ | environment
        self.pid, self.ready, self.stopped = (scratch / name for name in ("host.pid", "ready.json", "stopped"))
        self.is_over = False
        self.supervisor = threading.Thread(target=self.supervise, daemon=True)
        self.supervisor.start()
        wait(self.ready.exists, "The host does not start.")

    def supervise(self):
        while not self.is_over:
            if self.stopped.exists():
                time.sleep(0.05)
                continue
            with open(self.scratch / "host.log", "a") as log:
                self.run(log)

    def run(self, log):
        place = ["--state", self.state, "--listen", f"unix:{self.state}/holdfast.sock"]
        words = [str(word) for word in [self.holdfast, "serve", *place, *self.flags]]
        process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment)
        self.pid.write_text(str(process.pid))
        print("systemd: Started holdfast.service.", file=log, flush=True)
        status = process.wait()
        self.pid.unlink()
        self.ready.unlink(missing_ok=True)
        how = f"killed, status={-status}/{signal.Signals(-status).name}" if status < 0 else f"exited, status={status}"
        print(f"systemd: holdfast.service: Main process exited, code={how}", file=log, flush=True)
        if status:
            time.sleep(0.2)

    def signal(self, number):
        os.kill(int(self.pid.read_text()), number)

    def ask(self, method, path, body=None, within=60):
        """The status, and what the answer has of data."""
        line = Line(self.state / "holdfast.sock")
        line.timeout = within
        line.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = line.getresponse()
        told = json.load(answer)
        line.close()
        return answer.status, told.get("data") if isinstance(told, dict) else told

    def get(self, path):
        return self.ask("GET", path)[1]

    def sign_in(self, email=EMAIL):
        """The account's id."""
        status, told = self.ask("POST", "/accounts", {"email": email, "password": PASSWORD})
        assert status == 200, told
        return told["id"]

    def create(self, count, name="item"):
        for number in range(count):
            status, told = self.ask("POST", "/object/item", login(f"{name} {number}"))
            assert status == 200, told

    def items(self):
        return self.get("/list/object/items")["data"]

    def edit(self, item, **changes):
        login = item["login"] | {name: changes.pop(name) for name in ("password", "username") if name in changes}
        status, told = self.ask("PUT", f"/object/item/{item['id']}", item | changes | {"login": login})
        assert status == 200, told
        return told

    def go(self, mode):
        """offline, or auto."""
        assert self.ask("PUT", "/network", {"mode": mode})[0] == 200

    def pending(self, state=None):
        return [change for change in self.get("/pending")["data"] if state in (None, change["state"])]

    def figure(self, name):
        """The sum of what the page of metrics has under that name, labels or their beginning included."""
        with urllib.request.urlopen(f"http://{self.ops}/metrics", timeout=20) as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))

    def close(self):
        self.is_over = True
        self.stopped.touch()
        if self.pid.exists():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        self.supervisor.join(30)


def login(name):
    return {
        "type": 1, "name": name, "notes": None, "favorite": False, "fields": [],
        "login": {"username": "ada", "password": "secret", "totp": None, "uris": []},
    }
