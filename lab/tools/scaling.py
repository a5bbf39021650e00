"""How mistakes in the exam depend on the width of the network, the simulations of self-play, and compute.

    for name in jarmo jarmo-again jarmo-no-endgames connect_four connect_four-again; do
      jarmo sweep lab/scaling/$name.toml --run runs/scaling/$name
    done
    python3 lab/tools/scaling.py collect runs/scaling/* --jarmo target/release/jarmo   # docs/lab/scaling.json
    python3 lab/tools/scaling.py show                    # the tables and pictures of docs/lab/scaling.md

`collect` takes the exams of the last weights of each run, and adds runs to those that the file already has. The speed of a
shared machine varies, so the compute of a run is not its CPU time but the CPU time of the same steps at the best speed of
this run: the tenth percentile over its lines of metrics. Needs only Python.
"""

import argparse
import json
import resource
import subprocess
import tomllib
from math import exp, log, sqrt
from pathlib import Path

DATA, PICTURES = Path("docs/lab/scaling.json"), Path("docs/lab")
WIDTHS = [32, 64, 128, 256, 512]
COLORS = dict(zip(WIDTHS, ["#b3541e", "#c79a1b", "#2f7d4f", "#3567b0", "#7a4fa3"]))
NAMES = {"jarmo": "jarmo", "connect_four": "connect four"}
PLAYED = [0, 4, 16, 64, 256]  # simulations per decision after training
FORCES, PLIES = [(2, 5), (6, 8), (9, 10)], [(0, 11), (12, 23), (24, 35)]


