//! Jarmo and guard: pieces, their distances to the goal row, and captured archers that may return.

use super::key::word_key;
use super::{HasHeuristic, Heuristic, plies_left};
use crate::game::{Action, Mask, Player};
use crate::games::board::{Board, BoardAction, BoardMask, CIRCLES, Circle, Circles, SIDE};
use crate::games::jarmo::{SHUTTLE_LIMIT, Shuttle};
use crate::games::{Guard, GuardPosition, Jarmo, JarmoPosition};

/// The value of a piece by its distance from the goal row, in hundredths of a point.
const BY_DISTANCE: [i32; 5] = [200, 160, 132, 112, 100];

/// For the player to move, in hundredths of a point.
const TEMPO: i32 = 12;

/// Extra for a marked archer or a guard.
const MARKED: i32 = 24;

/// For a captured archer that can return.
const COMES_BACK: i32 = 90;

/// Look-up tables by row and set of circles in it: piece values, and the moves that end there.
#[derive(Clone)]
struct BoardTables {
    by_set: [[[i16; 32]; SIDE]; 2],    // [player][row][set]: the sum of piece values
    by_circle: [[i16; CIRCLES]; 2],    // [player][circle]: the value of a piece
    target: [u8; BoardMask::CAPACITY], // [action]: the circle a move ends on, or NOWHERE
    arriving: [[BoardMask; 32]; SIDE], // [row][set]: moves that end there
    deploys: BoardMask,
}

/// The target of redeploys and passes, which end on no enemy piece.
const NOWHERE: u8 = CIRCLES as u8;

impl BoardTables {
    fn new(board: &Board) -> BoardTables {
        let mut tables = BoardTables {
            by_set: [[[0; 32]; SIDE]; 2],
            by_circle: [[0; CIRCLES]; 2],
            target: [NOWHERE; BoardMask::CAPACITY],
            arriving: [[BoardMask::default(); 32]; SIDE],
            deploys: BoardMask::default(),
        };
        for player in Player::BOTH {
            let distances = distances(board, Circles::goal(player));
            for circle in Circle::all() {
                let steps = distances[circle.index()].min(BY_DISTANCE.len() - 1);
                tables.by_circle[player.index()][circle.index()] = BY_DISTANCE[steps] as i16;
            }
            for row in 0..SIDE {
                for set in 0..32 {
                    tables.by_set[player.index()][row][set] = (0..SIDE)
                        .filter(|column| set >> column & 1 == 1)
                        .map(|column| tables.by_circle[player.index()][SIDE * row + column])
                        .sum();
                }
            }
        }
        for index in 0..board.actions() as u16 {
            match board.decode(Action(index)) {
                BoardAction::Move { to, .. } => {
                    tables.target[usize::from(index)] = to.index() as u8;
                    for set in (0..32).filter(|set| set >> to.column() & 1 == 1) {
                        tables.arriving[to.row()][set].insert(Action(index));
                    }
                }
                BoardAction::Deploy { .. } => tables.deploys.insert(Action(index)),
                BoardAction::Pass => {}
            }
        }
        tables
    }

    #[inline]
    fn value(&self, player: Player, pieces: Circles) -> i32 {
        let rows = &self.by_set[player.index()];
        (0..SIDE).map(|row| i32::from(rows[row][pieces.row(row)])).sum()
    }

    /// The legal captures and redeploys.
    #[inline]
    fn forcing(&self, enemy: Circles, legal: &BoardMask) -> BoardMask {
        let mut words = self.deploys.0;
        for row in 0..SIDE {
            let ending = &self.arriving[row][enemy.row(row)];
            words[0] |= ending.0[0];
            words[1] |= ending.0[1];
        }
        let mut forcing = *legal;
        forcing.0[0] &= words[0];
        forcing.0[1] &= words[1];
        forcing
    }

    /// The value of the captured enemy piece, or of the archer that returns.
    #[inline]
    fn gain(&self, mover: Player, action: Action) -> i32 {
        match self.target[action.index()] {
            NOWHERE => BY_DISTANCE[BY_DISTANCE.len() - 1],
            circle => self.by_circle[(!mover).index()][usize::from(circle)].into(),
        }
    }
}

/// Steps from every circle to the nearest one of `goal`.
fn distances(board: &Board, goal: Circles) -> [usize; CIRCLES] {
    let mut distances = [CIRCLES; CIRCLES];
    let mut reached = goal;
    let mut steps = 0;
    while !reached.is_empty() {
        for circle in reached.iter() {
            distances[circle.index()] = steps;
        }
        steps += 1;
        reached = reached
            .iter()
            .flat_map(|circle| board.neighbours(circle).iter())
            .filter(|circle| distances[circle.index()] == CIRCLES)
            .fold(Circles::NONE, |set, circle| set | circle.into());
    }
    distances
}

