//! A second, slow implementation of jarmo's rules, written from the rules page alone and compared with
//! the fast one on random games and random positions.

use std::collections::BTreeMap;

use crate::common;
use jarmo::game::{Game, Mask, Player};
use jarmo::games::Jarmo;

const LINES: &str = "\
A1-B3 A1-C2 B1-A3 B1-D2 C1-A2 C1-D3 C1-E2 D1-B2 D1-C3 E1-C2 E1-D3 \
A2-C3 B2-C2 B2-B3 B2-C4 C2-D2 C2-E3 D2-D3 D2-B3 E2-D4 \
A3-B5 B3-C3 B3-B4 B3-A5 B3-C5 C3-A4 C3-E4 D3-D4 D3-B4 D3-E5 E3-D5 \
A4-C5 B4-C4 B4-D5 C4-D4 C4-A5 C4-E5 D4-B5 E4-C5";

#[derive(Clone, Copy, PartialEq)]
struct Archer {
    white: bool,
    marked: bool,
}

/// The board as a map, and every action each player has made.
#[derive(Clone)]
struct Naive {
    board: BTreeMap<String, Archer>,
    white_moves: bool,
    actions: [Vec<String>; 2],
    passes: u32,
    ply: u32,
}

fn row(circle: &str) -> char {
    circle.chars().nth(1).unwrap()
}

fn home_row(white: bool) -> char {
    if white { '1' } else { '5' }
}

impl Naive {
    fn from_board(board: &str, white_moves: bool) -> Naive {
        let mut places = BTreeMap::new();
        for (row, line) in ('1'..='5').rev().zip(board.split('/')) {
            let mut column = b'A';
            for symbol in line.chars() {
                if let Some(empty) = symbol.to_digit(10) {
                    column += empty as u8;
                    continue;
                }
                let archer = Archer { white: symbol.eq_ignore_ascii_case(&'w'), marked: symbol.is_ascii_uppercase() };
                places.insert(format!("{}{row}", char::from(column)), archer);
                column += 1;
            }
        }
        Naive { board: places, white_moves, actions: [Vec::new(), Vec::new()], passes: 0, ply: 0 }
    }

    fn of(&self, white: bool) -> Vec<&String> {
        let own = self.board.iter().filter(|(_, archer)| archer.white == white);
        own.map(|(circle, _)| circle).collect()
    }

    fn on_goal(circle: &str, white: bool) -> bool {
        row(circle) == home_row(!white)
    }

    fn over(&self) -> bool {
        let stuck = |white| self.of(white).iter().all(|circle| Naive::on_goal(circle, white));
        stuck(true) || stuck(false) || self.passes == 2
    }

    fn score(&self) -> [u8; 2] {
        [true, false].map(|white| {
            let points = |circle: &&String| if Naive::on_goal(circle, white) { 2 } else { 1 };
            self.of(white).iter().map(points).sum()
        })
    }

    fn banned(&self) -> Option<String> {
        let own = &self.actions[usize::from(!self.white_moves)];
        let [a, b, c, d] = own.get(own.len().checked_sub(4)?..)? else {
            return None;
        };
        let (from, to) = a.split_once('-')?;
        let back = format!("{to}-{from}");
        (*b == back && c == a && *d == back).then(|| a.clone())
    }

    /// Actions as text, captures written like moves.
    fn legal(&self) -> Vec<String> {
        if self.over() {
            return Vec::new();
        }
        let white = self.white_moves;
        let own = self.of(white);
        let mut legal = Vec::new();
        for line in LINES.split_whitespace() {
            let (a, b) = line.split_once('-').unwrap();
            for (from, to) in [(a, b), (b, a)] {
                let mine = |circle: &str| own.iter().any(|own| *own == circle);
                let step = format!("{from}-{to}");
                if mine(from) && !mine(to) && !Naive::on_goal(from, white) && self.banned().as_ref() != Some(&step) {
                    legal.push(step);
                }
            }
        }
        let right = own.iter().any(|circle| Naive::on_goal(circle, white) && self.board[circle.as_str()].marked);
        if right && own.len() < 5 {
            for column in 'A'..='E' {
                let circle = format!("{column}{}", home_row(white));
                if !self.board.contains_key(&circle) {
                    legal.push(format!("@{circle}"));
                }
            }
        }
        if legal.is_empty() {
            legal.push("pass".to_owned());
        }
        legal
    }

