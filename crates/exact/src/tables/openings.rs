//! The exact values of openings.

use super::lookup::Tables;
use super::solvable::Solvable;
use jarmo_core::game::{Game, Mask, Player, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};

/// An opening and the exact value of the position it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolvedOpening {
    /// Its actions, from the start, as text.
    pub actions: Vec<String>,
    /// The position after them.
    pub position: JarmoPosition,
    /// The value for White.
    pub for_white: Proven,
}

/// Numbers of openings by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpeningCounts {
    /// Openings that White wins.
    pub white: u64,
    /// Drawn openings.
    pub drawn: u64,
    /// Openings that Black wins.
    pub black: u64,
}

impl OpeningCounts {
    /// Counts the results of openings.
    pub fn of(openings: &[SolvedOpening]) -> OpeningCounts {
        let count = |verdict| {
            let with = openings
                .iter()
                .filter(|one| one.for_white.verdict == verdict);
            with.count() as u64
        };
        OpeningCounts {
            white: count(Verdict::Win),
            drawn: count(Verdict::Draw),
            black: count(Verdict::Loss),
        }
    }
}

impl Tables {
    /// The value of a position for White; `None` outside the tables.
    fn for_white(&self, position: &JarmoPosition) -> Option<Proven> {
        let proven = self.proven(position)?;
        Some(match position.to_move() {
            Player::White => proven,
            Player::Black => proven.flip(),
        })
    }

    /// All sequences of this many actions from a position, in the order of their actions, with their values.
    /// `None` outside the tables. Sequences that end the game earlier are left out.
    pub fn openings(
        &self,
        game: &Jarmo,
        start: &JarmoPosition,
        plies: u32,
    ) -> Option<Vec<SolvedOpening>> {
        let mut openings = vec![(Vec::new(), *start)];
        for _ in 0..plies {
            let mut longer = Vec::new();
            for (actions, position) in &openings {
                for action in game.legal(position).iter() {
                    let mut next = *position;
                    game.play(&mut next, action);
                    let text = game.action_text(position, action);
                    longer.push(([&actions[..], &[text]].concat(), next));
                }
            }
            openings = longer;
        }
        openings
            .into_iter()
            .map(|(actions, position)| {
                Some(SolvedOpening {
                    actions,
                    position,
                    for_white: self.for_white(&position)?,
                })
            })
            .collect()
    }
}

impl<G: Solvable> Tables<G> {
    /// The actions, as text, of a game from a position in which both players take the first of their best
    /// actions, to its end; at most `plies`, because a drawn game may never end. `None` outside the tables.
    pub fn best_line(&self, game: &G, start: &G::Position, plies: u32) -> Option<Vec<String>> {
        let mut line = Vec::new();
        let mut position = *start;
        while line.len() < plies as usize {
            let values = self.actions(game, &position)?;
            let Some(best) = values.first() else {
                break;
            };
            line.push(game.action_text(&position, best.action));
            game.play(&mut position, best.action);
        }
        Some(line)
    }
}
