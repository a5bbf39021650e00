//! The vectorised environment and the features.

use std::collections::{HashMap, HashSet};

use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::encode::Encode;
use jarmo::env::{Autoreset, EnvSettings, GameStats, Keep, Line, VecEnv};
use jarmo::game::{Action, Game, Mask, Player};
use jarmo::games::board::Board;
use jarmo::games::{
    ConnectFour, ConnectFourPosition, Guard, GuardPosition, Jarmo, JarmoPosition, Tammi, TammiPosition,
};
use jarmo::ndarray::Array4;
use jarmo::random::{below, stream};
use rand::Rng;
use serde_json::json;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// Runs a task for every game with its default settings.
fn for_every_game<T: GameTask<Output = ()> + Copy>(task: T) {
    for name in GAMES {
        with_game(name, &GameSettings::default(), task).unwrap();
    }
}

/// Texts of the positions after some steps of random play on this many threads.
fn play<G: Encode>(game: &G, threads: usize, seed: u64) -> Vec<String> {
    pool(threads).install(|| {
        let mut env = VecEnv::new(game.clone(), 700, seed);
        let mut actions = vec![Action(0); env.len()];
        for _ in 0..100 {
            env.sample(&mut actions);
            env.step(&actions);
        }
        let text = |slot| game.position_text(env.position(slot));
        (0..env.len()).map(text).collect()
    })
}

#[derive(Clone, Copy)]
struct SameSeed;

impl GameTask for SameSeed {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let alone = play(&game, 1, 5);
        let mut different = alone.clone();
        different.sort();
        different.dedup();
        let share = different.len() as f64 / alone.len() as f64;
        assert!(share > 0.9, "{}: slots play their own games", game.id());
        assert_eq!(alone, play(&game, 1, 5));
        assert_eq!(alone, play(&game, 3, 5), "{}: threads", game.id());
        assert_ne!(alone, play(&game, 1, 6), "{}: seeds", game.id());
    }
}

#[test]
fn the_same_seed_gives_the_same_games_on_any_number_of_threads() {
    for_every_game(SameSeed);
}

#[derive(Clone, Copy)]
struct Transitions;

impl GameTask for Transitions {
    type Output = ();

    /// Compares every step with the rules played by hand.
    fn run<G: CatalogGame>(self, game: G) {
        let game = game.with_max_plies(60);
        let mut env = pool(3).install(|| VecEnv::new(game.clone(), 400, 9));
        assert_eq!(env.shards(), 3);
        let mut actions = vec![Action(0); env.len()];
        let mut masks = vec![G::Mask::default(); env.len()];
        let (mut ends, mut cut_off) = (0, 0);
        for _ in 0..130 {
            env.masks(&mut masks);
            env.sample(&mut actions);
            let before: Vec<_> = (0..env.len()).map(|slot| *env.position(slot)).collect();
            env.step(&actions);
            let finished: HashMap<_, _> = env.finished().map(|game| (game.slot, *game)).collect();
            for (slot, mut position) in before.into_iter().enumerate() {
                assert_eq!(masks[slot], game.legal(&position));
                assert!(masks[slot].contains(actions[slot]));
                game.play(&mut position, actions[slot]);
                let ended = finished.get(&slot);
                assert_eq!(ended.map(|game| game.outcome), game.outcome(&position));
                let Some(ended) = ended else {
                    assert_eq!(*env.position(slot), position);
                    assert_eq!(env.to_move(slot), game.to_move(&position));
                    continue;
                };
                ends += 1;
                cut_off += usize::from(ended.outcome.truncated);
                assert_eq!(ended.position, position);
                assert_eq!(*env.position(slot), game.start());
            }
        }
        assert!(ends > 100, "{}: {ends} games ended", game.id());
        assert_eq!(cut_off > 0, game.id() != "connect_four", "{}", game.id());
    }
}

#[test]
fn steps_follow_the_rules_and_finished_games_restart() {
    for_every_game(Transitions);
}

#[test]
fn a_slot_of_any_shard_can_start_from_a_position() {
    let game = Jarmo::standard();
    let mut env = pool(3).install(|| VecEnv::new(game.clone(), 400, 0));
    let position = game.parse_position("5/5/1b3/5/w1B2 w - - 0").unwrap();
    let slot = 390;
    env.start(&[(slot, Line::at(position))]).unwrap();
    assert!((0..slot).all(|other| *env.position(other) == game.start()));
    assert_eq!(*env.position(slot), position);
    let mut actions = vec![env.legal(0).nth(0); env.len()];
    actions[slot] = game.parse_action(&position, "A1xB3").unwrap();
    env.step(&actions);
    let ended: Vec<_> = env.finished().map(|game| (game.slot, game.outcome.winner)).collect();
    assert_eq!(ended, [(slot, Some(Player::Black))]);
}

