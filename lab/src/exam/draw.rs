//! Draws the questions of new exams.

use std::collections::HashSet;

use rand::Rng;
use rayon::prelude::*;

use super::games::HasExam;
use jarmo_core::env::{Keep, Line, Shard};
use jarmo_core::game::{Action, Proven};
use jarmo_core::random::{Stream, below, stream};
use jarmo_exact::agent::Agent;
use jarmo_host::program::this_program;
use jarmo_judge::accuracy::{Exam, Question, choose};

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
}

/// Where positions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    wanted: usize,
    mix: Mix,
    questions: Vec<Question<P>>,
    critical: usize,
    idle: u32, // batches since the last question
}

impl<'a, G: HasExam> Draw<'a, G> {
    /// Begins without questions. The same seed gives the same questions.
    pub fn new(game: &'a G, solve: Solve<'a, G::Position>, mix: Mix, seed: u64) -> Draw<'a, G> {
        Draw {
            game,
            solve,
            mix,
            seed,
            seen: HashSet::new(),
        }
    }

    /// Questions about positions that `random` draws. There are fewer if it gives no more new ones.
    pub fn random(
        &mut self,
        wanted: usize,
        mut random: impl FnMut(&mut Stream) -> G::Position,
    ) -> Vec<Question<G::Position>> {
        let mut stream = self.stream(0, 0);
        self.draw(wanted, || random(&mut stream))
    }

    /// Questions about positions after 1 to [`MOST_OPENING_PLIES`] random plies from the start.
    pub fn openings(&mut self, wanted: usize) -> Vec<Question<G::Position>> {
        let mut stream = self.stream(1, 0);
        let game = self.game;
        self.draw(wanted, || {
            let plies = 1 + below(stream.next_u64(), MOST_OPENING_PLIES);
            Line::random(game, plies, &mut stream).position
        })
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
        let game = self.game;
        let mut draft = Draft::new(wanted, self.mix);
        let mut streams: Vec<Stream> = (0..BATCH as u64).map(|slot| self.stream(2, slot)).collect();
        let opening = |stream: &mut Stream| Line::random(game, RANDOM_PLIES, stream);
        let mut env = Shard::new(game, 0..BATCH, Keep::default(), |slot| {
            Some(opening(&mut streams[slot]))
        });
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
            let parts = positions
                .par_chunks(part)
                .zip(streams.par_chunks_mut(part))
                .zip(actions.par_chunks_mut(part));
            parts.zip(agents.par_iter_mut()).for_each(|(part, agent)| {
                let ((positions, streams), actions) = part;
                let decisions = choose(agent.as_mut(), positions, streams, nodes);
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
        random: impl FnMut(&mut Stream) -> G::Position,
        random_name: &str,
        agents: &mut [Box<dyn Agent<G>>],
        solver: &str,
    ) -> Exam<G> {
        let start = (self.solve)(&[self.game.start()]);
        let mut sources = sources.to_vec();
        sources.retain(|&source| source != Source::Openings || start[0].is_some());
        let part = wanted / sources.len().max(1);
        let first = wanted - part * sources.len().saturating_sub(1); // the first source gives the rest, too
        let of = |source| match sources.iter().position(|&one| one == source) {
            Some(0) => first,
            Some(_) => part,
            None => 0,
        };
        let random = self.random(of(Source::Random), random);
        let games = self.self_play(of(Source::SelfPlay), EXAM_SHARE, agents, None);
        let openings = self.openings(of(Source::Openings));
        let mix = match self.mix {
            Mix::AsDrawn => "as drawn",
            Mix::HalfCritical => "of each kind half are critical",
        };
        let made = format!(
            "{}; {solver}; {} {random_name}, {} positions from games of {} against itself, {} positions after 1 to \
             {MOST_OPENING_PLIES} random plies; {mix}; seed {}",
            this_program(),
            random.len(),
            games.len(),
            agents[0].name(),
            openings.len(),
            self.seed
        );
        let questions = [random, games, openings].concat();
        Exam::new(self.game, &made, questions)
    }

    fn draw(
        &mut self,
        wanted: usize,
        mut random: impl FnMut() -> G::Position,
    ) -> Vec<Question<G::Position>> {
        let mut draft = Draft::new(wanted, self.mix);
        while !draft.is_done() {
            let batch: Vec<_> = (0..BATCH).map(|_| random()).collect();
            self.offer(&mut draft, &batch);
        }
        draft.questions
    }

    /// Takes those of these positions that are new, not over, solved and wanted.
    fn offer(&mut self, draft: &mut Draft<G::Position>, positions: &[G::Position]) {
        let game = self.game;
        let plain = positions
            .iter()
            .map(|position| game.without_history(position));
        let open = plain.filter(|position| game.outcome(position).is_none());
        let new: Vec<_> = open
            .filter(|position| self.seen.insert(*position))
            .collect();
        draft.idle += 1;
        for (position, results) in new.iter().zip((self.solve)(&new)) {
            if let Some(results) = results {
                draft.take(Question {
                    position: *position,
                    phase: game.phase(position),
                    results,
                });
            }
        }
    }

    /// The random numbers of one kind of positions.
    fn stream(&self, kind: u64, slot: u64) -> Stream {
        stream(self.seed, kind << 32 | slot)
    }
}

impl<P> Draft<P> {
    fn new(wanted: usize, mix: Mix) -> Draft<P> {
        Draft {
            wanted,
            mix,
            questions: Vec::new(),
            critical: 0,
            idle: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.questions.len() == self.wanted || self.idle > IDLE_BATCHES
    }

    fn take(&mut self, question: Question<P>) {
        let critical = question.is_critical();
        let (room, taken) = match (self.mix, critical) {
            (Mix::AsDrawn, _) => (self.wanted, self.questions.len()),
            (Mix::HalfCritical, true) => (self.wanted.div_ceil(2), self.critical),
            (Mix::HalfCritical, false) => (self.wanted / 2, self.questions.len() - self.critical),
        };
        if taken < room {
            self.critical += usize::from(critical);
            self.questions.push(question);
            self.idle = 0;
        }
    }
}
