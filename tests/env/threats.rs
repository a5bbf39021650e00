//! Threats, the inputs after the features, against slow and simple counts.

use std::collections::{BTreeMap, BTreeSet};

use jarmo::encode::Encode;
use jarmo::game::{Action, Game, Mask, Player};
use jarmo::games::board::{CIRCLES, Circle, Circles};
use jarmo::games::tammi::Square;
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi, TammiPosition};
use jarmo::random::{below, stream};
use rand::Rng;

/// Positions of 40 random games with their threats, which must fit the planes.
fn positions<G: Encode>(game: &G) -> Vec<(G::Position, BTreeSet<usize>)> {
    let mut seen = Vec::new();
    let mut stream = stream(5, 0);
    for _ in 0..40 {
        let mut position = game.start();
        loop {
            let mut set = Vec::new();
            game.threats(&position, |index| set.push(index));
            let threats: BTreeSet<usize> = set.iter().copied().collect();
            assert_eq!(threats.len(), set.len(), "a threat is set once");
            assert!(threats.iter().all(|&index| index < game.threat_planes() * game.cells()));
            let mut features = Vec::new();
            game.features(&position, |index| features.push(index));
            features.extend(set.iter().map(|index| game.feature_count() + index));
            let mut inputs = Vec::new();
            game.inputs(&position, |index| inputs.push(index));
            assert_eq!(inputs, features, "threats come behind the features");
            seen.push((position, threats));
            let legal = game.legal(&position);
            if legal.is_empty() {
                break;
            }
            game.play(&mut position, legal.nth(below(stream.next_u64(), legal.count())));
        }
    }
    seen
}

/// Lines in both directions, in order.
fn directed(lines: &[(Circle, Circle)]) -> Vec<(Circle, Circle)> {
    let mut directed: Vec<(Circle, Circle)> = lines.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    directed.sort_unstable();
    directed
}

/// The number of a player's pieces that reach a circle.
fn reaching(lines: &[(Circle, Circle)], pieces: [Circles; 2], player: Player, circle: usize) -> usize {
    let moves = |from: Circle| pieces[player.index()].contains(from) && !Circles::goal(player).contains(from);
    directed(lines).iter().filter(|&&(from, to)| to.index() == circle && moves(from)).count()
}

/// Reached circles and captures.
fn on_board(lines: &[(Circle, Circle)], pieces: [Circles; 2]) -> BTreeSet<usize> {
    let directed = directed(lines);
    let mut expected = BTreeSet::new();
    for player in Player::BOTH {
        let index = player.index();
        for circle in 0..CIRCLES {
            let reached = reaching(lines, pieces, player, circle);
            expected.extend((reached >= 1).then_some(index * 50 + circle));
            expected.extend((reached >= 2).then_some(index * 50 + 25 + circle));
        }
        for (line, &(from, to)) in directed.iter().enumerate() {
            let moves = pieces[index].contains(from) && !Circles::goal(player).contains(from);
            if moves && pieces[(!player).index()].contains(to) {
                expected.insert(100 + index * directed.len() + line);
            }
        }
    }
    expected
}

/// Compares all threats with those of a position: the pieces of both players, and those with marks or guards.
fn compare<G: Encode>(
    game: &G,
    lines: &[(Circle, Circle)],
    pieces_of: impl Fn(&G::Position) -> ([Circles; 2], Circles),
) {
    let mut controls = Vec::new(); // circle, holder, pieces of White and of Black that reach it
    for circle in 0..CIRCLES {
        let degree = directed(lines).iter().filter(|(from, _)| from.index() == circle).count();
        for holder in 0..5 {
            let counts = (0..16).map(|counts| (counts / 4, counts % 4));
            let possible = counts.filter(|&(white, black)| (1..=degree).contains(&(white + black)));
            controls.extend(possible.map(|(white, black)| (circle, holder, white, black)));
        }
    }
    let captures = 4 * lines.len();
    for (position, threats) in positions(game) {
        let (pieces, special) = pieces_of(&position);
        let mut expected = on_board(lines, pieces);
        for circle in 0..CIRCLES {
            let [white, black] = Player::BOTH.map(|player| reaching(lines, pieces, player, circle).min(3));
            let holds = |circles: Circles| circles.iter().any(|held| held.index() == circle);
            let holder = match (holds(pieces[0]), holds(pieces[1]), holds(special)) {
                (false, false, _) => 0,
                (true, _, special) => 1 + usize::from(special),
                (_, true, special) => 3 + usize::from(special),
            };
            let control = controls.iter().position(|&control| control == (circle, holder, white, black));
            expected.extend(control.map(|control| 100 + captures + control));
        }
        let first = game.to_move(&position).index() * (100 + captures + controls.len());
        assert_eq!(threats, expected.iter().map(|threat| first + threat).collect());
    }
}

