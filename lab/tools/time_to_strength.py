"""How much CPU time training needs to reach a strength: the right decisions in the exam over the time of a run, for the
network without search and with it.

    python3 lab/tools/time_to_strength.py RUN [RUN ...] [--sims 0,64] [--svg FILE] [--jarmo FILE]

Each RUN is the folder of a run that kept all its checkpoints and played no matches:

    jarmo train --game jarmo --run RUN --cpu-minutes 60 --set run.keep=100000 --set run.checkpoint=500 \\
      --set evaluation.every=0

A run can be read while it trains. Results are kept in RUN/strength.json. Prints the minutes of CPU time until the share
of right decisions, of all decisions, is 95, 97, 98 and 99 % in two checkpoints in a row. Needs only Python.
"""

import argparse
import json
import subprocess
from math import log
from pathlib import Path

GOALS = [95, 97, 98, 99]
COLORS = ["#3567b0", "#b3541e", "#2f7d4f", "#7a4fa3"]


def minutes_of_steps(run):
    """The CPU time in minutes at each line of the metrics."""
    found = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        line = json.loads(line)
        found[line["step"]] = line["timing"]["cpu_seconds"] / 60
    return found


def checkpoints(run, times, count):
    """About `count` checkpoints with their minutes, evenly over the logarithm of time."""
    found, latest = [], 0.0
    files = sorted((run / "checkpoints").glob("step-*.safetensors"))
    steps = [int(file.stem.split("-")[1]) for file in files]
    timed = [(times[max(known for known in times if known <= step)], file) for step, file in zip(steps, files)]
    ratio = (timed[-1][0] / timed[0][0]) ** (1 / count)
    for minutes, file in timed:
        if minutes >= latest * ratio or file == files[-1]:
            found.append((minutes, file))
            latest = minutes
    return found


def measure(run, options):
    """Points `(minutes, right in %)` for each number of simulations."""
    store = run / "strength.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    points = {sims: [] for sims in options.sims}
    for minutes, file in checkpoints(run, minutes_of_steps(run), options.points):
        missing = [sims for sims in options.sims if f"{file.stem} {sims}" not in known]
        if missing:
            asked = [options.jarmo, "accuracy", file, "--sims", ",".join(missing), "--json"]
            answer = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
            for sims, line in zip(missing, answer.splitlines(), strict=True):
                line = json.loads(line)
                known[f"{file.stem} {sims}"] = 100 * line["all"]["right"] / line["all"]["decisions"]
            store.write_text(json.dumps(known))
        for sims in options.sims:
            points[sims].append((minutes, known[f"{file.stem} {sims}"]))
    return points


def reached(points, goal):
    """The minutes at which a goal is reached for good: at a checkpoint and the next one; `None` if it is not."""
    pairs = zip(points, points[1:])
    return next((first[0] for first, second in pairs if min(first[1], second[1]) >= goal), None)


def picture(curves):
    """Curves over the logarithm of time; errors on a logarithmic scale, because the last percent are the long ones."""
    width, height, left, top, right, bottom = 720, 400, 60, 20, 190, 46
    longest = max(point[0] for _, _, points in curves for point in points)
    shortest = min(point[0] for _, _, points in curves for point in points)
    worst, best = 20.0, 0.5

    def x(minutes):
        return left + (width - left - right) * log(minutes / shortest) / log(longest / shortest)

    def y(value):
        share = log(min(max(100 - value, best), worst) / best) / log(worst / best)
        return top + (height - top - bottom) * share

    def line(x1, y1, x2, y2):
        return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#ddd"/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for value in [80, 90, 95, 97, 98, 99, 99.5]:
        parts.append(line(left, y(value), width - right, y(value)))
        parts.append(f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g} %</text>')
    for minutes in [1, 2, 5, 10, 20, 50, 100, 200, 500]:
        if shortest <= minutes <= longest:
            parts.append(line(x(minutes), top, x(minutes), height - bottom))
            parts.append(f'<text x="{x(minutes):.1f}" y="{height - bottom + 18}" text-anchor="middle">{minutes}</text>')
    middle = left + (width - left - right) / 2
    parts.append(f'<text x="{middle}" y="{height - 8}" text-anchor="middle">minutes of CPU time</text>')
    ends = []
    names = list(dict.fromkeys(name for name, _, _ in curves))
    for name, sims, points in curves:
        color = COLORS[names.index(name) % len(COLORS)]
        dash = ' stroke-dasharray="5 4"' if sims == "0" else ""
        path = "L".join(f"{x(minutes):.1f} {y(value):.1f}" for minutes, value in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
        label = f"{name}, {'network alone' if sims == '0' else sims + ' simulations'}"
        ends.append([y(points[-1][1]), x(points[-1][0]), color, label])
    lowest = 0.0
    halo = 'paint-order="stroke" stroke="#fff" stroke-width="4"'  # a label can lie on another curve
    for height_of_end, place, color, label in sorted(ends):
        lowest = max(lowest + 15, height_of_end + 4)
        where = f'x="{place + 6:.1f}" y="{lowest:.1f}"'
        parts.append(f'<text {where} font-size="12" fill="{color}" {halo}>{label}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="NAME=RUN names its curve")
    parser.add_argument("--sims", default="0,64", help="simulations, 0 for the network alone")
    parser.add_argument("--points", type=int, default=24, help="checkpoints of a run that are measured, about")
    parser.add_argument("--svg", type=Path, help="draw the curves")
    parser.add_argument("--jarmo", default="jarmo", help="the built program")
    options = parser.parse_args()
    options.sims = options.sims.split(",")
    curves = []
    print("| run | simulations | " + " | ".join(f"{goal} %" for goal in GOALS) + " | best | of minutes |")
    print("|" + "---|" * (len(GOALS) + 4))
    for run in options.runs:
        name, _, folder = str(run).rpartition("=")
        folder = Path(folder)
        for sims, points in measure(folder, options).items():
            curves.append((name or folder.name, sims, points))
            times = [reached(points, goal) for goal in GOALS]
            goals = " | ".join("–" if minutes is None else f"{minutes:.1f}" for minutes in times)
            best = max(value for _, value in points)
            print(f"| {name or folder.name} | {sims} | {goals} | {best:.2f} % | {points[-1][0]:.1f} |", flush=True)
    if options.svg:
        options.svg.write_text(picture(curves))


if __name__ == "__main__":
    main()