/// The value of archers that can return, and of marks or guards.
#[inline]
fn return_value(able: u32, captured: u32, marked: u32) -> i32 {
    COMES_BACK * able.min(captured) as i32 + MARKED * marked as i32
}

/// Jarmo's heuristic.
#[derive(Clone)]
pub struct JarmoHeuristic {
    tables: Box<BoardTables>,
    game: Jarmo,
}

impl JarmoHeuristic {
    #[inline]
    fn side(&self, position: &JarmoPosition, player: Player) -> i32 {
        let own = position.archers(player);
        let marked = own & position.marked();
        let able = (marked & Circles::goal(player)).count();
        self.tables.value(player, own) + return_value(able, position.captured(player), marked.count())
    }
}

/// The part of a shuttle that may soon forbid a move, as a key.
#[inline]
fn shuttle_word(shuttle: Shuttle) -> u64 {
    match shuttle.last_move() {
        Some((action, streak)) if streak + 2 >= SHUTTLE_LIMIT => u64::from(action.0) << 8 | u64::from(streak),
        _ => u64::from(shuttle == Shuttle::PASS),
    }
}

impl Heuristic<Jarmo> for JarmoHeuristic {
    #[inline]
    fn evaluate(&self, position: &JarmoPosition) -> i32 {
        let mover = position.to_move();
        self.side(position, mover) - self.side(position, !mover) + TEMPO
    }

    #[inline]
    fn forcing(&self, position: &JarmoPosition, legal: &BoardMask) -> BoardMask {
        self.tables.forcing(position.archers(!position.to_move()), legal)
    }

    #[inline]
    fn gain(&self, position: &JarmoPosition, action: Action) -> i32 {
        self.tables.gain(position.to_move(), action)
    }

    #[inline]
    fn key(&self, position: &JarmoPosition) -> u64 {
        let [white, black] = Player::BOTH.map(|player| position.archers(player).0);
        let shuttles = Player::BOTH.map(|player| shuttle_word(position.shuttle(player)));
        let rest = plies_left(&self.game, position) << 1 | position.to_move() as u64;
        word_key([
            u64::from(white) << 32 | u64::from(black),
            u64::from(position.marked().0) << 32 | shuttles[0] << 16 | shuttles[1],
            rest,
        ])
    }
}

impl HasHeuristic for Jarmo {
    type Heuristic = JarmoHeuristic;

    fn heuristic(&self) -> Option<JarmoHeuristic> {
        Some(JarmoHeuristic { tables: Box::new(BoardTables::new(self.board())), game: self.clone() })
    }
}

/// Guard's heuristic.
#[derive(Clone)]
pub struct GuardHeuristic {
    tables: Box<BoardTables>,
    game: Guard,
}

impl GuardHeuristic {
    #[inline]
    fn side(&self, position: &GuardPosition, player: Player) -> i32 {
        let own = position.pieces(player);
        let guards = (own & position.guards()).count();
        let able = position.placements(player);
        self.tables.value(player, own) + return_value(able, position.captured_archers(player), guards)
    }
}

impl Heuristic<Guard> for GuardHeuristic {
    #[inline]
    fn evaluate(&self, position: &GuardPosition) -> i32 {
        let mover = position.to_move();
        self.side(position, mover) - self.side(position, !mover) + TEMPO
    }

    #[inline]
    fn forcing(&self, position: &GuardPosition, legal: &BoardMask) -> BoardMask {
        if position.moved() {
            return *legal; // positions within a turn are not evaluated
        }
        self.tables.forcing(position.pieces(!position.to_move()), legal)
    }

    #[inline]
    fn gain(&self, position: &GuardPosition, action: Action) -> i32 {
        self.tables.gain(position.to_move(), action)
    }

    #[inline]
    fn key(&self, position: &GuardPosition) -> u64 {
        let [white, black] = Player::BOTH.map(|player| position.pieces(player).0);
        let counts = Player::BOTH
            .map(|player| u64::from(position.captured_archers(player)) << 8 | u64::from(position.placements(player)));
        let rest = plies_left(&self.game, position) << 8
            | u64::from(position.passes()) << 2
            | u64::from(position.moved()) << 1
            | position.to_move() as u64;
        word_key([
            u64::from(white) << 32 | u64::from(black),
            u64::from(position.guards().0) << 32 | counts[0] << 16 | counts[1],
            rest,
        ])
    }
}

impl HasHeuristic for Guard {
    type Heuristic = GuardHeuristic;

    fn heuristic(&self) -> Option<GuardHeuristic> {
        Some(GuardHeuristic { tables: Box::new(BoardTables::new(self.board())), game: self.clone() })
    }
}
