//! Draws the questions of new exams.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use rand::Rng;
use rayon::prelude::*;

use super::games::HasExam;
use jarmo_core::env::{Keep, Line, Shard};
use jarmo_core::game::{Action, Mask, Proven};
use jarmo_core::random::{Stream, below, stream};
use jarmo_exact::agent::{Agent, Limit};
use jarmo_host::program::this_program;
use jarmo_judge::accuracy::{Exam, Question};

/// Solves positions that are not over: the result of each legal action, in the order of the actions. `None`
/// for positions that it does not know.
pub type Solve<'a, P> = &'a mut dyn FnMut(&[P]) -> Vec<Option<Vec<Proven>>>;

/// Which questions are taken of those that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// All.
    AsDrawn,
    /// As many critical positions as others.
    HalfCritical,
    /// As many positions of each ply from 0 to this one, and as many critical ones as others. The first plies have
    /// fewer positions; all of these are questions.
    EachPly(u32),
}

/// Where positions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Random positions of the solver.
    Random,
    /// Games of an agent against itself.
    SelfPlay,
    /// Random actions from the start of the game.
    Openings,
}

impl Source {
    /// All sources.
    pub const ALL: [Source; 3] = [Source::Random, Source::SelfPlay, Source::Openings];
}

/// The most random plies at the start of a game that give an opening.
pub const MOST_OPENING_PLIES: u32 = 12;

/// Positions that are drawn and solved at the same time, and games that are played at the same time.
const BATCH: usize = 256;

/// Batches in a row without a new question after which there are probably no more.
const IDLE_BATCHES: u32 = 1000;

/// The share of the positions of self-play that an exam takes, so that its questions come from many games.
const EXAM_SHARE: f64 = 0.25;

/// Random plies at the start of each game of self-play.
const RANDOM_PLIES: u32 = 4;

/// Games of self-play are restarted after this many plies.
const LONGEST_GAME: u32 = 200;

/// Draws questions. No position occurs twice.
pub struct Draw<'a, G: HasExam> {
    game: &'a G,
    solve: Solve<'a, G::Position>,
    mix: Mix,
    seed: u64,
    seen: HashSet<G::Position>,
}

/// One kind of questions, while it is drawn.
struct Draft<P> {
    rooms: Vec<Room>,
    questions: Vec<Question<P>>,
    idle: u32, // batches since the last question
}

/// How many questions are wanted of some plies.
struct Room {
    plies: RangeInclusive<u32>,
    critical: Option<bool>, // `None`: both kinds
    wanted: usize,
}

/// Any number of plies.
const ALL_PLIES: RangeInclusive<u32> = 0..=u32::MAX;

