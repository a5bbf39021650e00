//! A game of any kind with its moves, a cursor to the position shown, and what the board shows there.

use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use crate::agents::Seat;
use crate::lang::Language;
use crate::specs::{self, GameAgents, Store};
use crate::thought::{Question, as_white, ask};
use jarmo_core::game::{Action, ActionError, Mask, Outcome, Player, PositionError, Proven, Verdict};
use jarmo_core::record::GameRecord;
use jarmo_core::view::{Gesture, Layout, Note, Palette, Piece, Setup, SideCount, svg};
use jarmo_exact::catalog::{CatalogGame, GameSettings, GameTask};
use jarmo_exact::tables::Endgames;

/// A game and its moves. A `place` is the number of moves before a position; the cursor is the place shown.
/// Moves after the cursor are kept until a move is played at the cursor.
pub trait Board: Send {
    /// The game's name.
    fn game(&self) -> &'static str;

    /// The board; without cells for a game that has only its drawing.
    fn layout(&self) -> Layout;

    /// The place shown.
    fn cursor(&self) -> usize;

    /// Moves the cursor; a place past the end means the end.
    fn go_to(&mut self, cursor: usize);

    /// The board at the cursor.
    fn scene(&self) -> Scene;

    /// All moves, those after the cursor included.
    fn moves(&self) -> Vec<Played>;

    /// Plays a move at the cursor; it replaces the moves after the cursor.
    fn play(&mut self, text: &str) -> Result<(), ActionError>;

    /// Removes the moves after the cursor.
    fn cut(&mut self);

    /// Who is to move at a place; `None` if the game is over there.
    fn mover(&self, place: usize) -> Option<Player>;

    /// The outcome at a place, if the game is over there.
    fn outcome(&self, place: usize) -> Option<Outcome>;

    /// White's result with best play from a place, from the exact tables.
    fn known(&self, place: usize) -> Option<Proven>;

    /// White's result at a place: the outcome if the game is over there, or else that of the exact tables.
    fn result(&self, place: usize) -> Option<Verdict> {
        match self.outcome(place) {
            Some(outcome) => Some(outcome.verdict(Player::White)),
            None => Some(self.known(place)?.verdict),
        }
    }

    /// The agents for this game.
    fn agents(&self) -> &GameAgents;

    /// The position at a place as a question for an agent.
    fn question(&self, place: usize, seed: u64) -> Question;

    /// The position at the cursor as text.
    fn position_text(&self) -> String;

    /// The board at the cursor as text, for games without a layout.
    fn drawing(&self) -> Option<String>;

    /// The whole game, without its players.
    fn record(&self) -> GameRecord;

    /// Parses a player of this game.
    fn seat(&self, text: &str) -> Result<Seat, String>;

    /// The same game from its first position.
    fn fresh(&self) -> Box<dyn Board> {
        self.branch(0, &[]).expect("no move is illegal")
    }

    /// The moves before a place and then those of a line, as a game of its own with its cursor at the end.
    fn branch(&self, place: usize, line: &[String]) -> Result<Box<dyn Board>, ActionError>;

    /// A game of the same kind from a position.
    fn at_position(&self, text: &str) -> Result<Box<dyn Board>, PositionError>;

    /// What an editor of positions offers.
    fn palette(&self) -> Palette;

    /// The text of a position that was set up, which may be illegal.
    fn setup_text(&self, setup: &Setup) -> String;

    /// The board at the cursor as SVG.
    fn picture(&self, title: &str) -> String;
}

/// A position as the board shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// Who is to move.
    pub to_move: Player,
    /// Actions since the start of the game.
    pub ply: u32,
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// Legal moves.
    pub legal: Vec<Legal>,
    /// How the game ended, if it did.
    pub outcome: Option<Outcome>,
    /// The effect of the previous move on the board.
    pub last: Option<Gesture>,
    /// Numbers beside the board.
    pub tallies: Vec<SideCount>,
    /// Notes beside the board.
    pub notes: Vec<Note>,
    /// The cells of the line that won the game.
    pub winning: Vec<usize>,
}

/// A legal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Legal {
    /// Its text.
    pub text: String,
    /// Its effect on the board.
    #[serde(flatten)]
    pub gesture: Gesture,
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Its text.
    pub text: String,
    /// The player who made it.
    pub player: Player,
}

/// Why the game of a record cannot be shown. Displayed in English; `words` has the sentences of all languages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordProblem {
    /// It cannot be set up.
    #[error("{0}")]
    Start(String),
    /// Its first position is illegal.
    #[error("illegal position: {0}")]
    Position(PositionError),
    /// One of its moves is illegal.
    #[error("move {number}: {error}")]
    Move {
        /// Its number, from 1.
        number: usize,
        /// Its text.
        text: String,
        /// Why.
        error: ActionError,
    },
}

pub(crate) struct Open<'a> {
    pub(crate) settings: &'a GameSettings,
    pub(crate) store: &'a Store,
    pub(crate) position: Option<&'a str>,
}

impl GameTask for Open<'_> {
    type Output = Result<Box<dyn Board>, RecordProblem>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let start = match self.position {
            None => game.start(),
            Some(text) => game.parse_position(text).map_err(RecordProblem::Position)?,
        };
        let endgames = specs::endgames(&game, self.store).map_err(RecordProblem::Start)?;
        Ok(Box::new(GameBoard {
            variant: format!("{:?}", self.settings),
            agents: GameAgents::of(&game, self.store, endgames.is_some()),
            endgames,
            game,
            actions: Vec::new(),
            positions: vec![start],
            cursor: 0,
        }))
    }
}

