#!/usr/bin/env python3
"""Records the page in a browser: a game of a person against an agent, or an agent that learns, as an animated WebP; or one
picture as PNG.

    tools/record_page.py target/release/play --out page.webp
    tools/record_page.py target/release/play --out page.png --turns 3 [--analysis] [--play='--game guard']
    tools/record_page.py target/page --out learn.webp

Needs Pillow, chromedriver and Chromium; `tools/pictures` installs Pillow. The person plays the best move of the hint. The
file page.png.txt names the game and the players, for tools/figures. With the folder that tools/build_page makes, in place
of the program, it records the first minutes of learning jarmo, with one frame every five seconds.
"""

import argparse
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from PIL import Image

from static_files import serve

SIZE = (1180, 860)
LEARN_SIZE = (1180, 1180)  # with the whole ladder
EVERY = 5  # seconds between two frames of learning
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
             "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en"]
MOVES = "return document.querySelectorAll('#moves button').length"
PLAYERS = "return [document.getElementById('game').value, ...['seat-white', 'seat-black'].map(id => document.getElementById(id).textContent)]"


class Browser:
    """A session of chromedriver."""

    def __init__(self, size):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        found = (re.search(r"successfully on port (\d+)", line) for line in self.driver.stdout)
        port = next(int(match[1]) for match in found if match)
        self.address = f"http://127.0.0.1:{port}"
        self.profile = tempfile.TemporaryDirectory()
        arguments = ARGUMENTS + [f"--window-size={size[0]},{size[1]}", f"--user-data-dir={self.profile.name}"]
        options = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}}
        self.session = ""
        self.session = "/session/" + self.call("", {"capabilities": {"alwaysMatch": options}}, "/session")["sessionId"]

    def call(self, path, body=None, whole=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + (whole or self.session + path), data)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("/execute/sync", {"script": script, "args": []})

    def wait(self, script):
        for _ in range(1200):
            if self.run(script):
                return
            time.sleep(0.05)
        raise SystemExit(f"timed out: {script}")

    def open(self, address):
        self.call("/url", {"url": urllib.parse.urljoin(address, "icon.svg")})
        self.run("localStorage.setItem('welcomed', 'true')")
        self.call("/url", {"url": address})
        self.wait("return document.documentElement.dataset.ready === 'true'")

    def press(self, cell):
        element = self.call("/element", {"using": "css selector", "value": f'[data-cell="{cell}"]'})
        self.call(f"/element/{next(iter(element.values()))}/click", {})

    def picture(self):
        return Image.open(io.BytesIO(base64.b64decode(self.call("/screenshot")))).convert("RGB")

    def close(self):
        with contextlib.suppress(OSError):
            self.call("/shutdown", whole="/shutdown")
        self.driver.kill()


def cell(name, columns):
    """The number of a circle, or of the top circle of a column such as `D` in connect four."""
    return columns * (int(name[1:] or 6) - 1) + ord(name[0]) - ord("A")


def record(browser, turns):
    """Frames and the milliseconds that each stays."""
    frames = [(browser.picture(), 900)]
    columns = int(browser.run("return new Set([...document.querySelectorAll('[data-cell]')].map(cell =>"
                              " cell.getAttribute('transform').split(/[ (]/)[1])).size"))
    for _ in range(turns):
        browser.run("document.getElementById('hint').click()")
        browser.wait("return document.querySelector('#ideas .move') !== null")
        time.sleep(1.5)
        frames.append((browser.picture(), 1600))
        best = browser.run("return document.querySelector('#ideas .move').textContent")
        *source, target = re.findall(r"[A-G]\d?", best)
        for name in source:
            browser.press(cell(name, columns))
            time.sleep(0.3)
            frames.append((browser.picture(), 700))
        before = browser.run(MOVES)
        browser.press(cell(target, columns))
        browser.wait(f"{MOVES} > {before + 1}")
        time.sleep(0.6)
        frames.append((browser.picture(), 1100))
    return frames


def record_learning(browser, minutes):
    """As `record`, of an agent that learns. The result comes first, because some pages show only the first frame."""
    frames = [(browser.picture(), 1200)]
    browser.run("document.getElementById('start').click()")
    browser.wait("return document.querySelector('#board .piece') !== null")
    begun = time.monotonic()
    for number in range(int(60 * minutes / EVERY)):
        time.sleep(max(0, begun + EVERY * number - time.monotonic()))
        frames.append((browser.picture(), 300))
    return [(frames[-1][0], 3000), *frames[:-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", help="the program play, or the folder of the page")
    parser.add_argument("--out", required=True)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=3, help="of learning")
    parser.add_argument("--width", type=int, default=900, help="of the animation, in pixels")
    parser.add_argument("--analysis", action="store_true", help="shows the analysis of the game at its end")
    parser.add_argument("--play", default="", help="options of play, in one text")
    options = parser.parse_args()
    learns = os.path.isdir(options.program)
    if learns:
        address = f"{serve(options.program)}/learn.html"
    else:
        command = [options.program, "--web", "--port", "0", "--seed", "4", *options.play.split()]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
    browser = Browser(LEARN_SIZE if learns else SIZE)
    try:
        browser.open(address)
        frames = record_learning(browser, options.minutes) if learns else record(browser, options.turns)
        if not learns:
            shown = browser.run(PLAYERS)
            Path(f"{options.out}.txt").write_text("\n".join(shown) + "\n")  # what tools/figures compares with the program
        if options.analysis:
            browser.run("document.getElementById('analyse').click()")
            time.sleep(10)  # for an analysis of a short game
            frames += [(browser.picture(), 1600)] * 3
    finally:
        browser.close()
        if not learns:
            server.kill()
    if options.out.endswith(".png"):
        frames[-3][0].save(options.out, optimize=True)
    else:
        height = options.width * frames[0][0].height // frames[0][0].width
        small = [frame.resize((options.width, height), Image.LANCZOS) for frame, _ in frames]
        small[0].save(options.out, save_all=True, append_images=small[1:], loop=0, quality=60, method=4,
                      duration=[stay for _, stay in frames])


main()
