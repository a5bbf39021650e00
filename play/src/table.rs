//! A game on the table, whichever it is: the moves so far, the one being looked at, and what the
//! board shows there.

use std::sync::Arc;

use serde::Serialize;

use crate::agents::Seat;
use crate::specs::{self, Crew, Store};
use crate::thought::{Question, Thinking, certain};
use jarmo::board::{Gesture, Layout, Note, Piece, Tally};
use jarmo::catalog::{CatalogGame, GameSettings, GameTask, with_game};
use jarmo::game::{Action, ActionError, Mask, Outcome, Player, Proven};
use jarmo::record::GameRecord;
use jarmo::tables::Endgames;

/// A game under way. The moves beyond the place that is being looked at are kept until another one
/// is played there.
pub trait Table: Send {
    /// The game's name.
    fn game(&self) -> &'static str;

    /// The board.
    fn layout(&self) -> Layout;

    /// How many moves the board is after the first position.
    fn cursor(&self) -> usize;

    /// Looks at another place of the game; places beyond its end are its end.
    fn go_to(&mut self, cursor: usize);

    /// What the board shows now.
    fn scene(&self) -> Scene;

    /// All moves, also those beyond the place that is being looked at.
    fn moves(&self) -> Vec<Played>;

    /// Plays a move where the board is. The moves that were there are gone.
    fn play(&mut self, text: &str) -> Result<(), ActionError>;

    /// Forgets the moves beyond the place that is being looked at.
    fn cut(&mut self);

    /// Who is to move after so many moves, if the game is not over there.
    fn mover(&self, place: usize) -> Option<Player>;

    /// How the game ended, if it is over after so many moves.
    fn outcome(&self, place: usize) -> Option<Outcome>;

    /// How the game ends under best play after so many moves, where exact tables know it.
    fn known(&self, place: usize) -> Option<Proven>;

    /// Whether there are exact tables.
    fn has_tables(&self) -> bool;

    /// Who there is to play this game.
    fn crew(&self) -> &Crew;

    /// The position after so many moves, to be thought about.
    fn question(&self, place: usize, seed: u64) -> Box<dyn Thinking>;

    /// The position text of the place that is being looked at.
    fn position_text(&self) -> String;

    /// The whole game, without its players.
    fn record(&self) -> GameRecord;

    /// Reads who is to play this game.
    fn seat(&self, text: &str) -> Result<Seat, String>;

    /// The same game from its first position.
    fn fresh(&self) -> Box<dyn Table>;
}

/// What a board shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// Who is to move.
    pub to_move: Player,
    /// Actions since the start of the game.
    pub ply: u32,
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// What may be played.
    pub legal: Vec<Legal>,
    /// How the game ended, if it did.
    pub outcome: Option<Outcome>,
    /// What the move before did.
    pub last: Option<Gesture>,
    /// Numbers beside the board.
    pub tallies: Vec<Tally>,
    /// Sentences beside the board.
    pub notes: Vec<Note>,
}

/// A legal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Legal {
    /// Its text.
    pub text: String,
    /// What it does on the board.
    #[serde(flatten)]
    pub gesture: Gesture,
}

/// A move that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Played {
    /// Its text.
    pub text: String,
    /// By whom.
    pub player: Player,
}

/// Sets up a game by name, from its start or from a position, with the agents and tables of a store.
pub fn open(
    name: &str,
    settings: &GameSettings,
    store: &Store,
    position: Option<&str>,
) -> Result<Box<dyn Table>, String> {
    let task = Open {
        settings,
        store,
        position,
    };
    with_game(name, settings, task).map_err(|error| error.to_string())?
}

/// Sets up the game of a record and plays its moves.
pub fn open_record(
    record: &GameRecord,
    settings: &GameSettings,
    store: &Store,
) -> Result<Box<dyn Table>, String> {
    let settings = GameSettings {
        max_plies: record.max_plies.or(settings.max_plies),
        ..settings.fitting(&record.game)
    };
    let mut table = open(&record.game, &settings, store, record.position.as_deref())?;
    for (index, text) in record.moves.iter().enumerate() {
        table
            .play(text)
            .map_err(|error| format!("move {}: {error}", index + 1))?;
    }
    table.go_to(0);
    Ok(table)
}

