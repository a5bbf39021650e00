#!/usr/bin/env python3
"""Verifies every entry in results/, and writes the tables of README.md from them.

    python board.py                # verify, and write the tables
    python board.py --check        # verify, and fail if the tables are not those of the entries
    python board.py --pictures .   # draw the curves of each version to this folder, too, with matplotlib
"""

import argparse
import json
import sys
import time
from pathlib import Path

from jarmo import yardstick

HERE = Path(__file__).resolve().parent
MARKS = ("<!-- The tables begin: board.py writes them. -->\n", "<!-- The tables end. -->\n")
PERCENT = {"fresh_wrong": 1, "exam_wrong": 1, "points": 1, "held": 1}
MEASURES = ("fresh_wrong", "exam_wrong", "mistakes_per_game", "points", "held")
HEADS = ("ranked wrong, %", "exam wrong, %", "mistakes/game", "points, %", "held, %")


def cell(name, measure, scale=100):
    """A measure with its interval. `scale` makes percent of a share."""
    if not measure:
        return ""
    digits = PERCENT.get(name, 2)
    median, low, high = (f"{number * (scale if name in PERCENT else 1):.{digits}f}" for number in measure)
    return median if low == high else f"{median} ({low}–{high})"


def count(number):
    return f"{number:,.0f}" if number else ""


def simulations(number):
    return "its own" if number is None else str(number)


def table(heads, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def ranking(entries):
    """The entries of one version with one budget, the fewest mistakes first."""
    rows = [(row, entry, of) for entry in entries for row, of in zip(entry.summary(), entry.results[0].rows, strict=True)]
    rows.sort(key=lambda one: one[0]["fresh_wrong"])
    heads = ["policy", "simulations", "seeds", "steps", "evaluations", "CPU minutes", *HEADS, "code"]
    lines = []
    for row, entry, of in rows:
        used = entry.used()
        minutes = f"{used['minutes']:.2g}" if used["minutes"] else ""
        code = entry.code if entry.code.startswith("http") else f"../{entry.code}"
        cells = [entry.name, simulations(row["simulations"]), str(row["seeds"]) if entry.budget else ""]
        cells += [count(used["steps"]), count(used["evaluations"]), minutes]
        measures = [cell(name, row[name]) for name in MEASURES]
        if entry.budget is None:  # one result, whose interval is that of the positions
            measures[:2] = [f"{text} ±{100 * of[part]['error']:.1f}" for text, part in zip(measures, ("fresh", "exam"))]
        cells += measures
        lines.append([*cells, f"[code]({code})"])
    return table(heads, lines)


def tables(entries):
    """Everything that stands between the marks."""
    text = ""
    for version in yardstick.VERSIONS.values():
        own = [entry for entry in entries if entry.version == version]
        text += f"\n### {version.name}\n"
        for budget in sorted({entry.budget for entry in own if entry.budget}):
            text += f"\nBudget: {budget[1]:,.0f} {budget[0]}.\n\n"
            text += ranking([entry for entry in own if entry.budget == budget])
        text += "\nWithout a budget: policies that do not learn, or were trained elsewhere.\n\n"
        text += ranking([entry for entry in own if not entry.budget])
    return text + earlier(entries)


def earlier(entries):
    """What was measured before there were versions, and has no entry yet."""
    covered = set()
    for entry in entries:
        unit, number = entry.budget or ("minutes", None)
        covered |= {(entry.version.game, entry.name, row["simulations"], unit, number) for row in entry.summary()}
    lines = []
    for row in json.loads((HERE / "earlier.json").read_text()):
        if (row["game"], row["policy"], row["simulations"], "minutes", row["minutes"]) in covered:
            continue
        cells = [row["game"], row["policy"], simulations(row["simulations"]), count(row["minutes"]), str(row["seeds"])]
        lines.append([*cells, count(row["steps"]), *(cell(name, row[name], 1) for name in MEASURES)])
    heads = ["game", "policy", "simulations", "CPU minutes", "seeds", "steps", "fresh wrong, %", *HEADS[1:]]
    return "\n### To be measured again\n\n" + NOTE + "\n" + table(heads, lines)


NOTE = """\
These were measured in November 2026, before there were versions. Their answers were not kept, so **nobody can verify
them**, and they stay here only until an entry with the same budget takes their place. Each seed had its own fresh
positions. The curves show these runs. Jarmo's runs of 10 minutes (except `jarmo train`) used 11 [threat
planes](../docs/glossary.md#search-and-networks), and its other runs 104.

![Wrong critical decisions of the exam over the budget](../docs/pictures/yardstick.svg)
"""


def draw(entries, folder):
    """The curves of each version with trained entries."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "jarmo"}
    for version in yardstick.VERSIONS.values():
        own = [entry for entry in entries if entry.version == version]
        if any(entry.budget for entry in own):
            figure = yardstick.plot(own).figure
            figure.savefig(folder / f"{version.name}.svg", metadata={"Date": None}, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the tables differ")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="draw the curves to this folder, too")
    given = parser.parse_args()
    start, entries = time.monotonic(), []
    for path in sorted((HERE / "results").glob("*.json")):
        try:
            entries.append(yardstick.verify(path))
        except ValueError as error:
            sys.exit(f"{path.name}: {error}")
        print(f"{path.name}: verified", flush=True)
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    text = before + MARKS[0] + tables(entries) + "\n" + MARKS[1] + after
    if given.check and text != readme.read_text():
        sys.exit("README.md has other tables than the entries: run yardstick/board.py")
    if not given.check:
        readme.write_text(text)
    if given.pictures:
        draw(entries, given.pictures)
    print(f"{len(entries)} entries verified in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