const KEEP_ALL: Keep = Keep { history: true, events: true };

/// One game in each slot, after five random plies.
fn one_game_each<G: Game>(game: &G, threads: usize) -> VecEnv<G> {
    let settings = EnvSettings {
        threads,
        autoreset: Autoreset::Disabled,
        random_plies: 5,
        keep: KEEP_ALL,
        ..EnvSettings::new(300, 4)
    };
    VecEnv::with_settings(game.clone(), settings)
}

#[derive(Clone, Copy)]
struct Stopping;

impl GameTask for Stopping {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let game = game.with_max_plies(90);
        let mut env = one_game_each(&game, 3);
        let openings: Vec<usize> = (0..300).map(|slot| env.history(slot).actions.len()).collect();
        assert!(openings.iter().all(|&plies| plies == 5), "{}", game.id());
        let different: HashSet<_> = (0..300).map(|slot| env.history(slot).actions.clone()).collect();
        assert!(different.len() > 100, "{}", game.id());
        let mut actions = vec![Action(0); env.len()];
        let mut finished = [0; 300];
        let mut counted = GameStats::default();
        let mut stats = GameStats::default();
        while (0..300).any(|slot| !env.is_idle(slot)) {
            env.sample(&mut actions);
            let before: Vec<_> = (0..300).map(|slot| *env.position(slot)).collect();
            let idle: Vec<bool> = (0..300).map(|slot| env.is_idle(slot)).collect();
            for (slot, position) in before.iter().enumerate().filter(|(slot, _)| !idle[*slot]) {
                game.count_events(position, actions[slot], &mut counted.events);
            }
            env.step(&actions);
            stats.add(&env.take_stats());
            for ended in env.finished() {
                assert!(!idle[ended.slot]);
                finished[ended.slot] += 1;
                let (end, outcome) = (&ended.position, ended.outcome);
                counted.games += 1;
                counted.white += u64::from(outcome.winner == Some(Player::White));
                counted.black += u64::from(outcome.winner == Some(Player::Black));
                counted.truncated += u64::from(outcome.truncated);
                counted.plies += u64::from(game.ply(end));
            }
            for slot in 0..300 {
                if idle[slot] {
                    assert_eq!(*env.position(slot), before[slot]);
                }
                if env.is_idle(slot) {
                    continue;
                }
                let history = env.history(slot);
                let played = history.positions(&game);
                assert_eq!(played.last(), Some(env.position(slot)), "{}", game.id());
            }
        }
        assert_eq!(finished, [1; 300], "{}", game.id());
        assert_eq!(stats, counted);
        assert_eq!(stats.events.iter().any(|&count| count > 0), !game.events().is_empty());
        let last = 299;
        assert!(env.legal(last).is_empty() && game.outcome(env.position(last)).is_some());
        env.start(&[(last, Line::at(game.start()))]).unwrap();
        env.sample(&mut actions);
        env.step(&actions);
        assert_eq!(env.history(last).actions, [actions[last]]);
        assert!(env.finished().next().is_none(), "idle slots are skipped");
        assert!((0..last).all(|slot| env.is_idle(slot)));
    }
}

#[test]
fn openings_are_played_counts_are_right_and_slots_whose_game_is_over_are_idle() {
    for_every_game(Stopping);
}

#[derive(Clone, Copy)]
struct Saving;

impl GameTask for Saving {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let game = game.with_max_plies(90);
        let mut env = one_game_each(&game, 1);
        let mut actions = vec![Action(0); env.len()];
        let mut steps = |env: &mut VecEnv<G>, count: usize| {
            for _ in 0..count {
                env.sample(&mut actions);
                env.step(&actions);
                let idle: Vec<bool> = env.all_legal().map(|legal| legal.is_empty()).collect();
                env.reset(|slot| idle[slot] && slot % 2 == 0).unwrap();
            }
        };
        steps(&mut env, 60);
        let text = serde_json::to_string(&env.save()).unwrap();
        assert!(text.contains("null"), "{}: idle slots", game.id());
        let mut other = pool(3).install(|| one_game_each(&game, 3));
        other.restore(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(serde_json::to_string(&other.save()).unwrap(), text);
        steps(&mut env, 40);
        steps(&mut other, 40);
        assert_eq!(other.save(), env.save(), "{}", game.id());
    }
}

