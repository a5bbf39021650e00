//! Counts sequences of actions, which is the standard test of a move generator.

use super::{Action, Game, Mask};

/// The number of sequences of actions that complete exactly `turns` turns. A turn ends when the other player is to
/// move or the game is over. Recursive; the depth is the number of actions.
pub fn perft<G: Game>(game: &G, position: &G::Position, turns: u32) -> u64 {
    if turns == 0 {
        return 1;
    }
    game.legal(position).iter().map(|action| begun_by(game, position, action, turns)).sum()
}

/// [`perft`] split by the first action, in the order of the actions. Each part is counted when it is asked for.
pub fn divide<G: Game>(game: &G, position: &G::Position, turns: u32) -> impl ExactSizeIterator<Item = (Action, u64)> {
    let actions: Vec<Action> = game.legal(position).iter().collect();
    actions.into_iter().map(move |action| (action, begun_by(game, position, action, turns)))
}

/// The number of sequences that an action begins.
fn begun_by<G: Game>(game: &G, position: &G::Position, action: Action, turns: u32) -> u64 {
    let next = game.after(position, action);
    match game.to_move(&next) == game.to_move(position) {
        false => perft(game, &next, turns - 1),
        true if game.outcome(&next).is_some() => u64::from(turns == 1),
        true => perft(game, &next, turns),
    }
}
