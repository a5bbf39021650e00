//! Self-play with exact tables: samples from positions in the tables get the exact result.

use std::path::Path;
use std::time::Duration;

use jarmo::eval::{Uniform, Value};
use jarmo::game::{Action, Game, Player, Verdict};
use jarmo::games::{Guard, Jarmo};
use jarmo::selfplay::{GamesState, Root, SelfPlay, SelfPlaySettings};
use jarmo::tables::{BuildSettings, Endgames, Tables};

fn build_in(folder: &Path, force: u32) {
    let settings = BuildSettings {
        force,
        memory: None,
        save_every: Duration::from_secs(1000),
    };
    jarmo::tables::build(&Jarmo::standard(), folder, settings, &mut |_| {}).unwrap();
}

fn settings(tables: &Path) -> SelfPlaySettings {
    SelfPlaySettings {
        games: 128,
        simulations: 2,
        root: Root::Gumbel,
        opening_plies: 4,
        tables: tables.to_owned(),
        endgames: 0.0,
        endgame_force: 7,
        least_range: 0.0,
        lambda: 1.0,
    }
}

fn self_play(tables: &Path, shards: usize) -> SelfPlay<Jarmo, Uniform> {
    let evaluators = vec![Uniform; shards];
    SelfPlay::new(&Jarmo::standard(), &settings(tables), evaluators, 5).unwrap()
}

#[test]
fn results_without_distances_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (exact, packed) = (folder.path().join("exact"), folder.path().join("packed"));
    build_in(&exact, 3);
    let game = Jarmo::standard();
    jarmo::tables::pack(&game, &exact, &packed, 0, &mut |_| {}).unwrap();
    let error = SelfPlay::new(&game, &settings(&packed), vec![Uniform], 5).err();
    let error = error.unwrap().to_string();
    assert!(error.contains("have no distances"), "{error}");
}

/// An unfinished game: its actions, and the number of its searched positions.
struct Unfinished {
    actions: Vec<Action>,
    searched: usize,
}

fn unfinished(state: &GamesState) -> Vec<Unfinished> {
    let state = serde_json::to_value(state).unwrap();
    let games = state["env"]["games"].as_array().unwrap().iter();
    let searched = state["moves"].as_array().unwrap();
    games
        .zip(searched)
        .map(|(game, moves)| Unfinished {
            actions: game["actions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|action| Action(action.as_u64().unwrap() as u16))
                .collect(),
            searched: moves.as_array().unwrap().len(),
        })
        .collect()
}

fn certain(verdict: Verdict) -> [f32; 3] {
    Value::certain(verdict, 0.0).results()
}

#[test]
fn positions_in_the_tables_get_their_exact_result() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 5);
    let game = Jarmo::standard();
    let tables = Tables::open(&game, folder.path()).unwrap();
    let mut play = self_play(folder.path(), 1);
    let (mut games, mut inside, mut corrected) = (0, 0, 0);
    for _ in 0..200 {
        let before = unfinished(&play.save());
        let round = play.round();
        let after = unfinished(&play.save());
        let mut samples = round.samples.iter();
        let mut exact = 0;
        for (old, new) in before.iter().zip(&after) {
            if new.actions.len() == old.actions.len() + 1 && new.actions.starts_with(&old.actions) {
                continue;
            }
            // The searched positions of the finished game, starting after the opening.
            let opening = old.actions.len() - old.searched;
            let mut position = game.start();
            let mut positions = Vec::new();
            for (at, &action) in old.actions.iter().enumerate() {
                if at >= opening {
                    positions.push(position);
                }
                game.play(&mut position, action);
            }
            positions.push(position);
            let of_game: Vec<_> = samples.by_ref().take(positions.len()).collect();
            // Outside the tables, the result of the last position holds.
            let last = of_game.last().unwrap();
            let [win, draw, _] = last.result.map(|share| share == 1.0);
            let mover = game.to_move(&position);
            let mut winner = (!draw).then_some(if win { mover } else { !mover });
            let mut known = false;
            for (at, sample) in positions.iter().zip(&of_game).rev() {
                if let Some(ending) = tables.ending(&game, at) {
                    corrected += u64::from(known && winner != ending.outcome.winner);
                    winner = ending.outcome.winner;
                    known = true;
                    inside += 1;
                }
                let mover = game.to_move(at);
                let verdict = match winner {
                    None => Verdict::Draw,
                    Some(winner) if winner == mover => Verdict::Win,
                    Some(_) => Verdict::Loss,
                };
                assert_eq!(sample.result, certain(verdict));
            }
            exact += u64::from(known);
        }
        assert!(samples.next().is_none());
        assert_eq!(round.counts.exact, exact);
        games += exact;
    }
    assert!(games > 10, "{games}");
    assert!(inside > 3 * games, "{inside} in {games} games");
    assert!(
        corrected > 5,
        "{corrected}: mistakes inside the tables change the result"
    );
}

