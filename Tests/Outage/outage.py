"""A real Prometheus watches a real host through an outage: outage.py HOLDFAST SCRATCH [PICTURE.svg]

The rules run at sixty times their pace, so that what takes minutes takes seconds. Afterwards every panel
has to have had data, the right alerts have to have fired and cleared, and the picture is drawn.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import boards
import picture
from watch import Prometheus, jsonnet, wait

PACE = 60
AWAY = int(os.environ.get("AWAY", 60))
# Far more than 600 edits need; a pause that outlives the outage takes longer.
DRAIN = 30


class House:
    """A host, and a Prometheus that looks at it every second."""

    def __init__(self, holdfast, scratch):
        self.scratch = scratch
        ready = scratch / "ready"
        words = [holdfast, "serve", "--state", scratch / "state", "--listen", "127.0.0.1:0", "--ops-listen",
                 "127.0.0.1:0", "--ready-file", ready, "--log-level", "notice"]
        self.host = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open(scratch / "host.log", "w"))
        wait(ready.exists, "The host does not start.")
        addresses = json.loads(ready.read_text())
        self.api, self.ops = (f"http://{addresses[name]}" for name in ("api", "ops"))
        self.token = (scratch / "state" / "admin.token").read_text().strip()
        self.prometheus = Prometheus(scratch, PACE)
        self.prometheus.watch(addresses["ops"], addresses["ops"])
        self.ask, self.over = self.prometheus.ask, self.prometheus.over

    def close(self):
        self.prometheus.close()
        self.host.terminate()
        self.host.wait(20)


def numbers(series):
    """All that is a number in it."""
    return [value for one in series for _, value in one["values"] if value != "NaN"]


def filled(expression):
    """As Grafana asks it."""
    return expression.replace("$__rate_interval", "10s").replace("$job", "holdfast").replace("$instance", ".*")


def silent_panels(house, start, end):
    for board in jsonnet("import 'all.libsonnet'").values():
        for panel in board["panels"]:
            for target in panel.get("targets", []):
                if not numbers(house.over(filled(target["expr"]), start, end, 2)):
                    yield f"{board['title']}, {panel['title']}: {target['expr']}"


def draw_boards(house, start, end):
    """A picture of each board beside the other results, also as PNG where Debian's chromium is."""
    for name, board in jsonnet("import 'all.libsonnet'").items():
        path = house.scratch / f"board-{name}.svg"
        drawing = boards.board(board, lambda *over: house.over(filled(over[0]), *over[1:], 2), start, end)
        path.write_text(drawing)
        if shutil.which("chromium"):
            height = int(re.search(r'height="(\d+)"', drawing)[1])
            subprocess.run([
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--window-size=1200,{height}", f"--screenshot={path.with_suffix('.png')}", f"file://{path}",
            ], check=True, capture_output=True)
    print(f"The boards are drawn in {house.scratch}.")


def alerts(house, start, end):
    """When each alert fired, as spans of seconds since the start."""
    spans = {}
    for one in house.over('ALERTS{alertstate="firing"}', start, end):
        mine = spans.setdefault(one["metric"]["alertname"], [])
        for moment in (round(moment - start) for moment, _ in one["values"]):
            if mine and moment - mine[-1][1] <= 1:
                mine[-1][1] = moment
            else:
                mine.append([moment, moment])
    return spans


def drain_time(house, start, end):
    """How long it took from the network's return until nothing waited."""
    back = [moment for one in house.over('sum(holdfast_network_state{state="offline"}) > 0', start, end)
            for moment, _ in one["values"]][-1]
    busy = [moment for one in house.over("sum(holdfast_pending_changes) > 0", start, end)
            for moment, _ in one["values"]][-1]
    return max(0, busy - back)


def main(holdfast, scratch, drawing=None):
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    house = House(holdfast, scratch)
    failures = []
    try:
        time.sleep(3)
        start = time.time()
        time.sleep(7)
        subprocess.run([
            os.environ.get("LOAD", holdfast), "load", "--host", house.api, "--token", house.token, "--ops", house.ops,
            "--users", "40", "--items", "20", "--edits", "15", "--conflicts", "0.2",
            "--offline-seconds", str(AWAY), "--report", scratch / "load.json",
        ], check=True)
        time.sleep(20)
        # A host that hangs is one that is down.
        house.host.send_signal(signal.SIGSTOP)
        time.sleep(16)
        house.host.send_signal(signal.SIGCONT)
        stopped = time.time() - start
        time.sleep(20)
        end = time.time()

        fired = alerts(house, start, end)
        print("Alerts, in seconds from the start:", json.dumps(fired))
        for name in ("HoldfastUpstreamDown", "HoldfastDown"):
            if name not in fired:
                failures.append(f"{name} did not fire.")
        drained = drain_time(house, start, end)
        print(f"Nothing waited any more {drained:.0f} s after the network had returned.")
        if drained > DRAIN:
            failures.append(f"That is more than {DRAIN} s.")
        still = {one["metric"]["alertname"] for one in house.ask("query", query='ALERTS{alertstate="firing"}')}
        if still:
            failures.append(f"These did not clear: {sorted(still)}")
        wrong = set(fired) - {"HoldfastUpstreamDown", "HoldfastDown", "HoldfastMetricsAbsent"}
        if wrong:
            failures.append(f"These should not have fired: {sorted(wrong)}")
        failures += [f"No data: {panel}" for panel in silent_panels(house, start, end)]
        draw_boards(house, start, end)

        queries = {
            "pending": 'sum by (state) (holdfast_pending_changes)',
            "backoff": "max(holdfast_retry_backoff_max_seconds)",
            "out": "sum(rate(holdfast_resolutions_total[5s]))",
            "in": 'sum(rate(holdfast_edits_total{disposition="queued"}[5s]))',
            "away": 'sum(holdfast_network_state{state="offline"}) > bool 0',
        }
        recorded = {name: house.over(query, start, stopped - 17 + start) for name, query in queries.items()}
        (scratch / "recorded.json").write_text(json.dumps(recorded))
        if drawing:
            pathlib.Path(drawing).write_text(picture.outage(recorded, start))
    finally:
        house.close()
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        raise SystemExit(1)
    print("Every panel had data, and the alerts fired and cleared as they should.")


if __name__ == "__main__":
    main(*sys.argv[1:])
