//! What exact tables say about the actions in a position.

use jarmo_core::game::{Action, Game, Mask, Proven};
use jarmo_exact::tables::Endgames;

/// The result of each legal action of a position that the tables know, in the order of the actions.
pub(crate) fn results<G: Game>(game: &G, tables: &dyn Endgames<G>, position: &G::Position) -> Option<Vec<Proven>> {
    if game.outcome(position).is_some() {
        return None;
    }
    tables.known(game, position)?;
    let legal = game.legal(position);
    let after = |action| tables.after(game, position, action);
    Some(legal.iter().map(after).collect())
}

/// Whether an action is worse than another legal one; `None` where the tables do not know. The result of the position
/// itself is no measure, because a rule that the tables leave out can forbid the best action.
pub(crate) fn is_mistake<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    position: &G::Position,
    action: Action,
) -> Option<bool> {
    let best = results(game, tables, position)?.iter().map(|result| result.verdict).max();
    Some(Some(tables.after(game, position, action).verdict) < best)
}
