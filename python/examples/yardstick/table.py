"""The tables and the curves of docs/yardstick.md from a folder of results, whatever their files are called. Curves need
matplotlib.

    python table.py results --svg curves.svg
"""

import argparse
import pathlib
from collections import defaultdict

from jarmo import yardstick

LABELS = {
    "alphazero": "AlphaZero, NumPy",
    "alphazero_torch": "AlphaZero, PyTorch",
    "descent": "Descent minimax",
    "dqn": "double DQN",
    "jarmo_train": "`jarmo train`",
    "ppo": "masked PPO",
    "rollout:64": "`rollout:64`, playouts",
    "rollout:1000": "`rollout:1000`, playouts",
    "td_lambda": "n-tuple TD(λ)",
    "trained": "`trained`, the shipped network",
}

COLUMNS = ["policy", "budget", "seeds", "steps", "exam wrong, %", "fresh wrong, %", "mistakes/game", "points, %", "held, %"]


def cell(measure, scale=100.0, digits=1):
    if measure is None:
        return ""
    median, low, high = (f"{scale * number:.{digits}f}" for number in measure)
    return median if low == high else f"{median} ({low}–{high})"


def load(folder):
    """The results by game, name, unit of the budget (min or steps), and budget (0 for what does not learn)."""
    runs = defaultdict(list)
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        result = yardstick.Result.load(path)
        row, budget = result.rows[0], (result.training or {}).get("budget", {"minutes": 0.0})
        (unit, number), = budget.items()
        unit = "min" if unit == "minutes" else unit
        runs[row["game"], row["agent"], unit, float(number)].append(result)
    return runs


def print_tables(runs):
    """A table for each game: every policy with its largest budget, and the least wrong in the exam last."""
    for game in sorted({key[0] for key in runs}):
        print(f"\n{game}\n\n| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
        largest = {}
        for other, name, unit, budget in sorted(runs):
            if other == game:
                largest[name, unit] = budget  # the last one is the largest
        keys = [(game, name, unit, budget) for (name, unit), budget in largest.items()]
        rows = [(row, *key[1:], runs[key]) for key in keys for row in yardstick.summary(runs[key])]
        for row, name, unit, budget, results in sorted(rows, key=lambda one: -one[0]["exam_wrong"][0]):
            steps = sorted((result.training or {}).get("steps", 0) for result in results)[len(results) // 2]
            search = f", {row['simulations']} simulations" if row["simulations"] else ""
            cells = [LABELS.get(name, f"`{name}`") + search]
            cells += [f"{budget:,.10g} {unit}" if budget else ""]
            cells += [str(len(results)), f"{steps:,}" if steps else ""]
            cells += [cell(row["exam_wrong"]), cell(row["fresh_wrong"]), cell(row["mistakes_per_game"], 1.0, 2)]
            cells += [cell(row["points"]), cell(row["held"])]
            print(f"| {' | '.join(cells)} |")


def draw_curves(runs, path):
    """The exam over the budget, of policies alone: medians, and their intervals as bands."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "jarmo", "font.size": 11}
    from matplotlib import pyplot
    from matplotlib.ticker import NullLocator

    games = sorted({key[0] for key in runs})
    figure, panels = pyplot.subplots(1, len(games), figsize=(6 * len(games), 4.5), squeeze=False)
    for game, axes in zip(games, panels[0], strict=True):
        curves = defaultdict(list)
        for (other, name, unit, budget), results in runs.items():
            if other == game and unit == "min" and budget:
                curves[name].append((60 * budget, yardstick.summary(results)[0]["exam_wrong"]))
        for name, points in sorted(curves.items()):
            seconds, measures = zip(*sorted(points), strict=True)
            median, low, high = ([100 * number for number in one] for one in zip(*measures, strict=True))
            axes.plot(seconds, median, marker="o", markersize=4, label=LABELS.get(name, name).replace("`", ""))
            axes.fill_between(seconds, low, high, alpha=0.15)
        axes.set(title=game, xscale="log", yscale="log", xlabel="processor seconds of one core")
        axes.set_ylabel("wrong critical decisions of the exam, %")
        axes.set_xticks(sorted({second for points in curves.values() for second, _ in points}))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.grid(which="both", alpha=0.2)
        axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results")
    parser.add_argument("--svg", help="also draw the exam over the budget")
    given = parser.parse_args()
    runs = load(given.results)
    print_tables(runs)
    if given.svg:
        draw_curves(runs, given.svg)


if __name__ == "__main__":
    main()
