//! The tables compared with a slow independent solver, with the rules, and with games played out.

use std::collections::HashMap;

use jarmo::game::{Game, Mask, Player, Proven, Verdict};
use jarmo::games::board::{Circle, Circles};
use jarmo::games::{Jarmo, JarmoPosition};
use jarmo::tables::index::JarmoLayer;
use jarmo::tables::{Tables, verify};

fn endless() -> Jarmo {
    Jarmo::standard().with_max_plies(0)
}

/// All positions up to this force in which both players have an archer, circle by circle.
fn all_positions(force: u32) -> Vec<JarmoPosition> {
    fn place(circle: usize, left: u32, board: &mut Vec<(Circle, usize, bool)>, out: &mut Vec<JarmoPosition>) {
        if circle == 25 {
            let mut archers = [Circles::NONE; 2];
            let mut marked = Circles::NONE;
            for &(circle, side, mark) in board.iter() {
                archers[side] |= circle.into();
                if mark {
                    marked |= circle.into();
                }
            }
            if archers.iter().all(|side| (1..=5).contains(&side.count())) {
                let both = Player::BOTH.map(|mover| JarmoPosition::new(archers, marked, mover));
                out.extend(both);
            }
            return;
        }
        place(circle + 1, left, board, out);
        for (side, mark) in [(0, false), (1, false), (0, true), (1, true)] {
            let cost = 1 + u32::from(mark);
            if cost <= left {
                board.push((Circle::at(circle), side, mark));
                place(circle + 1, left - cost, board, out);
                board.pop();
            }
        }
    }
    let mut out = Vec::new();
    place(0, force, &mut Vec::new(), &mut out);
    out
}

/// Solves by iterating over all positions: in round `n` a position is won if an action leads to one lost
/// in `n - 1`, and lost if all its actions lose.
fn solve_slowly(game: &Jarmo, positions: &[JarmoPosition]) -> Vec<Proven> {
    let number: HashMap<JarmoPosition, usize> = positions.iter().enumerate().map(|(i, &p)| (p, i)).collect();
    let mut known: Vec<Option<Proven>> = Vec::new();
    let mut next: Vec<Vec<usize>> = Vec::new();
    let mut winning_end = vec![false; positions.len()];
    for (index, position) in positions.iter().enumerate() {
        let result = |position: &JarmoPosition| {
            let outcome = game.outcome(position)?;
            Some(Proven::over(outcome.verdict(position.to_move())))
        };
        known.push(result(position));
        let mut after = Vec::new();
        for action in game.legal(position).iter() {
            let mut successor = *position;
            game.play(&mut successor, action);
            let archers = Player::BOTH.map(|player| successor.archers(player));
            let successor = JarmoPosition::new(archers, successor.marked(), successor.to_move());
            match number.get(&successor) {
                Some(&found) => after.push(found),
                // The opponent has lost the last archer.
                None => {
                    assert_eq!(result(&successor), Some(Proven::loss(0)));
                    winning_end[index] = true;
                }
            }
        }
        next.push(after);
    }
    for round in 1.. {
        let mut found = Vec::new();
        for index in (0..positions.len()).filter(|&index| known[index].is_none()) {
            let values = || next[index].iter().map(|&after| known[after]);
            if winning_end[index] || values().any(|value| value == Some(Proven::loss(round - 1))) {
                found.push((index, Proven::win(round)));
            } else if values().all(|value| value.is_some_and(|value| value.verdict == Verdict::Win)) {
                found.push((index, Proven::loss(round)));
            }
        }
        if found.is_empty() {
            break;
        }
        for (index, exact) in found {
            known[index] = Some(exact);
        }
    }
    let draw = |value: Option<Proven>| value.unwrap_or(Proven::DRAW);
    known.into_iter().map(draw).collect()
}

#[test]
fn the_tables_agree_with_a_slow_solver_on_every_position_up_to_force_4() {
    let game = endless();
    let positions = all_positions(4);
    assert_eq!(positions.len(), 469_400);
    let slow = solve_slowly(&game, &positions);
    let tables = Tables::solve(&game, 4).unwrap();
    for (position, slow) in positions.iter().zip(slow) {
        let text = game.position_text(position);
        assert_eq!(tables.proven(position), Some(slow), "{text}");
    }
}

#[test]
fn the_index_is_a_bijection() {
    let positions = all_positions(4);
    for force in 2..=4 {
        let layer = JarmoLayer::new(force);
        let mut met = vec![false; layer.size];
        for position in positions.iter().filter(|position| position.force() == force) {
            let placement = jarmo::tables::index::Placement::of(position);
            let index = layer.index(&placement).unwrap();
            assert!(!met[index], "two positions share an index");
            met[index] = true;
            assert_eq!(layer.placement(index).position(), *position);
        }
        assert!(met.iter().all(|&met| met), "an index without a position");
    }
}

#[test]
fn layers_have_the_expected_sizes() {
    let counts: Vec<usize> = (2..=10).map(|force| JarmoLayer::new(force).size).collect();
    let up_to = |force: usize| counts[..force - 1].iter().sum::<usize>();
    assert_eq!(up_to(6), 45_209_000);
    assert_eq!(up_to(7), 317_943_000);
    assert_eq!(up_to(8), 1_827_012_100);
    assert_eq!(up_to(10), 34_761_661_540);
    // Indices beyond 32 bits round-trip.
    let layer = JarmoLayer::new(10);
    for index in [0, 1, 1 << 32, (1 << 34) + 12_345, layer.size - 1] {
        assert_eq!(layer.index(&layer.placement(index)), Some(index));
    }
}

