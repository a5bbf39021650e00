//! Which squares the pieces of both players control. Networks use it as input; the rules do not need it.

use super::squares::{DIAGONALS, DIRECTIONS, FORWARD, Square, squares};
use super::{TammiMask, TammiPosition};
use crate::game::{Action, Mask};

const EVEN_ROWS: u32 = 0x0f0f_0f0f;
const LEFT: u32 = 0x1111_1111; // columns a and b
const RIGHT: u32 = 0x8888_8888; // columns g and h

/// What a player's pieces could do with the next move, as sets of squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Empty squares that a piece can move to without a capture.
    pub reached: u32,
    /// Squares on which an enemy piece can be captured, or could be if one stood there.
    pub attacked: u32,
    /// The squares of `attacked` on which there are at least two ways to capture.
    pub attacked_twice: u32,
    /// Pieces that can move to an empty square.
    pub mobile: u32,
}

impl Control {
    #[inline]
    fn attack(&mut self, squares: u32) {
        self.attacked_twice |= self.attacked & squares;
        self.attacked |= squares;
    }

    /// The same sets from the other player's point of view.
    fn turned(self) -> Control {
        let Control { reached, attacked, attacked_twice, mobile } = self;
        let [reached, attacked, attacked_twice, mobile] =
            [reached, attacked, attacked_twice, mobile].map(u32::reverse_bits);
        Control { reached, attacked, attacked_twice, mobile }
    }
}

impl TammiPosition {
    /// The actions of both players' [possible moves](TammiPosition::possible_moves) after which the other player
    /// cannot capture. A capture that has to be continued is not among them.
    #[inline]
    pub fn safe_moves(&self, [own, enemy]: &[TammiMask; 2]) -> [TammiMask; 2] {
        let board = self.board();
        [board.safe(self.jumped, own), board.turned().safe(0, enemy)]
    }

    /// What the mover and the opponent control, both from the mover's point of view. During a capture, jumped pieces
    /// still count.
    #[inline]
    pub fn control(&self) -> [Control; 2] {
        let board = self.board();
        [board.control(), board.turned().control().turned()]
    }

    fn board(&self) -> Board {
        Board { own: self.own, enemy: self.enemy, kings: self.kings }
    }
}

/// The pieces of a player and of the opponent, and the kings of both, from the player's point of view.
#[derive(Clone, Copy)]
struct Board {
    own: u32,
    enemy: u32,
    kings: u32,
}

impl Board {
    /// The same board from the other player's point of view.
    fn turned(self) -> Board {
        let [enemy, own, kings] = [self.own, self.enemy, self.kings].map(u32::reverse_bits);
        Board { own, enemy, kings }
    }

    fn empty(self) -> u32 {
        !(self.own | self.enemy)
    }

    /// The squares that these men attack to their right, and to their left.
    #[inline]
    fn attacked_by_men(self, men: u32) -> [u32; 2] {
        let right = men & !RIGHT & self.empty() >> 9;
        let left = men & !LEFT & self.empty() >> 7;
        [(right & EVEN_ROWS) << 4 | (right & !EVEN_ROWS) << 5, (left & EVEN_ROWS) << 3 | (left & !EVEN_ROWS) << 4]
    }

    /// The squares that a king can move to in one direction, and those that it attacks.
    #[inline]
    fn ray(self, king: Square, direction: usize) -> [u32; 2] {
        let nearest = |set: u32| if direction < FORWARD { set & set.wrapping_neg() } else { highest(set) };
        let ray = DIAGONALS.ray[king.index()][direction];
        let Some(blocker) = DIAGONALS.nearest(king, direction, !self.empty()) else {
            return [ray, ray & !farthest(ray, direction)];
        };
        let beyond = DIAGONALS.ray[blocker.index()][direction];
        let free = ray & !beyond & !blocker.bit();
        let behind = nearest(beyond) & self.empty();
        [free, free & !farthest(free, direction) | if behind != 0 { blocker.bit() } else { 0 }]
    }

    /// Whether one of the player's pieces on `pieces` can capture one of the pieces on `targets`.
    #[inline]
    fn can_capture(self, pieces: u32, targets: u32) -> bool {
        let [right, left] = self.attacked_by_men(pieces & !self.kings);
        let captures = |king| (0..DIRECTIONS).any(|direction| self.ray(king, direction)[1] & targets != 0);
        (right | left) & targets != 0 || squares(pieces & self.kings).any(captures)
    }

    #[inline]
    fn control(self) -> Control {
        let (men, empty) = (self.own & !self.kings, self.empty());
        let (even, odd) = (men & EVEN_ROWS, men & !EVEN_ROWS);
        let mut control = Control {
            reached: empty & (even << 4 | (even & !LEFT) << 3 | odd << 4 | (odd & !RIGHT) << 5),
            mobile: men & empty >> 4 | even & !LEFT & empty >> 3 | odd & !RIGHT & empty >> 5,
            ..Control::default()
        };
        self.attacked_by_men(men).into_iter().for_each(|attacked| control.attack(attacked));
        for king in squares(self.own & self.kings) {
            for direction in 0..DIRECTIONS {
                let [reached, attacked] = self.ray(king, direction);
                control.attack(attacked);
                control.reached |= reached;
                control.mobile |= if reached != 0 { king.bit() } else { 0 };
            }
        }
        control
    }

    /// The actions after which the other player cannot capture. `jumped` has the pieces that the capture in progress
    /// has jumped.
    #[inline]
    fn safe(self, jumped: u32, actions: &TammiMask) -> TammiMask {
        let turned = self.turned();
        let mut safe = TammiMask::default();
        for action in actions.iter().filter(|&action| self.is_safe(turned, jumped, action)) {
            safe.insert(action);
        }
        safe
    }

    /// Whether the other player cannot capture after this action. `turned` is this board from the other player's
    /// point of view.
    #[inline]
    fn is_safe(self, mut turned: Board, jumped: u32, action: Action) -> bool {
        let (from, to) = DIAGONALS.ends[action.index()];
        let captured = DIAGONALS.between[action.index()] & self.enemy;
        if captured != 0 {
            let jumped = jumped | captured;
            let moved = from.bit() | to.bit();
            let kings = if self.kings & from.bit() != 0 { self.kings ^ moved } else { self.kings };
            let after = Board { own: self.own ^ moved, kings, ..self };
            if after.can_capture(to.bit(), self.enemy & !jumped) {
                return false; // the capture has to be continued
            }
            turned.own &= !jumped.reverse_bits();
        }
        turned.enemy ^= from.turn().bit() | to.turn().bit();
        !turned.can_capture(turned.own, turned.enemy) // `kings` may still have captured ones
    }
}

/// A set of only the highest square of a set.
#[inline]
fn highest(set: u32) -> u32 {
    if set == 0 { 0 } else { 1 << set.ilog2() }
}

/// A set of only the last square of a set in a direction.
#[inline]
fn farthest(set: u32, direction: usize) -> u32 {
    if direction < FORWARD { highest(set) } else { set & set.wrapping_neg() }
}
