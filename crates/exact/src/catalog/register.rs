//! Catalogs with games from other crates.

use std::any::type_name;

use super::{Catalog, CatalogGame, Found, GameSettings, GameTask, Listed};

/// A catalog without games, for programs that have only games of their own. They compile much faster than with the
/// [`Shipped`](super::Shipped) ones.
#[derive(Clone, Copy, Debug)]
pub struct Empty;

impl Catalog for Empty {
    fn games(&self) -> Vec<Listed> {
        Vec::new()
    }

    fn find<T: GameTask>(&self, _: &str, _: &GameSettings, task: T) -> Found<T> {
        Err(task)
    }
}

/// A catalog with one more game, as made by [`Catalog::register`].
#[derive(Clone, Debug)]
pub struct Registered<C, G> {
    others: C,
    game: G,
    training: &'static str,
}

impl<C: Catalog, G: CatalogGame> Registered<C, G> {
    #[track_caller]
    pub(super) fn new(others: C, game: G, training: &'static str) -> Registered<C, G> {
        let name = game.id();
        let is_fit = |symbol: u8| matches!(symbol, b'a'..=b'z' | b'0'..=b'9' | b'_');
        assert!(
            !name.is_empty() && name.bytes().all(is_fit),
            "the name `{name}` of {} must be made of a to z, 0 to 9 and _, because files are named after it",
            type_name::<G>()
        );
        let defaults = GameSettings::default();
        if let Ok(Ok(other)) = others.find(name, &defaults, TypeName) {
            panic!("two games are named `{name}`: {other} and {}; give one of them another id", type_name::<G>());
        }
        Registered { others, game, training }
    }

    /// The training settings of the game that differ from the defaults, as TOML: what `train --game NAME` uses. Errors
    /// in them are reported when a run begins.
    #[must_use]
    pub fn trained_with(self, training: &'static str) -> Registered<C, G> {
        Registered { training, ..self }
    }
}

impl<C: Catalog, G: CatalogGame> Catalog for Registered<C, G> {
    fn games(&self) -> Vec<Listed> {
        let mut games = self.others.games();
        games.push(Listed { name: self.game.id(), training: self.training });
        games
    }

    fn find<T: GameTask>(&self, name: &str, settings: &GameSettings, task: T) -> Found<T> {
        if name != self.game.id() {
            return self.others.find(name, settings, task);
        }
        let fitting = GameSettings { max_plies: settings.max_plies, ..GameSettings::default() };
        let game = self.game.clone();
        Ok(settings.refuse_others(name, &fitting).map(|()| match settings.max_plies {
            None => task.run(game),
            Some(limit) => task.run(game.with_max_plies(limit)),
        }))
    }
}

/// The name of a game's type.
struct TypeName;

impl GameTask for TypeName {
    type Output = &'static str;

    fn run<G: CatalogGame>(self, _: G) -> &'static str {
        type_name::<G>()
    }
}