#[test]
fn resumed_games_end_the_same_with_any_number_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 5);
    let mut play = self_play(folder.path(), 1);
    for _ in 0..100 {
        play.round();
    }
    let text = serde_json::to_string(&play.save()).unwrap();
    let mut resumed = self_play(folder.path(), 3);
    resumed
        .restore(&serde_json::from_str(&text).unwrap())
        .unwrap();
    let mut exact = 0;
    for _ in 0..100 {
        let (expected, round) = (play.round(), resumed.round());
        assert_eq!(round.samples, expected.samples);
        assert_eq!(round.counts.games, expected.counts.games);
        assert_eq!(round.counts.exact, expected.counts.exact);
        exact += round.counts.exact;
    }
    assert!(exact > 5, "{exact}");
    assert_eq!(resumed.save(), play.save());
}

#[test]
fn games_are_not_ended_where_the_shuttle_rule_could_matter() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let ending = |text: &str| tables.ending(&game, &game.parse_position(text).unwrap());
    // White wins by moving back to A2, which the shuttle rule forbids at its limit.
    let fresh = ending("5/5/5/b4/2w2 w - - 0").unwrap();
    assert_eq!(
        (fresh.outcome.winner, fresh.plies),
        (Some(Player::White), Some(1))
    );
    assert_eq!(ending("5/5/5/b4/2w2 w A2-C1*1 - 0"), Some(fresh));
    for streak in 2..=4 {
        assert_eq!(ending(&format!("5/5/5/b4/2w2 w A2-C1*{streak} - 0")), None);
    }
    // A win beyond the limit on the length is a draw with the current points.
    let text = |ply: u32| format!("5/b4/4b/5/2w1w w - - {ply}");
    let in_time = ending(&text(200 - 23)).unwrap();
    assert_eq!(
        (in_time.outcome.winner, in_time.plies),
        (Some(Player::White), Some(23))
    );
    let late = ending(&text(200 - 22)).unwrap();
    assert_eq!((late.outcome.winner, late.plies), (None, None));
    assert_eq!(late.outcome.score, Some([2, 2]));
}

#[test]
fn bad_tables_are_refused_by_name_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let refused = |result: Result<(), String>| result.unwrap_err();
    let jarmo = || {
        let play = SelfPlay::new(&Jarmo::standard(), &settings, vec![Uniform], 1);
        refused(play.map(|_| ()).map_err(|error| error.to_string()))
    };
    let missing = jarmo();
    let name = format!("selfplay.tables = {}: ", folder.path().display());
    assert!(missing.starts_with(&name), "{missing}");
    assert!(missing.contains("has no tables of jarmo; build them"));
    build_in(folder.path(), 3);
    let file = folder.path().join("force-03.table");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[999] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let damaged = jarmo();
    assert!(damaged.contains("force-03.table: is damaged"), "{damaged}");
    let play = SelfPlay::new(&Guard::standard(), &settings, vec![Uniform], 1);
    let guard = refused(play.map(|_| ()).map_err(|error| error.to_string()));
    assert!(
        guard.contains("for jarmo and tammi only, not for guard"),
        "{guard}"
    );
}
