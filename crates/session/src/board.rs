//! A game with the tree of its moves, the line shown, and the position on the board.

use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use crate::agents::Seat;
use crate::error::SessionError;
use crate::lang::Language;
use crate::specs::{self, GameAgents, Store};
use crate::thought::{Question, as_white};
use crate::tree::{Node, Tree};
use jarmo_core::game::{Action, ActionError, AnyPosition, Outcome, Player, PositionError, Proven, Verdict};
use jarmo_core::record::GameRecord;
use jarmo_core::view::{Gesture, Layout, Note, Palette, Piece, Setup, SideCount};
use jarmo_exact::catalog::GameSettings;
use jarmo_facade::{AnyEndgames, AnyGame, Move, View};

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
    pub legal: Vec<Move>,
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

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Its text.
    pub text: String,
    /// The player who made it.
    pub player: Player,
    /// The move number, from 1: White's move and Black's reply share it.
    pub number: u32,
}

impl Played {
    /// Its number as text: `3.` for White, `3…` for Black.
    pub fn label(&self) -> String {
        format!("{}{}", self.number, if self.player == Player::White { '.' } else { '…' })
    }
}

/// A position, and the move that led there.
#[derive(Clone)]
pub(crate) struct Reached {
    position: AnyPosition,
    by: Option<(Action, Gesture, Played)>, // none: it is the first one
}

/// The error for a record that cannot be shown. `Display` is in English; `words` has the sentences of all languages.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordProblem {
    /// The game cannot be set up.
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
    /// The text of its variations cannot be read, or does not fit its moves.
    #[error("the variations do not fit the moves")]
    Tree,
}

/// A game and the tree of its moves, of which one line is shown. A `place` is a position of that line, given by the
/// number of moves before it; the cursor is the place shown. A new move at the cursor begins a variation, so no move is
/// lost.
#[derive(Clone)]
pub struct Board {
    game: Arc<dyn AnyGame>,
    settings: GameSettings,
    agents: GameAgents,
    endgames: Option<Arc<dyn AnyEndgames>>,
    pub(crate) tree: Tree<Reached>,
    line: Vec<Node>, // [n + 1], of the tree, from its root
    cursor: usize,   // 0..=n
}

impl Board {
    /// Sets up a game by name, from its start or from a position, with the agents and tables of a store.
    ///
    /// The shipped games have a board and texts in every language. Other games are drawn and played as lines of text,
    /// or on a plain board in the page.
    pub fn open(
        store: &Store,
        name: &str,
        settings: &GameSettings,
        position: Option<&str>,
    ) -> Result<Board, RecordProblem> {
        let game = store.games.open(name, settings).map_err(|error| RecordProblem::Start(error.to_string()))?;
        let start = match position {
            None => game.facts().start.clone(),
            Some(text) => game.parse(text).map_err(RecordProblem::Position)?,
        };
        let endgames = specs::endgames(game.as_ref(), store).map_err(RecordProblem::Start)?;
        let board = Board {
            settings: settings.clone(),
            agents: GameAgents::of(game.as_ref(), store, endgames.is_some()),
            endgames,
            game,
            tree: Tree::new(Reached { position: start, by: None }),
            line: vec![Node::ROOT],
            cursor: 0,
        };
        if store.needs_layout && board.layout().is_none() {
            let problem = format!("{name} has no board to show here; play it by lines of text, with --plain");
            return Err(RecordProblem::Start(problem));
        }
        Ok(board)
    }

