//! Finds puzzles with exact results, and measures how hard they are for an agent.

mod four;
mod jarmo;
mod tammi;

use std::collections::HashSet;

use rayon::prelude::*;

use jarmo_core::game::{Action, Mask, Proven, Verdict};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{Agent, AgentError, AgentSpec, Limit, Networks, Request, build, build_without_search};
use jarmo_exact::catalog::CatalogGame;
use jarmo_exact::tables::ActionValue;
use jarmo_judge::accuracy::Exam;
use jarmo_judge::puzzles::{Goal, Puzzle};

pub use four::Solver;
pub use jarmo::{Games, Solved, from_games};

/// A puzzle has at least this many legal actions.
const FEWEST_CHOICES: u32 = 4;

/// Actions of a solution, at most.
const LONGEST_LINE: usize = 9;

/// The largest difficulty: the agent still fails with half of `2^HARDEST` simulations.
const HARDEST: u32 = 14;

/// What is certain about the positions of a game.
pub trait Truth<G: CatalogGame>: Sync {
    /// The legal actions with their results for the player who takes them, best first. `None` if they are not known.
    fn actions(&self, game: &G, position: &G::Position) -> Option<Vec<ActionValue>>;

    /// Whether the results hold under all rules, and are quick enough for a puzzle.
    fn holds(&self, game: &G, position: &G::Position, right: Action, goal: Goal, plies: Option<u32>) -> bool;

    /// Whether the actions of the player in a solution keep the goal under all rules, as far as `actions` does not say
    /// so.
    fn keeps(&self, _: &G, _: &G::Position, _: &[Action], _: Goal) -> bool {
        true
    }
}

/// Why no puzzles can be made.
#[derive(Debug, thiserror::Error)]
pub enum PuzzleError {
    /// An agent cannot be built.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The solving agent has no network.
    #[error("agent `{0}` has no network; puzzles are rated with one")]
    NoNetwork(Box<AgentSpec>),
}

/// A puzzle before its difficulty is known.
struct Draft<P> {
    position: P,
    goal: Goal,
    plies: Option<u32>,
    line: Vec<Action>,
    /// The positions in which the player is to move, one for every other action of the line.
    turns: Vec<P>,
}

/// The positions of an exam with a single right action.
pub fn from_exam<G: CatalogGame>(game: &G, exam: &Exam<G>) -> Vec<G::Position> {
    let questions = exam.questions().iter();
    let single = questions.filter(|one| is_single(game, &one.position, &one.results));
    single.map(|one| one.position).collect()
}

/// Whether one action alone wins, or alone draws, among enough of them.
fn is_single<G: CatalogGame>(game: &G, position: &G::Position, results: &[Proven]) -> bool {
    let best = results.iter().map(|one| one.verdict).max();
    let best = best.expect("no game is over");
    let right = results.iter().filter(|one| one.verdict == best).count();
    right == 1 && best != Verdict::Loss && game.legal(position).count() >= FEWEST_CHOICES
}

/// Makes at most `count` puzzles of these positions on the threads of the current rayon pool, easiest first. `agent`
/// measures how hard they are; `tell` gets what has been done.
pub fn make<G: CatalogGame>(
    game: &G,
    truth: &impl Truth<G>,
    positions: &[G::Position],
    (count, agent): (usize, &AgentSpec),
    mut tell: impl FnMut(String),
) -> Result<Vec<Puzzle>, PuzzleError> {
    let Some(network) = build_without_search(game.clone(), agent, &Networks::new())? else {
        return Err(PuzzleError::NoNetwork(Box::new(agent.clone())));
    };
    let mut solver = Solving { network, search: build(game.clone(), agent)? };
    tell(format!("{} positions with a single right action", positions.len()));
    let drafts: Vec<Draft<G::Position>> =
        positions.par_iter().filter_map(|position| Draft::new(game, truth, position)).collect();
    tell(format!("{} of them hold", drafts.len()));
    let rated: Vec<(u32, u16, Draft<G::Position>)> = drafts
        .into_iter()
        .map(|draft| {
            let (steps, rating) = solver.difficulty(&draft);
            (steps, rating, draft)
        })
        .collect();
    tell("their difficulty is measured".to_owned());
    Ok(choose(game, rated, count))
}

impl<P: Copy> Draft<P> {
    /// The puzzle of a position with a single right action, if it holds.
    fn new<G: CatalogGame<Position = P>>(game: &G, truth: &impl Truth<G>, position: &P) -> Option<Draft<P>> {
        let (action, goal, plies) = only(game, truth, position)?;
        if !ends_turn(game, position, action) || !truth.holds(game, position, action, goal, plies) {
            return None;
        }
        let mut draft = Draft { position: *position, goal, plies, line: vec![action], turns: vec![*position] };
        let mut here = *position;
        game.play(&mut here, action);
        let mut seen = HashSet::from([board(game, position)]);
        while draft.line.len() + 2 <= LONGEST_LINE && game.outcome(&here).is_none() {
            let Some((reply, next, answer)) = reply(game, truth, &here, goal) else {
                break;
            };
            if !seen.insert(board(game, &next)) {
                break; // a draw that goes in circles
            }
            draft.line.extend([reply, answer]);
            draft.turns.push(next);
            here = next;
            game.play(&mut here, answer);
        }
        truth.keeps(game, position, &draft.line, goal).then_some(draft)
    }

    fn to_puzzle<G: CatalogGame<Position = P>>(&self, game: &G, rating: u16) -> Puzzle {
        Puzzle {
            game: game.id().to_owned(),
            position: game.position_text(&self.position),
            goal: self.goal,
            plies: self.plies,
            line: game.line_texts(self.position, &self.line),
            rating,
            themes: Vec::new(),
        }
    }
}

