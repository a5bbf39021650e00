//! Jarmo with the shuttle rule: which placements a side holds, that is, does not lose, for the game as it is played.
//!
//! One side is *bound* by the rule, the other is *free* of it: the free side may play every move, and may also pass
//! wherever the rule could force it to. What the bound side holds in this game it holds in the real one, because
//! there the other side has fewer actions. A position that both sides hold, each bound in its turn, is drawn.
//! `docs/lab/real_rules.md` has the proof, and what is lost by freeing a side.
//!
//! [`Holds`] opens the files, which `lab real build` makes.

pub mod actions;
pub mod hold;
pub mod layer;

use std::path::Path;

use self::actions::Move;
use self::hold::{Held, Hold, LOSES};
use self::layer::{HeldLayer, finished_path};
use super::file::Owner;
use super::index::{LEAST_FORCE, MOST_FORCE, Placement};
use super::lines::Lines;
use crate::ExactError;
use jarmo_core::game::Player;
use jarmo_core::games::board::{Board, BoardAction};
use jarmo_core::games::jarmo::{SHUTTLE_LIMIT, Shuttle};
use jarmo_core::games::{Jarmo, JarmoPosition};

/// The highest force of which a folder has a file for this side.
fn highest(folder: &Path, bound: Player) -> Option<u32> {
    let exists = |&force: &u32| finished_path(folder, bound, force).exists();
    (LEAST_FORCE..=MOST_FORCE).rev().find(exists)
}

/// The placements that each side holds, as far as there are files.
#[derive(Debug)]
pub struct Holds {
    board: Board,
    sides: [Side; 2],
}

/// The placements that one side holds.
#[derive(Debug)]
struct Side {
    lines: Lines,
    layers: Vec<HeldLayer>, // lowest force first
}

impl Holds {
    /// Whether a folder has files.
    pub(super) fn exist(folder: &Path) -> bool {
        let exists = |bound| highest(folder, bound).is_some();
        Player::BOTH.into_iter().any(exists)
    }

    /// Opens the files in a folder and verifies all checksums.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<Holds, ExactError> {
        let lines = Lines::of(game.board())?;
        let owner = Owner::of(game);
        let side = |bound| {
            let layers = (LEAST_FORCE..=highest(folder, bound).unwrap_or(LEAST_FORCE - 1))
                .map(|force| HeldLayer::open(folder, owner, bound, force))
                .collect::<Result<Vec<_>, _>>()?;
            Ok::<_, ExactError>(Side { lines: lines.clone(), layers })
        };
        let sides = [side(Player::White)?, side(Player::Black)?];
        if sides.iter().all(|side| side.layers.is_empty()) {
            return Err(ExactError::new("has no files of bare positions held; build them first").at(folder));
        }
        Ok(Holds { board: game.board().clone(), sides })
    }

    /// The file of a force for this side.
    pub fn layer(&self, bound: Player, force: u32) -> Option<&HeldLayer> {
        self.sides[bound.index()].layers.get(force.checked_sub(LEAST_FORCE)? as usize)
    }

    /// The highest force of which there is a file for this side.
    pub fn force(&self, bound: Player) -> Option<u32> {
        let count = self.sides[bound.index()].layers.len() as u32;
        count.checked_sub(1).map(|last| LEAST_FORCE + last)
    }

    /// Whether a side is proven not to lose a position that is not over, with both players' last moves and streaks; `None`
    /// without a file. The limit on the length of a game does not count.
    pub fn holds(&self, position: &JarmoPosition, bound: Player) -> Option<bool> {
        let placement = Placement::of(position);
        let side = &self.sides[bound.index()];
        if self.force(bound)? < position.force() {
            return None;
        }
        let last = position.shuttle(bound).last_move().and_then(|(action, streak)| match self.board.decode(action) {
            BoardAction::Move { from, to } => {
                let (from, to) = (from.index() as u32, to.index() as u32);
                Some((Move { from, to }, streak))
            }
            _ => None,
        });
        if placement.mover == bound {
            let shortest = || last.and_then(|(last, _)| side.forbids(&placement, last));
            return Some(match side.hold(&placement) {
                Hold::No => false,
                Hold::Yes => true,
                Hold::Unless { .. } => last.zip(shortest()).is_none_or(|((_, streak), shortest)| streak < shortest),
            });
        }
        Some(match last {
            _ if position.shuttle(bound) == Shuttle::PASS => side.holds_after_pass(&placement),
            _ if placement.own.archers == 0 => true,
            None => side.flags(&placement) & LOSES == 0,
            Some((last, streak)) => side.longest_streak(&placement, last, SHUTTLE_LIMIT) >= streak,
        })
    }
}

impl Side {
    /// The file of a placement's force.
    #[inline(always)]
    fn layer_of(&self, placement: &Placement) -> &HeldLayer {
        &self.layers[(placement.force() - LEAST_FORCE) as usize]
    }
}

impl Held for Side {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    #[inline(always)]
    fn hold(&self, placement: &Placement) -> Hold {
        self.layer_of(placement).hold(placement)
    }

    #[inline(always)]
    fn flags(&self, placement: &Placement) -> u8 {
        self.layer_of(placement).flags(placement)
    }
}
