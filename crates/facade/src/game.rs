//! The interface to a game whose type is erased.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::agent::{AgentPlan, AnyAgent, Seated};
#[cfg(feature = "bench")]
use crate::bench::Bench;
use crate::erased::{Erased, Facts, features, masks};
#[cfg(feature = "measure")]
use crate::measure::Measure;
#[cfg(feature = "selfplay")]
use crate::selfplay::MakeSamples;
use jarmo_core::agent::{AgentError, AgentSource};
use jarmo_core::error::FileError;
use jarmo_core::game::{Action, ActionError, AnyPosition, Mask, Player, PositionError, Proven, divide};
use jarmo_core::ndarray::{Array2, Array4};
use jarmo_core::net::{AgentFile, NetOutput};
use jarmo_core::view::{Arrow, Gesture, Note, Piece, Setup, SideCount, svg};
use jarmo_exact::ExactError;
use jarmo_exact::agent::{Networks, load};
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::Endgames;
#[cfg(not(feature = "bench"))]
use std::marker::Sync as Bench; // there is nothing more
#[cfg(not(feature = "measure"))]
use std::marker::Sync as Measure; // there is nothing more
#[cfg(not(feature = "selfplay"))]
use std::marker::Sync as MakeSamples; // there is nothing more

/// A game with its settings, without its type. Pass it only its own positions.
pub trait AnyGame: MakeSamples + Measure + Bench + Send + Sync {
    /// Facts that hold in all positions.
    fn facts(&self) -> &Facts;

    /// The same rules with another move limit, 0 for none.
    fn with_max_plies(&self, max_plies: u32) -> Arc<dyn AnyGame>;

    /// What each plane of features contains, and then each plane of threats.
    fn plane_names(&self) -> Vec<String>;

    /// Reads position text; the error names the field.
    fn parse(&self, text: &str) -> Result<AnyPosition, PositionError>;

    /// The position as text.
    fn text(&self, position: &AnyPosition) -> String;

    /// The position as a board in text.
    fn drawing(&self, position: &AnyPosition) -> String;

    /// The legal actions in ascending order; none if the game is over.
    fn legal(&self, position: &AnyPosition) -> Vec<Action>;

    /// The legal actions of some positions, `[positions, actions]`.
    fn masks(&self, positions: &[AnyPosition]) -> Array2<bool>;

    /// The features of some positions, [`Facts::feature_shape`], each as its player to move sees it, or as if `viewer` were
    /// to move.
    fn features(&self, positions: &[AnyPosition], threats: bool, viewer: Option<Player>) -> Array4<f32>;

    /// The text of an action.
    fn action_text(&self, position: &AnyPosition, action: Action) -> String;

    /// Reads action text; the action may be illegal.
    fn parse_action(&self, position: &AnyPosition, text: &str) -> Result<Action, ActionError>;

    /// An action as text, and its effect on the board.
    fn describe(&self, position: &AnyPosition, action: Action) -> Move;

    /// Reads action text and plays it; the error says which rule forbids it.
    fn play_text(&self, position: &AnyPosition, text: &str) -> Result<(Action, AnyPosition), ActionError>;

    /// The position after an action; the error says which rule forbids it.
    fn after(&self, position: &AnyPosition, action: Action) -> Result<AnyPosition, ActionError>;

    /// The texts of a line of actions, up to the first one that is illegal.
    fn line_texts(&self, position: &AnyPosition, line: &[Action]) -> Vec<String>;

    /// Counts the sequences of actions that complete exactly this many turns, by their first action.
    fn divide(&self, position: &AnyPosition, turns: u32, each: &mut dyn FnMut(Action, u64));

    /// What is shown of a position.
    fn view(&self, position: &AnyPosition) -> View;

    /// The board as SVG, with arrows.
    fn picture(&self, position: &AnyPosition, arrows: &[Arrow], title: &str) -> String;

    /// The text of a position from the editor, which may be illegal.
    fn setup_text(&self, setup: &Setup) -> String;

    /// Builds an agent.
    fn agent(&self, plan: &AgentPlan) -> Result<Box<dyn AnyAgent>, AgentError>;

