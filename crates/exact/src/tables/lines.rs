//! The board for the solver, and the rules it needs besides moves.

use super::index::{Army, Placement};
use super::subsets::{MOST, bits, sets};
use crate::ExactError;
use jarmo_core::game::Player;
use jarmo_core::games::board::{Board, CIRCLES, Circle, Circles};

/// The neighbours of every circle.
#[derive(Clone, Debug)]
pub struct Lines {
    near: [u32; CIRCLES],
    /// The largest number of actions in any position.
    pub most_actions: u32,
}

impl Lines {
    /// The lines of a board. Fails if a player can be left without a move on it.
    pub fn of(board: &Board) -> Result<Lines, ExactError> {
        let mut near = [0; CIRCLES];
        for circle in Circle::all() {
            near[circle.index()] = board.neighbours(circle).0;
        }
        let mut lines = Lines { near, most_actions: 0 };
        // The number of a player's moves depends on the player's own archers alone.
        for archers in (1..=MOST).flat_map(|size| sets(CIRCLES, size)) {
            for player in Player::BOTH {
                let moves = lines.moves(player, archers);
                let outside = archers & !goal(player);
                if outside != 0 && moves == 0 {
                    let archers = Circles(archers).iter().map(|circle| circle.to_string());
                    return Err(ExactError::new(format!(
                        "board `{}`: a player with archers on {} has no move and must pass, which tables do \
                         not support; use a board without such a position",
                        board.name(),
                        archers.collect::<Vec<_>>().join(" ")
                    )));
                }
                let deploys = u32::from((archers.count_ones() as usize) < MOST) * 5;
                lines.most_actions = lines.most_actions.max(moves + deploys);
            }
        }
        Ok(lines)
    }

    /// The circles one line away.
    #[inline(always)]
    pub fn near(&self, circle: u32) -> u32 {
        self.near[circle as usize]
    }

    /// The number of moves of a player with these archers, including captures.
    #[inline(always)]
    pub fn moves(&self, player: Player, archers: u32) -> u32 {
        bits(archers & !goal(player)).map(|from| (self.near(from) & !archers).count_ones()).sum()
    }
}

/// The player's goal row, on which archers never move again.
#[inline(always)]
pub fn goal(player: Player) -> u32 {
    Circles::goal(player).0
}

/// The player's home row.
#[inline(always)]
pub fn home(player: Player) -> u32 {
    Circles::home(player).0
}

/// Whether the game is over: a player has no archer outside the goal row.
#[inline(always)]
pub fn is_over(placement: &Placement) -> bool {
    let Placement { mover, own, enemy } = placement;
    (own.archers & !goal(*mover) == 0) | (enemy.archers & !goal(!*mover) == 0)
}

/// Points of the player to move minus those of the opponent.
pub(super) fn score_difference(placement: &Placement) -> i32 {
    let Placement { mover, own, enemy } = placement;
    let points = |player, archers: u32| (archers.count_ones() + (archers & goal(player)).count_ones()) as i32;
    points(*mover, own.archers) - points(!*mover, enemy.archers)
}

/// The circles on which the player to move can redeploy an archer.
#[inline(always)]
pub(super) fn deploy_places(placement: &Placement) -> u32 {
    let Placement { mover, own, enemy } = placement;
    if own.marked & goal(*mover) != 0 && (own.archers.count_ones() as usize) < MOST {
        home(*mover) & !(own.archers | enemy.archers)
    } else {
        0
    }
}

/// The placement after the archer on `from` captured the one on `to` and was marked.
#[inline(always)]
pub(super) fn capture(placement: &Placement, from: u32, to: u32) -> Placement {
    let Placement { mover, own, enemy } = placement;
    let (from, to) = (1 << from, 1 << to);
    Placement {
        mover: !*mover,
        own: Army { archers: enemy.archers & !to, marked: enemy.marked & !to },
        enemy: Army { archers: own.archers & !from | to, marked: own.marked & !from | to },
    }
}

/// Visits the placements after captures that lower the force: captures by or of a marked archer. In all
/// other captures the new mark of the capturing archer makes up for the captured archer.
#[inline(always)]
pub fn each_lowering_capture(lines: &Lines, placement: &Placement, mut visit: impl FnMut(&Placement)) {
    let Placement { mover, own, enemy } = *placement;
    if own.marked | enemy.marked == 0 {
        return;
    }
    for from in bits(own.archers & !goal(mover)) {
        let targets = if own.marked >> from & 1 == 1 { enemy.archers } else { enemy.marked };
        for to in bits(lines.near(from) & targets) {
            visit(&capture(placement, from, to));
        }
    }
}
