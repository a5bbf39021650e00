//! One board and those who sit at it: the game, who plays what, what has been thought about, and what
//! is to be thought about next.
//!
//! A session never thinks and never waits. It hands out one [`Job`] at a time ([`Session::job`]);
//! somebody runs it wherever he likes and brings the thought back ([`Session::finish`]). A thought that
//! came too late is dropped.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use crate::agents::{Level, MOVE_TIME, Seat, Shelf};
use crate::analysis::{self, Assessment};
use crate::specs::{Store, Strength};
use crate::table::{self, Table};
use crate::thought::{Thinking, Thought};
use jarmo::catalog::GameSettings;
use jarmo::game::{ActionError, Player, Proven};
use jarmo::record::GameRecord;

/// The time the evaluation of a position gets while a game goes on.
const GLANCE: Duration = Duration::from_millis(120);

/// The most time a position gets in an analysis: its simulations take less, but on a slow machine.
const STUDY: Duration = Duration::from_secs(2);

/// A board and those who sit at it.
pub struct Session {
    table: Box<dyn Table>,
    settings: GameSettings,
    store: Store,
    seats: [Seat; 2],
    seed: u64,
    thoughts: BTreeMap<usize, (Care, Thought)>, // by moves played before
    hint: Option<usize>,                        // where a hint was asked for
    evaluating: bool,                              // the evaluation is shown
    analysing: bool,
    games: Option<Match>,
    edition: u64, // goes up when a thought on its way would no longer fit
}

/// How thoroughly a position was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Care {
    Glance,
    Study,
    Hint,
}

/// Two games with the sides swapped, and their points added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// 1 or 2.
    pub game: u32,
    /// Points of the player who began as White, and of the other, from the games before this one.
    pub points: [u32; 2],
    /// Both games are counted.
    pub over: bool,
}

/// Something to think about.
pub struct Job {
    question: Box<dyn Thinking>,
    strength: Strength,
    time: Option<Duration>,
    purpose: Purpose,
    place: usize,
    edition: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Move,
    Look(Care),
}

impl Job {
    /// Does the work, until it is done, its time is over, or somebody sets `stop`. The time is
    /// divided among `sharers` who wait for the same processor.
    pub fn run(
        &self,
        shelf: &mut Shelf,
        stop: &AtomicBool,
        sharers: u32,
    ) -> Result<Thought, String> {
        let time = self.time.map(|time| time / sharers.max(1));
        self.question.think(shelf, &self.strength, time, stop)
    }

    /// Whether it is a move that is being thought about.
    pub fn is_move(&self) -> bool {
        self.purpose == Purpose::Move
    }
}

/// Why a session refused something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The move is illegal, or no move at all.
    Move(ActionError),
    /// It is not a person's turn.
    NotYourTurn,
    /// Something else, in English.
    Other(String),
}

impl Session {
    /// A session with a game by name, from its start or from a position, with the agents that are built in.
    pub fn new(
        game: &str,
        settings: GameSettings,
        position: Option<&str>,
        seats: [&str; 2],
        seed: u64,
    ) -> Result<Session, String> {
        Session::with_store(Store::default(), game, settings, position, seats, seed)
    }

    /// A session with the trained agents and the tables of a store, too.
    pub fn with_store(
        store: Store,
        game: &str,
        settings: GameSettings,
        position: Option<&str>,
        seats: [&str; 2],
        seed: u64,
    ) -> Result<Session, String> {
        let table = table::open(game, &settings, &store, position)?;
        let seats = [table.seat(seats[0])?, table.seat(seats[1])?];
        Ok(Session {
            table,
            settings,
            store,
            seats,
            seed,
            thoughts: BTreeMap::new(),
            hint: None,
            evaluating: true,
            analysing: false,
            games: None,
            edition: 0,
        })
    }

    /// A session with the same settings for another game, as far as that has them.
    pub fn beside(&self, game: &str, seats: [&str; 2], seed: u64) -> Result<Session, String> {
        let settings = self.settings.for_another(self.table.game(), game);
        Session::with_store(self.store.clone(), game, settings, None, seats, seed)
    }

    /// The game and where in it the board is.
    pub fn table(&self) -> &dyn Table {
        self.table.as_ref()
    }

    /// Who plays White and who Black.
    pub fn seats(&self) -> &[Seat; 2] {
        &self.seats
    }

    /// The match this game belongs to.
    pub fn games(&self) -> Option<&Match> {
        self.games.as_ref()
    }

    /// What is known about a place of the game.
    pub fn thought(&self, place: usize) -> Option<&Thought> {
        self.thoughts.get(&place).map(|(_, thought)| thought)
    }

    /// How the game ends under best play from a place, where exact tables know it.
    pub fn known(&self, place: usize) -> Option<Proven> {
        self.table.known(place)
    }

    /// How the game ends under best play from a place, where it is certain: by the tables, or by an agent's
    /// search.
    pub fn certain(&self, place: usize) -> Option<Proven> {
        let found = || self.thought(place).and_then(|thought| thought.proven);
        self.known(place).or_else(found)
    }