#[test]
fn in_guard_and_jarmo_threats_are_reach_captures_and_control_by_the_player_to_move() {
    let game = Guard::standard();
    compare(&game, game.board().lines(), |position| {
        (Player::BOTH.map(|player| position.pieces(player)), position.strong())
    });
    let game = Jarmo::standard();
    compare(&game, game.board().lines(), |position| {
        (Player::BOTH.map(|player| position.archers(player)), position.marked())
    });
}

#[test]
fn in_tammi_threats_are_the_moves_of_both_sides() {
    let game = Tammi::standard();
    let mut compared = 0;
    for (position, threats) in positions(&game) {
        let moves = |side: usize| -> Vec<Action> {
            let ours = threats.range(280 * side..280 * side + 280);
            ours.map(|&index| Action((index % 280) as u16)).collect()
        };
        if game.outcome(&position).is_none() {
            assert_eq!(moves(0), game.legal(&position).iter().collect::<Vec<_>>());
        }
        // The same board with the other side to move.
        let text = game.position_text(&position);
        let other = match text.split(' ').collect::<Vec<_>>()[..] {
            [board, "w", "-", ..] => format!("{board} b - 0 0"),
            [board, "b", "-", ..] => format!("{board} w - 0 0"),
            _ => continue, // within a capture
        };
        let other = game.parse_position(&other).unwrap();
        assert_eq!(moves(1), game.legal(&other).iter().collect::<Vec<_>>());
        compared += 1;
    }
    assert!(compared > 500, "{compared} positions");
}

/// The pieces of a position by column and row, in the mover's view: whether they are the mover's, and kings.
fn tammi_board(position: &TammiPosition) -> BTreeMap<(i32, i32), (bool, bool)> {
    let [own, enemy, kings, _] = position.mover_view();
    let pieces = (0..32).filter(|square| (own | enemy) >> square & 1 == 1);
    pieces
        .map(|square| {
            let (column, row) = (Square::at(square).column() as i32, Square::at(square).row() as i32);
            ((column, row), (own >> square & 1 == 1, kings >> square & 1 == 1))
        })
        .collect()
}

const DIAGONALS: [(i32, i32); 4] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];

fn is_on_board((column, row): (i32, i32)) -> bool {
    (0..8).contains(&column) && (0..8).contains(&row)
}

/// The first piece from a square in a direction, with its distance.
fn first_piece(
    board: &BTreeMap<(i32, i32), (bool, bool)>,
    (column, row): (i32, i32),
    (right, up): (i32, i32),
) -> Option<(i32, (bool, bool))> {
    let squares = (1..8).map(|distance| (distance, (column + distance * right, row + distance * up)));
    squares.filter_map(|(distance, square)| Some((distance, *board.get(&square)?))).next()
}

/// How many ways a player has to capture a piece on a square.
fn attacks(board: &BTreeMap<(i32, i32), (bool, bool)>, square: (i32, i32), by_mover: bool) -> usize {
    let ways = DIAGONALS.into_iter().filter(|&(right, up)| {
        let landing = (square.0 - right, square.1 - up);
        let backwards = if by_mover { up < 0 } else { up > 0 }; // the attacker stands behind, and captures forward
        match first_piece(board, square, (right, up)) {
            Some((distance, (mover, king))) => {
                let can = king || (distance == 1 && backwards);
                mover == by_mover && can && is_on_board(landing) && !board.contains_key(&landing)
            }
            None => false,
        }
    });
    ways.count()
}

/// Whether a piece can move to a square, which is empty.
fn moves_to(
    board: &BTreeMap<(i32, i32), (bool, bool)>,
    from: (i32, i32),
    to: (i32, i32),
    (mover, king): (bool, bool),
) -> bool {
    let (right, up) = (to.0 - from.0, to.1 - from.1);
    let direction = (right.signum(), up.signum());
    let near = up == if mover { 1 } else { -1 };
    let free = first_piece(board, from, direction).is_none_or(|(distance, _)| distance > up.abs());
    right.abs() == up.abs() && up != 0 && (king || near) && free
}

