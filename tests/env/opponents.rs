//! Games against an opponent, and rows of numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jarmo::agent::{AgentOpponent, build};
use jarmo::catalog::{CatalogGame, GAMES, GameSettings, GameTask, with_game};
use jarmo::env::{Autoreset, EnvSettings, Features, Interrupted, Keep, Masks, Opponent, Rows, Seat, VecEnv};
use jarmo::game::{Action, Mask, Player};
use jarmo::games::ConnectFour;
use jarmo::ndarray::{Array1, Array2, Array4};

/// Games against an agent, in as many shards as there are `threads`.
fn against<G: CatalogGame>(
    game: &G,
    spec: &str,
    (autoreset, seat): (Autoreset, Seat),
    threads: usize,
    stop: Option<&Arc<AtomicBool>>,
) -> VecEnv<G> {
    after_random_plies(2, game, spec, (autoreset, seat), threads, stop)
}

/// The same after so many random plies.
fn after_random_plies<G: CatalogGame>(
    random_plies: u32,
    game: &G,
    spec: &str,
    (autoreset, seat): (Autoreset, Seat),
    threads: usize,
    stop: Option<&Arc<AtomicBool>>,
) -> VecEnv<G> {
    let settings = EnvSettings {
        autoreset,
        seat,
        random_plies,
        keep: Keep { history: true, events: false },
        ..EnvSettings::new(40, 3)
    };
    let opponent = |_| {
        let agent = build(game.clone(), &spec.parse().unwrap()).unwrap();
        let opponent = AgentOpponent::new(spec.to_owned(), agent, stop.cloned());
        Box::new(opponent) as Box<dyn Opponent<G>>
    };
    let opponents = (0..threads).map(opponent).collect();
    VecEnv::with_opponents(game.clone(), settings, opponents).unwrap()
}

#[derive(Clone, Copy)]
struct Turns(Autoreset, Seat);

impl GameTask for Turns {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let Turns(autoreset, seat) = self;
        let mut env = against(&game, "greedy", (autoreset, seat), 1, None);
        let mut twin = against(&game, "greedy", (autoreset, seat), 3, None);
        let mut actions = vec![Action(0); env.len()];
        let mut ends = 0;
        let mut sides = [false; 2];
        for _ in 0..100 {
            let before: Vec<Player> = env.sides().collect();
            for (slot, &side) in before.iter().enumerate() {
                assert!(env.is_idle(slot) || env.to_move(slot) == side, "{}", game.id());
                sides[side.index()] = true;
            }
            env.sample(&mut actions);
            env.step(&actions);
            twin.step(&actions);
            let slots = |env: &VecEnv<G>| env.finished().map(|ended| ended.slot).collect::<Vec<_>>();
            assert!(slots(&env).is_sorted());
            assert_eq!(slots(&env), slots(&twin), "{}: threads", game.id());
            for ended in env.finished() {
                ends += 1;
                assert_eq!(env.actor(ended.slot), before[ended.slot]);
            }
            if autoreset == Autoreset::Disabled {
                let idle: Vec<bool> = env.all_legal().map(|legal| legal.is_empty()).collect();
                env.reset(|slot| idle[slot]).unwrap();
                twin.reset(|slot| idle[slot]).unwrap();
            }
        }
        assert!(ends > 60, "{}: {ends} games ended", game.id());
        assert_eq!(sides, [seat != Seat::Black, seat != Seat::White]);
        assert_eq!(env.save(), twin.save(), "{}: threads", game.id());
    }
}

#[test]
fn a_step_ends_when_the_caller_is_to_move_again() {
    let modes = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];
    for (mode, seat) in modes.into_iter().zip([Seat::White, Seat::Black, Seat::Random]) {
        for name in GAMES {
            with_game(name, &GameSettings::default(), Turns(mode, seat)).unwrap();
        }
    }
}

#[derive(Clone, Copy)]
struct Stopping;

impl GameTask for Stopping {
    type Output = ();