/// The only action that wins or draws, with the plies of a win. `None` if there are several, or none.
fn only<G: CatalogGame>(
    game: &G,
    truth: &impl Truth<G>,
    position: &G::Position,
) -> Option<(Action, Goal, Option<u32>)> {
    let values = truth.actions(game, position)?;
    let (first, others) = values.split_first()?;
    let goal = match first.proven.verdict {
        Verdict::Win => Goal::Win,
        Verdict::Draw => Goal::Draw,
        Verdict::Loss => return None,
    };
    let single = others.first().is_none_or(|second| second.proven.verdict < first.proven.verdict);
    let plies = first.proven.plies.filter(|_| goal == Goal::Win);
    (single && values.len() >= 2).then_some((first.action, goal, plies))
}

/// The best reply after which the player again has a single right action, the position after it, and that action:
/// a loss, the slowest where plies are known, or any reply that keeps the draw. None where a player acts twice in a row.
fn reply<G: CatalogGame>(
    game: &G,
    truth: &impl Truth<G>,
    position: &G::Position,
    goal: Goal,
) -> Option<(Action, G::Position, Action)> {
    let values = truth.actions(game, position)?;
    let best = values.first()?.proven;
    let as_good = |value: &&ActionValue| match goal {
        Goal::Win => value.proven == best,
        Goal::Draw => value.proven.verdict == best.verdict,
    };
    values.iter().filter(as_good).find_map(|value| {
        let next = game.after(position, value.action);
        if game.outcome(&next).is_some() || !ends_turn(game, position, value.action) {
            return None;
        }
        let (answer, again, _) = only(game, truth, &next)?;
        (again == goal && ends_turn(game, &next, answer)).then_some((value.action, next, answer))
    })
}

/// The pieces and the player to move, without history: the first two words of the text.
fn board<G: CatalogGame>(game: &G, position: &G::Position) -> String {
    game.position_text(position).split(' ').take(2).collect()
}

/// Whether an action ends the player's turn or the game.
fn ends_turn<G: CatalogGame>(game: &G, position: &G::Position, action: Action) -> bool {
    let next = game.after(position, action);
    game.outcome(&next).is_some() || game.to_move(&next) != game.to_move(position)
}

/// The agent for which difficulty is measured.
struct Solving<G: CatalogGame> {
    network: Box<dyn Agent<G>>,
    search: Box<dyn Agent<G>>,
}

impl<G: CatalogGame> Solving<G> {
    /// The doublings of simulations after which the agent finds every action of the solution and does not lose it
    /// again, and the rating.
    fn difficulty(&mut self, draft: &Draft<G::Position>) -> (u32, u16) {
        let steps = (0..HARDEST).rev().find(|&step| !self.finds(draft, step));
        let steps = steps.map_or(0, |failed| failed + 1);
        // Between two steps, the network's own probability of the solution decides.
        let doubt = 1.0 - self.probability(draft);
        let rating = 600.0 + 100.0 * (steps as f32 + doubt);
        (steps, rating.round() as u16)
    }

    /// Whether the agent finds the solution: with its network alone in step 0, then with `2^step` simulations.
    fn finds(&mut self, draft: &Draft<G::Position>, step: u32) -> bool {
        let agent = match step {
            0 => &mut self.network,
            _ => &mut self.search,
        };
        let right = draft.line.iter().step_by(2);
        draft.turns.iter().zip(right).all(|(position, right)| {
            let mut stream = stream(0, 0);
            let mut requests = [request(*position, 1 << step, &mut stream)];
            agent.choose(&mut requests)[0].action == *right
        })
    }

    /// The smallest probability that the network gives to an action of the solution.
    fn probability(&mut self, draft: &Draft<G::Position>) -> f32 {
        let mut smallest: f32 = 1.0;
        for (position, right) in draft.turns.iter().zip(draft.line.iter().step_by(2)) {
            let mut stream = stream(0, 0);
            let mut requests = [request(*position, 1, &mut stream)];
            let decision = self.network.choose(&mut requests).remove(0);
            let candidate = decision.candidates.iter().find(|one| one.action == *right);
            smallest = smallest.min(candidate.map_or(0.0, |one| one.policy));
        }
        smallest
    }
}

fn request<G: CatalogGame>(position: G::Position, nodes: u64, stream: &mut Stream) -> Request<'_, G> {
    Request { position, stream, limit: Limit { nodes: Some(nodes), ..Limit::default() }, memory: None }
}

/// Takes as many of each difficulty as there are, in turns; of one difficulty wins and draws in turns, long solutions
/// first. Easiest first.
fn choose<G: CatalogGame>(game: &G, rated: Vec<(u32, u16, Draft<G::Position>)>, count: usize) -> Vec<Puzzle> {
    let mut piles: Vec<Vec<(u16, Draft<G::Position>)>> = Vec::new(); // by difficulty and goal
    piles.resize_with(2 * (HARDEST as usize + 1), Vec::new);
    for (steps, rating, draft) in rated {
        let pile = 2 * steps as usize + usize::from(draft.goal == Goal::Draw);
        piles[pile].push((rating, draft));
    }
    for pile in &mut piles {
        pile.sort_by_key(|(_, draft)| draft.line.len()); // the longest are taken first, from the end
    }
    let mut chosen = Vec::new();
    while chosen.len() < count && piles.iter().any(|pile| !pile.is_empty()) {
        for pile in &mut piles {
            chosen.extend(pile.pop());
        }
    }
    chosen.truncate(count);
    chosen.sort_by_key(|(rating, _)| *rating);
    let puzzles = chosen.iter();
    puzzles.map(|(rating, draft)| draft.to_puzzle(game, *rating)).collect()
}