    fn play(&mut self, action: &str) {
        let white = self.white_moves;
        self.passes = if action == "pass" { self.passes + 1 } else { 0 };
        if let Some(circle) = action.strip_prefix('@') {
            let own = self.board.iter_mut().filter(|(_, archer)| archer.white == white);
            let mut marked = own.filter(|(circle, archer)| Naive::on_goal(circle, white) && archer.marked);
            marked.next().unwrap().1.marked = false;
            let archer = Archer { white, marked: false };
            self.board.insert(circle.to_owned(), archer);
        } else if let Some((from, to)) = action.split_once('-') {
            let mut archer = self.board.remove(from).unwrap();
            archer.marked |= self.board.contains_key(to);
            self.board.insert(to.to_owned(), archer);
        }
        self.actions[usize::from(!white)].push(action.to_owned());
        self.white_moves = !white;
        self.ply += 1;
    }
}

fn fast_legal(game: &Jarmo, position: &<Jarmo as Game>::Position) -> Vec<String> {
    let legal = game.legal(position);
    let texts = legal.iter().map(|action| game.action_text(position, action));
    texts.map(|text| text.replace('x', "-")).collect()
}

/// How often rare rules applied.
#[derive(Default)]
struct Met {
    bans: u32,
    redeploys: u32,
}

/// Plays one random game with both implementations.
fn compare(game: &Jarmo, board: &str, white_moves: bool, choose: &mut impl FnMut(usize) -> usize, met: &mut Met) {
    let mover = if white_moves { "w" } else { "b" };
    let text = format!("{board} {mover} - - 0");
    let mut fast = game.parse_position(&text).unwrap();
    let mut naive = Naive::from_board(board, white_moves);
    loop {
        let here = game.position_text(&fast);
        let mut expected = naive.legal();
        let mut legal = fast_legal(game, &fast);
        expected.sort();
        legal.sort();
        assert_eq!(legal, expected, "{here}");
        assert_eq!(game.to_move(&fast) == Player::White, naive.white_moves);
        met.bans += u32::from(naive.banned().is_some());
        met.redeploys += u32::from(legal.iter().any(|action| action.starts_with('@')));
        if expected.is_empty() || naive.ply == 200 {
            let outcome = game.outcome(&fast);
            assert_eq!(outcome.is_some(), naive.over(), "{here}");
            assert!(outcome.is_none_or(|end| end.score == Some(naive.score())), "{here}");
            return;
        }
        // Moves back are chosen often, so that the shuttle rule applies.
        let own = &naive.actions[usize::from(!naive.white_moves)];
        let back = own.last().and_then(|last| {
            let (from, to) = last.split_once('-')?;
            let back = format!("{to}-{from}");
            legal.contains(&back).then_some(back)
        });
        let action = match back {
            Some(back) if choose(3) > 0 => back,
            _ => legal[choose(legal.len())].clone(),
        };
        game.play_text(&mut fast, &action).unwrap();
        naive.play(&action);
    }
}

#[test]
fn fast_and_naive_rules_agree_on_random_games() {
    let game = Jarmo::standard().with_max_plies(0);
    let mut choose = common::chooser(11);
    let mut met = Met::default();
    for _ in 0..150 {
        compare(&game, "bbbbb/5/5/5/wwwww", true, &mut choose, &mut met);
    }
    assert!(met.bans > 100 && met.redeploys > 10, "the test should meet every rule");
}

#[test]
fn fast_and_naive_rules_agree_from_random_positions() {
    let game = Jarmo::standard().with_max_plies(0);
    let mut choose = common::chooser(12);
    let mut met = Met::default();
    let mut tried = 0;
    while tried < 400 {
        let mut letters = ['1'; 25];
        for letter in ['w', 'b'] {
            for _ in 0..choose(6) {
                let marked = choose(3) == 0;
                let letter = if marked { letter.to_ascii_uppercase() } else { letter };
                letters[choose(25)] = letter;
            }
        }
        let rows: Vec<String> = letters.chunks(5).map(|row| row.iter().collect()).collect();
        let board = rows.join("/");
        if game.parse_position(&format!("{board} w - - 0")).is_ok() {
            tried += 1;
            let white_moves = choose(2) == 0;
            compare(&game, &board, white_moves, &mut choose, &mut met);
        }
    }
    assert!(met.bans > 100 && met.redeploys > 100, "the test should meet every rule");
}
