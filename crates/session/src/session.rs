//! One game with its players: the moves, the answers of agents so far, and the next question for an agent.
//!
//! A session never searches and never waits. [`Session::job`] returns the next [`Job`]; the caller runs it on
//! any thread and passes the answer to [`Session::finish`]. Outdated answers are dropped.
//!
//! A `place` is a position of the line shown, given by the number of moves before it; a `Node` is any position of the
//! tree of moves. The game continues at one of them, which is the end of the main line. A person who moves elsewhere
//! during a game continues the game from there, and the former moves become a variation. An analysis only adds
//! variations.

mod questions;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::agents::Seat;
use crate::board::{Board, RecordProblem};
use crate::error::SessionError;
use crate::levels::Level;
use crate::matches::{Match, points};
use crate::specs::Store;
use crate::thought::Analysis;
use crate::tree::{Node, Remark};
use jarmo_core::game::{ActionError, Player, Proven};
use jarmo_core::record::GameRecord;
use jarmo_exact::catalog::GameSettings;
use questions::Effort;
pub use questions::Job;

/// The largest number of rounds of *Search on* at a position.
const DEEPEST: u32 = 4;

/// The largest number of moves of a game with its variations. Only a game without a move limit could have more.
pub(crate) const MOST_MOVES: usize = 2000;

/// The number of the next session.
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// One game with its players.
pub struct Session {
    board: Board,
    settings: GameSettings,
    /// The games and agents that there are.
    pub store: Store,
    seats: [Seat; 2],
    pub(crate) seed: u64,
    live: Node,       // where the game continues
    taken_back: bool, // the position shown was reached by undoing moves
    thoughts: BTreeMap<Node, (Effort, Analysis)>,
    remembered: BTreeMap<Node, f32>, // White's values that were found before the game was kept
    hint: Option<Node>,              // where a hint was requested
    /// Whether the evaluation bar is shown.
    pub evaluating: bool,
    analysing: bool,
    deepening: bool, // the analysis looks further at the place shown
    /// The reason why an agent could not answer. While this is set, no agent is asked.
    pub trouble: Option<SessionError>,
    /// The match that this game belongs to.
    pub current_match: Option<Match>,
    home: Option<Home>,
    removed: Option<Removed>,
    /// Whether two agents wait before each move until the page asks for it, so that people can follow.
    pub stepwise: bool,
    asked: Option<Node>, // where the page has asked for a move
    /// The number of the game in this session. A game that begins or is loaded has a new one.
    pub number: u64,
    edition: u64, // increases when running jobs become outdated; no two sessions have the same
}

/// The board and the players of the next new game, saved while the game of a record is shown. That game can have its
/// own first position and move limit, and people play both sides.
struct Home {
    board: Board,
    seats: [Seat; 2],
}

/// The game before moves were removed.
struct Removed {
    board: Board,
    live: Node,
}

