//! Tables together with what each side holds under the shuttle rule, for search and agents.

use std::sync::Arc;

use super::Holds;
use crate::tables::lookup::Tables;
use jarmo_core::game::{Action, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::known::Endgames;
use jarmo_core::random::Stream;

/// Tables, and what each side holds as far as there are files. Of the results of the tables those are known that the
/// rule is not found to endanger.
pub(in crate::tables) struct RealTables {
    tables: Arc<Tables>,
    holds: Holds,
}

impl RealTables {
    pub(crate) fn new(tables: Arc<Tables>, holds: Holds) -> RealTables {
        RealTables { tables, holds }
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The result of the tables under the limit on the length of the game, if each player to whom it gives a draw or win
    /// is proven not to lose, or nothing is known of that.
    fn standing(&self, game: &Jarmo, position: &JarmoPosition, proven: Proven) -> Option<Proven> {
        let mover = position.to_move();
        let holds = |player| self.holds.holds(position, player) != Some(false);
        let stands = match proven.verdict {
            Verdict::Win => holds(mover),
            Verdict::Loss => holds(!mover),
            Verdict::Draw => Player::BOTH.into_iter().all(holds),
        };
        stands.then(|| self.tables.within_limit(game, position, proven))?
    }
}

impl Endgames<Jarmo> for RealTables {
    fn known(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Proven> {
        self.standing(game, position, self.tables.proven(position)?)
    }

    fn known_all(&self, game: &Jarmo, positions: &[JarmoPosition], out: &mut Vec<Option<Proven>>) {
        self.tables.known_all_by(positions, out, |position, proven| self.standing(game, position, proven));
    }

    fn holds(&self, _: &Jarmo, position: &JarmoPosition, player: Player) -> Option<bool> {
        let solved = position.force() <= self.tables.force();
        solved.then(|| self.holds.holds(position, player))?
    }

    fn force(&self, position: &JarmoPosition) -> u32 {
        position.force()
    }

    fn way_forward(&self, game: &Jarmo, position: &JarmoPosition, winning: &[Action], stream: &mut Stream) -> Action {
        self.tables.way_forward(game, position, winning, stream)
    }

    fn random(&self, stream: &mut Stream) -> JarmoPosition {
        self.tables.random(stream)
    }

    fn after(&self, game: &Jarmo, position: &JarmoPosition, action: Action) -> Proven {
        self.tables.after(game, position, action)
    }
}
