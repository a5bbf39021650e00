//! The vectorised environment and the features.

use std::collections::HashMap;

use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::encode::Encode;
use jarmo::env::VecEnv;
use jarmo::game::{Action, Game, Mask, Player};
use jarmo::games::{
    ConnectFour, ConnectFourPosition, Guard, GuardPosition, Jarmo, JarmoPosition, Tammi,
    TammiPosition,
};
use ndarray::Array3;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Runs a task for every game with its default settings.
fn for_every_game<T: GameTask<Output = ()> + Copy>(task: T) {
    for name in GAMES {
        with_game(name, &GameSettings::default(), task).unwrap();
    }
}

/// Position texts after some steps of random play on this many threads.
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

    /// Holds every step against the rules played by hand.
    fn run<G: CatalogGame>(self, game: G) {
        let game = game.with_max_plies(60);
        let mut env = VecEnv::new(game.clone(), 32, 9);
        let mut actions = vec![Action(0); env.len()];
        let mut masks = vec![G::Mask::default(); env.len()];
        let (mut ends, mut cut_off) = (0, 0);
        for _ in 0..400 {
            env.masks(&mut masks);
            env.sample(&mut actions);
            let before: Vec<_> = (0..env.len()).map(|slot| *env.position(slot)).collect();
            env.step(&actions);
            for (slot, mut position) in before.into_iter().enumerate() {
                assert_eq!(masks[slot], game.legal(&position));
                assert!(masks[slot].contains(actions[slot]));
                game.play(&mut position, actions[slot]);
                let transition = env.transition(slot);
                let Some(outcome) = game.outcome(&position) else {
                    assert_eq!(transition, Default::default());
                    assert_eq!(*env.position(slot), position);
                    assert_eq!(env.to_move(slot), game.to_move(&position));
                    continue;
                };
                ends += 1;
                cut_off += usize::from(outcome.truncated);
                assert!(transition.done);
                assert_eq!(transition.truncated, outcome.truncated);
                for player in Player::BOTH {
                    let reward = transition.rewards[player.index()];
                    assert_eq!(reward, outcome.verdict(player).sign());
                }
                let difference = outcome.score.map_or(0, |[w, b]| w as i8 - b as i8);
                assert_eq!(transition.score_difference, difference);
                assert_eq!(env.final_position(slot), Some(&position));
                assert_eq!(*env.position(slot), game.start());
                assert!(env.finished().any(|finished| finished == slot));
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
fn a_slot_can_be_set_to_a_position() {
    let game = Jarmo::standard();
    let mut env = VecEnv::new(game.clone(), 2, 0);
    let position = game.parse_position("5/5/1b3/5/w1B2 w - - 0").unwrap();
    env.set_position(1, position);
    assert_eq!(*env.position(0), game.start());
    let capture = game.parse_action(&position, "A1xB3").unwrap();
    let other = env.legal(0).nth(0);
    env.step(&[other, capture]);
    assert_eq!(env.finished().collect::<Vec<_>>(), [1]);
    assert_eq!(env.transition(1).rewards, [-1, 1]);
    assert_eq!(env.transition(1).score_difference, -1);
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

    /// The array is the features' own indices, and equal features mean equal actions now and next.
    fn run<G: CatalogGame>(self, game: G) {
        let mut env = VecEnv::new(game.clone(), 300, 3);
        let mut actions = vec![Action(0); env.len()];
        let mut observed = Array3::zeros((env.len(), game.planes(), game.cells()));
        let mut known: HashMap<Vec<usize>, G::Position> = HashMap::new();
        let mut repeated = 0;
        for _ in 0..120 {
            env.observe(observed.view_mut());
            for (slot, planes) in observed.outer_iter().enumerate() {
                let position = *env.position(slot);
                let mut set = Vec::new();
                game.features(&position, |index| set.push(index));
                set.sort_unstable();
                let count = set.len();
                set.dedup();
                assert_eq!(set.len(), count, "a feature is set once");
                assert_eq!(planes.sum(), count as f32);
                for &index in &set {
                    assert_eq!(planes[[index / game.cells(), index % game.cells()]], 1.0);
                }
                if let Some(other) = known.insert(set, position) {
                    repeated += 1;
                    assert_alike(&game, &other, &position);
                }
            }
            env.sample(&mut actions);
            env.step(&actions);
        }
        assert!(
            repeated > 300,
            "{}: {repeated} positions came twice",
            game.id()
        );
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
fn features_hold_everything_the_rules_need() {
    for_every_game(Features);
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
fn positions_and_slots_are_as_small_as_documented() {
    assert_eq!(size_of::<JarmoPosition>(), 24);
    assert_eq!(size_of::<GuardPosition>(), 24);
    assert_eq!(size_of::<TammiPosition>(), 148);
    assert_eq!(size_of::<ConnectFourPosition>(), 24);
    assert_eq!(VecEnv::<Jarmo>::slot_bytes(), 108);
}

/// Allocations of this many threads' first one in 300 steps after a warm-up.
fn allocations(threads: usize) -> u64 {
    pool(threads).install(|| {
        let mut env = VecEnv::new(Jarmo::standard(), 512, 1);
        let mut actions = vec![Action(0); env.len()];
        let mut masks = vec![Default::default(); env.len()];
        let mut features = vec![0.0; env.len() * env.game().feature_count()];
        let mut step = || {
            env.observe_flat(&mut features);
            env.masks(&mut masks);
            env.sample(&mut actions);
            env.step(&actions);
        };
        step();
        let many_steps = || (0..300).for_each(|_| step());
        allocation_counter::measure(many_steps).count_total
    })
}

#[test]
fn stepping_allocates_nothing_once_warm() {
    assert_eq!(allocations(1), 0);
    assert_eq!(allocations(2), 0);
}
