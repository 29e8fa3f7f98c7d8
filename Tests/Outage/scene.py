"""Where a page of the runbook is tried: a host with its upstream and somebody's account, a Prometheus that looks at
it, and a terminal at which the page's commands are typed as they stand there."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.request

import bitwarden
from host import EMAIL, PASSWORD, Host
from terminal import Terminal
from watch import ROOT, free_port, wait

HERE = pathlib.Path(__file__).resolve().parent
PACE = 60


class Upstream:
    """One with faults to order, at an address that it keeps."""

    def __init__(self, holdfast, scratch, environment):
        self.scratch, self.environment = scratch, os.environ | environment
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.words = [holdfast, "upstream", "--listen", f"127.0.0.1:{self.port}", "--data", scratch / "upstream"]
        self.start()

    def start(self):
        log = open(self.scratch / "upstream.log", "a")
        words = [str(word) for word in self.words]
        self.process = subprocess.Popen(words, stdout=log, stderr=log, env=self.environment)
        wait(lambda: urllib.request.urlopen(f"{self.address}/alive", timeout=5), "Upstream does not start.")

    def order(self, method, what, **order):
        request = urllib.request.Request(
            f"{self.address}/_faults{what}", json.dumps(order).encode() if order else None,
            {"Content-Type": "application/json"}, method=method,
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read()

    def fail(self, operation, times=None, **effect):
        self.order("POST", "", operation=operation, times=times, effect=effect)

    def mend(self):
        self.order("DELETE", "")

    def asked(self):
        """What it was asked since it was last told to count anew, and how often."""
        return json.loads(self.order("GET", "/traffic"))["calls"]

    def count_anew(self):
        self.order("DELETE", "/traffic")

    def register(self, email=EMAIL):
        person = bitwarden.Client(self.address, email, PASSWORD, iterations=5000)
        person.register()
        return person

    def stop(self):
        """It writes down what it has first, files too."""
        self.process.terminate()
        self.process.wait(60)


class Scene:
    """What is typed here is written down in typed.txt, beside the host's log.

    - pace: of the rules. items: how many there are. flags: of the host. disk: how many MiB a disk of its own has.
    - is_ill: whether host and upstream are on machines that obey ``machine``.
    """

    def __init__(self, trial, page, pace=PACE, items=3, flags=(), disk=None, is_ill=False):
        self.page, self.holdfast, self.prometheus = page, trial.holdfast, trial.prometheus(pace)
        self.scratch, self.whose = trial.scratch / page.name, f'instance="{page.name}"'
        self.items, self.flags, self.disk = items, flags, disk
        self.wrong, self.slow = (
            trial.machine(**{name: self.scratch / name}) if is_ill else {} for name in ("CLOCK_SHIFT", "DISK_MOOD")
        )
        self.households = []
        self.ending = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as self.ending:
            self.furnish()
            self.ending = self.ending.pop_all()
        self.begins()
        return self

    def __exit__(self, *_):
        self.ending.close()

    def furnish(self):
        # As under systemd, where the state directory is a link to a private one.
        state = self.scratch / "private" / "state"
        state.mkdir(mode=0o700, parents=True)
        (self.scratch / "state").symlink_to("private/state")
        if self.disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.disk}m", "none", state], check=True)
            self.ending.callback(subprocess.run, ["umount", "-l", state], check=True)
        shutil.copytree(HERE / "stand-ins", self.scratch / "bin")
        (self.scratch / "bin" / "holdfast").symlink_to(self.holdfast)
        (self.scratch / "Dashboards").symlink_to(ROOT / "Dashboards")
        self.upstream = Upstream(self.holdfast, self.scratch, self.wrong)
        self.ending.callback(self.upstream.stop)
        self.host = Host(self.holdfast, self.scratch, self.upstream.address, *self.flags, environment=self.slow)
        self.ending.callback(self.host.close)
        path = f"{self.scratch}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"
        self.terminal = Terminal(self.scratch, PATH=path, HOLDFAST_STATE=str(self.host.state))
        self.prometheus.watch(self.host.ops, self.page.name)
        self.ending.callback(self.prometheus.forget, self.page.name)
        self.person = self.upstream.register()
        self.host.sign_in()
        self.host.create(self.items)

    def neighbour(self):
        """A second host on the same account."""
        other = Host(self.holdfast, self.scratch / "neighbour", self.upstream.address)
        self.ending.callback(other.close)
        other.sign_in()
        return other

    def move_in(self, count):
        """More accounts on the host; their ids."""
        def settle(number):
            email = f"{len(self.households) + number}@example.org"
            self.upstream.register(email)
            return self.host.sign_in(email)

        self.households += [settle(number) for number in range(count)]
        return self.households[-count:]

    def machine(self, **orders):
        """DISK_MOOD of the host's, CLOCK_SHIFT of upstream's, if it is one that is ill."""
        for name, order in orders.items():
            (self.scratch / name).write_text(str(order))

    # The alert

    def begins(self):
        """From now on it is waited for the alert, or for its end."""
        self.begun = time.monotonic()

    def fires(self, within=90):
        wait(self.is_firing, "The alert does not fire.", within)
        self.page.fired = time.monotonic() - self.begun
        self.begins()

    def clears(self, within=90):
        wait(lambda: not self.is_firing(), "The alert does not clear.", within)
        self.page.cleared = time.monotonic() - self.begun

    def is_firing(self):
        query = f'ALERTS{{alertname="{self.page.name}",{self.whose},alertstate="firing"}}'
        return self.prometheus.ask("query", query=query)

    # The terminal

    def type(self, command, expect=None, status=0, answer=None, seconds=None, **places):
        """Types a command of the page as it stands there, but for what only the reader can know.

        - expect: what has to be found in the output. status: as which it has to end; None if anyhow.
        - answer: what is typed when it asks. seconds: after how long it is interrupted.
        """
        self.page.tries(command)
        return self.run(command, expect, status, answer, seconds, **places)

    def run(self, command, expect=None, status=0, answer=None, seconds=None, **places):
        places = {"localhost:9187": self.host.ops, "UPSTREAM": self.upstream.address, "STATE": self.host.state} | places
        line = command
        for place, value in places.items():
            line = re.sub(rf"(?<![\w-]){re.escape(place)}(?![\w-])", str(value), line)
        ended, output = self.terminal.type(line, answer, seconds)
        with open(self.scratch / "typed.txt", "a") as record:
            record.write(f"$ {line}\n{output}[{ended}]\n\n")
        assert status is None or seconds or ended == status, f"'{line}' ended with {ended}: {output.strip()}"
        assert expect is None or re.search(expect, output), f"'{line}' does not say /{expect}/: {output.strip()}"
        return output