    /// Whether the program contains a proof for this board.
    fn has_proof(&self) -> bool;

    /// Opens a folder of exact tables. Tables that are still in use are shared.
    fn endgames(&self, folder: &Path) -> Result<Arc<dyn AnyEndgames>, ExactError>;

    /// The agent file of a source. Fails if it was made for other rules, other features or another board.
    fn load(&self, source: &AgentSource) -> Result<AgentFile, FileError>;

    /// Loads the network of an agent into a collection, unless the collection has it.
    fn load_network(&self, networks: &Networks, source: &AgentSource) -> Result<(), FileError>;

    /// The agent of a file as it plays this game: see [`AgentFile::for_game`].
    fn fit(&self, file: AgentFile) -> Result<AgentFile, FileError>;

    /// The output of a network that fits this game.
    fn output(&self, file: &AgentFile, position: &AnyPosition) -> NetOutput;
}

/// An action in a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// The action.
    #[serde(skip)]
    pub action: Action,
    /// Its text.
    pub text: String,
    /// Its effect on the board.
    #[serde(flatten)]
    pub gesture: Gesture,
}

/// What is shown of a position.
#[derive(Clone, Debug)]
pub struct View {
    /// The legal actions.
    pub moves: Vec<Move>,
    /// The pieces on the board.
    pub pieces: Vec<Piece>,
    /// Numbers beside the board.
    pub tallies: Vec<SideCount>,
    /// Notes beside the board.
    pub notes: Vec<Note>,
    /// The cells of the line that won the game.
    pub winning: Vec<usize>,
}

/// Exact tables of one game.
pub trait AnyEndgames: Send + Sync {
    /// The result of a position for the player to move. The game must not be over.
    fn known(&self, position: &AnyPosition) -> Option<Proven>;

    /// The results of many positions, which may be over.
    fn known_all(&self, positions: &[AnyPosition]) -> Vec<Option<Proven>>;

    /// The results of all legal actions for the player who takes them; `None` if the position is not known.
    fn actions(&self, position: &AnyPosition) -> Option<Vec<(Action, Proven)>>;
}

struct Known<G: CatalogGame> {
    game: G,
    tables: Arc<dyn Endgames<G>>,
}

impl<G: CatalogGame> AnyEndgames for Known<G> {
    fn known(&self, position: &AnyPosition) -> Option<Proven> {
        self.tables.known(&self.game, position.of::<G>())
    }

    fn known_all(&self, positions: &[AnyPosition]) -> Vec<Option<Proven>> {
        let open = positions.iter().filter(|position| position.outcome.is_none());
        let open: Vec<G::Position> = open.map(|position| *position.of::<G>()).collect();
        let mut found = Vec::new();
        self.tables.known_all(&self.game, &open, &mut found);
        let mut found = found.into_iter();
        let result = |position: &AnyPosition| match position.outcome {
            Some(outcome) => Some(Proven::over(outcome.verdict(position.to_move))),
            None => found.next().expect("one result per open position"),
        };
        positions.iter().map(result).collect()
    }

    fn actions(&self, position: &AnyPosition) -> Option<Vec<(Action, Proven)>> {
        if position.outcome.is_some() {
            return Some(Vec::new());
        }
        let position = position.of::<G>();
        self.tables.known(&self.game, position)?;
        let after = |action| (action, self.tables.after(&self.game, position, action));
        Some(self.game.legal(position).iter().map(after).collect())
    }
}

