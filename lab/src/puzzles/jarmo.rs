//! Puzzles of jarmo: positions of games, solved by exact tables.

use std::error::Error;

use super::{Truth, is_single};
use crate::exam::{Draw, Mix, solve_by_tables};
use crate::proof;
use jarmo_core::env::Line;
use jarmo_core::game::{Action, Game, Proven};
use jarmo_core::games::{Jarmo, JarmoPosition};
use jarmo_exact::agent::{AgentError, AgentSpec, build};
use jarmo_exact::tables::{ActionValue, ShuttleBounds, Tables};
use jarmo_judge::puzzles::{Goal, Puzzle};

/// Wins of more plies take long to check under the shuttle rule.
const MOST_PLIES: u32 = 21;

/// Wins of this many plies are searched, not stored, while they are checked.
const SEARCH: u32 = 5;

/// The share of positions that are taken from the games, so that few come from the same game.
const SHARE: f64 = 0.2;

/// The games that positions are taken from.
#[derive(Clone, Debug)]
pub struct Games {
    /// Positions with a single right action that are looked at.
    pub positions: usize,
    /// The agent that plays the games. It must make mistakes.
    pub player: AgentSpec,
    /// The seed of everything random.
    pub seed: u64,
}

/// Positions of games with a single right action, on the threads of the current rayon pool.
pub fn from_games(game: &Jarmo, tables: &Tables, games: &Games) -> Result<Vec<JarmoPosition>, AgentError> {
    let threads = rayon::current_num_threads();
    let players = (0..threads).map(|_| build(game.clone(), &games.player));
    let mut players = players.collect::<Result<Vec<_>, AgentError>>()?;
    let mut single = |positions: &[JarmoPosition]| {
        let solved = solve_by_tables(game, tables, positions);
        let solved = positions.iter().zip(solved);
        let wanted = |(position, results): (&JarmoPosition, Option<Vec<Proven>>)| {
            results.filter(|results| is_single(game, position, results))
        };
        solved.map(wanted).collect()
    };
    let mut draw = Draw::new(game, &mut single, Mix::AsDrawn, games.seed);
    let questions = draw.self_play(games.positions, SHARE, &mut players, None);
    Ok(questions.iter().map(|question| question.position).collect())
}

/// The tables, and perhaps what each side holds under the shuttle rule.
pub struct Solved {
    /// The results without the rule.
    pub tables: Tables,
    /// What each side holds.
    pub holds: Option<ShuttleBounds>,
}

impl Solved {
    /// Whether no action of the solution of an earlier puzzle is known to lose a draw under the shuttle rule.
    pub fn stands(&self, game: &Jarmo, puzzle: &Puzzle) -> Result<bool, Box<dyn Error + Send + Sync>> {
        puzzle.check(game)?;
        let start = game.parse_position(&puzzle.position)?;
        let mut position = start;
        let play = |text: &String| game.play_text(&mut position, text);
        let line = puzzle.line.iter().map(play).collect::<Result<Vec<_>, _>>()?;
        Ok(puzzle.goal == Goal::Win || self.is_held(game, &start, &line) != Some(false))
    }

    /// Whether the player to move holds after each own action of a line; `None` if that is not known.
    fn is_held(&self, game: &Jarmo, start: &JarmoPosition, line: &[Action]) -> Option<bool> {
        let holds = self.holds.as_ref()?;
        let (player, mut position) = (start.to_move(), *start);
        let mut known = Some(true);
        for &action in line {
            let own = position.to_move() == player;
            game.play(&mut position, action);
            if !own || game.outcome(&position).is_some() {
                continue;
            }
            match holds.holds(&position, player) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => known = None,
            }
        }
        known
    }
}

impl Truth<Jarmo> for Solved {
    fn actions(&self, game: &Jarmo, position: &JarmoPosition) -> Option<Vec<ActionValue>> {
        self.tables.actions(game, position)
    }

    fn keeps(&self, game: &Jarmo, start: &JarmoPosition, line: &[Action], goal: Goal) -> bool {
        goal == Goal::Win || self.holds.is_none() || self.is_held(game, start, line) == Some(true)
    }

    /// The tables leave the shuttle rule out: the win must be one against every reply, or all actions but the saving
    /// one must lose against every reply. Both must be quick enough to be checked.
    fn holds(&self, game: &Jarmo, position: &JarmoPosition, right: Action, goal: Goal, plies: Option<u32>) -> bool {
        let quick = |plies: Option<u32>| plies.is_some_and(|plies| plies <= MOST_PLIES);
        let claims = match goal {
            Goal::Win if !quick(plies) => return false,
            Goal::Win => vec![Line::at(*position)],
            Goal::Draw => {
                let Some(values) = self.actions(game, position) else {
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
        proof::make(game, &self.tables, &claims, SEARCH, String::new()).is_ok()
    }
}
