"""Whether a fleet learns as well as one process: a learner and three workers, then one process that gets the same
CPU time, and a match between what they learned.

    python3 lab/tools/fleet_strength.py [--minutes 20] [--workers 3] [--game jarmo] [--out FOLDER] [--jarmo FILE] [--server FILE]

All on this machine, with the default settings and one seed. The time of the fleet is that of the learner, which only
learns, and the workers; the server's is printed. The agents play 2,000 games with 64 simulations, and take the exam of
their game if it has one.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

from fleet_speed import processor_time  # and finds the folder of fleet_kit
from fleet_kit import Fleet, add_tools, as_words, tools

SETTINGS = {"evaluation.every": 0, "run.checkpoint": 1000}


def fleet_run(options, folder):
    """Trains with workers. Returns the run and its CPU time."""
    with Fleet(tools(options), folder, options.port, SETTINGS, options.game) as fleet:
        fleet.start_server()
        fleet.start_learner()
        for worker in range(options.workers):
            fleet.start_worker(f"worker-{worker + 1}")
        time.sleep(60 * options.minutes)
        workers = [process for process, _ in fleet.workers]
        spent = {
            "learner": processor_time(fleet.learner),
            "workers": sum(map(processor_time, workers)),
            "server": processor_time(fleet.server),
        }
        fleet.stop_learner()
        fleet.stop_workers()
        print("CPU time of the fleet:", ", ".join(f"{who} {time:.0f} s" for who, time in spent.items()), flush=True)
        return fleet.run, spent["learner"] + spent["workers"]


def single_run(options, folder, seconds):
    """Trains with one process for this CPU time."""
    command = [options.jarmo, "train", "--game", options.game, "--run", folder, "--cpu-minutes", str(seconds / 60)]
    with open(f"{folder}.log", "wb") as log:
        subprocess.run([*command, *as_words(SETTINGS)], check=True, stdout=log, stderr=log)
    return folder


def export(options, run, to):
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    print(f"{to.stem}: {last['step']} steps, {last['games']} games, {last['positions']} positions", flush=True)
    subprocess.run([options.jarmo, "export", run, "--out", to], check=True, stdout=subprocess.DEVNULL)
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=20, help="of the fleet, wall-clock time")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--game", default="jarmo")
    parser.add_argument("--games", type=int, default=2000, help="of the match")
    parser.add_argument("--out", type=Path, help="a folder for the runs; a temporary one unless it is given")
    add_tools(parser, 4600)
    options = parser.parse_args()
    options.jarmo = tools(options)[0]
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.out or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        run, seconds = fleet_run(options, folder / "fleet")
        agents = [
            export(options, run, folder / "of-fleet.safetensors"),
            export(options, single_run(options, folder / "single", seconds), folder / "of-one.safetensors"),
        ]
        players = [f"{agent}?sims=64" for agent in agents]
        subprocess.run([options.jarmo, "arena", *players, "--games", str(options.games), "--random-plies", "3"], check=True)
        subprocess.run([options.jarmo, "accuracy", *agents, "--sims", "0,64"], check=True)


if __name__ == "__main__":
    main()
