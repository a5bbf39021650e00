"""The example of AlphaZero in PyTorch learns connect four until it beats `rollout:1000`."""

import subprocess
import sys
import tempfile
from pathlib import Path

import jarmo

example = Path(__file__).resolve().parents[1] / "examples" / "alphazero_torch.py"
with tempfile.TemporaryDirectory() as folder:
    out = f"{folder}/connect_four.safetensors"
    subprocess.run([sys.executable, example, "--minutes", "5", "--out", out], check=True)
    result = jarmo.arena([f"{out}?sims=64", "rollout:1000"], game="connect_four", games=100, random_plies=2, seed=2)
print(result)
scores = dict(zip(result.agents["name"], result.agents["score"], strict=True))
assert scores["rollout:1000"] < 0.4, scores