def metrics(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def share(part):
    """Wrong critical decisions and all critical ones."""
    return [part["critical"] - part["critical_right"], part["critical"]]


def curve(lines):
    """The minutes of compute at each checkpoint, its step, and its mistakes in the exam by phase."""
    speeds = []
    for before, after in zip(lines, lines[1:]):
        if after["timing"]["cpu_seconds"] > before["timing"]["cpu_seconds"]:  # not where a run went on
            speeds.append((after["timing"]["cpu_seconds"] - before["timing"]["cpu_seconds"]) / (after["step"] - before["step"]))
    best = sorted(speeds)[len(speeds) // 10]
    first = lines[0]["timing"]["cpu_seconds"] - best * lines[0]["step"]  # until there were enough samples
    points = []
    for line in lines:
        if "accuracy" in line:
            phases = [share(line["accuracy"][phase]) for phase in ("opening", "middle", "end")]
            minutes = (max(first, 0) + best * line["step"]) / 60
            points.append([round(minutes, 4), line["step"], share(line["accuracy"]), phases])
    return points


def seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def exams(run, jarmo, counts):
    """The exam with each number of simulations: mistakes, mistakes by force or ply, and CPU time per decision."""
    found = {}
    for sims in counts:
        before = seconds()
        command = [jarmo, "accuracy", run, "--sims", str(sims), "--threads", "1", "--json"]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        stages = {}
        for stage in answer["stages"]:
            key = str(stage.get("force", stage.get("ply")))
            wrong, all_of_them = share(stage)
            known = stages.get(key, [0, 0])
            stages[key] = [known[0] + wrong, known[1] + all_of_them]
        micros = (seconds() - before) / answer["all"]["decisions"] * 1e6
        found[str(sims)] = {"all": share(answer["all"]), "stages": stages, "micros": round(micros, 1)}
    return found


def collect(options):
    known = json.loads(DATA.read_text()) if DATA.exists() else []
    have = {run["name"] for run in known}
    for sweep in options.sweeps:
        for run in sorted(path.parent for path in sweep.glob("*/metrics.jsonl")):
            name = f"{sweep.name}/{run.name}"
            config = tomllib.loads((run / "config.toml").read_text())
            lines = metrics(run)
            if name in have or lines[-1]["timing"]["cpu_seconds"] < 60 * config["run"]["cpu_minutes"] - 10:
                continue
            settings = config["selfplay"]
            entry = {"name": name, "game": config["game"]["name"], "width": config["net"]["width"],
                     "simulations": settings["simulations"], "endgames": settings["endgames"], "seed": config["run"]["seed"]}
            counts = PLAYED if settings["simulations"] == 64 else [0, 64]
            known.append({**entry, "curve": curve(lines), "exams": exams(run, options.jarmo, counts)})
            print(name, flush=True)
            known.sort(key=lambda run: run["name"])
            DATA.write_text("[\n" + ",\n".join(json.dumps(run, separators=(",", ":")) for run in known) + "\n]\n")


def percent(part):
    """A share in percent with half of its 95% interval."""
    wrong, cases = part
    middle = (wrong + 1.92) / (cases + 3.84)
    return 100 * wrong / cases, 196 * sqrt(middle * (1 - middle) / (cases + 3.84))


def cell(part):
    wrong, error = percent(part)
    return f"{wrong:.1f} ±{error:.1f}"


def pooled(runs, of):
    """A count summed over runs."""
    parts = [of(run) for run in runs]
    return [sum(wrong for wrong, _ in parts), sum(cases for _, cases in parts)]


def at(points, column, value):
    """The mistakes in percent after so many minutes of compute (column 0) or steps (1), interpolated over the logarithm of
    the column; `None` outside."""
    for before, after in zip(points, points[1:]):
        if before[column] <= value <= after[column]:
            low, high = (log(percent(point[2])[0]) for point in (before, after))
            where = log(value / before[column]) / log(after[column] / before[column])
            return exp(low + where * (high - low))
    return None


def table(heads, rows):
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def picture(panels, label, ticks):
    """Panels beside each other: a title, and for each width its points `(x, mistakes in %)`. Both scales are logarithmic."""
    wide, high, left, top, bottom = 360, 320, 44, 30, 44
    everything = [point for _, curves in panels for points in curves.values() for point in points]
    first, last = min(x for x, _ in everything), max(x for x, _ in everything)
    best, worst = min(y for _, y in everything) / 1.05, max(y for _, y in everything) * 1.05
    whole = wide * len(panels) + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {high}" font-family="sans-serif" font-size="12">',
             f'<rect width="{whole}" height="{high}" fill="#fff"/>']
    for number, (title, curves) in enumerate(panels):
        start = number * wide + left

        def x(value):
            return start + (wide - left - 12) * log(value / first) / log(last / first)

        def y(value):
            return top + (high - top - bottom) * (1 - log(value / best) / log(worst / best))

        parts.append(f'<text x="{start}" y="18" font-size="14">{title}</text>')
        for value in [0.5, 1, 2, 3, 5, 10, 20, 30, 50]:
            if best <= value <= worst:
                parts.append(f'<path d="M{start} {y(value):.1f}H{start + wide - left - 12}" stroke="#ddd"/>')
                parts.append(f'<text x="{start - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}%</text>')
        for value in ticks:
            if first <= value <= last:
                parts.append(f'<path d="M{x(value):.1f} {top}V{high - bottom}" stroke="#ddd"/>')
                parts.append(f'<text x="{x(value):.1f}" y="{high - bottom + 16}" text-anchor="middle">{value:g}</text>')
        parts.append(f'<text x="{start + (wide - left) / 2}" y="{high - 8}" text-anchor="middle">{label}</text>')
        for width, points in curves.items():
            path = "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in points)
            parts.append(f'<path d="M{path}" fill="none" stroke="{COLORS[width]}" stroke-width="2"/>')
    for row, width in enumerate(WIDTHS):
        place = wide * len(panels) + 4
        parts.append(f'<text x="{place}" y="{top + 14 + 18 * row}" fill="{COLORS[width]}">width {width}</text>')
    return "\n".join([*parts, "</svg>\n"])


def show(_):
    runs = json.loads(DATA.read_text())

    def chosen(game, width, simulations=64, endgames=True):
        return [run for run in runs if (run["game"], run["width"], run["simulations"]) == (game, width, simulations)
                and (run["endgames"] > 0) == endgames]

    panels, playing = [], []
    for game, name in NAMES.items():
        curves, played = {}, {}
        for width in WIDTHS:
            some = chosen(game, width)
            if some:
                curves[width] = [(point[0], percent(point[2])[0]) for point in some[0]["curve"]]
                played[width] = [
                    (sum(run["exams"][str(sims)]["micros"] for run in some) / len(some),
                     percent(pooled(some, lambda run, sims=sims: run["exams"][str(sims)]["all"]))[0])
                    for sims in PLAYED
                ]
        panels.append((name, curves))
        playing.append((name, played))
    (PICTURES / "scaling-training.svg").write_text(picture(panels, "minutes of compute", [0.25, 0.5, 1, 2, 4]))
    (PICTURES / "scaling-playing.svg").write_text(picture(playing, "microseconds per decision", [1, 10, 100, 1000, 10000]))

    for column, what, marks in ((0, "minutes of compute", (1, 3)), (1, "steps", (1000, 4000))):
        print(f"\nmistakes in %, network alone, after {marks[0]:,} and {marks[1]:,} {what}")
        rows = []
        for game, name in NAMES.items():
            for simulations in (16, 64, 256):
                cells = []
                for width in WIDTHS:
                    some = chosen(game, width, simulations)
                    found = [[value for run in some if (value := at(run["curve"], column, mark)) is not None] for mark in marks]
                    cells.append("→".join(f"{sum(values) / len(values):.1f}" if values else "–" for values in found))
                rows.append([name, str(simulations), *cells])
        table(["game", "simulations", *map(str, WIDTHS)], rows)

    print("\nmistakes in % of the last weights, network alone and with 64 simulations")
    rows = []
    for game, name in NAMES.items():
        for simulations in (16, 64, 256):
            parts = [[pooled(chosen(game, width, simulations), lambda run, s=s: run["exams"][s]["all"]) for s in ("0", "64")]
                     for width in WIDTHS if chosen(game, width, simulations)]
            rows.append([name, str(simulations), *("/".join(f"{percent(part)[0]:.1f}" for part in pair) for pair in parts)])
    table(["game", "simulations", *map(str, WIDTHS)], rows)

    print("\nmistakes in % by simulations per decision, last weights, 64 in self-play")
    rows = []
    for game, name in NAMES.items():
        for width in WIDTHS:
            some = chosen(game, width)
            rows.append([name, str(width), *(cell(pooled(some, lambda run, s=s: run["exams"][str(s)]["all"])) for s in PLAYED)])
    table(["game", "width", *map(str, PLAYED)], rows)

    for game, endgames, stages in (("jarmo", True, FORCES), ("jarmo", False, FORCES), ("connect_four", True, PLIES)):
        print(f"\n{NAMES[game]}{'' if endgames else ', games never begin with endgames'}: mistakes in % by stage, network alone")

        def stage(run, first, last):
            parts = [part for key, part in run["exams"]["0"]["stages"].items() if first <= int(key) <= last]
            return [sum(part[0] for part in parts), sum(part[1] for part in parts)]

        rows = []
        for width in WIDTHS:
            some = chosen(game, width, endgames=endgames)
            if some:
                rows.append([str(width), *(cell(pooled(some, lambda run, ends=ends: stage(run, *ends))) for ends in stages)])
        table(["width", *(f"{first} to {last}" for first, last in stages)], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True)
    collecting = commands.add_parser("collect", help="take the exams of finished runs")
    collecting.add_argument("sweeps", type=Path, nargs="+", metavar="SWEEP", help="folders of `jarmo sweep`")
    collecting.add_argument("--jarmo", default="jarmo", help="the built program")
    collecting.set_defaults(run=collect)
    commands.add_parser("show", help="print the tables, and draw the pictures").set_defaults(run=show)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
