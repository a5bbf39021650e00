//! Self-play of an erased game.

use crate::erased::{Erased, Facts};
use crate::net::AnyEvaluator;
pub use crate::net::{Evaluate, Net, NetFunction};
use jarmo_core::env::SavedGame;
use jarmo_core::error::FileError;
use jarmo_core::net::FrozenNet;
use jarmo_exact::catalog::CatalogGame;
use jarmo_selfplay::replay::Samples;
use jarmo_selfplay::selfplay::{
    Counts, Episode, EpisodeReader, GamesState, Round, Searched, SelfPlay, SelfPlaySettings,
};

/// Parallel games that a network plays against itself: see [`SelfPlay`].
pub trait AnySelfPlay: Send {
    /// Searches all slots and plays one action in each, on the threads of the current rayon pool.
    fn round(&mut self) -> Round;

    /// Saves all unfinished games.
    fn save(&self) -> GamesState;

    /// Replaces all games by saved ones. They continue exactly as they would have.
    fn restore(&mut self, state: &GamesState) -> Result<(), FileError>;

    /// Replaces the network. The games continue.
    fn use_network(&mut self, net: &Net);

    /// From now on, rounds return the finished games instead of samples: see [`SelfPlay::keep_episodes`].
    fn keep_episodes(&mut self, weights: u64);

    /// From now on, rounds return the finished games in addition to their samples.
    fn keep_games(&mut self);
}

/// Appends the samples of a game that was played elsewhere and counts it: see [`EpisodeReader::read`].
pub type ReadEpisode = Box<dyn Fn(&Episode, &mut Samples, &mut Counts) -> Result<(), FileError> + Send + Sync>;

/// Searches the last position of each game with a network: see [`SelfPlay::search_again`].
pub type SearchAgain =
    Box<dyn Fn(&FrozenNet, Vec<SavedGame>) -> Result<Vec<Option<Searched>>, FileError> + Send + Sync>;

struct Playing<G: CatalogGame> {
    game: G,
    facts: Facts,
    play: SelfPlay<G, AnyEvaluator<G>>,
    threads: usize,
}

/// The part of [`AnyGame`](crate::AnyGame) that makes samples.
pub trait MakeSamples: Send + Sync {
    /// Parallel games that this network plays against itself, for this many threads.
    fn self_play(&self, settings: &SelfPlaySettings, net: &Net, threads: usize, seed: u64) -> Box<dyn AnySelfPlay>;

    /// Reads games that were played elsewhere with these settings.
    fn read_episodes(&self, settings: &SelfPlaySettings) -> ReadEpisode;

    /// Searches positions of games that were played elsewhere, with these settings.
    fn search_again(&self, settings: &SelfPlaySettings) -> SearchAgain;
}

impl<G: CatalogGame> MakeSamples for Erased<G> {
    fn self_play(&self, settings: &SelfPlaySettings, net: &Net, threads: usize, seed: u64) -> Box<dyn AnySelfPlay> {
        let Erased { game, facts } = self;
        let play = SelfPlay::new(game, settings, net.evaluators(game, facts, threads), seed);
        Box::new(Playing { game: game.clone(), facts: facts.clone(), play, threads })
    }

    fn read_episodes(&self, settings: &SelfPlaySettings) -> ReadEpisode {
        let reader = EpisodeReader::new(&self.game, settings);
        Box::new(move |episode, samples, counts| reader.read(episode, samples, counts))
    }

    fn search_again(&self, settings: &SelfPlaySettings) -> SearchAgain {
        let (game, facts, settings) = (self.game.clone(), self.facts.clone(), *settings);
        Box::new(move |net, games| {
            let settings = SelfPlaySettings { games: games.len(), ..settings };
            let evaluators = Net::from(net.clone()).evaluators(&game, &facts, 1);
            SelfPlay::new(&game, &settings, evaluators, 0).search_again(games)
        })
    }
}

impl<G: CatalogGame> AnySelfPlay for Playing<G> {
    fn round(&mut self) -> Round {
        self.play.round()
    }

    fn save(&self) -> GamesState {
        self.play.save()
    }

    fn restore(&mut self, state: &GamesState) -> Result<(), FileError> {
        self.play.restore(state)
    }

    fn use_network(&mut self, net: &Net) {
        self.play.replace_evaluators(net.evaluators(&self.game, &self.facts, self.threads));
    }

    fn keep_episodes(&mut self, weights: u64) {
        self.play.keep_episodes(weights);
    }

    fn keep_games(&mut self) {
        self.play.keep_games();
    }
}
