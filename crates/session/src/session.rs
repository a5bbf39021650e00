//! One game with its players: the moves, the answers of agents so far, and the next question for an agent.
//!
//! A session never searches and never waits. [`Session::job`] returns the next [`Job`]; the caller runs it on
//! any thread and passes the answer to [`Session::finish`]. Outdated answers are dropped.
//!
//! A `place` is a position of the game, given by the number of moves played before it.

mod questions;

use std::collections::BTreeMap;

use crate::agents::Seat;
use crate::analysis::{Trial, Tried};
use crate::board::{Board, RecordProblem};
use crate::levels::Level;
use crate::matches::{Match, points};
use crate::specs::Store;
use crate::thought::Thought;
use jarmo_core::game::{ActionError, Player, Proven};
use jarmo_core::record::GameRecord;
use jarmo_exact::catalog::GameSettings;
use questions::Effort;
pub use questions::Job;

/// Rounds of looking further at a position, at most.
const DEEPEST: u32 = 4;

/// One game with its players.
pub struct Session {
    board: Box<dyn Board>,
    settings: GameSettings,
    /// The games and agents that there are.
    pub store: Store,
    seats: [Seat; 2],
    pub(crate) seed: u64,
    thoughts: BTreeMap<usize, (Effort, Thought)>, // by place
    hint: Option<usize>,                          // the place where a hint was requested
    /// Whether the evaluation bar is shown.
    pub evaluating: bool,
    analysing: bool,
    deepening: bool, // the analysis looks further at the place shown
    trial: Option<Trial>,
    /// Why an agent could not answer. While this is set, no agent is asked.
    pub trouble: Option<String>,
    /// The match that this game belongs to.
    pub current_match: Option<Match>,
    home: Option<Home>,
    /// The number of the game in this session. A game that begins or is loaded has a new one.
    pub number: u64,
    edition: u64, // increases when running jobs become outdated
}

/// What the next new game begins with while the game of a record is on the board: the record may have a first
/// position and a length of its own, and people play both sides of it.
struct Home {
    board: Box<dyn Board>,
    seats: [Seat; 2],
}

/// Why a session refused a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The move is illegal, or cannot be parsed.
    Move(ActionError),
    /// It is not possible now; the text with this key says why.
    NotNow(&'static str),
}

impl Session {
    /// A session of a game by name, from its start or from a position, with the trained agents and the tables of a store.
    pub fn new(
        store: Store,
        game: &str,
        settings: GameSettings,
        position: Option<&str>,
        seats: [&str; 2],
        seed: u64,
    ) -> Result<Session, String> {
        let board = store.games.open(game, &settings, &store, position).map_err(|problem| problem.to_string())?;
        let seats = [board.seat(seats[0])?, board.seat(seats[1])?];
        Ok(Session {
            board,
            settings,
            store,
            seats,
            seed,
            thoughts: BTreeMap::new(),
            hint: None,
            evaluating: true,
            analysing: false,
            deepening: false,
            trial: None,
            trouble: None,
            current_match: None,
            home: None,
            number: 1,
            edition: 0,
        })
    }

    /// A session of another game, with the settings that apply to both games.
    pub fn beside(&self, game: &str, seats: [&str; 2], seed: u64) -> Result<Session, String> {
        let settings = self.settings.for_another(self.board.game(), game);
        Session::new(self.store.clone(), game, settings, None, seats, seed)
    }

    /// The game and the place shown.
    pub fn board(&self) -> &dyn Board {
        self.board.as_ref()
    }

    /// The players, White first.
    pub fn seats(&self) -> &[Seat; 2] {
        &self.seats
    }

    /// The rating of a level in a game, if it was measured with the trained agent that plays here.
    pub fn rating(&self, level: Level, game: &str) -> Option<u16> {
        level.rating(game).filter(|_| self.store.is_usual(game))
    }

    /// The most thorough answer for a place.
    pub fn thought(&self, place: usize) -> Option<&Thought> {
        self.thoughts.get(&place).map(|(_, thought)| thought)
    }

    /// White's proven result at a place, from the tables or from an agent's search.
    pub fn certain(&self, place: usize) -> Option<Proven> {
        let found = || self.thought(place).and_then(|thought| thought.proven);
        self.board.known(place).or_else(found)
    }

    /// White's value at a place, -1 to +1: the outcome, the exact result, or an agent's evaluation.
    pub fn value(&self, place: usize) -> Option<f32> {
        match self.board.result(place) {
            Some(verdict) => Some(verdict.sign().into()),
            None => self.thought(place).map(|thought| thought.value),
        }
    }

