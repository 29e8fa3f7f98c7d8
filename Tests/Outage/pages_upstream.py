"""The pages about conflicts, syncs, and the upstream."""
import time

from attempts import BROKEN, attempt, fall_out, settled
from host import EMAIL, PASSWORD
from watch import wait


@attempt(lasts=75, items=56)
def backup_rate_high(scene):
    other = fall_out(scene)
    scene.begins()
    scene.host.go("auto")
    scene.fires()
    other.close()
    settled(scene)
    scene.clears(within=120)


@attempt()
def backup_failed(scene):
    scene.upstream.fail("createCipher", kind="forbidden")
    fall_out(scene)
    scene.begins()
    scene.host.go("auto")
    scene.fires()
    scene.type("holdfast sync", "create cipher: upstream refuses .403")
    scene.upstream.mend()
    scene.type("holdfast sync", "Syncing complete")
    settled(scene)
    scene.clears()


@attempt(lasts=75)
def sync_refused(scene):
    scene.upstream.fail("sync", kind="reshape", changes=[{"path": ["object"], "set": "page"}])
    scene.begins()
    scene.run("holdfast sync --force", "does not call itself a sync", status=1)
    scene.fires()
    scene.type("journalctl -u holdfast | grep -i sync", "does not call itself a sync")
    scene.type("curl -si UPSTREAM/api/config", "200 OK")
    scene.upstream.mend()
    refusals = scene.host.figure("holdfast_sync_aborts_total")
    scene.upstream.fail("sync", times=1, kind="captivePortal")
    scene.run("holdfast sync --force", "a web page answers", status=1)
    assert scene.host.figure("holdfast_sync_aborts_total") == refusals, "A portal is taken for a sync answer."
    scene.run("holdfast sync --force", "Syncing complete")
    scene.clears()


@attempt(pace=720)
def sync_stale(scene):
    """All but syncs go through. How often the host tries by itself no pace makes shorter, so it is asked to."""
    scene.upstream.fail("sync", kind="forbidden")
    scene.host.edit(scene.host.items()[0], notes="changed")
    settled(scene)
    scene.begins()
    while not scene.is_firing():
        assert time.monotonic() - scene.begun < 90, "It does not fire."
        scene.run("holdfast sync --force", "upstream refuses .403", status=1)
    scene.fires()
    scene.type("holdfast sync", "upstream refuses .403", status=1)
    scene.type("holdfast accounts", rf"{EMAIL}.* online +0 ")
    assert scene.is_firing(), "It has ended although nothing was synced."
    scene.upstream.mend()
    scene.type("holdfast sync", "Syncing complete")
    scene.clears()


@attempt(lasts=75, items=12)
def shrink_guard_tripped(scene):
    scene.upstream.fail("sync", kind="empty")
    # Asked for one by one they are not there either.
    scene.upstream.fail("readCipher", kind="missing")
    doubted = time.monotonic()
    scene.begins()
    scene.run("holdfast sync --force", "nearly nothing", status=1)
    scene.fires()
    scene.type("systemctl stop holdfast")
    scene.type("mkdir -m 700 COPY && cp -a STATE/. COPY", COPY=scene.scratch / "copy")
    scene.type("holdfast verify --state COPY", COPY=scene.scratch / "copy")
    scene.type("systemctl start holdfast")
    scene.type("holdfast unlock", answer=PASSWORD)
    assert len(scene.host.items()) == 12, "The vault is not what it was."
    time.sleep(max(0, doubted + 62 - time.monotonic()))
    scene.type("holdfast sync", "Syncing complete")
    assert not scene.host.items(), "What upstream said twice was not taken over."
    scene.clears()


@attempt()
def upstream_down(scene):
    scene.upstream.stop()
    scene.begins()
    scene.host.edit(scene.host.items()[0], notes="changed")
    scene.fires()
    scene.type("curl -v UPSTREAM/alive", "refused", status=7)
    scene.upstream.start()
    scene.type("curl -v UPSTREAM/alive", "200 OK")
    scene.clears()
    settled(scene)


@attempt()
def upstream_degraded(scene):
    scene.upstream.fail(None, **BROKEN)
    scene.begins()
    scene.host.edit(scene.host.items()[0], notes="changed")
    scene.fires()
    scene.upstream.mend()
    scene.clears()


@attempt(lasts=75)
def upstream_banned(scene):
    """First upstream asks to be left alone, then a guard before it answers."""
    scene.upstream.fail(None, kind="throttled", retryAfter="40")
    scene.begins()
    scene.host.edit(scene.host.items()[0], notes="changed")
    scene.fires()
    scene.run("holdfast sync", "Not all is synced.*upstream asks for patience")
    scene.run("systemctl restart holdfast")
    scene.run("holdfast unlock", answer=PASSWORD)
    scene.upstream.mend()
    scene.run("holdfast sync", "Not all is synced.*upstream asks for patience")
    # While the host was started again, nobody told Prometheus anything, which is no end.
    settled(scene)
    scene.clears()
    scene.upstream.fail(None, kind="ban")
    scene.begins()
    scene.host.edit(scene.host.items()[0], notes="changed again")
    wait(lambda: scene.host.figure("holdfast_upstream_bans_total"), "The guard's page is not recognised.")
    time.sleep(1)
    scene.upstream.count_anew()
    scene.fires()
    assert not scene.upstream.asked(), f"It is not left alone: {scene.upstream.asked()}"
    scene.type("curl -si UPSTREAM/api/config", "403 Forbidden(?s:.*)you have been banned")
    scene.upstream.mend()
    scene.type("holdfast sync", "Syncing complete")
    settled(scene)
    scene.clears()


@attempt(lasts=90)
def upstream_flapping(scene):
    """It is away for four seconds of every six or so, which are minutes in life. How soon the host looks for it by
    itself no pace makes shorter, so it is asked to."""
    scene.begins()
    while not scene.is_firing():
        assert time.monotonic() - scene.begun < 150, "It does not fire."
        scene.upstream.stop()
        scene.run("holdfast sync", "nobody can be reached", status=1)
        scene.type("curl -v UPSTREAM/alive", "refused", status=7)
        time.sleep(4)
        scene.upstream.start()
        scene.run("holdfast sync", "Syncing complete")
        scene.type("curl -v UPSTREAM/alive", "200 OK")
        time.sleep(1)
    scene.fires()
    scene.clears()


@attempt()
def account_signed_out(scene):
    scene.host.go("offline")
    scene.host.edit(scene.host.items()[0], notes="changed")
    scene.person.log_in()
    scene.person.call("POST", "/api/accounts/security-stamp", {"masterPasswordHash": scene.person.master_password_hash})
    scene.begins()
    scene.host.go("auto")
    scene.fires()
    scene.type("holdfast accounts", f"{EMAIL}.*signedOut")
    account = scene.host.get("/accounts")["data"][0]["id"]
    scene.type("holdfast logout --account ID", "--discard-pending", status=1, ID=account)
    scene.type("holdfast login EMAIL", answer=PASSWORD, EMAIL=EMAIL)
    scene.clears()
    settled(scene)


@attempt(is_ill=True)
def clock_skew(scene):
    scene.machine(CLOCK_SHIFT=-90)
    scene.begins()
    scene.run("holdfast sync")
    scene.fires()
    if scene.terminal.type("timedatectl")[0]:
        scene.page.skip("timedatectl", "no systemd runs here")
    else:
        scene.type("timedatectl", "synchronized")
    scene.machine(CLOCK_SHIFT=0)
    scene.run("holdfast sync")
    scene.clears()
