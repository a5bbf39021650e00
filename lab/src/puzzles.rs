//! Finds puzzles with exact tables, and measures how hard they are for an agent.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::exam::{Draw, Mix, solve_by_tables};
use crate::proof;
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Mask, Proven, Verdict};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::agent::{
    Agent, AgentError, AgentSpec, Limit, Request, build, build_without_search,
};
use jarmo_exact::tables::{ActionValue, Tables};
use jarmo_judge::puzzles::{Goal, Puzzle};

/// A puzzle has at least this many legal actions.
const FEWEST_CHOICES: u32 = 4;

/// Wins of more plies take long to check under the shuttle rule.
const MOST_PLIES: u32 = 21;

/// Actions of a solution, at most.
const LONGEST_LINE: usize = 9;

/// Wins of this many plies are searched, not stored, while they are checked.
const SEARCH: u32 = 5;

/// The largest difficulty: the agent still fails with half of `2^HARDEST` simulations.
const HARDEST: u32 = 14;

/// The share of positions that are taken from the games, so that few come from the same game.
const SHARE: f64 = 0.2;

/// How puzzles are found.
#[derive(Clone, Debug)]
pub struct MakeSettings {
    /// How many to make, at most.
    pub count: usize,
    /// Positions with a single right action that are looked at.
    pub positions: usize,
    /// The agent that plays the games from which positions are taken. It must make mistakes.
    pub player: AgentSpec,
    /// The agent for which the difficulty is measured.
    pub solver: AgentSpec,
    /// The seed of everything random.
    pub seed: u64,
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
struct Draft {
    position: JarmoPosition,
    goal: Goal,
    plies: Option<u32>,
    line: Vec<Action>,
    /// The positions in which the player is to move, one for every other action of the line.
    turns: Vec<JarmoPosition>,
}

/// Makes puzzles on the threads of the current rayon pool, easiest first. `tell` gets what has been done.
pub fn make(
    game: &Jarmo,
    tables: &Tables,
    settings: &MakeSettings,
    mut tell: impl FnMut(String),
) -> Result<Vec<Puzzle>, PuzzleError> {
    let threads = rayon::current_num_threads();
    let players = (0..threads).map(|_| build(game.clone(), &settings.player));
    let mut players = players.collect::<Result<Vec<_>, AgentError>>()?;
    let Some(network) = build_without_search(game.clone(), &settings.solver)? else {
        return Err(PuzzleError::NoNetwork(Box::new(settings.solver.clone())));
    };
    let mut solver = Solver {
        network,
        search: build(game.clone(), &settings.solver)?,
    };

    let mut single = |positions: &[JarmoPosition]| {
        let solved = solve_by_tables(game, tables, positions);
        let solved = positions.iter().zip(solved);
        let wanted = |(position, results): (&JarmoPosition, Option<Vec<Proven>>)| {
            results.filter(|results| {
                let best = results.iter().map(|one| one.verdict).max();
                let best = best.expect("no game is over");
                let right = results.iter().filter(|one| one.verdict == best).count();
                right == 1
                    && best != Verdict::Loss
                    && game.legal(position).count() >= FEWEST_CHOICES
            })
        };
        solved.map(wanted).collect()
    };
    let mut draw = Draw::new(game, &mut single, Mix::AsDrawn, settings.seed);
    let questions = draw.self_play(settings.positions, SHARE, &mut players, None);
    tell(format!(
        "{} positions with a single right action",
        questions.len()
    ));
    let drafts: Vec<Draft> = questions
        .par_iter()
        .filter_map(|question| Draft::new(game, tables, &question.position))
        .collect();
    tell(format!(
        "{} of them hold under the shuttle rule",
        drafts.len()
    ));
    let rated: Vec<(u32, u16, Draft)> = drafts
        .into_iter()
        .map(|draft| {
            let (steps, rating) = solver.difficulty(&draft);
            (steps, rating, draft)
        })
        .collect();
    tell("their difficulty is measured".to_owned());
    Ok(choose(game, rated, settings.count))
}

impl Draft {
    /// The puzzle of a position with a single right action, if it holds under the shuttle rule.
    fn new(game: &Jarmo, tables: &Tables, position: &JarmoPosition) -> Option<Draft> {
        let (action, goal, plies) = only(game, tables, position)?;
        if !holds(game, tables, position, action, goal, plies) {
            return None;
        }
        let mut draft = Draft {
            position: *position,
            goal,
            plies,
            line: vec![action],
            turns: vec![*position],
        };
        let mut here = *position;
        game.play(&mut here, action);
        let mut seen = HashSet::from([*position]);
        while draft.line.len() + 2 <= LONGEST_LINE && game.outcome(&here).is_none() {
            let Some((reply, next, answer)) = reply(game, tables, &here, goal) else {
                break;
            };
            if !seen.insert(next) {
                break; // a draw that goes in circles
            }
            draft.line.extend([reply, answer]);
            draft.turns.push(next);
            here = next;
            game.play(&mut here, answer);
        }
        Some(draft)
    }