/// The reason why a session rejects a command.
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
    ) -> Result<Session, SessionError> {
        let board = Board::open(&store, game, &settings, position).map_err(SessionError::new)?;
        let seats = [board.seat(seats[0])?, board.seat(seats[1])?];
        Ok(Session {
            board,
            settings,
            store,
            seats,
            seed,
            live: Node::ROOT,
            taken_back: false,
            thoughts: BTreeMap::new(),
            remembered: BTreeMap::new(),
            hint: None,
            evaluating: true,
            analysing: false,
            deepening: false,
            trouble: None,
            current_match: None,
            home: None,
            removed: None,
            stepwise: false,
            asked: None,
            number: 1,
            edition: u64::from(SESSIONS.fetch_add(1, Ordering::Relaxed)) << 32,
        })
    }

    /// A session of another game, with the settings that apply to both games.
    pub fn beside(&self, game: &str, seats: [&str; 2], seed: u64) -> Result<Session, SessionError> {
        let settings = self.settings.for_another(self.board.game(), game);
        Session::new(self.store.clone(), game, settings, None, seats, seed)
    }

    /// The game and the place shown.
    pub fn board(&self) -> &Board {
        &self.board
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
    pub fn thought(&self, place: usize) -> Option<&Analysis> {
        self.thoughts.get(&self.board.node(place)).map(|(_, thought)| thought)
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
            None => self.evaluation(self.board.node(place)),
        }
    }

    /// An agent's evaluation of a position for White.
    pub(crate) fn evaluation(&self, node: Node) -> Option<f32> {
        let found = self.thoughts.get(&node).map(|(_, thought)| thought.value);
        found.or_else(|| self.remembered.get(&node).copied())
    }

    /// Restores evaluations, in the order of the text of the tree, beginning with the first position.
    pub(crate) fn remember(&mut self, values: &[Option<f32>]) {
        let nodes = std::iter::once(Node::ROOT).chain(self.board.tree.nodes());
        let known =
            nodes.zip(values).filter_map(|(node, value)| Some((node, value.filter(|value| value.abs() <= 1.0)?)));
        self.remembered = known.collect();
    }

    /// The hint for the place shown, if one was requested and is ready.
    pub fn hint(&self) -> Option<&Analysis> {
        let (had, thought) = self.thoughts.get(&self.hint?)?;
        (self.hint == Some(self.board.shown()) && *had >= Effort::Hint).then_some(thought)
    }

    /// Whether the session is in analysis mode: all positions are evaluated, and agents do not move.
    pub fn analysing(&self) -> bool {
        self.analysing
    }

    /// Whether *Search on* is active at the place shown.
    pub fn deepening(&self) -> bool {
        self.deepening
    }

    /// The round of *Search on* at the place shown; `None` if it is not active, or if more search changes nothing.
    pub fn next_round(&self) -> Option<u32> {
        let here = self.board.cursor();
        let (had, _) = self.thoughts.get(&self.board.shown())?;
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

    /// Whether the game continues at the position shown.
    pub fn is_live(&self) -> bool {
        self.board.shown() == self.live
    }

    /// Whether the page asks before a move here: the game continues elsewhere, and the person has not used *Undo*.
    pub fn asks(&self) -> bool {
        !self.analysing && !self.taken_back && !self.is_live()
    }

    /// Whether an agent is about to move: it is its turn, and in a stepwise game of two agents the page has asked for the
    /// move.
    pub fn agent_to_move(&self) -> bool {
        let waits = self.stepwise && self.only_agents() && self.asked != Some(self.live);
        self.agents_turn() && !waits
    }

    /// Whether it is an agent's turn: the game continues at the position shown, where an agent is to move, the session is
    /// not in analysis mode, and the game has room for a move.
    pub fn agents_turn(&self) -> bool {
        let here = self.board.cursor();
        let live = self.is_live() && !self.analysing && self.board.tree.size() < MOST_MOVES;
        live && self.board.mover(here).is_some() && !self.is_persons_turn(here)
    }

    /// Lets one of two agents move in a position of a stepwise game.
    pub fn advance(&mut self, node: Node) {
        self.asked = Some(node);
    }

    /// Plays a person's move at the place shown.
    pub fn play(&mut self, text: &str) -> Result<(), Refusal> {
        let mover = self.board.mover(self.board.cursor());
        if !self.analysing && mover.is_some() && !self.human_to_move() {
            return Err(Refusal::NotNow("not_your_turn"));
        }
        self.play_line(self.board.cursor(), &[text.to_owned()]).map_err(|(_, error)| Refusal::Move(error))
    }

    /// Plays moves for both sides, from a place on. If one of them is illegal, the game stays as it was.
    pub fn play_line(&mut self, place: usize, line: &[String]) -> Result<(), (String, ActionError)> {
        // People can enter a game in an analysis; a game against an agent continues only outside it.
        let only_people = self.seats.iter().all(|seat| *seat == Seat::Human);
        let at_end = self.board.node(place.min(self.board.length())) == self.live;
        let goes_on = !self.analysing || (only_people && at_end);
        let mut board = self.board.clone();
        board.go_to(place);
        for text in line {
            board.play(text).map_err(|error| (text.clone(), error))?;
        }
        self.board = board;
        self.moved(goes_on);
        Ok(())
    }

    /// Records moves that were played up to the position shown. `goes_on` says whether they continue the game.
    fn moved(&mut self, goes_on: bool) {
        if goes_on {
            self.live = self.board.shown();
            while self.board.tree.promote(self.live) {}
            self.count_match();
        }
        self.hint = None;
        self.taken_back = false;
        self.removed = None;
    }

    /// Goes back to a person's previous turn, or by one move if only agents play.
    pub fn undo(&mut self) {
        let here = self.board.cursor();
        let mut earlier = (0..here).rev();
        let back = earlier.find(|&place| self.is_persons_turn(place));
        self.board.go_to(back.unwrap_or(here.saturating_sub(1)));
        self.taken_back = true;
    }

    /// Reverses an undo.
    pub fn redo(&mut self) {
        let end = self.board.length();
        let here = self.board.cursor();
        let next = (here + 1..end).find(|&place| self.is_persons_turn(place));
        self.board.go_to(next.unwrap_or(end));
    }

    /// Shows another place.
    pub fn go_to(&mut self, place: usize) {
        self.board.go_to(place);
        self.taken_back = false;
    }

    /// Shows a position of any line.
    pub fn show(&mut self, node: Node) {
        if self.board.tree.has(node) {
            self.board.show(node);
            self.taken_back = false;
        }
    }

    /// Leaves analysis mode and makes the game continue at the position shown. The moves after it stay a variation.
    pub fn resume(&mut self) {
        self.moved(true);
        self.set_analysing(false);
    }

    /// Where the variation with this position begins, makes it the main line.
    pub fn promote(&mut self, node: Node) {
        self.board.tree.promote(node);
        self.removed = None;
        self.keep_live();
    }

    /// Removes a move and everything after it. More than one move can be brought back until the next change.
    pub fn remove(&mut self, node: Node) {
        let before = Removed { board: self.board.clone(), live: self.live };
        self.board.remove(node);
        let moves = before.board.tree.size() - self.board.tree.size();
        self.removed = (moves > 1).then_some(before);
        let kept = self.removed.as_ref().map_or(&self.board, |before| &before.board);
        self.thoughts.retain(|node, _| kept.tree.has(*node));
        self.keep_live();
    }

    /// The number of moves that [`Session::unremove`] brings back; `None` if there are none.
    pub fn removed(&self) -> Option<usize> {
        let before = self.removed.as_ref()?;
        Some(before.board.tree.size() - self.board.tree.size())
    }

    /// Brings back the moves that were removed, with everything as it was.
    pub fn unremove(&mut self) {
        if let Some(Removed { board, live }) = self.removed.take() {
            self.board = board;
            self.live = live;
            self.taken_back = false;
            self.edition += 1;
        }
    }

    /// Annotates a move.
    pub fn set_remark(&mut self, node: Node, remark: Remark) {
        self.board.tree.set_remark(node, remark);
        self.removed = None;
    }

    /// Lets the game continue at the end of the main line, unless it already continues at some place in that line.
    fn keep_live(&mut self) {
        let tree = &self.board.tree;
        if !tree.has(self.live) || !tree.line(Node::ROOT).contains(&self.live) {
            self.live = self.board.main_end();
        }
        self.edition += 1;
    }

    /// Changes the player of one side.
    pub fn set_seat(&mut self, player: Player, text: &str) -> Result<(), SessionError> {
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

    /// Starts a new game from the same first position. After the game of a record, it restores the board and the
    /// players from before.
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
        let outcome = self.board.outcome_of(self.live);
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
            self.hint = Some(self.board.shown());
        }
    }

    /// Enters or leaves analysis mode. Leaving shows the game itself if a variation was shown.
    pub fn set_analysing(&mut self, analysing: bool) {
        let is_variation = !self.board.tree.path(self.live).contains(&self.board.shown());
        if is_variation && !analysing {
            self.board.show(self.live);
        }
        self.analysing = analysing;
        self.deepening = false;
        self.edition += 1;
    }

    /// Starts or stops *Search on* at the place shown.
    pub fn set_deepening(&mut self, deepening: bool) {
        self.deepening = deepening && self.analysing;
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
        let mut board = Board::open(&self.store, &record.game, &own, record.position.as_deref())?;
        board.read(record)?;
        let fresh = Board::open(&self.store, &record.game, &settings, None)?;
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
        self.remembered.clear();
        self.hint = None;
        self.removed = None;
        self.asked = None;
        self.live = self.board.main_end();
        self.number += 1;
        self.set_analysing(false);
    }

    /// Closes the match when its second game has ended.
    fn count_match(&mut self) {
        if let Some(current_match) = &mut self.current_match
            && let Some(outcome) = self.board.outcome_of(self.live)
        {
            current_match.finish(&outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::agents::AgentCache;
    use crate::thought::Time;

    #[test]
    fn thoughts_about_moves_that_cannot_come_back_are_dropped() {
        let (settings, people) = (GameSettings::default(), ["human", "human"]);
        let mut session = Session::new(Store::default(), "connect_four", settings, None, people, 0).unwrap();
        for text in ["D", "D"] {
            session.play(text).unwrap();
        }
        session.set_analysing(true);
        let stop = AtomicBool::new(true);
        while let Some(job) = session.job() {
            let thought = job.run(&mut AgentCache::default(), Time::alone(|| Duration::ZERO, &stop));
            session.finish(&job, thought);
        }
        assert_eq!(session.thoughts.len(), 3);
        session.remove(session.board.node(1));
        assert_eq!(session.thoughts.len(), 3, "both moves can come back");
        session.play("C").unwrap();
        session.remove(session.board.node(1));
        assert_eq!(session.thoughts.len(), 1);
    }
}