    /// What a place of the game is worth to White, -1 to +1, as far as it is known.
    pub fn value(&self, place: usize) -> Option<f32> {
        let over = self.table.outcome(place);
        let verdict = over.map(|outcome| outcome.verdict(Player::White));
        match verdict.or_else(|| Some(self.known(place)?.verdict)) {
            Some(verdict) => Some(verdict.sign().into()),
            None => self.thought(place).map(|thought| thought.value),
        }
    }

    /// What is known about the place the board shows, if somebody asked for a hint there.
    pub fn hint(&self) -> Option<&Thought> {
        let here = self.table.cursor();
        match self.thoughts.get(&here) {
            Some((Care::Hint, thought)) if self.hint == Some(here) => Some(thought),
            _ => None,
        }
    }

    /// Whether the evaluation is shown.
    pub fn evaluating(&self) -> bool {
        self.evaluating
    }

    /// Whether the whole game is being looked at.
    pub fn analysing(&self) -> bool {
        self.analysing
    }

    /// Whether it is a person's turn where the board is.
    pub fn human_to_move(&self) -> bool {
        let mover = self.table.mover(self.table.cursor());
        mover.is_some_and(|player| self.seats[player.index()] == Seat::Human)
    }

    /// Whether an agent is to move at the end of the game and will do so.
    pub fn agent_to_move(&self) -> bool {
        let here = self.table.cursor();
        let mover = self.table.mover(here);
        let live = here == self.table.moves().len() && !self.analysing;
        live && mover.is_some_and(|player| self.seats[player.index()] != Seat::Human)
    }

    /// Plays a person's move.
    pub fn play(&mut self, text: &str) -> Result<(), Refusal> {
        let here = self.table.cursor();
        let mover = self.table.mover(here);
        if !self.analysing && mover.is_some() && !self.human_to_move() {
            return Err(Refusal::NotYourTurn);
        }
        let longer = here < self.table.moves().len();
        self.table.play(text).map_err(Refusal::Move)?;
        self.hint = None;
        if longer {
            self.thoughts.split_off(&(here + 1));
            self.edition += 1;
        }
        self.count_match();
        Ok(())
    }

    /// Goes back to the last decision of a person, or by one move if only agents play.
    pub fn undo(&mut self) {
        let here = self.table.cursor();
        let seats = &self.seats;
        let human = |place: &usize| {
            let mover = self.table.mover(*place);
            mover.is_some_and(|player| seats[player.index()] == Seat::Human)
        };
        let back = (0..here).rev().find(human);
        self.go_to(back.unwrap_or(here.saturating_sub(1)));
    }

    /// Takes an undo back.
    pub fn redo(&mut self) {
        let end = self.table.moves().len();
        let here = self.table.cursor();
        let human = |place: &usize| {
            let mover = self.table.mover(*place);
            mover.is_some_and(|player| self.seats[player.index()] == Seat::Human)
        };
        let next = (here + 1..=end).find(|place| human(place) || *place == end);
        self.go_to(next.unwrap_or(end));
    }

    /// Looks at another place of the game.
    pub fn go_to(&mut self, place: usize) {
        self.table.go_to(place);
    }

    /// Makes the place the board shows the end of the game, so that agents go on from there.
    pub fn resume(&mut self) {
        if self.table.cursor() < self.table.moves().len() {
            self.table.cut();
            self.thoughts.split_off(&(self.table.cursor() + 1));
            self.edition += 1;
        }
        self.analysing = false;
    }

    /// Seats somebody.
    pub fn set_seat(&mut self, player: Player, text: &str) -> Result<(), String> {
        self.seats[player.index()] = self.table.seat(text)?;
        self.edition += 1;
        Ok(())
    }

    /// Lets the players change sides and go on from here.
    pub fn swap(&mut self) {
        self.seats.swap(0, 1);
        self.edition += 1;
    }

    /// Puts the pieces back to where the game began.
    pub fn new_game(&mut self) {
        self.table = self.table.fresh();
        self.games = None;
        self.forget();
    }

    /// Begins a match of two games; the sides are swapped after the first.
    pub fn new_match(&mut self) {
        self.new_game();
        self.games = Some(Match {
            game: 1,
            points: [0; 2],
            over: false,
        });
    }

    /// Goes on to the second game of a match, once the first is over.
    pub fn next_game(&mut self) -> Result<(), Refusal> {
        let end = self.table.moves().len();
        let outcome = self.table.outcome(end);
        let (Some(games), Some(outcome)) = (&mut self.games, outcome) else {
            return Err(Refusal::Other("no game of a match has just ended".into()));
        };
        if games.game == 2 {
            return Err(Refusal::Other("the match is over".into()));
        }
        games.points = points(&outcome);
        games.game = 2;
        self.table = self.table.fresh();
        self.seats.swap(0, 1);
        self.forget();
        Ok(())
    }

    /// Asks for a hint where the board is.
    pub fn ask_hint(&mut self) {
        if self.table.mover(self.table.cursor()).is_some() {
            self.hint = Some(self.table.cursor());
        }
    }

    /// Shows the evaluation, or not.
    pub fn set_evaluating(&mut self, evaluating: bool) {
        self.evaluating = evaluating;
    }

