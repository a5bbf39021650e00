"""`jarmo train` with its defaults, from another process.

    python jarmo_train.py --game jarmo --minutes 1 --simulations 0,64
"""

import os
import pathlib
import subprocess
import tempfile

from common import run

import jarmo

PROGRAM = os.environ.get("JARMO", "jarmo")
KEPT = []  # folders of runs, which hold the agents until the end


def train(game, budget, seed):
    minutes = budget.minutes / budget.speed
    KEPT.append(tempfile.TemporaryDirectory())
    folder = pathlib.Path(KEPT[-1].name) / "run"
    command = [PROGRAM, "train", "--game", game.name, "--cpu-minutes", str(minutes), "--run", str(folder)]
    subprocess.run([*command, "--set", f"run.seed={seed}"], check=True, stdout=subprocess.DEVNULL)
    newest = max(folder.glob("checkpoints/*.safetensors"), key=lambda path: path.stat().st_mtime)
    return jarmo.Agent(f"{newest}:64", game=game)


if __name__ == "__main__":
    run(train, "jarmo_train")
