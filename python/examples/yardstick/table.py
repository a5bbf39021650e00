"""The table of docs/yardstick.md from a folder of results, whose files are named NAME-GAME-BUDGET-SEED.json.

    python table.py results
"""

import json
import pathlib
import sys
from collections import defaultdict

from jarmo import yardstick


def cell(measure, scale=100.0, digits=1):
    if measure is None:
        return ""
    median, low, high = (f"{scale * number:.{digits}f}" for number in measure)
    return median if low == high else f"{median} ({low} to {high})"


def main():
    runs = defaultdict(list)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        name, game, budget, _ = path.stem.rsplit("-", 3)
        given = json.loads(path.read_text())
        runs[game, budget, name].append(yardstick.Result(given["rows"], given["machine"]))
    print("| game | budget | policy | seeds | steps | exam wrong, % | fresh wrong, % | mistakes/game | points, % | held, % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for (game, budget, name), results in sorted(runs.items()):
        steps = sorted(result.machine.get("steps", 0) for result in results)[len(results) // 2]
        for row in yardstick.summary(results):
            search = f", {row['simulations']} simulations" if row["simulations"] else ""
            measures = [cell(row["exam_wrong"]), cell(row["fresh_wrong"]), cell(row["mistakes_per_game"], 1.0, 2)]
            measures += [cell(row["points"]), cell(row["held"])]
            print(f"| {game} | {budget} | {name}{search} | {len(results)} | {steps:,} | {' | '.join(measures)} |")


if __name__ == "__main__":
    main()
