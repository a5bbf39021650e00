"""Who may close what, and when: no call hangs, and what nobody needs any more is given back.

Programs that may hang run in a process of their own, with a limit of time.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import jarmo

START = """
import os, signal, sys, threading, time
import numpy as np
import jarmo

signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes ignore it

def first(positions):
    return [position.legal[0] for position in positions]

def even(features, masks):
    return np.zeros(masks.shape, np.float32), np.zeros(len(masks), np.float32)
"""


def run(program: str, seconds: float = 60) -> str:
    """What a program prints."""
    command = [sys.executable, "-c", START + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_opponent_cannot_close_its_environment() -> None:
    said = run("""
def closing(positions):
    env.close()
    return first(positions)

env = jarmo.VecEnv("connect_four", 4, opponent=closing, seat="white")
env.reset()
for _ in range(2):
    try:
        env.step([0] * 4)
    except RuntimeError as error:
        print(error)
env.close()
env.close()
""")
    assert said.splitlines() == ["this environment is at work, in another thread or in a call that called this one"] * 2


def test_an_opponent_cannot_close_its_environment_of_gymnasium() -> None:
    pytest.importorskip("gymnasium")
    said = run("""
from jarmo.gym import JarmoEnv

def closing(positions):
    env.close()
    return first(positions)

env = JarmoEnv("connect_four", opponent=closing, seat="white")
env.reset(seed=1)
try:
    env.step(0)
except RuntimeError as error:
    print(error)
""")
    assert "this environment is at work" in said


def test_a_network_cannot_close_its_self_play() -> None:
    said = run("""
def closing(features, masks):
    games.close()
    return even(features, masks)

games = jarmo.self_play("connect_four", closing, games=4, simulations=4, min_samples=10)
try:
    next(games)
except RuntimeError as error:
    print(error)
games.close()
""")
    assert said == "this self-play is already under way, in another thread or in a call that called this one\n"


def test_another_thread_waits_until_it_can_close_and_holds_up_nobody() -> None:
    said = run("""
env = jarmo.VecEnv("connect_four", 4, opponent="rollout:20000", seat="white", threads=1)
env.reset()
begun = threading.Event()

def play():
    begun.set()
    env.step([0] * 4)
    print("played")

thread = threading.Thread(target=play)
thread.start()
begun.wait()
time.sleep(0.05)
counted = 0

def count():
    global counted
    while thread.is_alive():
        counted += 1
        time.sleep(0.001)

counter = threading.Thread(target=count)
counter.start()
env.close()
thread.join()
counter.join()
print("others ran" if counted > 3 else "others stood still")
try:
    env.steps
except ValueError as error:
    print(error)
""")
    assert said.splitlines() == ["played", "others ran", "this environment is closed"]


def test_ctrl_c_ends_the_wait_to_close() -> None:
    said = run("""
begun = threading.Event()

def slow(positions):
    begun.set()
    time.sleep(3)
    return first(positions)

env = jarmo.VecEnv("connect_four", 1, opponent=slow, seat="white")
thread = threading.Thread(target=lambda: env.step([0]), daemon=True)
thread.start()
begun.wait()
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    env.close()
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 2)
thread.join()
env.close()
""")
    assert said == "interrupted True\n"


def test_ctrl_c_ends_the_wait_for_an_agent_that_another_thread_asks() -> None:
    said = run("""
agent = jarmo.Agent("rollout:300000", game="connect_four")
starts = [agent.game.start.play(action) for action in agent.game.start.legal]
thread = threading.Thread(target=lambda: agent.choose(starts * 40, threads=1), daemon=True)
thread.start()
time.sleep(0.3)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    agent.choose(starts[0])
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 2)
sys.stdout.flush()
os._exit(0)
""")
    assert said == "interrupted True\n"


def test_functions_that_are_examined_may_ask_agents_at_any_depth() -> None:
    """Each function once kept a thread of the pool waiting, so that none was left for the agents that it asks."""
    said = run(
        """
agent = jarmo.Agent("greedy", game="connect_four")

def asking(positions):
    return agent.choose(positions)

def examine(_=None):
    return jarmo.exam(asking, game="connect_four").all.decisions

threads = [threading.Thread(target=lambda: print(examine())) for _ in range(2 * os.cpu_count())]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""",
        seconds=240,
    )
    assert set(said.split()) == {"20000"}


class Player:
    """Holds an environment or self-play that calls it back."""

    def __init__(self, kind: str) -> None:
        self.held: Any
        if kind == "env":
            self.held = jarmo.VecEnv("connect_four", 3, opponent=self.act, seat="white")
            self.held.step([0, 1, 2])
        else:
            self.held = jarmo.self_play("connect_four", self.judge, games=4, simulations=2, min_samples=1)
            next(self.held)

    def act(self, positions: list[jarmo.Position]) -> list[int]:
        return [position.legal[0] for position in positions]

    def judge(self, features: Any, masks: Any) -> tuple[Any, Any]:
        return np.zeros(masks.shape), np.zeros(len(masks))


@pytest.mark.parametrize("kind", ["env", "self_play"])
def test_cycles_through_a_callback_are_collected(kind: str) -> None:
    player = Player(kind)
    seen = weakref.ref(player)
    gc.collect()
    assert seen() is player
    del player
    gc.collect()
    assert seen() is None


def test_what_a_thread_works_with_is_not_collected() -> None:
    player = Player("env")
    stop = threading.Event()

    def play() -> None:
        while not stop.is_set():
            player.held.step(player.held.sample_actions())

    thread = threading.Thread(target=play)
    thread.start()
    for _ in range(20):
        gc.collect()
    stop.set()
    thread.join()
    assert player.held.steps > 1
    player.held.close()
    with pytest.raises(ValueError, match="this environment is closed"):
        player.held.step([0, 0, 0])


def test_a_child_process_goes_on_with_self_play() -> None:
    said = run("""
games = jarmo.self_play("connect_four", even, games=8, simulations=2, min_samples=20, seed=1, threads=2)
next(games)
child = os.fork()
if child == 0:
    next(games)
    os._exit(7)
for _ in range(200):
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        print("ended", os.waitstatus_to_exitcode(status))
        break
    time.sleep(0.1)
else:
    os.kill(child, signal.SIGKILL)
    print("hangs")
""")
    assert said == "ended 7\n"
