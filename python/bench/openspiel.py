"""Random play and tree search of connect four in OpenSpiel's C++, per second of CPU time on one core.

    python openspiel.py

Needs the package open_spiel. Random play: searches of 10 simulations from the empty board with 2000 playouts at each
leaf, so that nearly all time is theirs; a random game has 21.3 plies on average. Search: one playout a simulation, 1000
simulations a move, through games of the search against itself, which is what `jarmo bench search --game connect_four
--agent rollout:1000` does.
"""

import statistics
import time

import pyspiel

PLIES = 21.3
game = pyspiel.load_game("connect_four")


def simulations_per_second(playouts, simulations, searches, seed):
    """Of UCT without its solver, in games against itself."""
    evaluator = pyspiel.RandomRolloutEvaluator(playouts, seed)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, False, seed, False)
    state, spent = game.new_initial_state(), 0.0
    for _ in range(searches):
        start = time.process_time()
        root = bot.mcts_search(state)
        spent += time.process_time() - start
        state.apply_action(root.best_child().action)
        if state.is_terminal():
            state = game.new_initial_state()
    return simulations * searches / spent


playouts = statistics.median(2000 * simulations_per_second(2000, 10, 1, seed) for seed in range(1, 6))
search = statistics.median(simulations_per_second(1, 1000, 100, seed) for seed in range(1, 6))
print(f"random play: at most {playouts * PLIES / 1e6:.2f} million plies per second")
print(f"search: {search / 1e3:.0f} thousand simulations per second")