    /// The hint for the place shown, if one was requested and is ready.
    pub fn hint(&self) -> Option<&Thought> {
        let (had, thought) = self.thoughts.get(&self.hint?)?;
        (self.hint == Some(self.board.cursor()) && *had >= Effort::Hint).then_some(thought)
    }

    /// Whether the session is in analysis mode: all positions are evaluated, and agents do not move.
    pub fn analysing(&self) -> bool {
        self.analysing
    }

    /// Whether the analysis is to look further at the place shown.
    pub fn deepening(&self) -> bool {
        self.deepening
    }

    /// The round in which the analysis looks further at the place shown: `None` if it is not to, or if nothing more comes
    /// of it.
    pub fn next_round(&self) -> Option<u32> {
        let here = self.board.cursor();
        let (had, _) = self.thoughts.get(&here)?;
        let done = match had {
            Effort::Deep(round) => *round,
            _ => 0,
        };
        let is_open = self.board.mover(here).is_some() && self.certain(here).is_none();
        let wanted = self.analysing && self.deepening && is_open;
        (wanted && done < DEEPEST).then_some(done + 1)
    }

    /// Whether a person is to move at the place shown.
    pub fn human_to_move(&self) -> bool {
        self.is_persons_turn(self.board.cursor())
    }

    /// Whether an agent is about to move: it is to move at the end of the game, which is shown, and the session
    /// is not in analysis mode.
    pub fn agent_to_move(&self) -> bool {
        let here = self.board.cursor();
        let live = here == self.board.moves().len() && !self.analysing;
        live && self.board.mover(here).is_some() && !self.is_persons_turn(here)
    }

    /// Plays a person's move at the place shown.
    pub fn play(&mut self, text: &str) -> Result<(), Refusal> {
        let here = self.board.cursor();
        let mover = self.board.mover(here);
        if !self.analysing && mover.is_some() && !self.human_to_move() {
            return Err(Refusal::NotNow("not_your_turn"));
        }
        let longer = here < self.board.moves().len();
        self.board.play(text).map_err(Refusal::Move)?;
        self.hint = None;
        self.trial = None;
        if longer {
            self.thoughts.split_off(&(here + 1));
            self.edition += 1;
        }
        self.count_match();
        Ok(())
    }

    /// Goes back to a person's previous turn, or by one move if only agents play.
    pub fn undo(&mut self) {
        let here = self.board.cursor();
        let mut earlier = (0..here).rev();
        let back = earlier.find(|&place| self.is_persons_turn(place));
        self.go_to(back.unwrap_or(here.saturating_sub(1)));
    }

    /// Reverses an undo.
    pub fn redo(&mut self) {
        let end = self.board.moves().len();
        let here = self.board.cursor();
        let next = (here + 1..end).find(|&place| self.is_persons_turn(place));
        self.go_to(next.unwrap_or(end));
    }

    /// Shows another place.
    pub fn go_to(&mut self, place: usize) {
        self.board.go_to(place);
    }

    /// Removes the moves after the place shown and leaves analysis mode, so that play continues there.
    pub fn resume(&mut self) {
        if self.board.cursor() < self.board.moves().len() {
            self.board.cut();
            self.thoughts.split_off(&(self.board.cursor() + 1));
            self.edition += 1;
        }
        self.analysing = false;
        self.deepening = false;
        self.trial = None;
    }

    /// Changes the player of one side.
    pub fn set_seat(&mut self, player: Player, text: &str) -> Result<(), String> {
        let seat = self.board.seat(text)?;
        if let Some(home) = &mut self.home {
            home.seats[player.index()] = seat.clone();
        }
        self.seats[player.index()] = seat;
        self.edition += 1;
        Ok(())
    }

    /// Swaps the sides of the players; the game continues.
    pub fn swap(&mut self) {
        self.seats.swap(0, 1);
        if let Some(home) = &mut self.home {
            home.seats.swap(0, 1);
        }
        self.edition += 1;
    }

    /// Starts a new game from the same first position. After the game of a record it is the start of that game,
    /// and the players are those from before.
    pub fn new_game(&mut self) {
        match self.home.take() {
            Some(home) => {
                self.board = home.board;
                self.seats = home.seats;
            }
            None => self.board = self.board.fresh(),
        }
        self.current_match = None;
        self.forget();
    }

    /// Starts a match of two games; the sides are swapped after the first.
    pub fn new_match(&mut self) {
        self.new_game();
        self.current_match = Some(Match { game: 1, points: [0; 2], over: false });
    }

