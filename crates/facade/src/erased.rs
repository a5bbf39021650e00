//! The generic implementation of [`AnyGame`](crate::AnyGame).

use std::any::type_name;

use jarmo_core::encode::{Encode, Mirror};
use jarmo_core::env::SavedRules;
use jarmo_core::game::{AnyPosition, Game, Mask};
use jarmo_core::ndarray::{Array2, Array4};
use jarmo_core::net::GameVersion;
use jarmo_core::view::{Layout, Palette};
use jarmo_exact::catalog::CatalogGame;

/// Facts about a game that hold in all its positions.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The name.
    pub name: &'static str,
    /// The rules, the features and the shape of networks.
    pub version: GameVersion,
    /// The ply at which a game is truncated, or 0 for never.
    pub max_plies: u32,
    /// The rules, as they are saved with unfinished games.
    pub saved: SavedRules,
    /// The plies without a capture after which the game is drawn, if that was set.
    pub quiet_limit: Option<u32>,
    /// The number of planes of features.
    pub planes: usize,
    /// The number of planes of threats, which can follow them.
    pub threat_planes: usize,
    /// Rows and columns of a plane.
    pub grid: (usize, usize),
    /// The names of the events that are counted.
    pub events: &'static [&'static str],
    /// Whether there is an evaluation for `greedy` and `alphabeta`.
    pub has_heuristic: bool,
    /// The type of the rules, for messages.
    pub type_name: &'static str,
    /// The position a game starts from.
    pub start: AnyPosition,
    /// The board; it has no cells if the game can only be drawn as text.
    pub layout: Layout,
    /// The controls of the position editor.
    pub palette: Palette,
    /// The symmetry of the game, if it has one.
    pub mirror: Option<Mirror>,
    /// The rules in the game's own words, if it has any.
    pub rules: Option<String>,
    /// The game's own pictures of pieces, by the letter of the position's text.
    pub pieces: Vec<(char, String)>,
}

impl Facts {
    /// The shape of the features of some positions, `[positions, planes, rows, columns]`, with or without threats.
    pub fn feature_shape(&self, positions: usize, threats: bool) -> [usize; 4] {
        let planes = self.planes + if threats { self.threat_planes } else { 0 };
        [positions, planes, self.grid.0, self.grid.1]
    }
}

/// A game `G`, to be used as an [`AnyGame`](crate::AnyGame).
pub(crate) struct Erased<G> {
    pub(crate) game: G,
    pub(crate) facts: Facts,
}

impl<G: CatalogGame> Erased<G> {
    pub(crate) fn new(game: G, quiet_limit: Option<u32>) -> Erased<G> {
        let facts = Facts {
            name: game.id(),
            version: GameVersion::of(&game),
            max_plies: game.max_plies(),
            saved: SavedRules::of(&game),
            quiet_limit,
            planes: game.planes(),
            threat_planes: game.threat_planes(),
            grid: game.grid(),
            events: game.events(),
            has_heuristic: game.heuristic().is_some(),
            type_name: type_name::<G>(),
            start: AnyPosition::new(&game, game.start()),
            layout: game.layout(),
            palette: game.palette(),
            mirror: game.mirror(),
            rules: game.rules_text().map(str::to_owned),
            pieces: ('A'..='z').filter_map(|letter| Some((letter, game.piece_svg(letter)?.to_owned()))).collect(),
        };
        Erased { game, facts }
    }
}

/// The legal actions of some positions, `[positions, actions]`.
pub(crate) fn masks<'a, G: Game>(game: &G, positions: impl ExactSizeIterator<Item = &'a G::Position>) -> Array2<bool> {
    let mut masks = Array2::from_elem((positions.len(), game.actions()), false);
    for (position, mut row) in positions.zip(masks.outer_iter_mut()) {
        game.legal(position).iter().for_each(|action| row[action.index()] = true);
    }
    masks
}

/// The features of some positions, [`Facts::feature_shape`].
pub(crate) fn features<G: Encode>(
    game: &G,
    facts: &Facts,
    positions: impl ExactSizeIterator<Item = G::Position>,
    threats: bool,
) -> Array4<f32> {
    let mut features = Array4::zeros(facts.feature_shape(positions.len(), threats));
    for (position, row) in positions.zip(features.outer_iter_mut()) {
        game.set_features(&position, row.into_slice().expect("a row in C order"), threats);
    }
    features
}
