//! Self-play learning for small board games: rules, a vectorised environment, search, training, endgame
//! tables, and agents.
//!
//! Thousands of games advance in lockstep through [`env::VecEnv`]:
//!
//! ```
//! use jarmo::env::VecEnv;
//! use jarmo::game::{Action, Player};
//! use jarmo::games::Jarmo;
//!
//! let mut env = VecEnv::new(Jarmo::standard(), 256, 1);
//! let mut actions = vec![Action(0); env.len()];
//! let mut white_wins = 0;
//! for _ in 0..100 {
//!     env.sample(&mut actions); // or choose from env.legal(slot)
//!     env.step(&actions);
//!     let won = env.finished().filter(|game| game.outcome.winner == Some(Player::White));
//!     white_wins += won.count();
//! }
//! assert!(white_wins > 100);
//! ```
//!
//! A [`search::Tree`] searches from a position, with a network, rollouts, or any other
//! [`eval::Evaluator`]:
//!
//! ```
//! use jarmo::eval::Rollout;
//! use jarmo::game::Game;
//! use jarmo::games::ConnectFour;
//! use jarmo::search::{Batch, PuctSettings, SearchPlan, SearchRule, Tree, TreeSize};
//!
//! let game = ConnectFour::new(0);
//! let mut position = game.start();
//! for column in ["D", "A", "D", "A", "D", "B"] {
//!     game.play_text(&mut position, column)?;
//! }
//! let limit = TreeSize::for_simulations(&game, 200);
//! let mut trees = [Tree::new(game.clone(), SearchRule::Puct(PuctSettings::default()), limit, position)];
//! trees[0].plan(SearchPlan::new(200).seed(1));
//! Batch::new(&game).search(&mut trees, &mut Rollout::new(game.clone()), |_| false);
//! let best = trees[0].best().expect("the root was evaluated");
//! assert_eq!(game.action_text(&position, best), "D"); // four in a column
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A text describes an agent, and the [`arena`] measures which agent is stronger:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use jarmo::agent::build;
//! use jarmo::arena::{Entrant, Openings, Settings, Tournament};
//! use jarmo::games::Jarmo;
//!
//! let game = Jarmo::standard();
//! let specs = ["alphabeta:200", "random"];
//! let entrants = specs.map(|name| Entrant { name: name.to_owned(), checkpoint: None });
//! let settings = Settings { pairs: 10, ..Settings::default() };
//! let openings = Openings::random(&game, 2, 10, 1)?;
//! let team = [build(game.clone(), &specs[0].parse()?)?, build(game.clone(), &specs[1].parse()?)?];
//! let mut tournament = Tournament::new(&game, entrants.into(), &openings, settings)?;
//! tournament.play(vec![team.into()], &AtomicBool::new(false), &mut ())?;
//! let rating = tournament.standings().fit().difference(0, 1);
//! assert!(rating.elo > 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A game from another crate implements [`game::Game`] and [`encode::Encode`] and is registered in [`Games`]; then it has
//! all of the above, and the whole `jarmo` program as [`cli::main`].
//!
//! The folder `examples` has longer examples. This crate collects the crates of the workspace under one name and adds
//! the program; `jarmo-core` alone has the rules, the environment, search and agents. Feature `train`, which is on by
//! default, adds training.

pub mod probe;
pub mod engine;
pub mod cli;

pub use jarmo_core::{
    checksum, encode, env, error, eval, game, games, known, ndarray, net, numbers, random, search, view,
};
pub use jarmo_exact::{ExactError, ExactErrorKind, agent, catalog, proof, tables};
pub use jarmo_facade::{self as facade, AnyGame, Games, erase};
#[cfg(feature = "fleet")]
pub use jarmo_fleet as fleet;
pub use jarmo_host::{agent_file, ascii, files, input, program, record};
pub use jarmo_judge::{JudgeError, accuracy, arena, puzzles, yardstick};
#[cfg(feature = "train")]
pub use jarmo_learn::{TrainError, config, device, observe, run, train};
pub use jarmo_selfplay::{bench, replay, selfplay};

/// The README's examples, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
