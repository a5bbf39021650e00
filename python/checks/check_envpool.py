"""Connect four in lockstep with EnvPool's ConnectFour-v1, many games at once."""

import envpool
import numpy as np

import jarmo

GAMES, PLIES = 64, 100_000

theirs = envpool.make("ConnectFour-v1", env_type="gymnasium", num_envs=GAMES)
ours = jarmo.VecEnv("connect_four", GAMES, seed=1, autoreset="next_step")


def places(info):
    """The rows of observations and rewards by game and player."""
    players = info["players"]
    return {pair: row for row, pair in enumerate(zip(players["env_id"], players["id"]))}


observation, info = theirs.reset()
step = ours.reset()
rows = np.arange(GAMES)
first = info["current_player"].copy()  # the number of the player who begins differs by game
ends, ended = 0, np.zeros(GAMES, bool)
for number in range(PLIES // GAMES):
    order = np.argsort(info["env_id"])
    masks, players = info["legal_action_mask"][order], info["current_player"][order]
    assert np.array_equal(masks[~ended], step.mask[~ended]), "masks"
    assert np.array_equal((players != first)[~ended], step.to_move[~ended] == 1), "player to move"
    # A row for each game and player; a plane of that player's stones and one of the other's, row 1 at the bottom.
    index = places(info)
    seen = observation[[index[env, player] for env, player in zip(rows, players)]]
    assert np.array_equal(np.moveaxis(seen[:, ::-1], 3, 1)[~ended], step.observation[~ended] > 0), "observations"
    actions = np.maximum(ours.sample_actions(), 0)
    beginning = ended
    observation, rewards, terminated, truncated, info = theirs.step(actions)
    step = ours.step(actions)
    order = np.argsort(info["env_id"])
    ended = terminated[order]
    assert np.array_equal(ended, step.terminated), "ends"
    assert not truncated.any() and not step.truncated.any()
    index = places(info)
    first = np.where(beginning, info["current_player"][order], first)
    theirs_white = rewards[[index[env, player] for env, player in zip(rows, first)]]
    assert np.array_equal(theirs_white, step.reward[:, 0]), "rewards"
    ends += int(ended.sum())
print(f"connect_four in lockstep with EnvPool: {PLIES // GAMES * GAMES} plies, {ends} games")
assert ends > 1000
