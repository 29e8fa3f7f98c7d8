"""Tries every page of Docs/RUNBOOK.md: runbook.py HOLDFAST SCRATCH [PAGE...]

For each page a host is brought into the state in which its alert fires, a real Prometheus has to see it fire,
every command that the page tells is typed as it stands there, and what the page advises has to make the alert
clear. The rules run at many times their pace. The files pages_*.py have a function for each.
"""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Interop"))

import pages_disk, pages_host, pages_queue, pages_upstream  # noqa: E401, E402, F401
from attempts import ATTEMPTS, EVERY_CASE  # noqa: E402
from scene import PACE, Scene  # noqa: E402
from watch import ROOT, Prometheus, jsonnet  # noqa: E402

AT_ONCE = 8
# Typed in the sources, not beside a host; the former is a part of `make test`, the latter is this.
ELSEWHERE = {"RUNBOOK=https://... make dashboards", "make runbook"}
# Of one word, unlike what else stands in such letters.
SHORT = {"mount", "timedatectl", "dmesg"}


class Page:
    def __init__(self, name, text):
        self.name, self.fired, self.cleared, self.skipped = name, None, None, []
        self.commands = dict.fromkeys(commands(text), False)

    def tries(self, command):
        assert command in self.commands, f"'{command}' does not stand on the page {self.name}."
        self.commands[command] = True

    def skip(self, command, reason):
        """Where the machine lacks something; said loudly."""
        assert command in self.commands, f"'{command}' does not stand on the page {self.name}."
        del self.commands[command]
        self.skipped.append(f"{self.name}: SKIPPED '{command}': {reason}")

    def untried(self):
        return [command for command, is_tried in self.commands.items() if not is_tried]


def commands(text):
    """What is to be typed: the lines that stand apart, and what has several words between backticks."""
    for line in re.findall(r"^    (\S.*)$", text, re.M):
        yield re.sub(r"\s+#.*", "", line)
    for span in re.findall(r"`([^`]+)`", text):
        span = re.sub(r"\s+", " ", span)
        if (" " in span and re.match(r"[a-z]|RUNBOOK=", span) or span in SHORT) and span not in ELSEWHERE:
            yield span


def read_pages():
    before, *rest = re.split(r"^### (Holdfast\w+)$", (ROOT / "Docs" / "RUNBOOK.md").read_text(), flags=re.M)
    found = {EVERY_CASE: Page(EVERY_CASE, before)}
    for name, text in zip(rest[::2], rest[1::2]):
        found[name] = Page(name, text)
    return found


class Trial:
    """What all scenes share: a Prometheus for each pace."""

    def __init__(self, holdfast, scratch):
        # So that processes are called what they are, whatever the file's name is.
        self.holdfast, self.scratch = scratch / "holdfast", scratch
        self.holdfast.symlink_to(holdfast)
        self.watches, self.lock = {}, threading.Lock()

    def prometheus(self, pace):
        with self.lock:
            if pace not in self.watches:
                self.watches[pace] = Prometheus(self.scratch / f"prometheus-{pace}", pace)
            return self.watches[pace]

    def machine(self, **orders):
        """The environment of a program whose machine obeys these files."""
        library = self.scratch / "machine.so"
        with self.lock:
            if not library.exists():
                subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "machine.c", "-ldl"], check=True)
        return {"LD_PRELOAD": str(library)} | {name: str(path) for name, path in orders.items()}

    def carry_out(self, page, attempt):
        """What went wrong with a page, if anything did."""
        if attempt.settings.get("disk") and os.geteuid() != 0:
            page.skipped.append(f"{page.name}: SKIPPED: only root can give it a disk of its own.")
            return None
        began = time.monotonic()
        try:
            with Scene(self, page, **attempt.settings) as scene:
                attempt.function(scene)
            missing = page.untried()
            assert not missing, f"These were not tried: {missing}"
            assert page.name == EVERY_CASE or page.cleared is not None, "Its alert was not seen to fire and clear."
        except (Exception, SystemExit) as error:
            where = traceback.extract_tb(error.__traceback__)
            place = next((f"{pathlib.Path(one.filename).name}, line {one.lineno}" for one in where
                          if "pages_" in one.filename), "before it began")
            return f"{page.name} ({place}): {error}"
        finally:
            print(f"{page.name}: {time.monotonic() - began:.0f} s", flush=True)

    def close(self):
        for prometheus in self.watches.values():
            prometheus.close()


def table(pages):
    def seconds(time):
        return "" if time is None else f"{time:.0f} s"

    print(f"\n{'page':<30}{'pace':>6}{'fired after':>14}{'commands':>10}{'cleared after':>15}")
    for page in pages:
        tried = sum(page.commands.values())
        pace = ATTEMPTS[page.name].settings.get("pace", PACE)
        print(f"{page.name:<30}{pace:>6}{seconds(page.fired):>14}{tried:>10}{seconds(page.cleared):>15}")
    print("(Commands: how many of the page were typed. Pace: by how much the rules go faster than in life.)\n")


def main(holdfast, scratch, *wanted):
    began = time.monotonic()
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    known = read_pages()
    alerts = set(jsonnet("(import 'rules.libsonnet')().names"))
    failures = [f"{name} has no page." for name in alerts - set(known)]
    failures += [f"The page {name} is tried by nothing." for name in set(known) - set(ATTEMPTS)]
    failures += [f"There is no page {name} any more." for name in set(ATTEMPTS) - set(known)]
    chosen = [page for page in known.values() if page.name in (wanted or ATTEMPTS) and page.name in ATTEMPTS]
    chosen.sort(key=lambda page: -ATTEMPTS[page.name].lasts)
    trial = Trial(pathlib.Path(holdfast).resolve(), scratch)
    try:
        with ThreadPoolExecutor(AT_ONCE) as hands:
            failures += filter(None, hands.map(lambda page: trial.carry_out(page, ATTEMPTS[page.name]), chosen))
    finally:
        trial.close()
    table([page for page in known.values() if page in chosen])
    for line in [line for page in chosen for line in page.skipped] + failures:
        print(line, file=sys.stderr)
    print(f"{len(chosen)} pages in {time.monotonic() - began:.0f} s.")
    if failures:
        raise SystemExit(1)
    print("Every page was tried, and does what it says.")


if __name__ == "__main__":
    main(*sys.argv[1:])
