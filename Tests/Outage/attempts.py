"""What the pages of the runbook are tried with.

systemctl and journalctl are stood in for (stand-ins/), because no systemd runs here; upstream is `holdfast upstream`
with its faults; disks are small file systems in memory, or real ones of a machine that is ill (machine.c).
"""
import json
import socket
from types import SimpleNamespace

from host import login
from watch import wait

ATTEMPTS = {}
EVERY_CASE = "EveryCase"
BROKEN = {"kind": "status", "status": 500}


def attempt(lasts=60, **settings):
    """A function that tries the page that it is named after.

    - lasts: about how many seconds. settings: those of the scene.
    """
    def keep(function):
        words = "".join(word.title() for word in function.__name__.split("_"))
        name = words if words == EVERY_CASE else f"Holdfast{words}"
        ATTEMPTS[name] = SimpleNamespace(function=function, lasts=lasts, settings=settings)
        return function
    return keep


def set_back(scene, **effect):
    """A change of each item waits, because upstream refuses it; their ids."""
    scene.upstream.fail("updateCipher", **(effect or BROKEN))
    scene.host.go("offline")
    for item in scene.host.items():
        scene.host.edit(item, notes="changed")
    scene.host.go("auto")
    wait(lambda: all(change["attempts"] for change in scene.host.pending()), "Nothing was tried.", 60)
    return [change["id"] for change in scene.host.pending()]


def fall_out(scene):
    """Somebody else on the same account changes what was changed here as well; the two meet."""
    other = scene.neighbour()
    scene.host.go("offline")
    for item in scene.host.items():
        scene.host.edit(item, notes="from here", password="here")
        other.edit(item, notes="from there", password="there")
    return other


def settled(scene):
    wait(lambda: not scene.host.pending(), "Something is still pending.", 60)


def crowd(scene, accounts, count=250):
    """The disk hangs, and so many clients of each account send an edit and wait for their answers. An account has no
    more than 256 edits under way at once."""
    body = json.dumps(login("new")).encode()
    scene.machine(DISK_MOOD="hang")
    lines = []
    for account in accounts * count:
        head = f"POST /accounts/{account}/object/item HTTP/1.1\r\nHost: localhost\r\n" \
            f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\n\r\n"
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(scene.host.state / "holdfast.sock"))
        line.sendall(head.encode() + body)
        lines.append(line)
    return lines
