//! Counts mistakes by means of exact tables: how many, at which plies, and at which force.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::accuracy::is_mistake;
use jarmo_core::env::Line;
use jarmo_core::game::Game;
use jarmo_exact::tables::Endgames;

/// The first ply of each range of plies.
const RANGES: [u32; 6] = [0, 10, 20, 40, 60, 100];

/// The number of decisions that tables can judge, and of mistakes among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decisions {
    /// Decisions in positions that the tables know.
    pub known: u32,
    /// Decisions that turned a win into a draw or loss, or a draw into a loss.
    pub mistakes: u32,
}

impl Decisions {
    fn merge(&mut self, more: Decisions) {
        self.known += more.known;
        self.mistakes += more.mistakes;
    }
}

/// The decisions of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mistakes {
    games: u32, // games with at least one mistake
    by_ply: [Decisions; RANGES.len()],
    by_force: BTreeMap<u32, Decisions>,
}

impl Mistakes {
    fn count(&mut self, ply: u32, force: u32, mistake: bool) {
        let one = Decisions { known: 1, mistakes: mistake.into() };
        let range = RANGES.partition_point(|&first| first <= ply) - 1;
        self.by_ply[range].merge(one);
        self.by_force.entry(force).or_default().merge(one);
    }

    pub(super) fn merge(&mut self, more: &Mistakes) {
        self.games += more.games;
        self.by_ply.iter_mut().zip(more.by_ply).for_each(|(all, more)| all.merge(more));
        for (&force, &more) in &more.by_force {
            self.by_force.entry(force).or_default().merge(more);
        }
    }

    fn all(&self) -> Decisions {
        let mut all = Decisions::default();
        self.by_ply.iter().for_each(|&part| all.merge(part));
        all
    }
}

/// The decisions at some plies of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PlyRange {
    /// The first ply.
    pub from: u32,
    /// The last ply; `None` if the range has no end.
    pub to: Option<u32>,
    /// Their number, and the mistakes.
    #[serde(flatten)]
    pub decisions: Decisions,
}

/// The decisions at one force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AtForce {
    /// The number by which tables are split: in jarmo archers plus marks, in tammi pieces.
    pub force: u32,
    /// Their number, and the mistakes.
    #[serde(flatten)]
    pub decisions: Decisions,
}

/// The mistakes of an agent, for reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MistakeRow {
    /// Mistakes per game.
    pub per_game: f64,
    /// The games with at least one mistake.
    pub games: u32,
    /// All decisions.
    #[serde(flatten)]
    pub all: Decisions,
    /// The decisions by ply, without empty ranges.
    pub by_ply: Vec<PlyRange>,
    /// The decisions by force, without empty ones.
    pub by_force: Vec<AtForce>,
}

impl MistakeRow {
    pub(super) fn new(mistakes: &Mistakes, games: u32) -> MistakeRow {
        let all = mistakes.all();
        let ends = RANGES[1..].iter().map(|&next| Some(next - 1)).chain([None]);
        let ranges = RANGES.into_iter().zip(ends).zip(mistakes.by_ply);
        let ranges = ranges.map(|((from, to), decisions)| PlyRange { from, to, decisions });
        MistakeRow {
            per_game: f64::from(all.mistakes) / f64::from(games.max(1)),
            games: mistakes.games,
            all,
            by_ply: ranges.filter(|range| range.decisions.known > 0).collect(),
            by_force: mistakes.by_force.iter().map(|(&force, &decisions)| AtForce { force, decisions }).collect(),
        }
    }
}

/// The mistakes of White and Black in a game. `opening` is the number of actions at its start that the agents did not
/// choose.
pub(super) fn of_game<G: Game>(
    game: &G,
    tables: &Arc<dyn Endgames<G>>,
    played: &Line<G::Position>,
    opening: usize,
) -> [Mistakes; 2] {
    let mut mistakes: [Mistakes; 2] = Default::default();
    for (position, &action) in played.positions(game).iter().zip(&played.actions).skip(opening) {
        let Some(mistake) = is_mistake(game, tables.as_ref(), position, action) else { continue };
        mistakes[game.to_move(position).index()].count(game.ply(position), tables.force(position), mistake);
    }
    for mistakes in &mut mistakes {
        mistakes.games = u32::from(mistakes.all().mistakes > 0);
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::game::Mask;
    use jarmo_core::games::Jarmo;
    use jarmo_exact::tables::Tables;

    #[test]
    fn the_only_legal_action_is_no_mistake() {
        let game = Jarmo::standard();
        let tables: Arc<dyn Endgames<Jarmo>> = Arc::new(Tables::solve(&game, 4).unwrap());
        // The tables ignore the shuttle rule, which forbids the winning E2-D4.
        let position = game.parse_position("2B2/5/5/4W/5 w D4-E2*4 - 8").unwrap();
        let only = game.legal(&position).nth(0);
        assert!(tables.after(&game, &position, only).verdict < tables.known(&game, &position).unwrap().verdict);
        let [white, black] = of_game(&game, &tables, &Line::at(position).then(&game, only), 0);
        assert_eq!((white.all(), black.all()), (Decisions { known: 1, mistakes: 0 }, Decisions::default()));
    }
}
