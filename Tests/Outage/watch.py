"""A Prometheus of one's own: it looks at hosts every second, with the rules of the house at a faster pace."""
import json
import pathlib
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


def wait(condition, complaint, seconds=30):
    """Returns what the condition gave as soon as that is something."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := condition():
                return found
        except OSError:
            pass
        if time.monotonic() > end:
            raise SystemExit(complaint)
        time.sleep(0.1)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def jsonnet(expression):
    words = ["jsonnet", "-J", ROOT / "Dashboards", "-e", expression]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


class Prometheus:
    """Hosts come and go while it runs; it calls each by the name that it was given."""

    def __init__(self, scratch, pace, job="holdfast"):
        self.scratch, self.targets = scratch, {}
        scratch.mkdir(parents=True, exist_ok=True)
        self.address = f"127.0.0.1:{free_port()}"
        self.write("targets.json", [])
        self.follow(jsonnet(f"(import 'rules.libsonnet')(pace={pace}).rules"))
        self.write("prometheus.yml", {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": job, "file_sd_configs": [{"files": ["targets.json"]}]}],
        })
        words = ["prometheus", f"--config.file={scratch}/prometheus.yml", f"--storage.tsdb.path={scratch}/tsdb",
                 f"--web.listen-address={self.address}", "--log.level=warn"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open(scratch / "prometheus.log", "w"))
        wait(lambda: self.ask("query", query="vector(1)"), "Prometheus does not start.")

    def write(self, name, content):
        """Whole or not at all: it may be read at any moment."""
        (self.scratch / f"{name}.new").write_text(json.dumps(content))
        (self.scratch / f"{name}.new").replace(self.scratch / name)

    def follow(self, rules):
        """No rule is looked at more often than figures come in."""
        for group in rules["groups"]:
            group["interval"] = "1s"
        self.write("rules.yml", rules)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def watch(self, address, instance):
        self.targets[instance] = address
        self.show_targets()
        wait(lambda: self.ask("query", query=f'up{{instance="{instance}"}} == 1'), f"{instance} is not scraped.")

    def forget(self, instance):
        self.targets.pop(instance, None)
        self.show_targets()

    def show_targets(self):
        self.write("targets.json", [
            {"targets": [address], "labels": {"instance": instance}}
            for instance, address in list(self.targets.items())
        ])

    def ask(self, what, **parameters):
        address = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=20) as answer:
            return json.load(answer)["data"]["result"]

    def over(self, query, start, end, step=1):
        return self.ask("query_range", query=query, start=start, end=end, step=step)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
