"""Kills training runs and table builds at random moments, resumes them, and compares the outcome.

    python3 tools/kill.py target/release/jarmo [--times 40] [--seed 1]

A run of training with one thread is made once without a disturbance. Then the same run is killed (SIGKILL) after a
random time and resumed, until it has been killed `--times` times, and then ends. Its agents must have the same weights
and its metrics the same numbers, but for the time. The same is done with tables up to force 6. Exits with 1 if anything differs, or if a resume refuses. Needs Python alone.
"""

import argparse
import json
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = [
    "net.width=32", "selfplay.games=96", "selfplay.simulations=4", "replay.capacity=9000", "run.threads=1",
    "run.reuse=1.25", "run.checkpoint=5", "evaluation.every=0", "run.steps=400",
]


def start(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(command):
    """Runs a command to its end; returns the seconds that it took."""
    began = time.monotonic()
    process = start(command)
    errors = process.communicate()[1]
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: {errors}")
    return time.monotonic() - began


def kill_often(first, again, times, longest, chance):
    """Kills a command `times` times at random moments; returns how often it had ended before."""
    ended = 0
    command = first
    for _ in range(times):
        process = start(command)
        try:
            errors = process.communicate(timeout=chance.uniform(0.01, longest))[1]
            ended += 1
            if process.returncode != 0:
                sys.exit(f"{' '.join(command)}: {errors}")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        command = again
    return ended


def is_begun(folder):
    return (folder / "config.toml").exists() and (folder / "resume" / "current.json").exists()


def run_of(folder):
    """The agents and the metrics of a run, without what depends on the time."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("timing", None)
        line.pop("check", None)
    return lines, {path.name: weights(path) for path in (folder / "checkpoints").iterdir()}


def weights(agent):
    """The bytes of an agent file behind its header, which names the run."""
    content = agent.read_bytes()
    return content[8 + struct.unpack("<Q", content[:8])[0]:]


def train(program, folder, times, chance):
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [program, "train", "--config", "configs/smoke.toml", *settings, "--run"]
    whole, killed = folder / "whole", folder / "killed"
    seconds = finish([*command, str(whole)])
    resume = [program, "train", "--resume", str(killed)]
    # A run that was killed before its folder was complete starts again.
    while not is_begun(killed):
        shutil.rmtree(killed, ignore_errors=True)
        kill_often([*command, str(killed)], None, 1, seconds / 10, chance)
    ended = kill_often(resume, resume, times, seconds / 10, chance)
    finish(resume)
    same = run_of(whole) == run_of(killed)
    return times, ended, same


def tables(program, folder, times, chance):
    def command(out):
        build = [program, "tables", "build", "--force", "6", "--save-every", "0.05"]
        return [*build, "--out", str(folder / out)]

    seconds = finish(command("whole"))
    ended = kill_often(command("killed"), command("killed"), times, seconds / 10, chance)
    finish(command("killed"))
    names = [f"force-{force:02}.table" for force in range(2, 7)]
    same = all((folder / "whole" / name).read_bytes() == (folder / "killed" / name).read_bytes() for name in names)
    return times, ended, same and len(list((folder / "killed").iterdir())) == len(names) + 1  # and the lock


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built program")
    parser.add_argument("--times", type=int, default=40, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sound = True
    for name, trial in [("training", train), ("tables", tables)]:
        with tempfile.TemporaryDirectory() as folder:
            chance = random.Random(options.seed)
            times, ended, same = trial(options.program, Path(folder), options.times, chance)
        print(f"{name}: {times - ended} kills, outcome {'the same' if same else 'DIFFERENT'}", flush=True)
        sound &= same
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
