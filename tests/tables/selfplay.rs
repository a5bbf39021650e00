//! Self-play over exact tables: positions that they know learn the exact result.

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

/// A game under way: its actions, and how many of its positions were searched.
struct UnderWay {
    actions: Vec<Action>,
    searched: usize,
}

fn under_way(state: &GamesState) -> Vec<UnderWay> {
    let state = serde_json::to_value(state).unwrap();
    let games = state["env"]["games"].as_array().unwrap().iter();
    let searched = state["moves"].as_array().unwrap();
    games
        .zip(searched)
        .map(|(game, moves)| UnderWay {
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
fn games_inside_the_tables_learn_the_exact_result_of_every_position() {
    let folder = tempfile::tempdir().unwrap();
    build_in(folder.path(), 5);
    let game = Jarmo::standard();
    let tables = Tables::open(&game, folder.path()).unwrap();
    let mut play = self_play(folder.path(), 1);
    let (mut games, mut inside, mut corrected) = (0, 0, 0);
    for _ in 0..200 {
        let before = under_way(&play.save());
        let round = play.round();
        let after = under_way(&play.save());
        let mut samples = round.samples.iter();
        let mut told = 0;
        for (old, new) in before.iter().zip(&after) {
            if new.actions.len() == old.actions.len() + 1 && new.actions.starts_with(&old.actions) {
                continue;
            }
            // The searched positions of the game that ended, the first of them after the opening.
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
            // Where the tables say nothing, what the last position says of the end.
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
            told += u64::from(known);
        }
        assert!(samples.next().is_none());
        assert_eq!(round.counts.exact, told);
        games += told;
    }
    assert!(games > 10, "{games}");
    assert!(inside > 3 * games, "{inside} in {games} games");
    assert!(
        corrected > 5,
        "{corrected}: what was given away inside is seen"
    );
}

#[test]
fn exact_games_go_on_as_they_would_have_whatever_the_number_of_shards() {
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
fn a_game_in_which_the_shuttle_rule_could_matter_goes_on() {
    let game = Jarmo::standard();
    let tables = Tables::solve(&game, 4).unwrap();
    let ending = |text: &str| tables.ending(&game, &game.parse_position(text).unwrap());
    // White wins by going back to A2, which is forbidden when the shuttle is used up.
    let fresh = ending("5/5/5/b4/2w2 w - - 0").unwrap();
    assert_eq!(
        (fresh.outcome.winner, fresh.plies),
        (Some(Player::White), Some(1))
    );
    assert_eq!(ending("5/5/5/b4/2w2 w A2-C1*1 - 0"), Some(fresh));
    for streak in 2..=4 {
        assert_eq!(ending(&format!("5/5/5/b4/2w2 w A2-C1*{streak} - 0")), None);
    }
    // A result that lies beyond the limit on the length is a draw, with the points as they stand.
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
fn tables_that_cannot_be_had_are_named_before_anything_is_played() {
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
    assert!(missing.contains("force-02.table: is missing; build it again"));
    build_in(folder.path(), 3);
    let file = folder.path().join("force-03.table");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[999] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let damaged = jarmo();
    assert!(
        damaged.contains("force-03.table: is not as it was written"),
        "{damaged}"
    );
    let play = SelfPlay::new(&Guard::standard(), &settings, vec![Uniform], 1);
    let guard = refused(play.map(|_| ()).map_err(|error| error.to_string()));
    assert!(guard.contains("for jarmo only, not for guard"), "{guard}");
}