#[test]
fn in_tammi_threats_are_the_control_of_squares() {
    let game = Tammi::standard();
    for (position, threats) in positions(&game) {
        let board = tammi_board(&position);
        let mut expected = BTreeSet::new();
        let squares = (0..32).map(|square| (Square::at(square).column() as i32, Square::at(square).row() as i32));
        let squares: Vec<(i32, i32)> = squares.collect();
        for (index, &square) in squares.iter().enumerate() {
            let is_reached = |by_mover: bool| {
                board.iter().any(|(&from, &piece)| piece.0 == by_mover && moves_to(&board, from, square, piece))
            };
            let state = match board.get(&square) {
                None => {
                    usize::from(is_reached(true))
                        + 2 * usize::from(is_reached(false))
                        + 4 * attacks(&board, square, true).min(1)
                        + 8 * attacks(&board, square, false).min(1)
                }
                Some(&piece @ (mover, king)) => {
                    let empty = squares.iter().filter(|to| !board.contains_key(to));
                    let mobile = empty.into_iter().any(|&to| moves_to(&board, square, to, piece));
                    let attacked = attacks(&board, square, !mover).min(2);
                    let kind = 16 + 12 * usize::from(!mover) + 6 * usize::from(king);
                    kind + 3 * usize::from(mobile) + attacked
                }
            };
            expected.extend((state > 0).then_some(1136 + 40 * index + state));
        }
        let control = threats.range(1136..2416).copied().collect();
        assert_eq!(expected, control, "{}", game.position_text(&position));
    }
}

#[test]
fn in_tammi_threats_are_the_moves_after_which_the_other_player_cannot_capture() {
    let game = Tammi::standard();
    let mut compared = [0; 2];
    for (position, threats) in positions(&game) {
        if game.outcome(&position).is_some() {
            continue;
        }
        for side in 0..2 {
            let player = if side == 0 { game.to_move(&position) } else { !game.to_move(&position) };
            let text = game.position_text(&position);
            let start = match text.split(' ').collect::<Vec<_>>()[..] {
                _ if side == 0 => position,
                [board, "w", "-", ..] => game.parse_position(&format!("{board} b - 0 0")).unwrap(),
                [board, "b", "-", ..] => game.parse_position(&format!("{board} w - 0 0")).unwrap(),
                _ => continue, // within a capture
            };
            assert_eq!(game.to_move(&start), player);
            let safe = |action: &Action| {
                let mut next = start;
                game.play(&mut next, *action);
                let next = next.without_history();
                let captures = |action| next.jumped_by(action) != 0;
                game.to_move(&next) != player && !game.legal(&next).iter().any(captures)
            };
            let expected: BTreeSet<usize> =
                game.legal(&start).iter().filter(safe).map(|action| 576 + 280 * side + action.index()).collect();
            let first = 576 + 280 * side;
            assert_eq!(threats.range(first..first + 280).copied().collect::<BTreeSet<_>>(), expected, "{text}");
            compared[usize::from(!expected.is_empty())] += 1;
        }
    }
    assert!(compared.iter().all(|&count| count > 300), "{compared:?}");
}

#[test]
fn in_connect_four_threats_are_circles_that_complete_four_and_lines_of_one_player() {
    let game = ConnectFour::new(0);
    let mut lines = Vec::new();
    for (columns, rows) in [(0, 1), (1, -1), (1, 0), (1, 1)] {
        for column in 0..7_i32 {
            for row in 0..6_i32 {
                let line = [0, 1, 2, 3].map(|step| (column + step * columns, row + step * rows));
                if line.iter().all(|&(c, r)| (0..7).contains(&c) && (0..6).contains(&r)) {
                    lines.push(line.map(|(c, r)| (c as usize, r as usize)));
                }
            }
        }
    }
    assert_eq!(lines.len(), 69);
    for (position, threats) in positions(&game) {
        let mut expected = BTreeSet::new();
        let mover = position.to_move();
        let stones = |column| (0..6).filter(|&row| position.at(column, row).is_some()).count();
        let mut lowest = [[6; 2]; 7];
        for (side, player) in [mover, !mover].into_iter().enumerate() {
            for (number, line) in lines.iter().enumerate() {
                let held = line.map(|(column, row)| position.at(column, row));
                let count = |who| held.iter().filter(|&&at| at == who).count();
                let (own, empty) = (count(Some(player)), count(None));
                if (1..4).contains(&own) && own + empty == 4 {
                    let pattern: usize = (0..4).filter(|&place| held[place].is_some()).map(|place| 1 << place).sum();
                    expected.insert(252 + (14 * side + pattern - 1) * 69 + number);
                }
                if (own, empty) == (3, 1) {
                    let empty = held.iter().position(|at| at.is_none()).unwrap();
                    let (column, row) = line[empty];
                    let wait = (row - stones(column)).min(2);
                    expected.insert((3 * side + wait) * 42 + row * 7 + column);
                    lowest[column][side] = row.min(lowest[column][side]);
                }
            }
        }
        let some = (0..7).filter(|&column| lowest[column] != [6; 2]);
        expected.extend(some.map(|column| 2184 + 49 * column + 7 * lowest[column][0] + lowest[column][1]));
        assert_eq!(threats, expected);
    }
}
