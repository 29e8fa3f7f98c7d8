"""The pages about the disk."""
import contextlib
import pathlib
import shutil
import threading
import time

from attempts import attempt, crowd
from host import PASSWORD, Line, login
from watch import wait


def fill(path):
    """All that the disk has left."""
    with open(path, "wb", buffering=0) as ballast:
        with contextlib.suppress(OSError):
            while ballast.write(bytes(4096)):
                pass
    return path


def refused(scene):
    """As what an edit is refused, after those for which there was room."""
    while (status := scene.host.ask("POST", "/object/item", login("new"))[0]) == 200:
        pass
    return status


@attempt(disk=64, is_ill=True)
def storage_errors(scene):
    """First the disk is full, then its flushes fail."""
    scene.host.go("offline")
    scene.begins()
    ballast = fill(scene.host.state / "ballast")
    assert refused(scene) == 507
    scene.fires()
    kept = len(scene.host.items())
    scene.run("journalctl -u holdfast", "The disk did not take a commit.*disk is full")
    scene.type("df -h STATE", "100%")
    scene.type("mount", "tmpfs")
    scene.type("dmesg | tail", status=None)
    ballast.unlink()
    wait(lambda: scene.host.ask("POST", "/object/item", login("new"))[0] == 200, "Edits are not taken again.", 5)
    scene.machine(DISK_MOOD="fail")
    assert refused(scene) == 500, "It is known what became of a commit of which the disk says nothing."
    assert refused(scene) == 507
    scene.run("journalctl -u holdfast", "The disk did not take a commit.*Input/output error")
    scene.type("systemctl stop holdfast")
    copy = scene.scratch / "copy"
    scene.type("mkdir -m 700 COPY && cp -a STATE/. COPY", COPY=copy)
    scene.type("holdfast verify --state COPY", COPY=copy)
    scene.machine(DISK_MOOD=0)
    scene.host.state = copy
    scene.type("systemctl start holdfast")
    scene.run("holdfast unlock --state COPY", answer=PASSWORD, COPY=copy)
    assert len(scene.host.items()) == kept + 1, "An edit is missing."
    assert scene.host.ask("POST", "/object/item", login("new"))[0] == 200
    scene.clears()


def look_at_a_disk(scene):
    """smartctl where it is there and has a disk to look at."""
    name = "smartctl -a DEVICE"
    devices = sorted(str(path) for path in pathlib.Path("/dev").glob("[sv]d[a-z]")) or ["/dev/null"]
    if not shutil.which("smartctl"):
        return scene.page.skip(name, "smartmontools is not here")
    scene.type(name, "smartctl", status=None, DEVICE=devices[0])


@attempt(is_ill=True)
def commit_slow(scene):
    """Flushes that rest: no disk here is slow by itself."""
    scene.machine(DISK_MOOD=160)
    scene.begins()
    is_over = threading.Event()

    def edit():
        while not is_over.is_set():
            scene.host.create(1)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        scene.fires()
        scene.type("iostat -x 1", "util", seconds=3)
        look_at_a_disk(scene)
        scene.machine(DISK_MOOD=0)
        scene.clears()
    finally:
        is_over.set()
        editor.join()


@attempt(is_ill=True)
def disk_hangs(scene):
    scene.begins()
    lines = crowd(scene, [account["id"] for account in scene.host.get("/accounts")["data"]], 3)
    scene.fires()
    assert len(scene.host.items()) == 3, "Reads do not go on."
    scene.type("dmesg | tail", status=None)
    scene.type("iostat -x 1", "util", seconds=3)
    scene.machine(DISK_MOOD=0)
    assert {line.recv(12) for line in lines} == {b"HTTP/1.1 200"}, "An edit has no answer."
    scene.clears()
    scene.type("systemctl stop holdfast")


@attempt(disk=300, pace=720)
def disk_will_fill(scene):
    ballast, scene.begun = scene.host.state / "ballast", time.monotonic()
    with open(ballast, "wb") as file:
        while not scene.is_firing():
            assert time.monotonic() - scene.begun < 40, "It does not fire."
            file.write(bytes(2 << 20))
            file.flush()
            time.sleep(0.4)
    scene.fires()
    place = scene.type("df STATE", "Mounted on").split()[-1]
    scene.type("du -xh --max-depth=2 PLACE | sort -h | tail", place, PLACE=place)
    ballast.unlink()
    scene.clears()


@attempt(disk=138, items=1)
def disk_nearly_full(scene):
    scene.person.log_in()
    cipher = scene.person.call("GET", "/api/ciphers")["data"][0]
    content = bytes(10 << 20)
    file = scene.person.attach(cipher, "picture", content)
    scene.run("holdfast sync")

    def fetch():
        line = Line(scene.host.state / "holdfast.sock")
        line.request("GET", f"/object/attachment/{file}?itemid={cipher['id']}")
        return line.getresponse().read()

    scene.begins()
    assert fetch() == content
    scene.fires()
    scene.type("systemctl stop holdfast")
    scene.type("rm -r STATE/files")
    scene.type("systemctl start holdfast")
    scene.clears()
    scene.run("holdfast unlock", answer=PASSWORD)
    assert fetch() == content, "The file did not come back."