    fn to_puzzle(&self, game: &Jarmo, rating: u16) -> Puzzle {
        let mut position = self.position;
        let text = |&action: &Action| {
            let text = game.action_text(&position, action);
            game.play(&mut position, action);
            text
        };
        Puzzle {
            game: game.id().to_owned(),
            position: game.position_text(&self.position),
            goal: self.goal,
            plies: self.plies,
            line: self.line.iter().map(text).collect(),
            rating,
        }
    }
}

/// The only action that wins or draws, with the plies of a win. `None` if there are several, or none.
fn only(
    game: &Jarmo,
    tables: &Tables,
    position: &JarmoPosition,
) -> Option<(Action, Goal, Option<u32>)> {
    let values = tables.actions(game, position)?;
    let (first, others) = values.split_first()?;
    let goal = match first.proven.verdict {
        Verdict::Win => Goal::Win,
        Verdict::Draw => Goal::Draw,
        Verdict::Loss => return None,
    };
    let single = others
        .first()
        .is_none_or(|second| second.proven.verdict < first.proven.verdict);
    let plies = first.proven.plies.filter(|_| goal == Goal::Win);
    (single && values.len() >= 2).then_some((first.action, goal, plies))
}

/// The best reply after which the player again has a single right action, the position after it, and that action:
/// the slowest loss, or any reply that keeps the draw.
fn reply(
    game: &Jarmo,
    tables: &Tables,
    position: &JarmoPosition,
    goal: Goal,
) -> Option<(Action, JarmoPosition, Action)> {
    let values = tables.actions(game, position)?;
    let best = values.first()?.proven;
    let as_good = |value: &&ActionValue| match goal {
        Goal::Win => value.proven == best,
        Goal::Draw => value.proven.verdict == best.verdict,
    };
    values.iter().filter(as_good).find_map(|value| {
        let mut next = *position;
        game.play(&mut next, value.action);
        if game.outcome(&next).is_some() {
            return None;
        }
        let (answer, again, _) = only(game, tables, &next)?;
        (again == goal).then_some((value.action, next, answer))
    })
}

/// Whether the results hold under the shuttle rule, which the tables leave out: the win is one against every reply,
/// or all actions but the saving one lose against every reply. Both must be quick enough to be checked.
fn holds(
    game: &Jarmo,
    tables: &Tables,
    position: &JarmoPosition,
    right: Action,
    goal: Goal,
    plies: Option<u32>,
) -> bool {
    let quick = |plies: Option<u32>| plies.is_some_and(|plies| plies <= MOST_PLIES);
    let claims = match goal {
        Goal::Win if !quick(plies) => return false,
        Goal::Win => vec![Line::at(*position)],
        Goal::Draw => {
            let Some(values) = tables.actions(game, position) else {
                return false;
            };
            let wrong = values.iter().filter(|value| value.action != right);
            if !wrong.clone().all(|value| quick(value.proven.plies)) {
                return false;
            }
            let after = wrong.map(|value| {
                let mut next = *position;
                game.play(&mut next, value.action);
                next
            });
            let open = after.filter(|next| game.outcome(next).is_none());
            open.map(Line::at).collect()
        }
    };
    proof::make(game, tables, &claims, SEARCH, String::new()).is_ok()
}

/// The agent for which difficulty is measured.
struct Solver {
    network: Box<dyn Agent<Jarmo>>,
    search: Box<dyn Agent<Jarmo>>,
}

impl Solver {
    /// The doublings of simulations after which the agent finds every action of the solution and does not lose it
    /// again, and the rating.
    fn difficulty(&mut self, draft: &Draft) -> (u32, u16) {
        let steps = (0..HARDEST).rev().find(|&step| !self.finds(draft, step));
        let steps = steps.map_or(0, |failed| failed + 1);
        // Between two steps, the network's own probability of the solution decides.
        let doubt = 1.0 - self.probability(draft);
        let rating = 600.0 + 100.0 * (steps as f32 + doubt);
        (steps, rating.round() as u16)
    }

    /// Whether the agent finds the solution: with its network alone in step 0, then with `2^step` simulations.
    fn finds(&mut self, draft: &Draft, step: u32) -> bool {
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
    fn probability(&mut self, draft: &Draft) -> f32 {
        let mut smallest: f32 = 1.0;
        for (position, right) in draft.turns.iter().zip(draft.line.iter().step_by(2)) {
            let mut stream = stream(0, 0);
            let mut requests = [request(*position, 1, &mut stream)];
            let choice = self.network.choose(&mut requests).remove(0);
            let candidate = choice.candidates.iter().find(|one| one.action == *right);
            smallest = smallest.min(candidate.map_or(0.0, |one| one.policy));
        }
        smallest
    }
}

fn request<'a>(position: JarmoPosition, nodes: u64, stream: &'a mut Stream) -> Request<'a, Jarmo> {
    Request {
        position,
        stream,
        limit: Limit {
            nodes: Some(nodes),
            ..Limit::default()
        },
        memory: None,
    }
}

/// Takes as many of each difficulty as there are, in turns; of one difficulty wins and draws in turns, long solutions
/// first. Easiest first.
fn choose(game: &Jarmo, rated: Vec<(u32, u16, Draft)>, count: usize) -> Vec<Puzzle> {
    let mut piles: Vec<Vec<(u16, Draft)>> = Vec::new(); // by difficulty and goal
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
    let puzzle = |(rating, draft): &(u16, Draft)| draft.to_puzzle(game, *rating);
    chosen.iter().map(puzzle).collect()
}