#[test]
fn saved_games_continue_as_they_would_have_on_any_number_of_threads() {
    for_every_game(Saving);
}

#[test]
fn saved_games_that_break_the_rules_are_refused() {
    let game = ConnectFour::new(0);
    let settings = EnvSettings { keep: KEEP_ALL, ..EnvSettings::new(2, 0) };
    let mut env = VecEnv::with_settings(game, settings);
    env.step(&[Action(3), Action(4)]);
    let saved = env.save();
    for (slot, message) in [
        (json!({"actions": [3, 3, 3, 3, 3, 3, 3]}), "column D is full"),
        (json!({"actions": [7]}), "has only 7 actions"),
        (json!({"actions": [0, 1, 0, 1, 0, 1, 0]}), "saved game: the game is already over"),
        (json!({"start": "7/7", "actions": []}), "saved game: "),
    ] {
        let mut state = serde_json::to_value(&saved).unwrap();
        state["state"]["games"][1] = slot;
        let state = serde_json::from_value(state).unwrap();
        let error = env.restore(&state).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(env.save(), saved, "a failed restore changes nothing");
    }
}

#[test]
fn saved_games_continue_under_the_same_rules_only() {
    fn refused<G: Game>(from: G, to: G) -> String {
        let env = |game| VecEnv::with_settings(game, EnvSettings { keep: KEEP_ALL, ..EnvSettings::new(2, 0) });
        env(to).restore(&env(from).save()).unwrap_err().to_string()
    }
    let error = refused(Tammi::new(30, 200), Tammi::new(20, 200));
    assert!(error.contains("quiet_limit 30, this one 20"), "{error}");
    let error = refused(Tammi::new(20, 100), Tammi::new(20, 200));
    assert!(error.contains("max_plies 100, this one 200"), "{error}");
    let standard = Jarmo::standard();
    let lines: Vec<String> = standard.board().lines().iter().map(|(from, to)| format!("\"{from}-{to}\"")).collect();
    let other = Board::from_toml(&format!("name = \"other\"\nlines = [{}, \"A1-A2\"]", lines.join(", "))).unwrap();
    let error = refused(standard.clone(), Jarmo::new(other, standard.max_plies()));
    assert!(error.contains("on another board"), "{error}");
}

#[test]
fn the_action_of_an_idle_slot_can_be_any_number() {
    let settings = EnvSettings { autoreset: Autoreset::Disabled, keep: KEEP_ALL, ..EnvSettings::new(1, 0) };
    let mut env = VecEnv::with_settings(ConnectFour::new(1), settings);
    env.step(&[Action(3)]);
    assert!(env.is_idle(0));
    env.step(&[Action(u16::MAX)]);
    assert!(env.is_idle(0));
}

#[test]
#[should_panic(expected = "is illegal")]
fn an_illegal_action_is_a_bug() {
    let mut env = VecEnv::new(ConnectFour::new(0), 1, 0);
    for _ in 0..7 {
        env.step(&[Action(3)]);
    }
}

#[derive(Clone, Copy)]
struct Features;

impl GameTask for Features {
    type Output = ();

    /// The array has ones at the features' indices. Equal features mean equal legal actions, now and after
    /// the next action.
    fn run<G: CatalogGame>(self, game: G) {
        let mut env = VecEnv::new(game.clone(), 300, 3);
        let mut actions = vec![Action(0); env.len()];
        let (rows, columns) = game.grid();
        let mut observed = Array4::zeros((env.len(), game.planes(), rows, columns));
        let mut known: HashMap<Vec<usize>, G::Position> = HashMap::new();
        let mut repeated = 0;
        for _ in 0..120 {
            env.observe(observed.view_mut());
            for (slot, row) in observed.outer_iter().enumerate() {
                let row = row.flatten();
                let position = *env.position(slot);
                let mut set = Vec::new();
                game.features(&position, |index| set.push(index));
                set.sort_unstable();
                let count = set.len();
                set.dedup();
                assert_eq!(set.len(), count, "a feature is set once");
                assert_eq!(row.iter().sum::<f32>(), count as f32);
                assert!(set.iter().all(|&index| row[index] == 1.0));
                if let Some(other) = known.insert(set, position) {
                    repeated += 1;
                    assert_alike(&game, &other, &position);
                }
            }
            env.sample(&mut actions);
            env.step(&actions);
        }
        assert!(repeated > 300, "{}: {repeated} positions occurred twice", game.id());
    }
}

