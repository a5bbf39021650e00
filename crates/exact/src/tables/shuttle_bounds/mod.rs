//! Jarmo with the shuttle rule: the placements that a side *holds*, which means that it does not lose them in the game
//! as it is played.
//!
//! One side is *bound* by the rule, the other is *free* of it: the free side may play every move, and may also pass
//! wherever the rule could force it to. What the bound side holds in this game it holds in the real one, because
//! there the other side has fewer actions. A position that both sides hold, each bound in its turn, is drawn.
//! `docs/lab/real_rules.md` has the proof, and what is lost by freeing a side.
//!
//! [`ShuttleBounds`] opens the files, which `lab real build` makes.

pub mod actions;
pub mod draw_proof;
pub mod layer;

use std::path::Path;

use self::actions::Move;
use self::draw_proof::{DrawProof, DrawProofs, LOSES};
use self::layer::{BoundLayer, finished_path};
use super::index::{LEAST_FORCE, MOST_FORCE, Placement};
use super::lines::Lines;
use super::solvable::owner;
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

/// The placements that each side is proven not to lose under the shuttle rule, for the forces that have files. They are
/// lower bounds of the true results.
#[derive(Debug)]
pub struct ShuttleBounds {
    board: Board,
    sides: [Side; 2],
}

/// The placements that one side holds.
#[derive(Debug)]
struct Side {
    lines: Lines,
    layers: Vec<BoundLayer>, // lowest force first
}

impl ShuttleBounds {
    /// Whether a folder has files.
    pub(super) fn exist(folder: &Path) -> bool {
        let exists = |bound| highest(folder, bound).is_some();
        Player::BOTH.into_iter().any(exists)
    }

    /// Opens the files in a folder if it has some.
    pub(crate) fn open_any(game: &Jarmo, folder: &Path) -> Result<Option<ShuttleBounds>, ExactError> {
        if ShuttleBounds::exist(folder) { ShuttleBounds::open(game, folder).map(Some) } else { Ok(None) }
    }

    /// Opens the files in a folder and verifies all checksums.
    pub fn open(game: &Jarmo, folder: &Path) -> Result<ShuttleBounds, ExactError> {
        let lines = Lines::of(game.board())?;
        let owner = owner(game);
        let side = |bound| -> Result<Side, ExactError> {
            let layers = (LEAST_FORCE..=highest(folder, bound).unwrap_or(LEAST_FORCE - 1))
                .map(|force| BoundLayer::open(folder, owner, bound, force))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Side { lines: lines.clone(), layers })
        };
        let sides = [side(Player::White)?, side(Player::Black)?];
        if sides.iter().all(|side| side.layers.is_empty()) {
            return Err(ExactError::new("has no files of bare positions held; build them first").at(folder));
        }
        Ok(ShuttleBounds { board: game.board().clone(), sides })
    }

    /// The file of a force for this side.
    pub fn layer(&self, bound: Player, force: u32) -> Option<&BoundLayer> {
        self.sides[bound.index()].layers.get(force.checked_sub(LEAST_FORCE)? as usize)
    }

    /// The highest force of which there is a file for this side.
    pub fn force(&self, bound: Player) -> Option<u32> {
        let count = self.sides[bound.index()].layers.len() as u32;
        count.checked_sub(1).map(|last| LEAST_FORCE + last)
    }

    /// Whether a side is proven not to lose a position that is not over, with both players' last moves and streaks; `None`
    /// without a file. The move limit does not count.
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
            return Some(match (side.draw_proof(&placement), last) {
                (DrawProof::No, _) => false,
                (DrawProof::Yes, _) | (DrawProof::Unless { .. }, None) => true,
                (DrawProof::Unless { .. }, Some((taken, streak))) => {
                    side.forbids(&placement, taken).is_none_or(|too_long| streak < too_long)
                }
            });
        }
        if position.shuttle(bound) == Shuttle::PASS {
            return Some(side.holds_after_pass(&placement));
        }
        if placement.own.archers == 0 {
            return Some(true); // the free side has lost its last archer
        }
        Some(match last {
            None => side.flags(&placement) & LOSES == 0,
            Some((taken, streak)) => side.longest_streak(&placement, taken, SHUTTLE_LIMIT) >= streak,
        })
    }
}

impl Side {
    /// The file of a placement's force.
    #[inline(always)]
    fn layer_of(&self, placement: &Placement) -> &BoundLayer {
        &self.layers[(placement.force() - LEAST_FORCE) as usize]
    }
}

impl DrawProofs for Side {
    fn lines(&self) -> &Lines {
        &self.lines
    }

    #[inline(always)]
    fn draw_proof(&self, placement: &Placement) -> DrawProof {
        self.layer_of(placement).draw_proof(placement)
    }

    #[inline(always)]
    fn flags(&self, placement: &Placement) -> u8 {
        self.layer_of(placement).flags(placement)
    }
}
