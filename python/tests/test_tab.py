"""What a browser tab learns is an agent file like any other."""

import os
import subprocess
from pathlib import Path

import pytest

import jarmo

STEPS = Path(__file__).parents[2] / "web/learn/tests/steps.mjs"
SETTINGS = """game.name=connect_four
net = { width = 64, blocks = 1 }
selfplay = { games = 64, simulations = 8, max_random_plies = 4 }
learner.warm_up = 10
run = { seed = 7, kernel = "int8", batch = 128, first_samples = 4096 }
"""


@pytest.mark.skipif("JARMO_LEARN" not in os.environ, reason="JARMO_LEARN is not set")
def test_an_agent_that_learned_in_a_tab_plays_here(tmp_path: Path) -> None:
    settings, file = tmp_path / "settings", tmp_path / "learned.safetensors"
    settings.write_text(SETTINGS)
    program = os.environ["JARMO_LEARN"]
    subprocess.run(["node", STEPS, program, settings, "60", file], check=True, capture_output=True)
    agent = jarmo.Agent(str(file), game="connect_four")
    found = jarmo.search([jarmo.Game("connect_four").start], agent, simulations=16)
    assert found.visits.shape == (1, 7)
    ended = jarmo.arena([agent, "random"], game="connect_four", games=20)
    assert "learned" in str(ended)