fn assert_alike<G: Encode>(game: &G, left: &G::Position, right: &G::Position) {
    assert_eq!(game.legal(left), game.legal(right));
    for action in game.legal(left).iter() {
        let (mut left, mut right) = (*left, *right);
        game.play(&mut left, action);
        game.play(&mut right, action);
        assert_eq!(game.legal(&left), game.legal(&right));
        assert_eq!(game.outcome(&left), game.outcome(&right));
    }
}

#[test]
fn equal_features_mean_equal_actions() {
    for_every_game(Features);
}

/// Position texts of a game. Each differs from the first in one field.
const ONE_FIELD_APART: [(&str, &[&str]); 4] = [
    (
        "jarmo",
        &[
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 A5-B3*1 20",
            "b1bb1/5/2b2/2w2/1w1ww w A1-C2*1 A5-B3*1 20",
            "b1bb1/5/1B3/2w2/1w1ww w A1-C2*1 A5-B3*1 20",
            "b1bb1/5/1b3/2W2/1w1ww w A1-C2*1 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w2w w A1-C2*1 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww b A1-C2*1 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*2 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*4 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w E1-C2*1 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-B3*1 A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w - A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w pass A5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 A5-B3*3 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 C5-B3*1 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 - 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 pass 20",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 A5-B3*1 21",
            "b1bb1/5/1b3/2w2/1w1ww w A1-C2*1 A5-B3*1 36",
        ],
    ),
    (
        "guard",
        &[
            "2W2/b4/2b2/2w2/1w2B w start 1,1 1,1 0 20",
            "2W2/1b3/2b2/2w2/1w2B w start 1,1 1,1 0 20",
            "2W2/b4/2B2/2w2/1w2B w start 1,1 1,1 0 20",
            "2W2/b4/2b2/2W2/1w2B w start 1,1 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B b start 1,1 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w moved 1,1 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 0,1 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 2,1 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,2 1,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 0,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 2,1 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 1,0 0 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 1,1 1 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 1,1 2 20",
            "2W2/b4/2b2/2w2/1w2B w start 1,1 1,1 0 21",
        ],
    ),
    (
        "tammi",
        &[
            "8/8/3b1b2/4W3/3b4/8/8/w7 w - 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/2w5 w - 3 20",
            "8/8/3b1b2/4w3/3b4/8/8/w7 w - 3 20",
            "8/8/3B1b2/4W3/3b4/8/8/w7 w - 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 b - 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 w e5xd4 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 w e5xd6 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 w e5xd4,d6 3 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 w - 4 20",
            "8/8/3b1b2/4W3/3b4/8/8/w7 w - 3 21",
        ],
    ),
    (
        "connect_four",
        &[
            "7/7/7/7/7/wb5 w 2",
            "7/7/7/7/7/w1b4 w 2",
            "7/7/7/7/b6/w6 w 2",
            "7/7/7/7/7/bw5 w 2",
            "7/7/7/7/7/w6 b 1",
            "7/7/7/7/7/7 w 0",
        ],
    ),
];

struct Distinct<'a>(&'a [&'a str]);

impl GameTask for Distinct<'_> {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let mut known: HashMap<Vec<usize>, &str> = HashMap::new();
        for text in self.0 {
            let position = game.parse_position(text).unwrap();
            let mut set = Vec::new();
            game.features(&position, |index| set.push(index));
            set.sort_unstable();
            if let Some(other) = known.insert(set, text) {
                panic!("{text} has the features of {other}");
            }
        }
    }
}

#[test]
fn features_hold_everything_the_rules_need() {
    for (name, texts) in ONE_FIELD_APART {
        with_game(name, &GameSettings::default(), Distinct(texts)).unwrap();
    }
    // Repetitions are not part of the text.
    let game = Tammi::standard();
    let mut position = game.parse_position("5B2/8/8/8/8/8/8/2W5 w - 0 0").unwrap();
    let game = game.with_max_plies(0);
    let mut seen = Vec::new();
    for action in ["c1-d2", "f8-e7", "d2-c1", "e7-f8", "c1-d2", "f8-e7", "d2-c1"] {
        game.play_text(&mut position, action).unwrap();
        let mut set = Vec::new();
        game.features(&position, |index| set.push(index));
        seen.push((position.repeats(), set));
    }
    let counts: Vec<u32> = seen.iter().map(|(repeats, _)| *repeats).collect();
    assert_eq!(counts, [0, 0, 0, 1, 1, 1, 1]);
    assert!(seen[3].1.len() > seen[2].1.len(), "one feature more");
}

