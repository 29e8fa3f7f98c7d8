"""The status page in a real browser: page.py HOLDFAST SCRATCH

Needs Debian's chromium, and the Python packages `playwright` and `cryptography`. The page's own content
security policy is in force. Pictures are left in SCRATCH, to be looked at.
"""
import pathlib
import shutil
import sys
import time

from house import House, item
from playwright.sync_api import sync_playwright

failures = []


def check(name, holds):
    print(("holds  " if holds else "FAILS  ") + name)
    if not holds:
        failures.append(name)


class Pages:
    def __init__(self, browser, address, scratch):
        self.browser, self.address, self.scratch = browser, address, scratch
        self.complaints = []

    def open(self, **looks):
        page = self.browser.new_context(**looks).new_page()
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"http://{self.address}/")
        page.wait_for_selector("article")
        return page

    def picture(self, page, name):
        page.screenshot(path=self.scratch / f"{name}.png", full_page=True)

    @staticmethod
    def says(page, text, seconds=15):
        """How long it took until the line at the top said so."""
        began = time.monotonic()
        while page.inner_text("#line") != text:
            if time.monotonic() - began > seconds:
                return None
            page.wait_for_timeout(20)
        return time.monotonic() - began


def tour(house, pages):
    page = pages.open(viewport={"width": 1100, "height": 700})
    check("the root leads to the page", page.url.endswith("/status"))
    check("it says that nothing waits", pages.says(page, "Nothing waits.") is not None)
    pages.picture(page, "light")

    house.ask("PUT", "/network", {"mode": "offline"})
    for number in range(3):
        house.ask("POST", "/object/item", item(number))
    check("queued edits are shown while it is open", pages.says(page, "3 changes wait for the server.") is not None)
    check("it says that this is a drill", "(a drill)" in page.inner_text("#network"))
    pages.picture(page, "waiting")
    pages.picture(pages.open(color_scheme="dark", viewport={"width": 1100, "height": 700}), "dark")
    narrow = pages.open(viewport={"width": 320, "height": 640}, device_scale_factor=2)
    pages.picture(narrow, "narrow")
    check("a phone need not scroll sideways", narrow.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    page.keyboard.press("Tab")
    check("the first key leads to a way past the head", page.evaluate("document.activeElement.className") == "skip")
    page.keyboard.press("Enter")
    check("and that to the accounts", page.evaluate("document.activeElement.id") == "accounts")

    house.ask("PUT", "/network", {"mode": "auto"})
    took = pages.says(page, "Nothing waits.")
    check("the drain is shown while it is open", took is not None)
    check("what was resolved is listed", page.locator("li").count() == 3)
    pages.picture(page, "drained")
    text = page.inner_text("body")
    check("it names nobody", not any(word in text for word in ("ada", "@", "item 0", "user0")))
    check("the console has nothing to say", not pages.complaints)
    if pages.complaints:
        print(*pages.complaints, sep="\n")

    house.stop(house.host)
    check("it says so when the host is gone", pages.says(page, "The host does not answer. Trying again…") is not None)


def main(holdfast, scratch):
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True)
    house = House(holdfast, scratch)
    try:
        house.sign_in()
        with sync_playwright() as playwright:
            program = shutil.which("chromium")
            # Root has no sandbox to offer, and the page is our own.
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            tour(house, Pages(browser, house.ops, scratch))
            browser.close()
    finally:
        house.close()
    if failures:
        raise SystemExit(f"{len(failures)} failed")
    print(f"The page is as it should be; pictures are in {scratch}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