    /// Starts the second game of a match, once the first is over.
    pub fn next_game(&mut self) -> Result<(), Refusal> {
        let end = self.board.moves().len();
        let outcome = self.board.outcome(end);
        let (Some(current_match), Some(outcome)) = (&mut self.current_match, outcome) else {
            return Err(Refusal::NotNow("match_unfinished"));
        };
        if current_match.game == 2 {
            return Err(Refusal::NotNow("match_finished"));
        }
        *current_match = Match { game: 2, points: points(&outcome), over: false };
        self.board = self.board.fresh();
        self.swap();
        self.forget();
        Ok(())
    }

    /// Requests a hint for the place shown.
    pub fn ask_hint(&mut self) {
        if self.board.mover(self.board.cursor()).is_some() {
            self.hint = Some(self.board.cursor());
        }
    }

    /// Enters or leaves analysis mode.
    pub fn set_analysing(&mut self, analysing: bool) {
        self.analysing = analysing;
        self.deepening = false;
        self.trial = None;
        self.edition += 1;
    }

    /// Makes the analysis look further at the place shown, or no longer.
    pub fn set_deepening(&mut self, deepening: bool) {
        self.deepening = deepening && self.analysing;
    }

    /// Tries a move at a place in place of the one played there. The game stays as it is.
    pub fn try_move(&mut self, place: usize, text: &str) -> Result<(), Refusal> {
        let trial = Trial::new(self.board(), place, text).map_err(Refusal::Move)?;
        self.trial = Some(trial);
        self.edition += 1;
        Ok(())
    }

    /// The move that was tried last, as far as it is evaluated.
    pub fn tried(&self) -> Option<Tried> {
        self.trial.as_ref().map(|trial| trial.judge(self))
    }

    /// The number of places that the analysis has not evaluated yet.
    pub fn unstudied(&self) -> usize {
        (0..=self.board.moves().len()).filter(|&place| self.lacks(place, Effort::Study)).count()
    }

    /// The record of the game with its players.
    pub fn record(&self) -> GameRecord {
        GameRecord { white: Some(self.seats[0].name()), black: Some(self.seats[1].name()), ..self.board.record() }
    }

    /// Loads the game of a record and shows its last position. The players of a person's game come back with it; another
    /// game has people on both sides, until a new game begins.
    pub fn load(&mut self, record: &GameRecord) -> Result<(), RecordProblem> {
        let settings = self.settings.fitting(&record.game);
        let own = GameSettings { max_plies: record.max_plies.or(self.settings.max_plies), ..settings.clone() };
        let mut board = self.store.games.open(&record.game, &own, &self.store, record.position.as_deref())?;
        for (index, text) in record.moves.iter().enumerate() {
            board.play(text).map_err(|error| RecordProblem::Move { number: index + 1, text: text.clone(), error })?;
        }
        let fresh = self.store.games.open(&record.game, &settings, &self.store, None)?;
        let seats = match self.home.take() {
            Some(home) => home.seats,
            None => self.seats.clone(),
        };
        let names = [&record.white, &record.black].map(|name| name.as_deref().unwrap_or_default());
        let player = |name: &str| {
            let mut known = self.seats.iter().chain(&seats);
            let known = known.find(|seat| seat.name() == name).cloned();
            known.or_else(|| board.seat(name).ok()).unwrap_or(Seat::Human)
        };
        let players = match names.contains(&"human") {
            true => names.map(player),
            false => [Seat::Human, Seat::Human],
        };
        // An agent of another game may not know this one.
        let seats = seats.map(|seat| fresh.seat(&seat.to_string()).unwrap_or(Seat::Human));
        self.home = Some(Home { board: fresh, seats });
        self.board = board;
        self.seats = players;
        self.current_match = None;
        self.forget();
        Ok(())
    }

    /// Whether no person plays.
    pub fn only_agents(&self) -> bool {
        !self.seats.contains(&Seat::Human)
    }

    fn is_persons_turn(&self, place: usize) -> bool {
        let mover = self.board.mover(place);
        mover.is_some_and(|player| self.seats[player.index()] == Seat::Human)
    }

    fn forget(&mut self) {
        self.thoughts.clear();
        self.hint = None;
        self.number += 1;
        self.set_analysing(false);
    }

    /// Closes the match when its second game has ended.
    fn count_match(&mut self) {
        if let Some(current_match) = &mut self.current_match
            && let Some(outcome) = self.board.outcome(self.board.moves().len())
        {
            current_match.finish(&outcome);
        }
    }
}
