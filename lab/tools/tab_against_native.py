"""How much CPU time a native program needs until an agent decides so well, as a share of what a browser tab needs.

    python3 lab/tools/tab_against_native.py LEARN.wasm [--jarmo FILE] [--game jarmo] [--minutes 4] [--kernel portable]

LEARN.wasm is what `tools/build_page` leaves in `target/learn.wasm`. Both learn with the settings of the page's view, the
same seed and one thread; Node takes the place of the tab. The exam is taken with 64 simulations, and its time does not
count. Needs Node, and Python alone.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from time_to_strength import measure, reached

GOALS = [90, 95, 97, 98]
SIMS = "64"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("learn", help="learn.wasm of tools/build_page")
    parser.add_argument("--jarmo", default="jarmo", help="the built program")
    parser.add_argument("--game", default="jarmo")
    parser.add_argument("--minutes", type=float, default=4, help="of CPU time, each")
    parser.add_argument("--kernel", default="portable", help="of the native program; the tab has its fastest")
    parser.add_argument("--points", type=int, default=24, help="checkpoints of a run that are measured, about")
    options = parser.parse_args()
    options.sims = [SIMS]
    lines = ["net.width=128", "net.blocks=2", "selfplay.simulations=64", "selfplay.games=256", "learner.rate=0.003"]
    lines.append("run.seed=1")
    with tempfile.TemporaryDirectory() as home:
        native, tab, file = (Path(home) / name for name in ("native", "tab", "settings"))
        file.write_text("\n".join([f"game.name={options.game}", *lines]))
        more = [f"run.kernel={options.kernel}", "run.threads=1", "run.keep=100000", "run.checkpoint=32"]
        more.append("evaluation.every=0")
        sets = [part for line in [*lines, *more] for part in ("--set", line)]
        train = [options.jarmo, "train", "--game", options.game, "--run", native, "--cpu-minutes", str(options.minutes)]
        subprocess.run([*train, *sets], check=True, stdout=subprocess.DEVNULL)
        learn = ["node", Path(__file__).with_name("tab_run.mjs"), options.learn, file, str(options.minutes), tab]
        subprocess.run(learn, check=True)
        points = [measure(run, options)[SIMS] for run in (native, tab)]
    print("| right decisions | native, minutes | tab, minutes | native / tab |\n|---|---|---|---|")
    for goal in GOALS:
        times = [reached(one, goal) for one in points]
        ratio = f"{times[0] / times[1]:.2f}" if None not in times else "–"
        shown = " | ".join("–" if time is None else f"{time:.2f}" for time in times)
        print(f"| {goal} % | {shown} | {ratio} |")


if __name__ == "__main__":
    main()