    /// The game's name.
    pub fn game(&self) -> &'static str {
        self.game.facts().name
    }

    /// Whether the language tables have the texts of this game. Without them, only its drawing is shown.
    fn is_worded(&self) -> bool {
        Language::En.texts().knows(self.game())
    }

    /// The board; without cells for a game that has only its drawing.
    pub fn layout(&self) -> Layout {
        match self.is_worded() {
            true => self.game.facts().layout.clone(),
            false => Layout::none(),
        }
    }

    /// The place shown.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Moves the cursor; a place past the end means the end.
    pub fn go_to(&mut self, cursor: usize) {
        self.cursor = cursor.min(self.length());
    }

    /// The number of moves of the line shown.
    pub fn length(&self) -> usize {
        self.line.len() - 1
    }

    /// The position at a place.
    pub fn node(&self, place: usize) -> Node {
        self.line[place]
    }

    /// The position shown.
    pub fn shown(&self) -> Node {
        self.line[self.cursor]
    }

    /// Whether the line shown is the main line.
    pub fn shows_main(&self) -> bool {
        self.line == self.tree.line(Node::ROOT)
    }

    /// The last position of the main line.
    pub fn main_end(&self) -> Node {
        *self.tree.line(Node::ROOT).last().expect("a line has a first position")
    }

    /// The move that led to a position; `None` for the first one.
    pub fn move_to(&self, node: Node) -> Option<&Played> {
        self.tree.at(node).content.by.as_ref().map(|(.., played)| played)
    }

    /// Shows a position. If it is not on the line shown, shows its main line.
    pub fn show(&mut self, node: Node) {
        if !self.line.contains(&node) {
            self.line = self.tree.line(node);
        }
        self.cursor = self.line.iter().position(|other| *other == node).expect("the line leads there");
    }

    /// Removes a move and everything after it.
    pub fn remove(&mut self, node: Node) {
        if !self.tree.remove(node) {
            return;
        }
        let left = self.line.iter().position(|other| !self.tree.has(*other));
        if let Some(left) = left {
            self.line = self.tree.line(self.line[left - 1]);
            self.cursor = self.cursor.min(left - 1);
        }
    }

    /// The position with this index: the number of moves up to it in the text of the tree. Without variations, this is
    /// its place. An index past the end means the end of the main line.
    pub fn at_index(&self, index: usize) -> Node {
        match index.checked_sub(1) {
            None => Node::ROOT,
            Some(index) => self.tree.nodes().get(index).copied().unwrap_or(self.main_end()),
        }
    }

    fn position(&self, place: usize) -> &AnyPosition {
        &self.tree.at(self.line[place]).content.position
    }

    fn here(&self) -> &AnyPosition {
        self.position(self.cursor)
    }

    /// The board at the cursor.
    pub fn scene(&self) -> Scene {
        let here = self.here();
        let View { moves, pieces, mut tallies, mut notes, winning } = self.game.view(here);
        if !self.is_worded() {
            tallies.clear();
            notes.clear();
        }
        // The game counts what a player has lost; people want to see what a player has captured.
        for tally in tallies.iter_mut().filter(|tally| tally.key.starts_with("tally_captured")) {
            tally.values.reverse();
        }
        Scene {
            to_move: here.to_move,
            ply: here.ply,
            pieces,
            legal: moves,
            outcome: here.outcome,
            last: self.tree.at(self.shown()).content.by.as_ref().map(|(_, gesture, _)| *gesture),
            tallies,
            notes,
            winning,
        }
    }

    /// The moves of the line shown, those after the cursor included.
    pub fn moves(&self) -> Vec<Played> {
        self.line.iter().filter_map(|&node| self.move_to(node).cloned()).collect()
    }

    /// Reads a move and plays it at the cursor.
    pub fn play(&mut self, text: &str) -> Result<(), ActionError> {
        let (action, next) = self.game.play_text(self.here(), text)?;
        self.add(action, next);
        Ok(())
    }

    /// Plays a move at the cursor.
    pub(crate) fn play_action(&mut self, action: Action) -> Result<(), ActionError> {
        let next = self.game.after(self.here(), action)?;
        self.add(action, next);
        Ok(())
    }

    fn add(&mut self, action: Action, next: AnyPosition) {
        let from = self.shown();
        let node = found_or_added(self.game.as_ref(), &mut self.tree, from, action, next);
        self.line = self.tree.line(node);
        self.cursor += 1;
    }

    /// Adds the moves of a record, which may have variations, and shows the end of the main line.
    pub(crate) fn read(&mut self, record: &GameRecord) -> Result<(), RecordProblem> {
        let (game, mut number) = (self.game.as_ref(), 0);
        let mut play = |tree: &mut Tree<Reached>, from, text: &str| {
            number += 1;
            let played = game.play_text(&tree.at(from).content.position, text);
            let wrong = |error| RecordProblem::Move { number, text: text.to_owned(), error };
            let (action, next) = played.map_err(wrong)?;
            Ok(found_or_added(game, tree, from, action, next))
        };
        match &record.tree {
            None => {
                record.moves.iter().try_fold(Node::ROOT, |from, text| play(&mut self.tree, from, text))?;
            }
            Some(text) => self.tree.read(text, play)?.ok_or(RecordProblem::Tree)?,
        }
        self.line = self.tree.line(Node::ROOT);
        self.cursor = self.length();
        let fits = record.tree.is_none() || self.moves().iter().map(|played| &played.text).eq(&record.moves);
        fits.then_some(()).ok_or(RecordProblem::Tree)
    }

    /// Who is to move at a place; `None` if the game is over there.
    pub fn mover(&self, place: usize) -> Option<Player> {
        let position = self.position(place);
        position.outcome.is_none().then_some(position.to_move)
    }

    /// The outcome at a place, if the game is over there.
    pub fn outcome(&self, place: usize) -> Option<Outcome> {
        self.outcome_of(self.line[place])
    }

    /// The outcome in a position of the tree, if the game is over there.
    pub fn outcome_of(&self, node: Node) -> Option<Outcome> {
        self.tree.at(node).content.position.outcome
    }

    /// White's result with best play from a place, from the exact tables.
    pub fn known(&self, place: usize) -> Option<Proven> {
        let mover = self.mover(place)?;
        let result = self.endgames.as_ref()?.known(self.position(place))?;
        Some(as_white(mover, result, Proven::flip))
    }

    /// White's result at a place: the outcome if the game is over there, or else that of the exact tables.
    pub fn result(&self, place: usize) -> Option<Verdict> {
        match self.outcome(place) {
            Some(outcome) => Some(outcome.verdict(Player::White)),
            None => Some(self.known(place)?.verdict),
        }
    }

    /// The agents for this game.
    pub fn agents(&self) -> &GameAgents {
        &self.agents
    }

    /// The position at a place as a question for an agent.
    pub(crate) fn question(&self, place: usize, seed: u64) -> Question {
        Question {
            game: self.game.clone(),
            settings: self.settings.clone(),
            networks: self.agents.networks.clone(),
            position: self.position(place).clone(),
            seed,
        }
    }

    /// The position at the cursor as text.
    pub fn position_text(&self) -> String {
        self.game.text(self.here())
    }

    /// The board at the cursor as text, for games without a layout.
    pub fn drawing(&self) -> Option<String> {
        self.layout().is_none().then(|| self.game.drawing(self.here()))
    }

    /// The whole game, without its players.
    pub fn record(&self) -> GameRecord {
        let facts = self.game.facts();
        let start = self.game.text(&self.tree.at(Node::ROOT).content.position);
        let main = self.tree.line(Node::ROOT).into_iter().filter_map(|node| self.move_to(node));
        GameRecord {
            game: facts.name.to_owned(),
            rules: Some(facts.version.rules_version),
            outcome: self.outcome_of(self.main_end()),
            position: (start != self.game.text(&facts.start)).then_some(start),
            max_plies: Some(facts.max_plies),
            moves: main.map(|played| played.text.clone()).collect(),
            tree: (!self.tree.is_plain())
                .then(|| self.tree.text(|reached| reached.by.as_ref().map_or("", |(.., played)| &played.text))),
            ..GameRecord::default()
        }
    }

    /// Parses a player of this game.
    pub fn seat(&self, text: &str) -> Result<Seat, SessionError> {
        Seat::parse(self.game.as_ref(), text, &self.agents.networks)
    }

    /// The same game from its first position.
    pub fn fresh(&self) -> Board {
        self.started_at(self.tree.at(Node::ROOT).content.position.clone())
    }

    fn started_at(&self, position: AnyPosition) -> Board {
        let tree = Tree::new(Reached { position, by: None });
        Board { tree, line: vec![Node::ROOT], cursor: 0, ..self.clone() }
    }

    /// A new game with the moves before a place, then those of a line, with its cursor at the end.
    pub fn branch(&self, place: usize, line: &[String]) -> Result<Board, ActionError> {
        let mut board = self.fresh();
        let before = self.line[..=place.min(self.length())].iter().filter_map(|&node| self.move_to(node));
        for text in before.map(|played| &played.text).chain(line) {
            board.play(text)?;
        }
        Ok(board)
    }

    /// A game of the same kind from a position.
    pub fn at_position(&self, text: &str) -> Result<Board, PositionError> {
        Ok(self.started_at(self.game.parse(text)?))
    }

    /// The rules in the game's own words.
    pub fn own_rules(&self) -> Option<&str> {
        self.game.facts().rules.as_deref()
    }

    /// The game's own pictures of pieces, by the letter of the position's text.
    pub fn own_pieces(&self) -> &[(char, String)] {
        &self.game.facts().pieces
    }

    /// The controls of the position editor.
    pub fn palette(&self) -> &Palette {
        &self.game.facts().palette
    }

    /// The text of a position from the editor, which may be illegal.
    pub fn setup_text(&self, setup: &Setup) -> String {
        self.game.setup_text(setup)
    }

    /// The board at the cursor as SVG.
    pub fn picture(&self, title: &str) -> String {
        self.game.picture(self.here(), &[], title)
    }
}

/// The position after a move, which is added unless the tree has it.
fn found_or_added(game: &dyn AnyGame, tree: &mut Tree<Reached>, from: Node, action: Action, next: AnyPosition) -> Node {
    let is_same = |node: &Node| tree.at(*node).content.by.as_ref().is_some_and(|(other, ..)| *other == action);
    if let Some(known) = tree.at(from).children.iter().copied().find(is_same) {
        return known;
    }
    let Reached { position, by } = &tree.at(from).content;
    let Move { text, gesture, .. } = game.describe(position, action);
    let player = position.to_move;
    let number = match by {
        None => 1,
        Some((.., before)) => before.number + u32::from(before.player == Player::Black && player == Player::White),
    };
    let by = Some((action, gesture, Played { text, player, number }));
    tree.add(from, Reached { position: next, by })
}