/// A game `G` and its moves.
#[derive(Clone)]
struct GameBoard<G: CatalogGame> {
    game: G,
    agents: GameAgents,
    endgames: Option<Arc<dyn Endgames<G>>>,
    variant: String,             // the settings as text; a part of the key of an agent
    actions: Vec<Action>,        // [n]
    positions: Vec<G::Position>, // [n + 1]
    cursor: usize,               // 0..=n
}

impl<G: CatalogGame> GameBoard<G> {
    fn here(&self) -> &G::Position {
        &self.positions[self.cursor]
    }

    /// Whether the language tables have the words of this game. Without them, only its drawing is shown.
    fn is_worded(&self) -> bool {
        Language::En.texts().knows(self.game.id())
    }

    fn worded<T>(&self, texts: Vec<T>) -> Vec<T> {
        if self.is_worded() { texts } else { Vec::new() }
    }

    fn text(&self, place: usize) -> String {
        self.game.action_text(&self.positions[place], self.actions[place])
    }
}

impl<G: CatalogGame> Board for GameBoard<G> {
    fn game(&self) -> &'static str {
        self.game.id()
    }

    fn layout(&self) -> Layout {
        match self.is_worded() {
            true => self.game.layout(),
            false => Layout::none(),
        }
    }

    fn cursor(&self) -> usize {
        self.cursor
    }

    fn go_to(&mut self, cursor: usize) {
        self.cursor = cursor.min(self.actions.len());
    }

    fn scene(&self) -> Scene {
        let here = self.here();
        let legal = self.game.legal(here);
        let legal_move =
            |action| Legal { text: self.game.action_text(here, action), gesture: self.game.gesture(here, action) };
        let last = self.cursor.checked_sub(1);
        Scene {
            to_move: self.game.to_move(here),
            ply: self.game.ply(here),
            pieces: self.game.pieces(here),
            legal: legal.iter().map(legal_move).collect(),
            outcome: self.game.outcome(here),
            last: last.map(|place| self.game.gesture(&self.positions[place], self.actions[place])),
            tallies: self.worded(self.game.tallies(here)),
            notes: self.worded(self.game.notes(here)),
            winning: self.game.winning_cells(here),
        }
    }

    fn moves(&self) -> Vec<Played> {
        (0..self.actions.len())
            .map(|place| Played { text: self.text(place), player: self.game.to_move(&self.positions[place]) })
            .collect()
    }

    fn play(&mut self, text: &str) -> Result<(), ActionError> {
        let mut position = *self.here();
        let action = self.game.play_text(&mut position, text)?;
        self.cut();
        self.actions.push(action);
        self.positions.push(position);
        self.cursor += 1;
        Ok(())
    }

    fn cut(&mut self) {
        self.actions.truncate(self.cursor);
        self.positions.truncate(self.cursor + 1);
    }

    fn mover(&self, place: usize) -> Option<Player> {
        let position = &self.positions[place];
        let over = self.game.outcome(position).is_some();
        (!over).then(|| self.game.to_move(position))
    }

    fn outcome(&self, place: usize) -> Option<Outcome> {
        self.game.outcome(&self.positions[place])
    }

    fn known(&self, place: usize) -> Option<Proven> {
        let mover = self.mover(place)?;
        let result = self.endgames.as_ref()?.known(&self.game, &self.positions[place])?;
        Some(as_white(mover, result, Proven::flip))
    }

    fn agents(&self) -> &GameAgents {
        &self.agents
    }

    fn question(&self, place: usize, seed: u64) -> Question {
        let (game, position) = (self.game.clone(), self.positions[place]);
        let (variant, networks) = (self.variant.clone(), self.agents.networks.clone());
        Box::new(move |cache, strength, time| {
            let agent = cache.agent(&game, &variant, strength, &networks)?;
            Ok(ask(&game, position, agent, strength, seed, time))
        })
    }

    fn position_text(&self) -> String {
        self.game.position_text(self.here())
    }

    fn drawing(&self) -> Option<String> {
        self.layout().is_none().then(|| self.game.display(self.here()).to_string())
    }

    fn record(&self) -> GameRecord {
        let start = &self.positions[0];
        GameRecord {
            game: self.game.id().to_owned(),
            rules: Some(self.game.rules_version()),
            outcome: self.outcome(self.actions.len()),
            position: (*start != self.game.start()).then(|| self.game.position_text(start)),
            max_plies: Some(self.game.max_plies()),
            moves: (0..self.actions.len()).map(|place| self.text(place)).collect(),
            ..GameRecord::default()
        }
    }

    fn seat(&self, text: &str) -> Result<Seat, String> {
        Seat::parse(&self.game, text, &self.agents.networks)
    }

    fn branch(&self, place: usize, line: &[String]) -> Result<Box<dyn Board>, ActionError> {
        let mut board = self.clone();
        board.go_to(place);
        board.cut();
        for text in line {
            board.play(text)?;
        }
        Ok(Box::new(board))
    }

    fn at_position(&self, text: &str) -> Result<Box<dyn Board>, PositionError> {
        let positions = vec![self.game.parse_position(text)?];
        Ok(Box::new(GameBoard { actions: Vec::new(), positions, cursor: 0, ..self.clone() }))
    }

    fn palette(&self) -> Palette {
        self.game.palette()
    }

    fn setup_text(&self, setup: &Setup) -> String {
        self.game.setup_text(setup)
    }

    fn picture(&self, title: &str) -> String {
        svg::draw(&self.game, self.here(), &[], title)
    }
}
