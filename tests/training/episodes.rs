//! Finished games as plain data: another machine makes the same samples of them, and refuses what breaks the rules.

use jarmo::encode::Encode;
use jarmo::eval::{EvalBatch, EvalRow, Evaluation, Evaluator, Uniform, Value as Worth};
use jarmo::game::Game;
use jarmo::games::{ConnectFour, Guard, Jarmo, Tammi};
use jarmo::replay::Samples;
use jarmo::search::{Root, SearchSettings};
use jarmo::selfplay::{Counts, Episode, EpisodeReader, Round, SelfPlay, SelfPlaySettings};
use jarmo::tables::HasEndgames;
use serde_json::{Value, json};

fn settings(endgames: f32) -> SelfPlaySettings {
    SelfPlaySettings {
        games: 12,
        simulations: 4,
        search: SearchSettings::of(Root::Gumbel),
        max_random_plies: 3,
        endgames,
        endgame_force: 5,
        lambda: 0.9,
    }
}

/// Plays with new evaluators in the second half. Keeps the games themselves, or makes samples of them.
fn play<G: Encode + HasEndgames>(game: &G, endgames: f32, rounds: usize, keep: bool) -> Round {
    let evaluators = vec![Uniform; 2];
    let mut play = SelfPlay::new(game, &settings(endgames), evaluators.clone(), 5);
    if keep {
        play.keep_episodes(7);
    }
    let mut all = Round::default();
    for _ in 0..rounds / 2 {
        all.add(play.round());
    }
    play.replace_evaluators(evaluators);
    if keep {
        play.keep_episodes(8);
    }
    for _ in rounds / 2..rounds {
        all.add(play.round());
    }
    all
}

fn check<G: Encode + HasEndgames>(game: &G, endgames: f32, rounds: usize) {
    let (kept, round) = (play(game, endgames, rounds, true), play(game, endgames, rounds, false));
    assert!(kept.samples.is_empty() && round.episodes.is_empty());
    let reader = EpisodeReader::new(game, &settings(endgames));
    let (mut samples, mut counts) = (Samples::new(), Counts::default());
    for episode in &kept.episodes {
        let text = serde_json::to_string(episode).unwrap();
        let episode = serde_json::from_str(&text).unwrap();
        reader.read(&episode, &mut samples, &mut counts).unwrap();
    }
    assert_eq!(samples.len(), round.samples.len(), "{}", game.id());
    let sorted = |samples: &Samples| {
        let mut all: Vec<String> = samples.iter().map(|s| format!("{s:?}")).collect();
        all.sort();
        all
    };
    assert!(sorted(&samples) == sorted(&round.samples), "{}", game.id());
    let games = round.counts.games;
    assert!(games.games > 0, "{}", game.id());
    assert_eq!((counts.games.games, counts.games.white, counts.games.plies), (games.games, games.white, games.plies));
}

#[test]
fn episodes_of_every_game_make_the_same_samples_elsewhere() {
    check(&Jarmo::standard(), 0.0, 150);
    check(&Jarmo::standard(), 0.5, 100);
    check(&Guard::standard(), 0.0, 150);
    check(&Tammi::standard(), 0.0, 200);
    check(&ConnectFour::new(0), 0.0, 60);
}

/// Nearly sure of a result, by the seed: what a trained network says of most positions.
struct Sure;

impl<G: Game> Evaluator<G> for Sure {
    fn has_policy(&self) -> bool {
        false
    }

    fn evaluate(&mut self, batch: &mut EvalBatch<G::Position>) {
        for EvalRow { seed, evaluation, .. } in batch.rows() {
            let value = Worth {
                win: 0.0,
                draw: 1e-7 * (seed % 97) as f32 / 97.0,
                loss: 1.0, // the sum is 1 in 32 bits
                score: 0.0,
            };
            *evaluation = Evaluation::of(if seed % 8 < 4 { value } else { value.flip() });
        }
    }
}

#[test]
fn expectations_are_shares_however_sure_the_network_is() {
    let game = ConnectFour::new(0);
    let mut play = SelfPlay::new(&game, &settings(0.0), vec![Sure], 5);
    play.keep_episodes(1);
    let mut searches = 0;
    for _ in 0..400 {
        for episode in play.round().episodes {
            for search in &episode.searches {
                let fits = |share: &f32| (0.0..=1.0).contains(share);
                assert!(search.expected.iter().all(fits), "{:?}", search.expected);
                searches += 1;
            }
        }
    }
    assert!(searches > 1000, "{searches}");
}