struct Open<'a> {
    settings: &'a GameSettings,
    store: &'a Store,
    position: Option<&'a str>,
}

impl GameTask for Open<'_> {
    type Output = Result<Box<dyn Table>, String>;

    fn run<G: CatalogGame>(self, game: G) -> Self::Output {
        let start = match self.position {
            None => game.start(),
            Some(text) => game
                .parse_position(text)
                .map_err(|error| format!("illegal position: {error}"))?,
        };
        let endgames = specs::endgames(&game, self.store)?;
        Ok(Box::new(Line {
            variant: format!("{:?}", self.settings),
            crew: Crew::of(&game, self.store, endgames.is_some()),
            endgames,
            game,
            actions: Vec::new(),
            positions: vec![start],
            cursor: 0,
        }))
    }
}

/// A line of play of one game.
struct Line<G: CatalogGame> {
    game: G,
    crew: Crew,
    endgames: Option<Arc<dyn Endgames<G>>>,
    variant: String,      // tells agents for other settings of the same game apart
    actions: Vec<Action>, // [n]
    positions: Vec<G::Position>, // [n + 1]
    cursor: usize,        // 0..=n
}

impl<G: CatalogGame> Line<G> {
    fn here(&self) -> &G::Position {
        &self.positions[self.cursor]
    }

    fn text(&self, place: usize) -> String {
        self.game
            .action_text(&self.positions[place], self.actions[place])
    }
}

impl<G: CatalogGame> Table for Line<G> {
    fn game(&self) -> &'static str {
        self.game.id()
    }

    fn layout(&self) -> Layout {
        self.game.layout()
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
        let last = self.cursor.checked_sub(1);
        Scene {
            to_move: self.game.to_move(here),
            ply: self.game.ply(here),
            pieces: self.game.pieces(here),
            legal: legal
                .iter()
                .map(|action| Legal {
                    text: self.game.action_text(here, action),
                    gesture: self.game.gesture(here, action),
                })
                .collect(),
            outcome: self.game.outcome(here),
            last: last.map(|place| {
                self.game
                    .gesture(&self.positions[place], self.actions[place])
            }),
            tallies: self.game.tallies(here),
            notes: self.game.notes(here),
        }
    }

    fn moves(&self) -> Vec<Played> {
        (0..self.actions.len())
            .map(|place| Played {
                text: self.text(place),
                player: self.game.to_move(&self.positions[place]),
            })
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
        let known = self.endgames.as_ref()?;
        let result = known.known(&self.game, &self.positions[place])?;
        Some(certain(mover, result))
    }

    fn has_tables(&self) -> bool {
        self.endgames.is_some()
    }

    fn crew(&self) -> &Crew {
        &self.crew
    }

    fn question(&self, place: usize, seed: u64) -> Box<dyn Thinking> {
        Box::new(Question {
            game: self.game.clone(),
            variant: self.variant.clone(),
            position: self.positions[place],
            seed,
        })
    }

    fn position_text(&self) -> String {
        self.game.position_text(self.here())
    }

    fn record(&self) -> GameRecord {
        let start = &self.positions[0];
        let texts = (0..self.actions.len()).map(|place| self.text(place));
        GameRecord {
            game: self.game.id().to_owned(),
            rules: Some(self.game.rules_version()),
            outcome: self.outcome(self.actions.len()),
            position: (*start != self.game.start()).then(|| self.game.position_text(start)),
            max_plies: Some(self.game.max_plies()),
            moves: texts.collect(),
            ..GameRecord::default()
        }
    }

    fn seat(&self, text: &str) -> Result<Seat, String> {
        Seat::parse(&self.game, text)
    }

    fn fresh(&self) -> Box<dyn Table> {
        Box::new(Line {
            game: self.game.clone(),
            crew: self.crew.clone(),
            endgames: self.endgames.clone(),
            variant: self.variant.clone(),
            actions: Vec::new(),
            positions: vec![self.positions[0]],
            cursor: 0,
        })
    }
}
