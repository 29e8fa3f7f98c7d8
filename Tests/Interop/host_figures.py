"""What the host can do beside what others can, in one run: host_figures.py HOLDFAST SCRATCH [CHROOT]

Needs nginx and wrk in PATH, and the Python package `cryptography`. nginx answers the same bytes from a
file; a bare fsync is what any promise to keep something costs at least; rbw, where it is in CHROOT, lists
the same vault.
"""
import http.client
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from house import EMAIL, PASSWORD, House, item
from rbw import Rbw

ITEMS = 1000
LARGE = 10_000


def wrk(url):
    words = ["wrk", "-t1", "-c64", "-d4", "--latency", url]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in text, text
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), re.search(r"99%\s+(\S+)", text)[1]


def beside_nginx(house):
    _, listed = house.ask("GET", "/list/object/items")
    path = "/object/item/" + json.loads(listed)["data"]["data"][0]["id"]
    www = house.scratch / "www"
    www.mkdir()
    os.chmod(house.scratch, 0o755)
    settings = house.scratch / "nginx.conf"
    settings.write_text(
        f"daemon off; pid {house.scratch}/nginx.pid; worker_processes auto; events {{ worker_connections 1024; }}\n"
        f"http {{ access_log off; default_type application/json; keepalive_requests 1000000;\n"
        f"server {{ listen 127.0.0.1:18081; root {www}; }} }}\n"
    )
    nginx = subprocess.Popen(["nginx", "-e", f"{house.scratch}/nginx.log", "-c", settings])
    try:
        for name, target in (("status", "/status"), ("item", path)):
            (www / name).write_bytes(house.ask("GET", target)[1])
            os.chmod(www / name, 0o644)
            time.sleep(0.3)
            theirs, their_p99 = wrk(f"http://127.0.0.1:18081/{name}")
            ours, our_p99 = wrk(f"http://{house.api}{target}")
            size = (www / name).stat().st_size
            print(f"{name:>8}: {ours:8.0f}/s, p99 {our_p99:>8}   nginx, {size} static bytes: "
                  f"{theirs:8.0f}/s, p99 {their_p99:>8}   ratio {ours / theirs:.2f}")
    finally:
        nginx.terminate()
        nginx.wait()


def quantiles(times):
    ordered = sorted(times)
    return " / ".join(f"{ordered[int(len(ordered) * share)] * 1000:.2f}" for share in (0.5, 0.99))


def edits_beside_fsync(house):
    house.ask("PUT", "/network", {"mode": "offline"})
    line, edits, flushes = http.client.HTTPConnection(house.api), [], []
    file = os.open(house.scratch / "file", os.O_RDWR | os.O_CREAT)
    for number in range(400):
        began = time.perf_counter()
        answer, _ = house.ask("POST", "/object/item", item(number), line)
        edits.append(time.perf_counter() - began)
        assert answer.headers["Holdfast-Disposition"] == "queued"
        began = time.perf_counter()
        os.pwrite(file, b"x" * 4096, number * 4096)
        os.fsync(file)
        flushes.append(time.perf_counter() - began)
    print(f"an edit taken offline: {quantiles(edits)} ms p50 / p99; a bare fsync of a page: {quantiles(flushes)} ms")


def fill(house, count):
    house.sign_in()
    with ThreadPoolExecutor(8) as makers:
        list(makers.map(lambda number: house.ask("POST", "/object/item", item(number)), range(count)))


def median(body, rounds=5):
    """In milliseconds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        body()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def lists_beside_rbw(holdfast, scratch, chroot):
    """What each of them needs from the command's start until it has printed a large vault: all of it, and
    of rbw the names."""
    scratch.mkdir()
    house = House(holdfast, scratch)
    try:
        fill(house, LARGE)
        rbw = Rbw(chroot, house.server, EMAIL, PASSWORD)
        rbw.sign_in()
        command = [holdfast, "list", "items", "--json", "--state", scratch / "state"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        counts = [text.count(word) for text, word in ((listed, '"object":"item"'), (rbw("list"), "\n"))]
        assert min(counts) >= LARGE, counts
        theirs = median(lambda: rbw("list"))
        ours = median(lambda: subprocess.run(command, capture_output=True, check=True))
        whole = median(lambda: house.ask("GET", "/list/object/items"))
        print(f"{LARGE} items: listed by the command in {ours:.0f} ms, over HTTP in {whole:.0f} ms; "
              f"`rbw list` {theirs:.0f} ms   ratio {theirs / ours:.2f}")
        rbw.close()
    finally:
        house.close()


def main(holdfast, scratch, chroot=None):
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    if chroot and os.path.exists(f"{chroot}/usr/bin/rbw"):
        lists_beside_rbw(holdfast, scratch / "large", chroot)
    else:
        print("SKIPPED: rbw is not here (`make interop` fetches it)")
    house = House(holdfast, scratch)
    try:
        fill(house, ITEMS)
        starts = []
        for _ in range(5):
            house.stop(house.host)
            starts.append(house.start() * 1000)
        print(f"cold start with {ITEMS} items: {statistics.median(starts):.0f} ms (of {len(starts)})")
        house.ask("POST", "/unlock", {"password": PASSWORD})
        time.sleep(3)
        print(f"resident with one open account of {ITEMS} items: {house.megabytes():.0f} MiB")
        for _ in range(3):
            house.ask("GET", "/list/object/items")
        most = house.megabytes()
        # What was let go of is given back within two seconds.
        time.sleep(5)
        print(f"{most:.0f} MiB when all of them had just been listed, {house.megabytes():.0f} MiB five seconds later")
        beside_nginx(house)
        edits_beside_fsync(house)
    finally:
        house.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