#[test]
fn an_episode_names_the_oldest_weights_that_searched_it() {
    let round = play(&ConnectFour::new(0), 0.0, 60, true);
    let of = |weights| round.episodes.iter().filter(|e| e.weights == weights).count();
    assert!(of(7) > 0 && of(8) > 0);
    assert_eq!(of(7) + of(8), round.episodes.len());
}

/// An episode of connect four after a change to its JSON form, and what the reader says to it.
fn refused(change: impl Fn(&mut Value)) -> String {
    let game = ConnectFour::new(0);
    let round = play(&game, 0.0, 60, true);
    let mut episode = serde_json::to_value(&round.episodes[0]).unwrap();
    change(&mut episode);
    let episode: Episode = serde_json::from_value(episode).unwrap();
    let reader = EpisodeReader::new(&game, &settings(0.0));
    let (mut samples, mut counts) = (Samples::new(), Counts::default());
    let read = reader.read(&episode, &mut samples, &mut counts);
    assert!(samples.is_empty());
    assert_eq!(counts, Counts::default());
    read.unwrap_err().to_string()
}

/// What an error says, and the change that causes it.
type Case = (&'static str, &'static dyn Fn(&mut Value));

fn actions(episode: &mut Value, change: impl Fn(&mut Vec<Value>)) {
    change(episode["game"]["actions"].as_array_mut().unwrap());
}

#[test]
fn an_episode_that_breaks_the_rules_is_refused() {
    let cases: [Case; 9] = [
        ("only 7 actions", &|e| actions(e, |list| list[3] = json!(99))),
        ("the game is over", &|e| actions(e, |list| list.push(json!(0)))),
        ("not over", &|e| actions(e, |list| drop(list.pop()))),
        ("does not begin", &|e| e["game"]["start"] = json!("7/7/7/7/7/3w3 b 1")),
        ("were searched", &|e| e["searches"] = json!([])),
        ("were searched", &|e| {
            let searches = e["searches"].as_array_mut().unwrap();
            let first = searches[0].clone();
            (0..9).for_each(|_| searches.push(first.clone()));
        }),
        ("not a probability distribution", &|e| e["searches"][1]["policy"][0] = json!(2.0)),
        ("not a probability distribution", &|e| e["searches"][1]["expected"] = json!([0.1, 0.1, 0.1])),
        ("does not fit", &|e| e["searches"][1]["policy"] = json!([0.5, 0.5])),
    ];
    for (says, change) in cases {
        let text = refused(change);
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn a_game_without_a_searched_position_is_refused() {
    let game = ConnectFour::new(0);
    let won = json!({"game": {"actions": [0, 1, 0, 1, 0, 1, 0]}, "searches": []});
    let mut episode = serde_json::to_value(&play(&game, 0.0, 60, true).episodes[0]).unwrap();
    episode.as_object_mut().unwrap().extend(won.as_object().unwrap().clone());
    let reader = EpisodeReader::new(&game, &SelfPlaySettings { max_random_plies: 10, ..settings(0.0) });
    let episode = serde_json::from_value(episode).unwrap();
    let error = reader.read(&episode, &mut Samples::new(), &mut Counts::default()).unwrap_err().to_string();
    assert!(error.contains("0 of its 7 positions were searched"), "{error}");
}

#[test]
fn a_game_that_begins_where_self_play_starts_none_is_refused() {
    let game = Jarmo::standard();
    let round = play(&game, 0.5, 60, true);
    let started = round.episodes.iter().find(|episode| episode.game.start.is_some()).expect("an endgame");
    let read = |episode: &Episode, settings: &SelfPlaySettings| {
        let reader = EpisodeReader::new(&game, settings);
        reader.read(episode, &mut Samples::new(), &mut Counts::default())
    };
    let usual = settings(0.5);
    read(started, &usual).unwrap();
    // The same actions from a later ply, and an endgame with more force than the run has.
    let mut later = serde_json::to_value(started).unwrap();
    let start = later["game"]["start"].as_str().unwrap();
    let start = format!("{} 7", start.strip_suffix(" 0").unwrap());
    later["game"]["start"] = json!(start);
    let later = read(&serde_json::from_value(later).unwrap(), &usual);
    let strong = read(started, &SelfPlaySettings { endgame_force: 1, ..usual });
    for refused in [later, strong] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("self-play starts no game in its first position"), "{error}");
    }
}