#[test]
fn random_positions_of_every_layer_follow_from_their_successors_and_play_out() {
    let game = endless();
    let tables = Tables::solve(&game, 5).unwrap();
    for check in verify(&game, &tables, 20_000, 7) {
        assert!(check.mistakes.is_empty(), "{:?}", check.mistakes);
        assert!(check.games > 1000);
    }
}

#[test]
fn a_wrong_value_does_not_pass_verification() {
    // The tables of another board are wrong on this one.
    let other = jarmo::games::board::Board::from_toml(&standard_without("A4-C5")).unwrap();
    let tables = Tables::solve(&Jarmo::new(other, 0), 3).unwrap();
    assert!(!tables.belong_to(&endless()));
    let mut checks = verify(&endless(), &tables, 10_000, 7);
    assert!(checks.any(|check| !check.mistakes.is_empty()));
}

fn standard_without(line: &str) -> String {
    let game = endless();
    let lines: Vec<String> = game
        .board()
        .lines()
        .iter()
        .map(|(a, b)| format!("{a}-{b}"))
        .filter(|text| text != line)
        .map(|text| format!("\"{text}\""))
        .collect();
    format!("name = \"less\"\nlines = [{}]", lines.join(", "))
}

#[test]
fn a_board_that_can_leave_a_player_without_a_move_is_refused() {
    // E5 can then be reached from D3 alone, and A4 only from C3 and C5.
    let blocked = "name = \"narrow\"\nlines = [\"A1-A2\", \"A2-A3\", \"A3-A4\", \"A4-A5\", \"B1-B2\", \
                   \"B2-B3\", \"B3-B4\", \"B4-B5\", \"C1-C2\", \"C2-C3\", \"C3-C4\", \"C4-C5\", \"D1-D2\", \
                   \"D2-D3\", \"D3-D4\", \"D4-D5\", \"E1-E2\", \"E2-E3\", \"E3-E4\", \"E4-E5\"]";
    let board = jarmo::games::board::Board::from_toml(blocked).unwrap();
    let game = Jarmo::new(board, 0);
    let error = Tables::solve(&game, 2).unwrap_err().to_string();
    assert!(error.contains("`narrow`") && error.contains("must pass"), "{error}");
    // By the rules, too, archers on the circles that it names can only pass.
    let (_, named) = error.split_once("archers on ").unwrap();
    let (named, _) = named.split_once(" has no move").unwrap();
    let mut archers = Circles::NONE;
    for circle in named.split(' ') {
        archers |= circle.parse::<Circle>().unwrap().into();
    }
    let free = Circle::all().find(|&circle| !archers.contains(circle)).unwrap();
    let stuck = Player::BOTH.into_iter().any(|player| {
        let mut sides = [archers, free.into()];
        sides.rotate_left(player.index());
        let position = JarmoPosition::new(sides, Circles::NONE, player);
        let legal = game.legal(&position);
        legal.count() == 1 && game.after(&position, legal.nth(0)).archers(player) == archers
    });
    assert!(stuck, "{named}");
    assert!(Tables::solve(&endless(), 2).is_ok());
}

#[test]
fn positions_outside_the_tables_have_no_value() {
    let game = endless();
    let tables = Tables::solve(&game, 4).unwrap();
    assert_eq!(tables.proven(&game.start()), None);
    let lonely = JarmoPosition::new([Circles(1 << 12), Circles::NONE], Circles::NONE, Player::White);
    assert_eq!(tables.proven(&lonely), None, "a player has no archer");
    assert!(tables.actions(&game, &game.start()).is_none());
    assert_eq!(tables.actions(&game, &lonely), Some(Vec::new()), "the game is over");
}

#[test]
fn lines_and_openings_may_end_the_game() {
    let game = endless();
    let tables = Tables::solve(&game, 4).unwrap();
    // White can capture the last archer at once.
    let position = game.parse_position("5/1w3/1bw2/2w2/5 w - - 0").unwrap();
    let openings = tables.openings(&game, &position, 1).unwrap();
    assert_eq!(openings.len() as u32, game.legal(&position).count());
    assert!(openings.iter().any(|(_, value)| *value == Proven::over(Verdict::Win)), "{openings:?}");
    let line = tables.best_line(&game, &position, 5).unwrap();
    assert_eq!(line.len(), 1, "{line:?}");
}

#[test]
fn the_best_actions_come_first() {
    let game = endless();
    let tables = Tables::solve(&game, 4).unwrap();
    // C4-A5 and C4-E5 bring White's last archer to the goal row, with more points.
    let position = game.parse_position("5/2w2/5/2b2/5 w - - 0").unwrap();
    let values = tables.actions(&game, &position).unwrap();
    assert_eq!(values[0].proven, Proven::win(1));
    assert!(values.is_sorted_by_key(|value| -value.proven.preference()));
    assert_eq!(values.len() as u32, game.legal(&position).count());
    let best = game.action_text(&position, values[0].action);
    assert!(["C4-A5", "C4-E5"].contains(&best.as_str()), "{best}");
}
