"""The pages about the host itself, and what helps in every case."""
import contextlib
import json
import shutil
import signal
import socket
import sqlite3
import time
import urllib.request

from attempts import attempt, crowd, set_back
from host import EMAIL, PASSWORD
from watch import Prometheus, wait

STORE_DEPTH = 'holdfast_channel_depth{channel="pending-store"}'


@attempt()
def every_case(scene):
    ids = set_back(scene)
    scene.type("holdfast accounts", rf"{EMAIL}.*unlocked.* 3 ")
    scene.type("holdfast pending", ids[0])
    scene.type("holdfast sync", "Not all is synced.*500")
    scene.type("curl -s 'localhost:9187/readyz?verbose'", "ok")
    scene.type("journalctl -u holdfast -n 100", "Listening")
    with urllib.request.urlopen(f"http://{scene.host.ops}/status") as page:
        assert b"Holdfast" in page.read()
    scene.run("HOLDFAST_STATE= holdfast accounts --socket STATE/holdfast.sock", EMAIL)
    scene.run("systemctl restart holdfast")
    scene.run("holdfast sync", "3 changes are still pending. The vault is locked.")
    scene.type("holdfast unlock", answer=PASSWORD)
    assert len(scene.host.pending()) == 3
    rules, address = scene.scratch / "rules.yml", "https://ops.example.org/RUNBOOK.md"
    command = f"""jsonnet -J Dashboards -e '(import "rules.libsonnet")(runbook="{address}").rules' > RULES"""
    scene.type(command, RULES=rules)
    scene.run(f"promtool check rules {rules}", "SUCCESS")
    assert f"{address}#holdfastdown" in rules.read_text()
    goes_back(scene)


def goes_back(scene):
    """A newer version has been here: its files have another number, and beside them lies the copy of before."""
    scene.type("systemctl stop holdfast")
    before = scene.host.state / "holdfast.db.version-99"
    shutil.copy2(scene.host.state / "holdfast.db", before)
    for name in ("holdfast.db", "pending-copy.db"):
        with contextlib.closing(sqlite3.connect(scene.host.state / name)) as file:
            file.execute("PRAGMA user_version = 100")
    scene.run("holdfast serve --state STATE --ops-listen 127.0.0.1:0", "A newer version of the program", status=1)
    newer = {"NEWER": scene.scratch / "newer", "version-N": "version-99"}
    scene.type("mkdir -m 700 NEWER", **newer)
    scene.type("mv STATE/holdfast.db* STATE/pending-copy.db NEWER", **newer)
    scene.type("cp -a NEWER/holdfast.db.version-N STATE/holdfast.db", **newer)
    scene.type("systemctl start holdfast")
    scene.run("holdfast unlock", answer=PASSWORD)
    assert len(scene.host.pending()) == 3


@attempt()
def down(scene):
    scene.type("curl -s localhost:9187/livez", "ok")
    scene.type("holdfast serve --print-config", "ops-listen")
    scene.run("holdfast serve --state STATE --ops-listen 127.0.0.1:0", rf"\b{scene.host.pid.read_text()}\b", status=1)
    scene.run("holdfast serve --listen nonsense", "nonsense", status=64)
    scene.host.go("offline")
    scene.host.edit(scene.host.items()[0], notes="changed")
    with socket.socket() as squatter:
        scene.host.stopped.touch()
        scene.host.signal(signal.SIGKILL)
        wait(lambda: not scene.host.pid.exists(), "It does not end.")
        scene.begins()
        scene.type("curl -s localhost:9187/livez", status=7)
        address = scene.host.ops.split(":")
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind((address[0], int(address[1])))
        squatter.listen()
        scene.host.stopped.unlink()
        scene.fires()
        scene.type("systemctl status holdfast", f"{scene.host.ops}", status=None)
    scene.type("systemctl restart holdfast")
    scene.clears()
    scene.run("holdfast accounts", rf"{EMAIL}.*locked.* 1 ")


@attempt()
def metrics_absent(scene):
    """Of a Prometheus that calls the job otherwise; the rules that ask for the usual name are its own as well."""
    scene.begins()
    watch = Prometheus(scene.scratch / "prometheus", 60, job="vaults")
    try:
        scene.prometheus, scene.whose = watch, 'job="holdfast"'
        watch.watch(scene.host.ops, scene.page.name)
        scene.fires()
        command = """jsonnet -J Dashboards -e '(import "rules.libsonnet")(job="…").rules'"""
        rules = scene.type(command, **{"…": "vaults"})
        watch.follow(json.loads(rules))
        watch.reload()
        scene.clears()
    finally:
        watch.close()


@attempt(lasts=75)
def restarting(scene):
    scene.begins()
    for _ in range(4):
        time.sleep(2.5)
        scene.host.signal(signal.SIGKILL)
        wait(lambda: scene.host.figure("holdfast_build_info"), "The host does not come back.")
    scene.fires()
    scene.type("journalctl -u holdfast | grep -iE 'started|killed|watchdog|error'", "killed")
    scene.run("holdfast accounts", f"{EMAIL}.*locked")
    scene.clears()


@attempt(lasts=75, is_ill=True)
def heartbeat_late(scene):
    """The disk hangs, and more edits wait for it than the pending store has under way at once."""
    lines = crowd(scene, scene.move_in(4))
    scene.begins()
    scene.fires(within=120)
    scene.type("journalctl -u holdfast > FILE", FILE=scene.scratch / "kept.log")
    scene.machine(DISK_MOOD=0)
    scene.type("systemctl restart holdfast")
    scene.clears()
    for line in lines:
        line.close()


@attempt(is_ill=True)
def channel_full(scene):
    """The disk hangs, and more clients edit than there is room for. Those who come first give up, which changes
    nothing: what they have sent is on its way."""
    later = scene.move_in(4)
    first = crowd(scene, scene.move_in(4))
    wait(lambda: scene.host.figure(STORE_DEPTH) > 400, "Nobody waits for the store.")
    for line in first:
        line.close()
    lines = crowd(scene, later)
    scene.begins()
    scene.fires()
    scene.machine(DISK_MOOD=0)
    scene.clears()
    assert {line.recv(12) for line in lines} == {b"HTTP/1.1 200"}, "A message was lost."
    for line in lines:
        line.close()


@attempt()
def descriptors_run_out(scene):
    pid = scene.host.pid.read_text()
    scene.run(f"prlimit --pid {pid} --nofile=128:256")
    lines = [socket.create_connection(scene.host.ops.split(":")) for _ in range(90)]
    scene.begins()
    scene.fires()
    scene.type("ss -tnp | grep holdfast", rf"pid={pid}\b")
    count = scene.type("ls /proc/$(systemctl show -P MainPID holdfast)/fd | wc -l")
    assert int(count) > 100, count
    for line in lines:
        line.close()
    scene.clears()
