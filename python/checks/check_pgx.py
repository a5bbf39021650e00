"""Connect four in lockstep with pgx, many games at once."""

import jax
import numpy as np
import pgx

import jarmo

GAMES, PLIES = 64, 100_000

theirs = pgx.make("connect_four")
init, play = jax.jit(jax.vmap(theirs.init)), jax.jit(jax.vmap(theirs.step))
ours = jarmo.VecEnv("connect_four", GAMES, seed=1, autoreset="disabled")
plies = ends = 0
while plies < PLIES:
    state = init(jax.random.split(jax.random.PRNGKey(plies), GAMES))
    step = ours.reset()
    first = np.array(state.current_player)
    over = np.zeros(GAMES, bool)
    while not over.all():
        masks, players = np.array(state.legal_action_mask), np.array(state.current_player)
        assert np.array_equal(masks[~over], step.mask[~over]), "masks"
        assert np.array_equal((players != first)[~over], step.to_move[~over] == 1), "player to move"
        seen = np.moveaxis(np.array(state.observation)[:, ::-1], 3, 1)
        assert np.array_equal(seen[~over], step.observation[~over] > 0), "observations"
        actions = ours.sample_actions()
        open_ = np.flatnonzero(~over)
        state = play(state, np.maximum(actions, 0))
        # Ours plays only the games that go on: those that are over begin again, and are left alone at once.
        idle = over.copy()
        if idle.any():
            ours.reset(mask=idle)
            actions = np.where(idle, 0, actions)
        step = ours.step(actions)
        ended = np.array(state.terminated) & ~over
        assert np.array_equal(ended[open_], step.terminated[open_]), "ends"
        rewards = np.array(state.rewards)[np.arange(GAMES), first]
        assert np.array_equal(rewards[open_], step.reward[open_, 0]), "rewards"
        plies += len(open_)
        ends += int(ended.sum())
        over |= ended
print(f"connect_four in lockstep with pgx: {plies} plies, {ends} games")
assert ends > 1000
