//! Tammi's tables for search and agents.
//!
//! The plies in the tables do not count to the end of the game, so results have none here. An agent that wins plays by
//! them all the same.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::ExactError;
use crate::tables::endgames::{HasEndgames, Shared, build_quick, open_shared};
use crate::tables::lookup::{Tables, after};
use crate::tables::solvable::Solvable;
use jarmo_core::game::{Action, Game, Proven};
use jarmo_core::games::{Tammi, TammiPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::Stream;

impl Endgames<Tammi> for Tables<Tammi> {
    fn known(&self, game: &Tammi, position: &TammiPosition) -> Option<Proven> {
        self.within_limit(game, position, self.proven(position)?)
    }

    fn known_all(&self, game: &Tammi, positions: &[TammiPosition], out: &mut Vec<Option<Proven>>) {
        self.known_all_by(positions, out, |position, proven| self.within_limit(game, position, proven));
    }

    fn after(&self, game: &Tammi, position: &TammiPosition, action: Action) -> Proven {
        let mover = position.to_move();
        let next = after(game, position, action);
        if let Some(outcome) = game.outcome(&next) {
            return Proven::over(outcome.verdict(mover)).before();
        }
        // Enough plies are left, because the tables know the position before.
        let proven = self.proven(&next).expect("successors of known positions are known");
        without_plies(if next.to_move() == mover { proven } else { proven.flip() })
    }

    fn force(&self, position: &TammiPosition) -> u32 {
        Tammi::force(position)
    }

    /// The way of the fewest plies to the next capture or the end.
    fn way_forward(&self, game: &Tammi, position: &TammiPosition, winning: &[Action], _stream: &mut Stream) -> Action {
        let plies = |action: &&Action| {
            let next = after(game, position, **action);
            self.proven(&next).map(|after| Tammi::value_before(position, &next, after).plies)
        };
        *winning.iter().min_by_key(plies).expect("an action keeps the win")
    }

    fn random(&self, stream: &mut Stream) -> TammiPosition {
        self.random_of_all(stream)
    }
}

impl Tables<Tammi> {
    /// The result under the limit on the length of the game. `None` if the limit is so close that it could matter,
    /// here or after one action.
    fn within_limit(&self, game: &Tammi, position: &TammiPosition, proven: Proven) -> Option<Proven> {
        let longest = self.plies_up_to(Tammi::force(position));
        game.plies_left(position).is_none_or(|left| left > longest).then(|| without_plies(proven))
    }
}

/// The value without the plies to the next capture, which do not count to the end.
fn without_plies(proven: Proven) -> Proven {
    if proven.is_over() { proven } else { Proven { plies: None, ..proven } }
}

/// Tables in use.
static SHARED: LazyLock<Shared<Tables<Tammi>>> = LazyLock::new(Shared::default);

impl HasEndgames for Tammi {
    fn force_of(&self, position: &TammiPosition) -> Option<u32> {
        Some(Tammi::force(position))
    }

    fn open_endgames(&self, folder: &Path) -> Result<Arc<dyn Endgames<Tammi>>, ExactError> {
        Ok(open_shared(self, folder, &SHARED)?)
    }

    fn build_quick_endgames(&self, folder: &Path) -> Result<Option<Arc<dyn Endgames<Tammi>>>, ExactError> {
        Ok(Some(build_quick(self, folder, 4)?))
    }
}