impl<G: CatalogGame> AnyGame for Erased<G> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn with_max_plies(&self, max_plies: u32) -> Arc<dyn AnyGame> {
        Arc::new(Erased::new(self.game.clone().with_max_plies(max_plies), self.facts.quiet_limit))
    }

    fn plane_names(&self) -> Vec<String> {
        self.game.plane_names()
    }

    fn parse(&self, text: &str) -> Result<AnyPosition, PositionError> {
        Ok(AnyPosition::new(&self.game, self.game.parse_position(text)?))
    }

    fn text(&self, position: &AnyPosition) -> String {
        self.game.position_text(position.of::<G>())
    }

    fn drawing(&self, position: &AnyPosition) -> String {
        self.game.display(position.of::<G>()).to_string()
    }

    fn legal(&self, position: &AnyPosition) -> Vec<Action> {
        self.game.legal(position.of::<G>()).iter().collect()
    }

    fn masks(&self, positions: &[AnyPosition]) -> Array2<bool> {
        masks(&self.game, positions.iter().map(AnyPosition::of::<G>))
    }

    fn features(&self, positions: &[AnyPosition], threats: bool, viewer: Option<Player>) -> Array4<f32> {
        let seen = positions.iter().map(|position| match viewer {
            None => *position.of::<G>(),
            Some(viewer) => self.game.seen_by(position.of::<G>(), viewer),
        });
        features(&self.game, &self.facts, seen, threats)
    }

    fn action_text(&self, position: &AnyPosition, action: Action) -> String {
        self.game.action_text(position.of::<G>(), action)
    }

    fn parse_action(&self, position: &AnyPosition, text: &str) -> Result<Action, ActionError> {
        self.game.parse_action(position.of::<G>(), text)
    }

    fn describe(&self, position: &AnyPosition, action: Action) -> Move {
        let position = position.of::<G>();
        Move { action, text: self.game.action_text(position, action), gesture: self.game.gesture(position, action) }
    }

    fn play_text(&self, position: &AnyPosition, text: &str) -> Result<(Action, AnyPosition), ActionError> {
        let mut next = *position.of::<G>();
        let action = self.game.play_text(&mut next, text)?;
        Ok((action, AnyPosition::new(&self.game, next)))
    }

    fn after(&self, position: &AnyPosition, action: Action) -> Result<AnyPosition, ActionError> {
        let mut next = *position.of::<G>();
        self.game.try_play(&mut next, action)?;
        Ok(AnyPosition::new(&self.game, next))
    }

    fn line_texts(&self, position: &AnyPosition, line: &[Action]) -> Vec<String> {
        self.game.line_texts(*position.of::<G>(), line)
    }

    fn divide(&self, position: &AnyPosition, turns: u32, each: &mut dyn FnMut(Action, u64)) {
        divide(&self.game, position.of::<G>(), turns).for_each(|(action, count)| each(action, count));
    }

    fn view(&self, position: &AnyPosition) -> View {
        let legal = self.game.legal(position.of::<G>());
        let moves = legal.iter().map(|action| self.describe(position, action)).collect();
        let position = position.of::<G>();
        View {
            moves,
            pieces: self.game.pieces(position),
            tallies: self.game.tallies(position),
            notes: self.game.notes(position),
            winning: self.game.winning_cells(position),
        }
    }

    fn picture(&self, position: &AnyPosition, arrows: &[Arrow], title: &str) -> String {
        svg::draw(&self.game, position.of::<G>(), arrows, title)
    }

    fn setup_text(&self, setup: &Setup) -> String {
        self.game.setup_text(setup)
    }

    fn agent(&self, plan: &AgentPlan) -> Result<Box<dyn AnyAgent>, AgentError> {
        Ok(Box::new(Seated(plan.build(&self.game)?)))
    }

    fn has_proof(&self) -> bool {
        self.game.proof().is_some()
    }

    fn endgames(&self, folder: &Path) -> Result<Arc<dyn AnyEndgames>, ExactError> {
        Ok(Arc::new(Known { game: self.game.clone(), tables: self.game.open_endgames(folder)? }))
    }

    fn load(&self, source: &AgentSource) -> Result<AgentFile, FileError> {
        load(source, &self.game)
    }

    fn load_network(&self, networks: &Networks, source: &AgentSource) -> Result<(), FileError> {
        networks.load(&self.game, source, None).map(drop)
    }

    fn fit(&self, file: AgentFile) -> Result<AgentFile, FileError> {
        file.for_game(&self.game)
    }

    fn output(&self, file: &AgentFile, position: &AnyPosition) -> NetOutput {
        NetOutput::new(file, &self.game, position.of::<G>())
    }
}
