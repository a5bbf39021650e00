//! The tables of tammi compared with a slow independent solver, with the rules, and with games played out.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jarmo::agent::{Agent, AgentSpec, Limit, RandomAgent, Request, build};
use jarmo::game::{Action, Game, Mask, Player, Proven, Verdict};
use jarmo::games::{Jarmo, Tammi, TammiPosition};
use jarmo::random::stream;
use jarmo::tables::{
    BuildSettings, Endgames, HasEndgames, Layer, TableProgress, Tables, TammiLayer, random_position, verify,
};

/// A board: the letters of the pieces on the dark squares, row by row from White's side.
type Board = [u8; 32];

fn text(board: &Board, to_move: Player, quiet: u32) -> String {
    let row = |row: usize| -> String {
        let letter = |column: usize| match (row + column) % 2 {
            0 => char::from(board[4 * row + column / 2]),
            _ => '1',
        };
        (0..8).map(letter).collect()
    };
    let rows: Vec<String> = (0..8).rev().map(row).collect();
    let to_move = ["w", "b"][to_move.index()];
    format!("{} {to_move} - {quiet} {quiet}", rows.join("/"))
}

/// The same board with the colours exchanged and turned, so that the other player is to move.
fn turned(board: &Board) -> Board {
    let mut turned = *board;
    turned.reverse();
    for letter in &mut turned {
        *letter = match *letter {
            b'w' => b'b',
            b'b' => b'w',
            b'W' => b'B',
            b'B' => b'W',
            empty => empty,
        };
    }
    turned
}

/// The board of a position, as it would look if White were to move.
fn board_of(position: &TammiPosition) -> Board {
    let mut board = [b'1'; 32];
    for player in Player::BOTH {
        let letters = [b"wW", b"bB"][player.index()];
        for (set, letter) in [position.men(player), position.kings(player)].into_iter().zip(letters) {
            for square in (0..32).filter(|square| set >> square & 1 == 1) {
                board[square] = *letter;
            }
        }
    }
    match position.to_move() {
        Player::White => board,
        Player::Black => turned(&board),
    }
}

/// All boards with this many pieces, at least one of each player, and no man on its last row.
fn all_boards(pieces: usize) -> Vec<Board> {
    fn place(square: usize, left: usize, board: &mut Board, out: &mut Vec<Board>) {
        if square == 32 {
            let has = |letters: &[u8]| board.iter().any(|letter| letters.contains(letter));
            if left == 0 && has(b"wW") && has(b"bB") {
                out.push(*board);
            }
            return;
        }
        place(square + 1, left, board, out);
        let fits = |letter| match letter {
            b'w' => square < 28,
            b'b' => square >= 4,
            _ => true,
        };
        for letter in b"wbWB".iter().copied().filter(|&letter| fits(letter)) {
            if left > 0 {
                board[square] = letter;
                place(square + 1, left - 1, board, out);
                board[square] = b'1';
            }
        }
    }
    let mut out = Vec::new();
    place(0, pieces, &mut [b'1'; 32], &mut out);
    out
}

/// What the player to move can do on a board.
enum Turn {
    /// Nothing: the game is lost.
    None,
    /// A capture, with this result.
    Capture(Verdict),
    /// Moves without a capture, to these boards.
    Quiet(Vec<Board>),
}

/// The best result of the captures from a position, by the results of the boards after them.
fn best_capture(game: &Tammi, position: &TammiPosition, fresh: &HashMap<Board, Verdict>) -> Verdict {
    let legal = game.legal(position);
    let results = legal.iter().map(|action| {
        let mut next = *position;
        game.play(&mut next, action);
        if next.to_move() == position.to_move() {
            return best_capture(game, &next, fresh);
        }
        let over = || game.outcome(&next).expect("no piece is left");
        let known = fresh.get(&board_of(&next)).copied();
        let after = known.unwrap_or_else(|| over().verdict(next.to_move()));
        after.flip()
    });
    results.max().unwrap()
}

