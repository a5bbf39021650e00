"""What a browser tab learns is an agent file like any other."""

import os
import subprocess
from pathlib import Path

import pytest

import jarmo

TESTS = Path(__file__).parents[2] / "web/learn/tests"


@pytest.mark.skipif("JARMO_LEARN" not in os.environ, reason="JARMO_LEARN is not set")
def test_an_agent_that_learned_in_a_tab_plays_here(tmp_path: Path) -> None:
    file = tmp_path / "learned.safetensors"
    program = os.environ["JARMO_LEARN"]
    subprocess.run(["node", TESTS / "steps.mjs", program, TESTS / "settings", "60", file], check=True, capture_output=True)
    agent = jarmo.Agent(str(file), game="connect_four")
    found = jarmo.search([jarmo.Game("connect_four").start], agent, simulations=16)
    assert found.visits.shape == (1, 7)
    ended = jarmo.arena([agent, "random"], game="connect_four", games=20)
    assert "learned" in str(ended)