    /// Looks at the whole game, or goes back to playing.
    pub fn set_analysing(&mut self, analysing: bool) {
        self.analysing = analysing;
        self.edition += 1;
    }

    /// What the whole game looks like to the analyst, as far as he has come.
    pub fn assessments(&self) -> Vec<Assessment> {
        analysis::assess(self)
    }

    /// How many places of the game the analysis still has to look at.
    pub fn unstudied(&self) -> usize {
        (0..=self.table.moves().len())
            .filter(|&place| self.wants_study(place))
            .count()
    }

    /// The record of the game with its players.
    pub fn record(&self) -> GameRecord {
        GameRecord {
            white: Some(self.seats[0].name(self.table.crew())),
            black: Some(self.seats[1].name(self.table.crew())),
            ..self.table.record()
        }
    }

    /// Puts the game of a record on the table. People sit at both sides.
    pub fn load(&mut self, record: &GameRecord) -> Result<(), String> {
        self.table = table::open_record(record, &self.settings, &self.store)?;
        self.table.go_to(usize::MAX);
        self.seats = [Seat::Human, Seat::Human];
        self.games = None;
        self.forget();
        Ok(())
    }

    /// The next thing to think about.
    pub fn job(&self) -> Option<Job> {
        let here = self.table.cursor();
        let mover = self.table.mover(here);
        if self.agent_to_move() {
            let seat = &self.seats[mover?.index()];
            let (strength, time) = seat.agent(self.table.crew())?;
            return Some(self.make_job(here, Purpose::Move, strength, time));
        }
        let crew = self.table.crew();
        let look = |place, care, strength, time| {
            Some(self.make_job(place, Purpose::Look(care), strength, Some(time)))
        };
        if self.hint == Some(here) && self.lacks(here, Care::Hint) {
            return look(here, Care::Hint, crew.analyst(), MOVE_TIME);
        }
        if self.analysing {
            let end = self.table.moves().len();
            let next = std::iter::once(here)
                .chain(0..=end)
                .find(|&place| self.wants_study(place))?;
            return look(next, Care::Study, crew.reviewer(), STUDY);
        }
        if self.evaluating && self.lacks(here, Care::Glance) {
            return look(here, Care::Glance, crew.analyst(), GLANCE);
        }
        None
    }

    /// Whether a job that is being worked on is still what is wanted next.
    pub fn wants(&self, job: &Job) -> bool {
        self.job().is_some_and(|next| {
            (next.edition, next.place, next.purpose) == (job.edition, job.place, job.purpose)
        })
    }

    /// Takes a thought back. A move is played if it is still wanted. Whether anything changed.
    pub fn finish(&mut self, job: &Job, thought: Thought) -> bool {
        if job.edition != self.edition || job.place > self.table.moves().len() {
            return false;
        }
        let care = match job.purpose {
            Purpose::Move => Care::Glance,
            Purpose::Look(care) => care,
        };
        if job.is_move() {
            if job.place != self.table.cursor() || !self.agent_to_move() {
                return false;
            }
            let played = self.table.play(&thought.text);
            debug_assert!(played.is_ok(), "an agent chose an illegal action");
            self.hint = None;
            self.count_match();
        }
        // The strongest level judges as well as the analyst; weaker agents are no judges.
        let best = self.table.crew().of_level(Level::Best);
        let judges = !job.is_move() || (job.strength == best && job.time == Some(MOVE_TIME));
        if judges && self.lacks(job.place, care) {
            self.thoughts.insert(job.place, (care, thought));
        }
        true
    }

    fn make_job(
        &self,
        place: usize,
        purpose: Purpose,
        strength: Strength,
        time: Option<Duration>,
    ) -> Job {
        Job {
            question: self.table.question(place, self.seed),
            strength,
            time,
            purpose,
            place,
            edition: self.edition,
        }
    }

    /// Whether a place where somebody is to move was not yet looked at with this care.
    fn lacks(&self, place: usize, care: Care) -> bool {
        let known = self.thoughts.get(&place);
        self.table.mover(place).is_some() && known.is_none_or(|(had, _)| *had < care)
    }

    fn wants_study(&self, place: usize) -> bool {
        self.lacks(place, Care::Study)
    }

    fn forget(&mut self) {
        self.thoughts.clear();
        self.hint = None;
        self.analysing = false;
        self.edition += 1;
    }

    /// Closes the match when its second game has ended.
    fn count_match(&mut self) {
        let outcome = self.table.outcome(self.table.moves().len());
        let (Some(games), Some(outcome)) = (&mut self.games, outcome) else {
            return;
        };
        if games.game == 2 && !games.over {
            let [white, black] = points(&outcome);
            games.points = [games.points[0] + black, games.points[1] + white];
            games.over = true;
        }
    }
}

/// What a finished game gives White and Black in a match: its points, or two for a win and one for
/// a draw where it has none.
fn points(outcome: &jarmo::game::Outcome) -> [u32; 2] {
    match outcome.score {
        Some(score) => score.map(u32::from),
        None => Player::BOTH.map(|player| (outcome.verdict(player).sign() + 1) as u32),
    }
}