/// Results by plies without a capture, from the limit down to 0: a move without a capture leads to one ply more, a
/// capture to 0 with fewer pieces. Boards are those with White to move.
fn solve_slowly(game: &Tammi, most: usize) -> Vec<HashMap<Board, Verdict>> {
    let mut by_quiet: Vec<HashMap<Board, Verdict>> = vec![HashMap::new(); game.quiet_limit() as usize + 1];
    for pieces in 2..=most {
        let boards = all_boards(pieces);
        let turn = |board: &Board| {
            let position = game.parse_position(&text(board, Player::White, 0)).unwrap();
            let legal = game.legal(&position);
            let nexts = legal.iter().map(|action| {
                let mut next = position;
                game.play(&mut next, action);
                next
            });
            let nexts: Vec<TammiPosition> = nexts.collect();
            match nexts.first() {
                None => Turn::None,
                Some(next) if next.quiet_plies() == 0 => Turn::Capture(best_capture(game, &position, &by_quiet[0])),
                Some(_) => Turn::Quiet(nexts.iter().map(board_of).collect()),
            }
        };
        let turns: Vec<Turn> = boards.iter().map(turn).collect();
        for quiet in (0..by_quiet.len()).rev() {
            let last = quiet + 1 == by_quiet.len();
            let result = |turn: &Turn| match turn {
                Turn::None => Verdict::Loss,
                _ if last => Verdict::Draw,
                Turn::Capture(result) => *result,
                Turn::Quiet(nexts) => {
                    let after = nexts.iter().map(|next| by_quiet[quiet + 1][next].flip());
                    after.max().unwrap()
                }
            };
            let results: Vec<Verdict> = turns.iter().map(result).collect();
            by_quiet[quiet].extend(boards.iter().copied().zip(results));
        }
    }
    by_quiet
}

/// Compares the tables with the slow solver at every number of plies without a capture; of boards with three pieces
/// each at one number, and each with one player to move.
fn check(game: &Tammi, most: usize) {
    let tables = Tables::solve(game, most as u32).unwrap();
    let mut drawn_by_the_limit = 0;
    let by_quiet = solve_slowly(game, most);
    for (quiet, results) in (0..).zip(&by_quiet) {
        for (number, (board, result)) in results.iter().enumerate() {
            let small = board.iter().filter(|letter| **letter != b'1').count() == 2;
            if !small && number % by_quiet.len() != quiet as usize {
                continue;
            }
            let text = match number % 2 {
                0 => text(board, Player::White, quiet),
                _ => text(&turned(board), Player::Black, quiet),
            };
            let position = game.parse_position(&text).unwrap();
            let proven = tables.proven(&position).unwrap();
            assert_eq!(proven.verdict, *result, "{text}");
            drawn_by_the_limit += u32::from(*result != by_quiet[0][board]);
        }
    }
    assert!(drawn_by_the_limit > 1000);
}

#[test]
fn the_tables_agree_with_a_slow_solver_at_every_number_of_plies_without_a_capture() {
    check(&Tammi::standard().with_max_plies(0), 2);
    check(&Tammi::new(7, 0), 3);
}

#[test]
fn the_index_has_every_placement_once() {
    let game = Tammi::standard();
    for (pieces, count) in [(2, 3_488), (3, 196_032)] {
        let layer = TammiLayer::new(pieces as u32);
        let boards = all_boards(pieces);
        assert_eq!((boards.len(), layer.size()), (count, count));
        let mut met = vec![false; count];
        for board in boards {
            for (board, to_move) in [(board, Player::White), (turned(&board), Player::Black)] {
                let position = game.parse_position(&text(&board, to_move, 0)).unwrap();
                let index = layer.index_of(&position).unwrap();
                met[index] = true;
                let back = layer.position_at(index);
                assert_eq!(board_of(&back), board_of(&position));
            }
        }
        assert!(met.iter().all(|&met| met), "an index without a placement");
    }
    assert_eq!(TammiLayer::new(4).size(), 6_209_316);
    assert_eq!(TammiLayer::new(5).size(), 139_450_808);
}

static TABLES: LazyLock<Tables<Tammi>> = LazyLock::new(|| Tables::solve(&Tammi::standard(), 3).unwrap());

#[test]
fn random_positions_follow_from_their_successors_and_play_out_under_all_rules() {
    for check in verify(&Tammi::standard(), &TABLES, 20_000, 7) {
        assert!(check.mistakes.is_empty(), "{:?}", check.mistakes);
        assert!(check.games > 500);
    }
    // Under a lower limit on plies without a capture, won games end drawn.
    let lower = Tammi::new(5, 0);
    assert!(!TABLES.belong_to(&lower));
    let mut checks = verify(&lower, &TABLES, 10_000, 7);
    assert!(checks.any(|check| !check.mistakes.is_empty()));
}

fn known(text: &str) -> Option<Proven> {
    let game = Tammi::standard();
    TABLES.known(&game, &game.parse_position(text).unwrap())
}

const WON: Option<Proven> = Some(Proven { verdict: Verdict::Win, plies: None });

#[test]
fn the_limits_decide_what_is_known() {
    // White captures or ends the game within 13 plies.
    let won = |quiet: u32, ply: u32| known(&format!("8/8/8/4b3/8/8/8/6w1 b - {quiet} {ply}"));
    assert_eq!(won(0, 0), WON);
    assert_eq!(won(17, 20), WON);
    assert_eq!(won(18, 20), Some(Proven::DRAW));
    // At the end of the game no plies are left to win.
    assert_eq!(won(0, 180), WON);
    assert_eq!(won(0, 190), None);
    let game = Tammi::standard();
    assert_eq!(TABLES.known(&game, &game.start()), None);
}

