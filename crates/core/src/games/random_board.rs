//! Random boards for jarmo and guard, of the kind of the standard board.

use rand::Rng;

use super::board::{Board, CIRCLES, Circle, Circles};
use super::jarmo::ARCHERS;
use super::{Jarmo, JarmoPosition};
use crate::game::{Game, Mask, Player};
use crate::random::{below, stream};

/// Attempts to exchange the ends of two lines; about one in nine succeeds.
const ATTEMPTS: usize = 2000;

/// With best play for archers, nobody wins one in so many plies from the start.
const QUIET_PLIES: u32 = 6;

impl Board {
    /// The board that belongs to a seed, which will not change. As on the standard board,
    /// - each circle has the same number of lines as there, 39 in all;
    /// - a line is a knight's move, or leads to the next circle in a column or in one of the three middle rows;
    /// - every circle can be reached, and White's five circles are together as many moves from the goal row as Black's;
    /// - nobody can be left without a move, which exact tables do not support;
    /// - in the first six plies nobody can win an archer.
    pub fn random(seed: u64) -> Board {
        let mut random = stream(seed, 0);
        // Lines join circles of different colours, as on a chequered board. An exchange of ends of the same colour keeps
        // the number of lines of each circle.
        let coloured = |&(one, other): &(Circle, Circle)| if is_dark(one) { (one, other) } else { (other, one) };
        let mut lines: Vec<(Circle, Circle)> = Board::standard().lines().iter().map(coloured).collect();
        let count = lines.len() as u32;
        loop {
            for _ in 0..ATTEMPTS {
                let [one, other] = [0; 2].map(|_| below(random.next_u64(), count) as usize);
                let (a, b) = ((lines[one].0, lines[other].1), (lines[other].0, lines[one].1));
                if [a, b].iter().all(|line| is_line(line.0, line.1) && !lines.contains(line)) {
                    (lines[one], lines[other]) = (a, b);
                }
            }
            let ordered = lines.iter().map(|&(one, other)| (one.min(other), one.max(other))).collect();
            let board = Board::new(format!("random {seed}"), ordered);
            if is_fair(&board) {
                return board;
            }
        }
    }
}

/// The colour of a circle on a chequered board.
fn is_dark(circle: Circle) -> bool {
    (circle.column() + circle.row()).is_multiple_of(2)
}

/// Whether a random board can have a line between these circles.
fn is_line(one: Circle, other: Circle) -> bool {
    let (columns, rows) = (one.column().abs_diff(other.column()), one.row().abs_diff(other.row()));
    let is_between = !(Circles::home(Player::White) | Circles::home(Player::Black)).contains(one);
    matches!((columns, rows), (1, 2) | (2, 1) | (0, 1)) || (columns, rows) == (1, 0) && is_between
}

/// Whether both sides have the same chances, as far as [`Board::random`] promises.
fn is_fair(board: &Board) -> bool {
    let ways = Player::BOTH.map(|player| {
        let distances = board.distances(Circles::goal(player));
        let way: usize = Circles::home(player).iter().map(|circle| distances[circle.index()]).sum();
        distances.iter().all(|distance| *distance < CIRCLES).then_some(way)
    });
    let game = Jarmo::new(board.clone(), 0);
    ways[0].is_some()
        && ways[0] == ways[1]
        && !can_be_stuck(board)
        && archers_won(&game, &game.start(), QUIET_PLIES, [-1, 1]) == 0
}

/// Whether a player with some archers outside the goal row can be without a move, however the others stand.
fn can_be_stuck(board: &Board) -> bool {
    let is_stuck = |archers: Circles| {
        let is_stuck = |player| {
            let movable = archers & !Circles::goal(player);
            !movable.is_empty() && movable.iter().all(|from| (board.neighbours(from) & !archers).is_empty())
        };
        Player::BOTH.into_iter().any(is_stuck)
    };
    (1..=ARCHERS).any(|count| {
        let first = (1_u32 << count) - 1;
        let sets = std::iter::successors(Some(first), |&set| {
            let lowest = set & set.wrapping_neg();
            let carry = set + lowest; // the next larger number with as many bits
            Some(carry | (((set ^ carry) >> 2) / lowest))
        });
        sets.take_while(|set| *set <= Circles::ALL.0).any(|set| is_stuck(Circles(set)))
    })
}

/// How many archers more than the opponent the player to move wins in so many plies and the captures that follow, at
/// least and at most `bounds`.
fn archers_won(game: &Jarmo, position: &JarmoPosition, plies: u32, [mut least, most]: [i32; 2]) -> i32 {
    let archers = |player| position.archers(player).count() as i32;
    let ahead = archers(position.to_move()) - archers(!position.to_move());
    if plies == 0 {
        least = least.max(ahead);
    }
    let legal = game.legal(position);
    if least >= most || legal.is_empty() {
        return ahead.clamp(least.min(most), most);
    }
    let opponents = position.archers(!position.to_move());
    for action in legal.iter() {
        let mut next = *position;
        game.play(&mut next, action);
        if plies == 0 && next.archers(next.to_move()).count() == opponents.count() {
            continue; // no capture
        }
        least = least.max(-archers_won(game, &next, plies.saturating_sub(1), [-most, -least]));
        if least >= most {
            break;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(board: &Board) -> Vec<u32> {
        Circle::all().map(|circle| board.neighbours(circle).count()).collect()
    }

    #[test]
    fn the_standard_board_is_of_the_kind_of_random_ones() {
        let standard = Board::standard();
        assert!(standard.lines().iter().all(|&(one, other)| is_line(one, other)));
        assert!(is_fair(&standard));
    }

    #[test]
    fn a_seed_has_one_board_and_it_keeps_its_promises() {
        let boards: Vec<Board> = (0..20).map(Board::random).collect();
        for (seed, board) in boards.iter().enumerate() {
            assert_eq!(*board, Board::random(seed as u64));
            assert_eq!(degrees(board), degrees(&Board::standard()));
            assert!(board.lines().iter().all(|&(one, other)| one < other && is_line(one, other)));
            assert!(is_fair(board));
            assert!(boards[..seed].iter().all(|other| other.text() != board.text()), "two seeds have one board");
        }
        // Known to users by its seed, so it must not change.
        let seventh = "A1-C2 A1-B3 B1-B2 B1-D2 C1-A2 C1-C2 C1-B3 D1-D2 D1-E3 E1-C2 E1-D3 A2-A3 \
                       B2-B3 B2-A4 B2-C4 C2-A3 C2-C3 D2-E2 D2-C4 E2-C3 \
                       B3-C3 B3-D4 B3-A5 B3-C5 C3-D3 C3-D5 D3-B4 D3-D4 D3-C5 D3-E5 E3-E4 A4-C5 B4-C4 B4-B5 B4-D5 C4-A5 C4-E5 D4-E4 D4-B5";
        assert_eq!(boards[7].text(), seventh);
    }
}
