"""Runs `jarmo train` as a separate process, on one thread and without matches. Below three minutes it uses 16 simulations,
like the other examples; otherwise the default of 64 and a learning rate that falls over the whole run.

    python jarmo_train.py --minutes 1 --simulations 0,64
"""

import os
import pathlib
import subprocess
import tempfile

from common import run

import jarmo

SETTINGS = ["run.threads=1", "evaluation.every=0"]
STEPS = 3000  # training steps per minute
PROGRAM = os.environ.get("JARMO", "jarmo")
KEPT = []  # folders of runs, which hold the agents until the end


def train(game, budget, seed):
    minutes = budget.minutes / budget.speed
    KEPT.append(tempfile.TemporaryDirectory())
    folder = pathlib.Path(KEPT[-1].name) / "run"
    command = [PROGRAM, "train", "--game", game.name, "--cpu-minutes", str(minutes), "--run", str(folder)]
    length = ["selfplay.simulations=16"] if minutes < 3 else [f"learner.decay={int(STEPS * minutes)}"]
    for setting in [*SETTINGS, *length, f"run.seed={seed}"]:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    newest = max(folder.glob("checkpoints/*.safetensors"), key=lambda path: path.stat().st_mtime)
    return jarmo.Agent(f"{newest}:64", game=game)


if __name__ == "__main__":
    run(train, "jarmo train")