#[test]
fn a_capture_in_progress_has_the_best_result_of_its_ways_to_go_on() {
    let game = Tammi::standard();
    // After a1xc3 the man on c3 must go on over d4; then no black piece is left.
    let mut position = game.parse_position("8/8/8/8/3b4/8/1b6/w7 w - 0 0").unwrap();
    assert_eq!(TABLES.known(&game, &position), WON);
    let first = game.parse_action(&position, "a1xc3").unwrap();
    assert_eq!(TABLES.after(&game, &position, first).verdict, Verdict::Win);
    game.play(&mut position, first);
    assert_eq!(position.to_move(), Player::White);
    assert_eq!(TABLES.known(&game, &position), WON);
    let values = TABLES.actions(&game, &position).unwrap();
    assert_eq!(values.len(), 1);
    assert_eq!(TABLES.after(&game, &position, values[0].action), Proven::win(1));
}

fn choose(agent: &mut dyn Agent<Tammi>, position: TammiPosition, seed: u64) -> Action {
    let mut stream = stream(seed, 0);
    let mut requests = [Request { position, stream: &mut stream, limit: Limit::default(), memory: None }];
    agent.choose(&mut requests)[0].action
}

fn settings(force: u32) -> BuildSettings {
    BuildSettings { force, save_every: Duration::from_secs(300) }
}

/// Builds the tables up to force 3; says which layers were kept and which were built.
fn build_in(folder: &Path) -> Vec<String> {
    let mut told = Vec::new();
    let mut tell = |progress: TableProgress| match progress {
        TableProgress::Kept(force) => told.push(format!("kept {force}")),
        TableProgress::Done(force, _) => told.push(format!("built {force}")),
        _ => {}
    };
    jarmo::tables::build(&Tammi::standard(), folder, settings(3), &mut tell).unwrap();
    told
}

#[test]
fn the_agent_wins_every_won_position() {
    let game = Tammi::standard();
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path());
    let spec = format!("rollout:8?tables={}", folder.path().display());
    let spec: AgentSpec = spec.parse().unwrap();
    let mut perfect = build(game.clone(), &spec).unwrap();
    let mut other = RandomAgent::new(game.clone());
    let layer = TammiLayer::new(3);
    let mut draw = stream(5, 5);
    let mut won = 0;
    for seed in 0..200 {
        let start = random_position(&layer, &mut draw);
        if TABLES.known(&game, &start) != WON {
            continue;
        }
        let mut position = start;
        while game.outcome(&position).is_none() {
            let action = if position.to_move() == start.to_move() {
                choose(perfect.as_mut(), position, seed)
            } else {
                choose(&mut other, position, seed)
            };
            game.play(&mut position, action);
        }
        let outcome = game.outcome(&position).unwrap();
        let text = game.position_text(&start);
        assert_eq!(outcome.verdict(start.to_move()), Verdict::Win, "{text}");
        won += 1;
    }
    assert!(won > 40, "{won}");
}

#[test]
fn tables_of_both_games_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let game = Tammi::standard();
    let none = game.open_endgames(folder.path()).err().unwrap();
    assert_eq!(none.kind, jarmo::ExactErrorKind::NoTables);
    assert_eq!(build_in(folder.path()), ["built 2", "built 3"]);
    assert_eq!(build_in(folder.path()), ["kept 2", "kept 3"]);
    let tables = game.open_endgames(folder.path()).unwrap();
    let again = game.open_endgames(folder.path()).unwrap();
    assert!(Arc::ptr_eq(&tables, &again));
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect();
    names.sort();
    assert_eq!(names, ["tammi-02.table", "tammi-03.table"]);
    assert_eq!(Tables::open(&game, folder.path()).unwrap().bytes(3), TABLES.bytes(3));
    let jarmo = Jarmo::standard();
    assert!(jarmo.open_endgames(folder.path()).is_err());
    let other = tempfile::tempdir().unwrap();
    jarmo::tables::build(&jarmo, other.path(), settings(2), &mut |_| {}).unwrap();
    let name = "force-02.table";
    std::fs::copy(other.path().join(name), folder.path().join(name)).unwrap();
    assert!(jarmo.open_endgames(folder.path()).is_ok());

    let other = Tables::open(&Tammi::new(20, 0), folder.path()).unwrap_err();
    let message = other.to_string();
    assert!(message.contains("tammi-02.table") && message.contains("limit on plies without a capture"), "{message}");
    let file = folder.path().join("tammi-03.table");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[999] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let message = Tables::open(&game, folder.path()).unwrap_err().to_string();
    assert!(message.contains("tammi-03.table: is damaged"), "{message}");
}
