//! The evaluation of jarmo and guard: pieces, their distances from the goal row, and captured archers that can
//! return.

use super::{HasHeuristic, Heuristic, plies_left, word_key};
use crate::game::{Action, ActionMask, Player};
use crate::games::board::{BoardAction, BoardGame, BoardMask, BoardPosition, BoardRules, CIRCLES, Circles, SIDE};
use crate::games::guard::Turn;
use crate::games::jarmo::{SHUTTLE_LIMIT, Shuttle, Shuttles};
use crate::games::{GuardPosition, JarmoPosition};

/// The value of a piece by its distance from the goal row, in hundredths of a point.
const BY_DISTANCE: [i32; 5] = [200, 160, 132, 112, 100];

/// For having the move, in hundredths of a point.
const TEMPO: i32 = 12;

/// For a marked archer or a guard, in addition.
const MARKED: i32 = 24;

/// For a captured archer that can return.
const COMES_BACK: i32 = 90;

/// The parts of the evaluation that differ between jarmo and guard.
pub trait BoardEvaluation: BoardRules {
    /// The number of archers that the player may return, and the number that are captured.
    fn returns(position: &BoardPosition<Self>, player: Player) -> [u32; 2];

    /// What the table key depends on besides the pieces: 16 bits for White, 16 for Black, and [`Self::TURN_BITS`]
    /// bits for the turn.
    fn key(position: &BoardPosition<Self>) -> [u64; 3];

    /// The number of bits in which [`Self::key`] describes the turn.
    const TURN_BITS: u32;
}

/// The heuristic for jarmo or guard.
#[derive(Clone)]
pub struct BoardHeuristic<R> {
    game: BoardGame<R>,
    by_set: Box<[[[i16; 32]; SIDE]; 2]>, // [player][row][set of circles in the row]: the sum of piece values
    by_circle: [[i16; CIRCLES]; 2],      // [player][circle]: the value of a piece
}

impl<R: BoardEvaluation> BoardHeuristic<R> {
    fn new(game: BoardGame<R>) -> BoardHeuristic<R> {
        let by_circle = Player::BOTH.map(|player| {
            let distances = game.board().distances(Circles::goal(player));
            distances.map(|steps| BY_DISTANCE[steps.min(BY_DISTANCE.len() - 1)] as i16)
        });
        let by_set = by_circle.map(|values: [i16; CIRCLES]| {
            std::array::from_fn(|row| {
                let standing = |set: usize| (0..SIDE).filter(move |column| set >> column & 1 == 1);
                std::array::from_fn(|set| standing(set).map(|column| values[SIDE * row + column]).sum())
            })
        });
        BoardHeuristic { game, by_set: Box::new(by_set), by_circle }
    }

    #[inline]
    fn side(&self, position: &BoardPosition<R>, player: Player) -> i32 {
        let (own, rows) = (position.pieces(player), &self.by_set[player.index()]);
        let pieces: i32 = (0..SIDE).map(|row| i32::from(rows[row][own.row(row)])).sum();
        let [earned, captured] = R::returns(position, player);
        let marked = (own & position.strong()).count();
        pieces + COMES_BACK * earned.min(captured) as i32 + MARKED * marked as i32
    }
}

impl<R: BoardEvaluation> Heuristic<BoardGame<R>> for BoardHeuristic<R> {
    #[inline]
    fn evaluate(&self, position: &BoardPosition<R>) -> i32 {
        let mover = position.to_move();
        self.side(position, mover) - self.side(position, !mover) + TEMPO
    }

    /// Captures and returning archers. In the middle of a turn of guard these are all actions, because such positions
    /// are not evaluated.
    #[inline]
    fn forcing(&self, position: &BoardPosition<R>, legal: &BoardMask) -> BoardMask {
        if R::has_moved(position) {
            return *legal;
        }
        let (board, mover) = (self.game.board(), position.to_move());
        let ActionMask(captures) = board.arriving(position.pieces(!mover));
        let ActionMask(returns) = board.deploys(mover, Circles::home(mover));
        let ActionMask(words) = *legal;
        ActionMask([words[0] & (captures[0] | returns[0]), words[1] & (captures[1] | returns[1])])
    }

    /// The value of the captured piece, or of the archer that returns.
    #[inline]
    fn gain(&self, position: &BoardPosition<R>, action: Action) -> i32 {
        match self.game.board().decode(action) {
            BoardAction::Move { to, .. } => self.by_circle[(!position.to_move()).index()][to.index()].into(),
            BoardAction::Deploy { .. } | BoardAction::Pass => BY_DISTANCE[BY_DISTANCE.len() - 1],
        }
    }

    #[inline]
    fn key(&self, position: &BoardPosition<R>) -> u64 {
        let [white, black] = Player::BOTH.map(|player| position.pieces(player).0);
        let [of_white, of_black, turn] = R::key(position);
        let left = plies_left(&self.game, position);
        word_key([
            u64::from(white) << 32 | u64::from(black),
            u64::from(position.strong().0) << 32 | of_white << 16 | of_black,
            left << (R::TURN_BITS + 1) | turn << 1 | position.to_move() as u64,
        ])
    }
}

impl<R: BoardEvaluation> HasHeuristic for BoardGame<R> {
    type Heuristic = BoardHeuristic<R>;

    fn heuristic(&self) -> Option<BoardHeuristic<R>> {
        Some(BoardHeuristic::new(self.clone()))
    }
}

impl BoardEvaluation for Shuttles {
    const TURN_BITS: u32 = 0;

    #[inline]
    fn returns(position: &JarmoPosition, player: Player) -> [u32; 2] {
        let earned = position.archers(player) & position.marked() & Circles::goal(player);
        [earned.count(), position.captured(player)]
    }

    /// The shuttle of each player, if it can forbid a move soon. Shorter shuttles do not matter for the search.
    #[inline]
    fn key(position: &JarmoPosition) -> [u64; 3] {
        let [white, black] = Player::BOTH.map(|player| match position.shuttle(player).last_move() {
            Some((action, streak)) if streak + 2 >= SHUTTLE_LIMIT => u64::from(action.0) << 8 | u64::from(streak),
            _ => u64::from(position.shuttle(player) == Shuttle::PASS),
        });
        [white, black, 0]
    }
}

impl BoardEvaluation for Turn {
    const TURN_BITS: u32 = 7;

    #[inline]
    fn returns(position: &GuardPosition, player: Player) -> [u32; 2] {
        [position.placements(player), position.captured_archers(player)]
    }

    #[inline]
    fn key(position: &GuardPosition) -> [u64; 3] {
        let [white, black] = Player::BOTH
            .map(|player| u64::from(position.captured_archers(player)) << 8 | u64::from(position.placements(player)));
        [white, black, u64::from(position.passes()) << 1 | u64::from(position.moved())]
    }
}