    fn run<G: CatalogGame>(self, game: G) {
        let stop = Arc::new(AtomicBool::new(false));
        let usual = (Autoreset::SameStep, Seat::Random);
        let mut env = against(&game, "rollout:8", usual, 2, Some(&stop));
        let mut actions = vec![Action(0); env.len()];
        env.sample(&mut actions);
        env.step(&actions);
        let saved = env.save();
        let (games, (rows, columns)) = (env.len(), game.grid());
        let mut numbers = Array4::from_elem((games, game.planes(), rows, columns), 7.0);
        let mut masks = Array2::from_elem((games, game.actions()), true);
        let (mut rewards, mut to_move) = (Array2::from_elem((games, 2), 7.0), Array1::from_elem(games, 7));
        let (mut actors, mut actor_rewards) = (to_move.clone(), Array1::from_elem(games, 7.0));
        let (mut terminated, mut truncated) = (Array1::from_elem(games, true), Array1::from_elem(games, true));
        let mut step = |env: &mut VecEnv<G>| {
            env.sample(&mut actions);
            let rows = Rows {
                features: Features::Float(numbers.view_mut()),
                masks: Masks::Bool(masks.view_mut()),
                rewards: rewards.view_mut(),
                terminated: terminated.view_mut(),
                truncated: truncated.view_mut(),
                to_move: to_move.view_mut(),
                actors: actors.view_mut(),
                actor_rewards: actor_rewards.view_mut(),
                threats: false,
                zeroed: false,
            };
            let stepped = env.step_into(&actions, rows);
            (stepped, numbers.clone(), masks.clone())
        };
        stop.store(true, Ordering::Relaxed);
        let (stepped, written, _) = step(&mut env);
        assert_eq!(stepped, Err(Interrupted));
        assert!(written.iter().all(|&number| number == 7.0), "nothing is written");
        assert_eq!(env.reset(|_| true), Err(Interrupted));
        assert_eq!(env.reseed(5), Err(Interrupted));
        assert_eq!(env.save(), saved, "{}: nothing changed", game.id());
        stop.store(false, Ordering::Relaxed);
        let (stepped, written, masks) = step(&mut env);
        assert_eq!(stepped, Ok(()));
        let mut observed = Array4::zeros(written.dim());
        env.observe(observed.view_mut());
        assert_eq!(written, observed);
        for (legal, row) in env.all_legal().zip(masks.outer_iter()) {
            assert_eq!(row.iter().filter(|&&set| set).count(), legal.count() as usize);
            assert!(legal.iter().all(|action| row[action.index()]));
        }
        let mut twin = against(&game, "rollout:8", usual, 1, None);
        twin.restore(&saved).unwrap();
        let mut actions = vec![Action(0); env.len()];
        twin.sample(&mut actions);
        twin.step(&actions);
        assert_eq!(env.save(), twin.save(), "it goes on as if nothing had happened");
    }
}

#[test]
fn the_caller_can_act_in_every_game_that_begins() {
    for autoreset in [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled] {
        // After twelve random plies the opponent can often win at once.
        let mut env = after_random_plies(12, &ConnectFour::new(0), "greedy", (autoreset, Seat::Random), 2, None);
        let mut actions = vec![Action(0); env.len()];
        for _ in 0..20 {
            env.reset(|_| true).unwrap();
            assert_eq!(env.finished().count(), 0, "{autoreset:?}");
            assert!((0..env.len()).all(|slot| !env.is_idle(slot)), "{autoreset:?}");
            for _ in 0..4 {
                let idle: Vec<bool> = (0..env.len()).map(|slot| env.is_idle(slot)).collect();
                env.sample(&mut actions);
                env.step(&actions);
                assert!(env.finished().all(|ended| !idle[ended.slot]), "{autoreset:?}");
                if autoreset == Autoreset::NextStep {
                    assert!((0..env.len()).all(|slot| !(idle[slot] && env.is_idle(slot))));
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "ends every game before the caller can act")]
fn an_opponent_who_leaves_the_caller_no_action_is_noticed() {
    against(&ConnectFour::new(1), "random", (Autoreset::SameStep, Seat::Black), 1, None);
}

#[test]
fn an_interrupted_step_changes_nothing() {
    for name in GAMES {
        with_game(name, &GameSettings::default(), Stopping).unwrap();
    }
}