fn shape<G: Encode>(game: &G) -> (usize, usize, (usize, usize)) {
    (game.planes(), game.board_planes(), game.grid())
}

#[test]
fn feature_shapes_are_as_documented() {
    assert_eq!(shape(&Jarmo::standard()), (10, 8, (5, 5)));
    assert_eq!(shape(&Guard::standard()), (7, 4, (5, 5)));
    assert_eq!(shape(&Tammi::standard()), (8, 6, (8, 8)));
    assert_eq!(shape(&ConnectFour::new(0)), (2, 2, (6, 7)));
    assert_eq!(shape(&ConnectFour::new(30)), (3, 2, (6, 7)));
}

#[test]
fn positions_are_as_small_as_documented() {
    assert_eq!(size_of::<JarmoPosition>(), 24);
    assert_eq!(size_of::<GuardPosition>(), 24);
    assert_eq!(size_of::<TammiPosition>(), 148);
    assert_eq!(size_of::<ConnectFourPosition>(), 24);
}

/// The number of allocations in 300 steps after a warm-up, on the calling thread.
fn allocations<G: Encode>(game: G, threads: usize) -> u64 {
    pool(threads).install(|| {
        let mut env = VecEnv::new(game, 512, 1);
        let mut actions = vec![Action(0); env.len()];
        let mut masks = vec![Default::default(); env.len()];
        let (rows, columns) = env.game().grid();
        let mut features = Array4::zeros((env.len(), env.game().planes(), rows, columns));
        let mut step = || {
            env.observe(features.view_mut());
            env.masks(&mut masks);
            env.sample(&mut actions);
            env.step(&actions);
        };
        step();
        let many_steps = || (0..300).for_each(|_| step());
        allocation_counter::measure(many_steps).count_total
    })
}

#[derive(Clone, Copy)]
struct Allocations;

impl GameTask for Allocations {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        assert_eq!(allocations(game.clone(), 1), 0, "{}", game.id());
        assert_eq!(allocations(game.clone(), 2), 0, "{}", game.id());
    }
}

#[test]
fn stepping_allocates_nothing_once_warm() {
    for_every_game(Allocations);
}

/// Plays random games and their mirror images, and checks that features and actions are mirrored.
/// Returns whether the game has a mirror.
fn check_mirror<G: Encode>(game: &G) -> bool {
    let Some(mirror) = game.mirror() else {
        return false;
    };
    assert_eq!(mirror.inputs.len(), game.input_count());
    assert_eq!(mirror.actions.len(), game.actions());
    let (mut position, mut image) = (game.start(), game.start());
    let mut stream = stream(11, 0);
    let seen = |position: &G::Position| {
        let mut features = Vec::new();
        game.features(position, |index| features.push(index as u16));
        features.sort_unstable();
        features
    };
    let through = |map: &[u16], indices: &[u16]| {
        let mut image: Vec<u16> = indices.iter().map(|&index| map[usize::from(index)]).collect();
        image.sort_unstable();
        image
    };
    let mut games = 0;
    while games < 30 {
        assert_eq!(through(&mirror.inputs, &seen(&position)), seen(&image));
        let legal = game.legal(&position);
        let actions: Vec<u16> = legal.iter().map(|action| action.0).collect();
        let images: Vec<u16> = game.legal(&image).iter().map(|action| action.0).collect();
        assert_eq!(through(&mirror.actions, &actions), images);
        assert_eq!(game.outcome(&position), game.outcome(&image));
        if actions.is_empty() {
            (position, image) = (game.start(), game.start());
            games += 1;
            continue;
        }
        let action = actions[below(stream.next_u64(), legal.count()) as usize];
        game.play(&mut position, Action(action));
        game.play(&mut image, Action(mirror.actions[usize::from(action)]));
    }
    true
}

#[test]
fn a_mirror_shows_the_same_game() {
    assert!(check_mirror(&ConnectFour::new(0)));
    assert!(check_mirror(&ConnectFour::new(20)));
    assert!(!check_mirror(&Jarmo::standard()), "its board has no symmetry");
}
