//! Counts action sequences, the standard test of a move generator.

use super::{Action, Game, Mask};

/// The number of action sequences that complete exactly `turns` turns. A turn ends when the other
/// player is to move or the game is over. Recursive in the number of actions.
pub fn perft<G: Game>(game: &G, position: &G::Position, turns: u32) -> u64 {
    let mut sum = u64::from(turns == 0);
    if turns > 0 {
        each_action(game, position, turns, |_, sequences| sum += sequences);
    }
    sum
}

/// [`perft`] split by the first action, in the order of the actions.
pub fn divide<G: Game>(game: &G, position: &G::Position, turns: u32) -> Vec<(Action, u64)> {
    let mut parts = Vec::new();
    each_action(game, position, turns, |action, sequences| parts.push((action, sequences)));
    parts
}

/// Visits the actions, each with the number of sequences that it begins.
fn each_action<G: Game>(game: &G, position: &G::Position, turns: u32, mut visit: impl FnMut(Action, u64)) {
    let mover = game.to_move(position);
    for action in game.legal(position).iter() {
        let next = game.after(position, action);
        visit(
            action,
            match game.to_move(&next) == mover {
                false => perft(game, &next, turns - 1),
                true if game.outcome(&next).is_some() => u64::from(turns == 1),
                true => perft(game, &next, turns),
            },
        );
    }
}
