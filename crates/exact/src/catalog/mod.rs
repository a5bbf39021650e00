//! The games by name, and the way to run generic code for the game with a given name.
//!
//! A [`Catalog`] is a list of games that is known at compile time. [`Shipped`] has those of this crate. A game from
//! another crate is added with [`Catalog::register`] and needs nothing but [`Game`] and [`Encode`]:
//!
//! ```
//! # use jarmo_core::games::{Scripted, scripted::Node};
//! # fn chess() -> Scripted { Scripted::new(&Node::white([Node::end(1, 0), Node::end(0, 1)])) }
//! use jarmo_core::game::Action;
//! use jarmo_core::random::stream;
//! use jarmo_exact::agent::{Limit, build};
//! use jarmo_exact::catalog::{Catalog, CatalogGame, GameSettings, GameTask, Shipped};
//!
//! /// The first action of an agent.
//! struct FirstAction(&'static str);
//!
//! impl GameTask for FirstAction {
//!     type Output = Action;
//!
//!     fn run<G: CatalogGame>(self, game: G) -> Action {
//!         let mut agent = build(game.clone(), &self.0.parse().unwrap()).unwrap();
//!         agent.decide(&[game.start()], &mut [stream(1, 0)], Limit::default())[0].action
//!     }
//! }
//!
//! let games = Shipped.register(chess()); // a `Game` whose `id` is "scripted"
//! assert_eq!(games.names(), ["jarmo", "guard", "tammi", "connect_four", "scripted"]);
//! let settings = GameSettings::default();
//! let action = games.with_game("scripted", &settings, FirstAction("rollout:100"))?;
//! assert_eq!(action, Action(0)); // it wins
//! # Ok::<(), jarmo_exact::ExactError>(())
//! ```
//!
//! `jarmo::cli::main(&games)` is the whole `jarmo` program for these games; the folder `examples/othello` is a crate
//! that does so.

mod bare;
mod register;
mod shipped;

use std::path::PathBuf;

pub use bare::Bare;
pub use register::{Empty, Registered};
pub use shipped::{GAMES, Shipped, with_game};

use crate::ExactError;
use crate::tables::HasEndgames;
use jarmo_core::encode::Encode;
use jarmo_core::game::{Game, shorten};
use jarmo_core::search::HasHeuristic;
use jarmo_core::view::GameView;

/// The traits that every game of a catalog implements. All but [`Game`] and [`Encode`] have defaults, and [`Bare`]
/// supplies them.
pub trait CatalogGame: GameView + Encode + HasHeuristic + HasEndgames {}

impl<G: GameView + Encode + HasHeuristic + HasEndgames> CatalogGame for G {}

/// Settings of the rules. Not every game has all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameSettings {
    /// A board file to use instead of the standard board.
    pub board: Option<PathBuf>,
    /// The limit on the length of a game in plies, 0 for none; unset means the default of the game.
    pub max_plies: Option<u32>,
    /// The number of plies without a capture after which tammi is drawn; unset means the default.
    pub quiet_limit: Option<u32>,
}

impl GameSettings {
    /// These settings without those that the named game does not have.
    pub fn fitting(&self, name: &str) -> GameSettings {
        let has_board = matches!(name, "jarmo" | "guard");
        GameSettings {
            board: self.board.clone().filter(|_| has_board),
            max_plies: self.max_plies,
            quiet_limit: self.quiet_limit.filter(|_| name == "tammi"),
        }
    }

    /// Refuses settings other than those that fit a game.
    fn refuse_others(&self, name: &str, fitting: &GameSettings) -> Result<(), ExactError> {
        let other = match (self.board == fitting.board, self.quiet_limit == fitting.quiet_limit) {
            (true, true) => return Ok(()),
            (false, _) => "board",
            (true, false) => "quiet limit",
        };
        Err(ExactError::settings(format!("{name} has no {other}")))
    }

    /// The settings of game `from` that carry over to game `to`. The limit on the length carries over only to
    /// the same game.
    pub fn for_another(&self, from: &str, to: &str) -> GameSettings {
        let settings = self.fitting(to);
        GameSettings { max_plies: settings.max_plies.filter(|_| from == to), ..settings }
    }
}

/// A task that is generic over games.
pub trait GameTask {
    /// The result of the task.
    type Output;

    /// Runs the task with this game.
    fn run<G: CatalogGame>(self, game: G) -> Self::Output;
}

/// What a task returned, or why the settings do not fit its game; without such a game, the task.
pub type Found<T> = Result<Result<<T as GameTask>::Output, ExactError>, T>;

/// A game in the list of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: &'static str,
    /// The training settings that differ from the defaults, as TOML.
    pub training: &'static str,
}

/// Games by name.
///
/// The list is part of the type, because a task is compiled for each game.
pub trait Catalog: Sized + Sync {
    /// The games, in the order in which they are listed. The first one is the default.
    fn games(&self) -> Vec<Listed>;

    /// Runs `task` with the named game and these settings. Without such a game, the task comes back.
    fn find<T: GameTask>(&self, name: &str, settings: &GameSettings, task: T) -> Found<T>;

    /// Runs `task` with the named game and these settings.
    fn with_game<T: GameTask>(&self, name: &str, settings: &GameSettings, task: T) -> Result<T::Output, ExactError> {
        self.find(name, settings, task).unwrap_or_else(|_| {
            Err(ExactError::settings(format!(
                "unknown game `{}`; choose one of {}",
                shorten(name),
                self.names().join(", ")
            )))
        })
    }

    /// The names of the games.
    fn names(&self) -> Vec<&'static str> {
        self.games().iter().map(|game| game.name).collect()
    }

    /// This catalog and one more game, which has nothing but rules and features: no evaluation for `greedy` and
    /// `alphabeta`, no exact tables, and no board but its own drawing. The only setting of its rules is the limit on the
    /// length.
    ///
    /// # Panics
    /// Panics if the name is taken, or is not made of `a` to `z`, `0` to `9` and `_`.
    #[track_caller]
    fn register<G: Game + Encode>(self, game: G) -> Registered<Self, Bare<G>> {
        Registered::new(self, Bare(game), jarmo_configs::BARE)
    }

    /// The same with a game that has more to offer. What it lacks is an empty `impl` of the trait.
    ///
    /// # Panics
    /// Panics like [`Catalog::register`].
    #[track_caller]
    fn register_with_extras<G: CatalogGame>(self, game: G) -> Registered<Self, G> {
        Registered::new(self, game, "")
    }
}
