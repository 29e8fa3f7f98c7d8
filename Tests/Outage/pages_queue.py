"""The pages about what waits, and about the objective."""
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from attempts import attempt, set_back, settled
from host import EMAIL, PASSWORD, login
from watch import wait


@attempt(pace=720)
def pending_too_old(scene):
    scene.begins()
    first, second, third = set_back(scene, kind="stale")
    scene.fires()
    scene.type("holdfast pending", f"{first} +stale: .*out of date")
    scene.type("holdfast pending retry ID", "Tried again", ID=first)
    assert len(scene.host.pending()) == 3
    scene.type("holdfast pending save-copy ID", "Kept as an item", ID=second)
    scene.type("holdfast pending discard ID", "Discarded", ID=third)
    assert len(scene.host.items()) == 4 and [change["id"] for change in scene.host.pending()] == [first]
    scene.upstream.mend()
    scene.type("holdfast pending retry ID", "Tried again", ID=first)
    assert not scene.host.pending()
    scene.clears()


@attempt(lasts=140, pace=720)
def pending_locked(scene):
    """A day is two minutes here."""
    scene.host.go("offline")
    scene.host.edit(scene.host.items()[0], notes="changed")
    scene.begins()
    scene.run("holdfast lock")
    scene.host.go("auto")
    scene.fires(within=180)
    scene.type("holdfast accounts", f"{EMAIL}.* locked +online +1 ")
    scene.type("holdfast unlock", answer=PASSWORD)
    settled(scene)
    scene.clears()


@attempt()
def resolver_wedged(scene):
    scene.begins()
    ids = set_back(scene)
    scene.fires()
    scene.type("holdfast pending", ids[0])
    scene.type("holdfast sync", "Not all is synced.*500")
    scene.type("systemctl restart holdfast")
    scene.type("holdfast unlock", answer=PASSWORD)
    scene.upstream.mend()
    scene.type("holdfast sync", "Syncing complete")
    scene.clears()


@attempt(lasts=75)
def sync_standstill(scene):
    """Only a fault of the program can bring this about, after 45 minutes: a page of metrics on which the host's own
    counter has risen by one stands in for it."""
    name, rise = b"\nholdfast_sync_standstills_total ", b"0"

    class Pretence(BaseHTTPRequestHandler):
        def do_GET(self):
            with urllib.request.urlopen(f"http://{scene.host.ops}/metrics") as page:
                body = page.read().replace(name + b"0", name + rise)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Pretence)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    scene.prometheus.watch(f"127.0.0.1:{server.server_port}", scene.page.name)
    time.sleep(3)
    scene.begins()
    rise = b"1"
    scene.fires()
    scene.clears()
    server.shutdown()


@attempt()
def quarantine_non_empty(scene):
    first, second, third = set_back(scene, kind="tooLarge")
    scene.begins()
    scene.run("holdfast sync")
    wait(lambda: len(scene.host.pending("quarantined")) == 3, "Nothing was set aside.", 60)
    scene.fires()
    scene.type("holdfast pending", f"quarantined.*{first} +.*413")
    scene.upstream.mend()
    scene.type("holdfast pending retry ID", "Tried again", ID=first)
    scene.type("holdfast pending save-copy ID", "Kept as an item", ID=second)
    scene.type("holdfast pending discard ID", "Discarded", ID=third)
    assert not scene.host.pending() and len(scene.host.items()) == 4
    scene.clears()


@attempt(flags=["--max-pending", "2"])
def edits_refused(scene):
    scene.host.go("offline")
    statuses = [scene.host.ask("POST", "/object/item", login("new"))[0] for _ in range(3)]
    scene.begins()
    assert statuses == [200, 200, 507], statuses
    scene.fires()
    scene.host.go("auto")
    settled(scene)
    assert scene.host.ask("POST", "/object/item", login("new"))[0] == 200
    scene.clears()


def late_deliveries(scene):
    """Nothing keeps these changes from being sent but that upstream calls them out of date, again and again. The five
    minutes of the objective are the one time that no pace makes shorter."""
    set_back(scene, kind="stale")
    time.sleep(305)
    scene.upstream.mend()
    scene.begins()
    assert scene.host.ask("POST", "/sync", {})[0] == 200
    settled(scene)


@attempt(lasts=350, items=6)
def delivery_burns_fast(scene):
    late_deliveries(scene)
    scene.fires()
    scene.clears()


@attempt(lasts=350, items=6, pace=720)
def delivery_burns_slowly(scene):
    late_deliveries(scene)
    scene.fires()
    scene.clears()