impl<'a, G: HasExam> Draw<'a, G> {
    /// Begins without questions. The same seed gives the same questions.
    pub fn new(game: &'a G, solve: Solve<'a, G::Position>, mix: Mix, seed: u64) -> Draw<'a, G> {
        Draw { game, solve, mix, seed, seen: HashSet::new() }
    }

    /// Questions about positions from games of an agent against itself. Each game starts with four random
    /// plies, and each later position is taken with probability `share`. The agents share the games on the
    /// threads of the current rayon pool; their number does not change the result. `nodes` limits their
    /// nodes or simulations per position; without it, their spec decides.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn self_play(
        &mut self,
        wanted: usize,
        share: f64,
        agents: &mut [Box<dyn Agent<G>>],
        nodes: Option<u64>,
    ) -> Vec<Question<G::Position>> {
        let rooms = self.rooms(wanted);
        self.draw_games(rooms, share, agents, nodes)
    }

    fn draw_games(
        &mut self,
        rooms: Vec<Room>,
        share: f64,
        agents: &mut [Box<dyn Agent<G>>],
        nodes: Option<u64>,
    ) -> Vec<Question<G::Position>> {
        let game = self.game;
        let limit = Limit { nodes, ..Limit::default() };
        let mut draft = Draft::new(rooms);
        let mut streams: Vec<Stream> = (0..BATCH as u64).map(|slot| self.stream(2, slot)).collect();
        let opening = |stream: &mut Stream| Line::random(game, RANDOM_PLIES, stream);
        let mut env = Shard::new(game, 0..BATCH, Keep::default(), |slot| Some(opening(&mut streams[slot])));
        let mut actions = vec![Action(0); BATCH];
        let part = BATCH.div_ceil(agents.len());
        while !draft.is_done() {
            let mut taken = Vec::new();
            for (slot, stream) in streams.iter_mut().enumerate() {
                if game.ply(env.position(slot)) >= LONGEST_GAME {
                    env.start(slot, opening(stream));
                }
                if f64::from(below(stream.next_u64(), 1 << 24)) < share * f64::from(1 << 24) {
                    taken.push(*env.position(slot));
                }
            }
            self.offer(&mut draft, &taken);
            let positions: Vec<_> = (0..BATCH).map(|slot| *env.position(slot)).collect();
            let parts = positions.par_chunks(part).zip(streams.par_chunks_mut(part)).zip(actions.par_chunks_mut(part));
            parts.zip(agents.par_iter_mut()).for_each(|(part, agent)| {
                let ((positions, streams), actions) = part;
                let decisions = agent.decide(positions, streams, limit);
                for (action, decision) in actions.iter_mut().zip(decisions) {
                    *action = decision.action;
                }
            });
            env.step(&actions, |ended, _| Some(opening(&mut streams[ended.slot])));
        }
        draft.questions
    }

    /// A whole exam, with as many questions from each of these sources; from openings there are none if the start of
    /// the game is not solved. `random` draws random positions, `random_name` says which, and `solver` says how they
    /// are solved.
    ///
    /// # Panics
    /// Panics if there is no agent.
    pub fn exam(
        mut self,
        wanted: usize,
        sources: &[Source],
        mut random: impl FnMut(&mut Stream) -> G::Position,
        random_name: &str,
        (name, agents): (&str, &mut [Box<dyn Agent<G>>]),
        solver: &str,
    ) -> Exam<G> {
        let start = (self.solve)(&[self.game.start()]);
        let mut sources = sources.to_vec();
        sources.retain(|&source| source != Source::Openings || start[0].is_some());
        let (mut questions, parts) = match self.mix {
            Mix::EachPly(last) => self.by_ply(wanted, last, &sources),
            _ => (Vec::new(), self.in_equal_parts(wanted, sources.len())),
        };
        let mut kinds = Vec::new();
        if !questions.is_empty() {
            kinds.push(format!("all {} positions of the first plies", questions.len()));
        }
        let mut parts: Vec<_> = sources.into_iter().zip(parts).collect();
        parts.sort_by_key(|(source, _)| *source);
        for (source, rooms) in parts {
            let (drawn, name) = match source {
                Source::Random => (self.draw_random(rooms, &mut random), random_name.to_owned()),
                Source::SelfPlay => (
                    self.draw_games(rooms, EXAM_SHARE, agents, None),
                    format!("positions from games of {name} against itself"),
                ),
                Source::Openings => {
                    (self.draw_openings(rooms), format!("positions after 1 to {MOST_OPENING_PLIES} random plies"))
                }
            };
            kinds.push(format!("{} {name}", drawn.len()));
            questions.extend(drawn);
        }
        if let Mix::EachPly(last) = self.mix {
            let more = self.fill(wanted, last, &questions, &mut random);
            if !more.is_empty() {
                let number = more.len();
                kinds.push(format!("{number} more {random_name} in place of those that a ply lacks"));
            }
            questions.extend(more);
        }
        let mix = match self.mix {
            Mix::AsDrawn => "as drawn".to_owned(),
            Mix::HalfCritical => "of each kind half are critical".to_owned(),
            Mix::EachPly(last) => {
                format!("of each ply up to {last} the same number, and half are critical")
            }
        };
        let made = format!("{}; {solver}; {}; {mix}; seed {}", this_program(), kinds.join(", "), self.seed);
        Exam::new(self.game, &made, questions)
    }

    /// What is wanted of each of these sources. The first gives the rest, too.
    fn in_equal_parts(&self, wanted: usize, sources: usize) -> Vec<Vec<Room>> {
        let part = wanted / sources.max(1);
        let first = wanted - part * sources.saturating_sub(1);
        let of = |source| if source == 0 { first } else { part };
        (0..sources).map(|source| self.rooms(of(source))).collect()
    }

    /// What is wanted of one source.
    fn rooms(&self, wanted: usize) -> Vec<Room> {
        let room = |critical, wanted| Room { plies: ALL_PLIES, critical, wanted };
        match self.mix {
            Mix::AsDrawn => vec![room(None, wanted)],
            Mix::HalfCritical | Mix::EachPly(_) => {
                vec![room(Some(true), wanted.div_ceil(2)), room(Some(false), wanted / 2)]
            }
        }
    }

    /// For [`Mix::EachPly`]: all positions of the first plies, which have no more than their share, and what is wanted of
    /// each of these sources from the other plies. Games of self-play have none of their random plies.
    fn by_ply(&mut self, wanted: usize, last: u32, sources: &[Source]) -> (Vec<Question<G::Position>>, Vec<Vec<Room>>) {
        let mut first = Vec::new();
        let mut positions = vec![self.game.start()];
        let mut ply = 0;
        let share = |taken: usize, ply: u32| (wanted - taken) / (last + 1 - ply) as usize;
        while ply <= last && positions.len() <= share(first.len(), ply) {
            let mut draft = Draft::new(vec![Room { plies: ALL_PLIES, critical: None, wanted: positions.len() }]);
            self.offer(&mut draft, &positions);
            first.extend(draft.questions);
            positions = self.after(&positions);
            ply += 1;
        }
        let critical = first.iter().filter(|one| one.is_critical()).count();
        let left = [
            (true, (wanted / 2).saturating_sub(critical)),
            (false, (wanted - wanted / 2).saturating_sub(first.len() - critical)),
        ];
        let plies = (last + 1).saturating_sub(ply) as usize;
        let has = |source: Source, ply: u32| source != Source::SelfPlay || ply >= RANDOM_PLIES;
        let rooms = |&source: &Source| {
            let of_ply = |(index, ply): (usize, u32)| {
                let mut having = sources.iter().filter(|&&one| has(one, ply));
                let number = having.clone().count();
                let place = having.position(|&one| one == source);
                left.map(|(critical, left)| Room {
                    plies: ply..=ply,
                    critical: Some(critical),
                    wanted: place.map_or(0, |place| part(part(left, index, plies), place, number)),
                })
            };
            (ply..=last).enumerate().flat_map(of_ply).collect()
        };
        let rooms = sources.iter().map(rooms).collect();
        (first, rooms)
    }

    /// For [`Mix::EachPly`]: random questions in place of those that some plies lack. Positions that found no room before
    /// may be drawn again.
    fn fill(
        &mut self,
        wanted: usize,
        last: u32,
        questions: &[Question<G::Position>],
        random: &mut impl FnMut(&mut Stream) -> G::Position,
    ) -> Vec<Question<G::Position>> {
        self.seen = questions.iter().map(|question| question.position).collect();
        let critical = questions.iter().filter(|one| one.is_critical()).count();
        let room = |critical, wanted| Room { plies: 0..=last, critical: Some(critical), wanted };
        let rooms = vec![
            room(true, (wanted / 2).saturating_sub(critical)),
            room(false, (wanted - wanted / 2).saturating_sub(questions.len() - critical)),
        ];
        let mut stream = self.stream(3, 0);
        self.draw(rooms, || random(&mut stream))
    }

    /// The positions after an action in these, each once.
    fn after(&self, positions: &[G::Position]) -> Vec<G::Position> {
        let mut seen = HashSet::new();
        let mut after = Vec::new();
        for position in positions {
            for action in self.game.legal(position).iter() {
                let mut next = *position;
                self.game.play(&mut next, action);
                if seen.insert(next) {
                    after.push(next);
                }
            }
        }
        after
    }

    /// Questions about positions that `random` draws. There are fewer if it gives no more new ones.
    fn draw_random(
        &mut self,
        rooms: Vec<Room>,
        random: &mut impl FnMut(&mut Stream) -> G::Position,
    ) -> Vec<Question<G::Position>> {
        let mut stream = self.stream(0, 0);
        self.draw(rooms, || random(&mut stream))
    }

    /// Questions about positions after 1 to [`MOST_OPENING_PLIES`] random plies from the start.
    fn draw_openings(&mut self, rooms: Vec<Room>) -> Vec<Question<G::Position>> {
        let mut stream = self.stream(1, 0);
        let game = self.game;
        self.draw(rooms, || {
            let plies = 1 + below(stream.next_u64(), MOST_OPENING_PLIES);
            Line::random(game, plies, &mut stream).position
        })
    }

    fn draw(&mut self, rooms: Vec<Room>, mut random: impl FnMut() -> G::Position) -> Vec<Question<G::Position>> {
        let mut draft = Draft::new(rooms);
        while !draft.is_done() {
            let batch: Vec<_> = (0..BATCH).map(|_| random()).collect();
            self.offer(&mut draft, &batch);
        }
        draft.questions
    }

    /// Takes those of these positions that are new, not over, solved and wanted.
    fn offer(&mut self, draft: &mut Draft<G::Position>, positions: &[G::Position]) {
        let game = self.game;
        let plain = positions.iter().map(|position| game.without_history(position));
        let open = plain.filter(|position| game.outcome(position).is_none());
        let new: Vec<_> = open
            .filter(|position| draft.wants(game.ply(position)))
            .filter(|position| self.seen.insert(*position))
            .collect();
        draft.idle += 1;
        for (position, results) in new.iter().zip((self.solve)(&new)) {
            if let Some(results) = results {
                let question = Question { position: *position, phase: game.phase(position), results };
                draft.take(game.ply(position), question);
            }
        }
    }

    /// The random numbers of one kind of positions.
    fn stream(&self, kind: u64, slot: u64) -> Stream {
        stream(self.seed, kind << 32 | slot)
    }
}

impl<P> Draft<P> {
    fn new(rooms: Vec<Room>) -> Draft<P> {
        Draft { rooms, questions: Vec::new(), idle: 0 }
    }

    fn is_done(&self) -> bool {
        self.rooms.iter().all(|room| room.wanted == 0) || self.idle > IDLE_BATCHES
    }

    /// Whether a question of this ply may be wanted.
    fn wants(&self, ply: u32) -> bool {
        let mut rooms = self.rooms.iter();
        rooms.any(|room| room.wanted > 0 && room.plies.contains(&ply))
    }

    fn take(&mut self, ply: u32, question: Question<P>) {
        let is_critical = question.is_critical();
        let mut rooms = self.rooms.iter_mut();
        let room = rooms.find(|room| {
            room.wanted > 0 && room.plies.contains(&ply) && room.critical.is_none_or(|critical| critical == is_critical)
        });
        if let Some(room) = room {
            room.wanted -= 1;
            self.questions.push(question);
            self.idle = 0;
        }
    }
}

/// The size of one of `parts` nearly equal parts.
fn part(all: usize, index: usize, parts: usize) -> usize {
    all * (index + 1) / parts - all * index / parts
}
