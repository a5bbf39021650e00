//! Puzzles of tammi: endgames, solved by exact tables.

use super::Truth;
use jarmo_core::game::{Action, Proven};
use jarmo_core::games::{Tammi, TammiPosition};
use jarmo_exact::tables::{ActionValue, Tables};
use jarmo_judge::puzzles::Goal;

/// The tables leave out repetition and the move limit, which change nothing in the games of puzzles. A win comes
/// closer with every move, so no position is repeated; a win after a wrong action passes only through decided positions,
/// never through the drawn ones of the solution. And puzzles begin far from the limit.
impl Truth<Tammi> for Tables<Tammi> {
    /// Without plies, which count to the next capture and not to the end.
    fn actions(&self, game: &Tammi, position: &TammiPosition) -> Option<Vec<ActionValue>> {
        let without_plies = |ActionValue { action, proven: Proven { verdict, .. } }| ActionValue {
            action,
            proven: Proven { verdict, plies: None },
        };
        Some(Tables::actions(self, game, position)?.into_iter().map(without_plies).collect())
    }

    /// No puzzle begins in the middle of a capture.
    fn holds(&self, _: &Tammi, position: &TammiPosition, _: Action, _: Goal, _: Option<u32>) -> bool {
        position.jumper().is_none()
    }
}
