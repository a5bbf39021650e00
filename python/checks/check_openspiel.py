"""OpenSpiel's random simulations on our games, its minimax against our tables, and connect four in lockstep with its
C++ rules."""

import os
import sys
import time

import numpy as np
import pyspiel
from open_spiel.python.algorithms import minimax

import jarmo
import jarmo.openspiel

PLIES = 100_000

for name in jarmo.openspiel.NAMES:
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=50, serialize=True, verbose=False)
    print("random_sim_test", name)

# Lockstep: masks, observations up to their layout, the player to move, rewards and ends.
theirs = pyspiel.load_game("connect_four")
ours = jarmo.Game("connect_four")
generator = np.random.default_rng(1)
state, position = theirs.new_initial_state(), ours.start
games = 0
for ply in range(PLIES):
    assert state.legal_actions() == position.legal and state.current_player() == position.to_move
    # Theirs: player 0, player 1 and empty cells, by row from the bottom. Ours: the mover's stones, then the others'.
    planes = np.array(state.observation_tensor(0)).reshape(3, 6, 7)
    own, other = ours.features(position)[0]
    white, black = (own, other) if position.to_move == 0 else (other, own)
    sides = {tuple(plane.ravel()) for plane in planes}
    assert sides == {tuple(plane.ravel()) for plane in (white, black, 1 - white - black)} or not white.any()
    action = int(generator.choice(position.legal))
    state.apply_action(action)
    position = position.play(action)
    assert state.is_terminal() == position.is_over
    if position.is_over:
        winner = position.outcome.winner
        assert state.returns() == ([0, 0] if winner is None else [1, -1] if winner == 0 else [-1, 1])
        state, position = theirs.new_initial_state(), ours.start
        games += 1
print(f"connect_four in lockstep with OpenSpiel: {PLIES} plies, {games} games")

# Its minimax, as deep as a win or loss takes according to the tables.
folder = os.environ.get("JARMO_TABLES")
if not folder:
    sys.exit("JARMO_TABLES must name a folder of exact tables: jarmo tables build --force 4 --out FOLDER")
tables = jarmo.Tables(folder)
rules = jarmo.Game("jarmo")
checked, start = 0, time.time()
env = jarmo.VecEnv("jarmo", 2000, seed=1)
while checked < 200 and time.time() - start < 120:
    env.step(env.sample_actions())
    # Without the moves before, because tables ignore the rule against shuttling, and minimax does not.
    boards = {" ".join(one.text.split(" ")[:2]) for one in env.positions()}
    positions = [rules.position(f"{board} - - 0") for board in sorted(boards)]
    found = tables.lookup(positions)
    for position, known, value, plies in zip(positions, *found):
        if not known or value == 0 or not 1 <= plies <= 4 or checked >= 200:
            continue
        game = pyspiel.load_game("jarmo", {"position": position.text})

        def unknown(state):
            return 0.0  # beyond the depth

        score, action = minimax.alpha_beta_search(
            game, value_function=unknown, maximum_depth=int(plies), maximizing_player_id=position.to_move
        )
        assert score == value, (position.text, score, value, plies)
        checked += 1
print(f"minimax agrees with the tables on {checked} endgames")
assert checked >= 100
