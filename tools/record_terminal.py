#!/usr/bin/env python3
"""Records a program in a terminal as an animated SVG.

    python3 -m venv target/tools/record && target/tools/record/bin/pip install pyte==0.8.2
    target/tools/record/bin/python tools/record_terminal.py --out FILE.svg [--size 80x24] [--speed 8]
        [--keys SECONDS:TEXT ...] --seconds 60 -- COMMAND ...

The program runs in a terminal of its own. At a time given with --keys the text is typed; `\\r`, `\\x1b[C` and the
like are written as in Python. The picture plays --speed times as fast as the program ran, and says so in its corner.
"""

import argparse
import fcntl
import html
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pyte

CELL = (8.4, 18)  # pixels of a character: width, height
FRAMES = 3  # of the picture in a second
PAUSE = 3.0  # seconds for which the last frame stays
COLORS = {
    "default": "#d8dee9", "black": "#5c6370", "red": "#e06c75", "green": "#98c379", "brown": "#e5c07b",
    "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2", "white": "#e6e6e6",
}
BACKGROUND = "#1e222a"


def color(name):
    if len(name) == 6 and all(digit in "0123456789abcdef" for digit in name):
        return f"#{name}"
    return COLORS.get(name.removeprefix("bright"), COLORS["default"])


def runs(row, columns):
    """The cells of a row as (column, text, style), joined while the style stays the same."""
    found = []
    for column in range(columns):
        cell = row[column]
        front, back = color(cell.fg), None if cell.bg == "default" else color(cell.bg)
        if cell.reverse:
            front, back = back or BACKGROUND, front
        style = (front, back, cell.bold, cell.underscore)
        if found and found[-1][2] == style:
            found[-1][1] += cell.data
        else:
            found.append([column, cell.data, style])
    return tuple((column, text, style) for column, text, style in found if text.strip() or style[1])


def record(options):
    """The rows of the screen over time: for each row a list of (seconds, runs) at every change."""
    columns, rows = options.size
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    keys = sorted((float(at), text.encode().decode("unicode_escape").encode("latin-1"))
                  for at, text in (one.split(":", 1) for one in options.keys))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = dict(os.environ, TERM="xterm-256color", COLUMNS=str(columns), LINES=str(rows), LANG="C.UTF-8")
    program = subprocess.Popen(options.command, stdin=slave, stdout=slave, stderr=slave, env=environment,
                               start_new_session=True, close_fds=True)
    os.close(slave)
    changes = [[(0.0, ())] for _ in range(rows)]
    start = time.monotonic()
    now = shown = 0.0
    while now < options.seconds:
        if select.select([master], [], [], 0.02)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:  # the program has ended
                break
            if not data:
                break
            stream.feed(data)
        now = time.monotonic() - start
        while keys and keys[0][0] <= now:
            os.write(master, keys.pop(0)[1])
        if now - shown >= options.speed / FRAMES:
            shown = now
            look(screen, changes, now, columns)
    look(screen, changes, now, columns)
    if program.poll() is None:
        program.terminate()
        program.wait()
    elif program.returncode:
        sys.exit(f"the program failed with {program.returncode}; its last screen:\n" + "\n".join(screen.display))
    return changes, now


def look(screen, changes, now, columns):
    for number, versions in enumerate(changes):
        row = runs(screen.buffer[number], columns)
        if versions[-1][1] != row:
            versions.append((now, row))


def row_text(number, row):
    """The SVG of a row."""
    top = number * CELL[1]
    parts = []
    for column, text, (front, back, bold, underscore) in row:
        left, width = column * CELL[0], len(text) * CELL[0]
        if back:
            parts.append(f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{CELL[1]}" fill="{back}"/>')
        weight = ' font-weight="bold"' if bold else ""
        line = ' text-decoration="underline"' if underscore else ""
        # Letters and signs may come from fonts of different widths, so they are placed on their own.
        for part in re.finditer(r"[!-~]+(?: [!-~]+)*|[^\x00-\x7f]+", text):
            left, width = (column + part.start()) * CELL[0], len(part[0]) * CELL[0]
            parts.append(f'<text x="{left:.1f}" y="{top + 13}" textLength="{width:.1f}" fill="{front}"{weight}{line}>'
                         f"{html.escape(part[0])}</text>")
    return "".join(parts)


def picture(options, changes, seconds):
    columns, _ = options.size
    rows = 1 + max((number for number, versions in enumerate(changes) if any(row for _, row in versions)), default=0)
    width, height = columns * CELL[0] + 24, rows * CELL[1] + 32
    total = seconds / options.speed + PAUSE
    speed = "" if options.speed == 1 else f"{options.speed:g} times as fast"
    body = []
    for number, versions in enumerate(changes):
        ends = [start for start, _ in versions[1:]] + [seconds + PAUSE * options.speed]
        for (start, row), end in zip(versions, ends):
            if not row:
                continue
            first, last = start / options.speed / total, end / options.speed / total
            text = row_text(number, row)
            if first <= 0 and last >= 1:
                body.append(text)
                continue
            # The values hold from their key times on; a picture without animation shows the last frame.
            still = "visible" if last >= 1 else "hidden"
            values = ["hidden", "visible"] if first > 0 else ["visible"]
            times = ["0", f"{first:.4f}"] if first > 0 else ["0"]
            if last < 1:
                values.append("hidden")
                times.append(f"{last:.4f}")
            body.append(f'<g visibility="{still}"><animate attributeName="visibility" calcMode="discrete" '
                        f'values="{";".join(values)}" keyTimes="{";".join(times)}" dur="{total:.2f}s" '
                        f'repeatCount="indefinite"/>{text}</g>')
    label = html.escape(options.title)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" '
            f'aria-label="{label}" font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" '
            f'font-size="14" style="white-space:pre"><title>{label}</title>'
            f'<rect width="{width:.0f}" height="{height}" rx="8" fill="{BACKGROUND}"/>'
            f'<g transform="translate(12 12)">{"".join(body)}</g>'
            f'<text x="{width - 10:.0f}" y="{height - 6}" text-anchor="end" font-size="11" fill="#7f8794">{speed}</text>'
            "</svg>\n")


def size(text):
    columns, rows = text.split("x")
    return int(columns), int(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--title", default="A terminal")
    parser.add_argument("--size", type=size, default=(80, 24), metavar="COLUMNSxROWS")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--keys", action="append", default=[], metavar="SECONDS:TEXT")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    changes, seconds = record(options)
    with open(options.out, "w", encoding="utf-8") as out:
        out.write(picture(options, changes, seconds))


if __name__ == "__main__":
    main()
