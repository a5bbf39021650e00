"""PettingZoo's own checks of every environment."""

import warnings

from pettingzoo.test import api_test, performance_benchmark, seed_test
from pettingzoo.test.save_obs_test import test_save_obs

import jarmo
import jarmo.zoo

warnings.filterwarnings("ignore", message=".*(not a NumPy array|all zeros).*")  # a dictionary; an empty board
for game in jarmo.GAMES:
    print(game)
    api_test(jarmo.zoo.env(game), num_cycles=2000)
    seed_test(lambda game=game: jarmo.zoo.env(game, random_plies=4), num_cycles=200)
    performance_benchmark(jarmo.zoo.env(game))
    # It saves pictures only; of observations that are dictionaries it says so, and checks that saving is refused.
    test_save_obs(jarmo.zoo.env(game))
