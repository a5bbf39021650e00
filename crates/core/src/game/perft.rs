//! Counts action sequences, the standard test of a move generator.

use super::{Action, Game, Mask};

/// The number of action sequences that complete exactly `turns` turns. A turn ends when the other
/// player is to move or the game is over. Recursive in the number of actions.
pub fn perft<G: Game>(game: &G, position: &G::Position, turns: u32) -> u64 {
    if turns == 0 {
        return 1;
    }
    let mover = game.to_move(position);
    game.legal(position)
        .iter()
        .map(|action| {
            let mut next = *position;
            game.play(&mut next, action);
            after(game, &next, mover, turns)
        })
        .sum()
}

/// [`perft`] split by the first action, in the order of the actions.
pub fn divide<G: Game>(game: &G, position: &G::Position, turns: u32) -> Vec<(Action, u64)> {
    let mover = game.to_move(position);
    game.legal(position)
        .iter()
        .map(|action| {
            let mut next = *position;
            game.play(&mut next, action);
            (action, after(game, &next, mover, turns))
        })
        .collect()
}

/// The sequences that follow an action of `mover` when `turns` turns, including this one, remained.
fn after<G: Game>(game: &G, next: &G::Position, mover: super::Player, turns: u32) -> u64 {
    if game.to_move(next) != mover {
        perft(game, next, turns - 1)
    } else if game.outcome(next).is_some() {
        u64::from(turns == 1)
    } else {
        perft(game, next, turns)
    }
}
