//! Draws for a seed: critical positions as an exam, and drawn positions as starts.

use std::collections::HashSet;

use crate::accuracy::{Exam, Phase, Question};
use jarmo_core::game::{Action, Game, Mask, Proven, Verdict};
use jarmo_core::random::stream;
use jarmo_exact::tables::Endgames;

/// Mixed into the seed for each use.
const EXAM: u64 = 0x6672_6573_6865_7861;
const STARTS: u64 = 0x7374_6172_7473_5f5f;

/// Random positions after which there are probably no more of the wanted kind.
const MOST_DRAWN: usize = 1 << 20;

/// Positions that tell the highest force of tables, of which all are drawn alike.
const FORCES_DRAWN: usize = 256;

/// The result of each legal action of a position that the tables know, in the order of the actions.
fn results<G: Game>(game: &G, tables: &dyn Endgames<G>, position: &G::Position) -> Option<Vec<Proven>> {
    if game.outcome(position).is_some() {
        return None;
    }
    tables.known(game, position)?;
    let legal = game.legal(position);
    let after = |action| tables.after(game, position, action);
    Some(legal.iter().map(after).collect())
}

/// Whether an action is worse than another legal one; `None` where the tables do not know. The result of the position
/// itself is no measure, because a rule that the tables leave out can forbid the best action.
pub(super) fn is_mistake<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    position: &G::Position,
    action: Action,
) -> Option<bool> {
    let best = results(game, tables, position)?.iter().map(|result| result.verdict).max();
    Some(Some(tables.after(game, position, action).verdict) < best)
}

/// An exam of different critical positions of the tables; `None` if none are wanted.
pub(super) fn exam<G: Game>(game: &G, tables: &dyn Endgames<G>, wanted: u32, seed: u64) -> Option<Exam<G>> {
    let mut stream = stream(seed, EXAM);
    let (mut seen, mut questions) = (HashSet::new(), Vec::new());
    let mut force = 0;
    for _ in 0..MOST_DRAWN {
        if questions.len() == wanted as usize {
            break;
        }
        let position = tables.random(&mut stream);
        if !seen.insert(position) {
            continue;
        }
        let Some(results) = results(game, tables, &position) else { continue };
        let question = Question { position, phase: Phase::End, results };
        if question.is_critical() {
            force = force.max(tables.force(&position));
            questions.push(question);
        }
    }
    let made =
        format!("{} random critical placements of all forces to {force}, by tables; seed {seed}", questions.len());
    (!questions.is_empty()).then(|| Exam::new(game, &made, questions))
}

/// The highest force of the tables, and different critical positions of it that are drawn.
pub(super) fn drawn<G: Game>(game: &G, tables: &dyn Endgames<G>, wanted: usize, seed: u64) -> (u32, Vec<G::Position>) {
    let mut stream = stream(seed, STARTS);
    let force = (0..FORCES_DRAWN).map(|_| tables.force(&tables.random(&mut stream))).max().unwrap_or(0);
    let mut starts = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..MOST_DRAWN {
        if starts.len() == wanted {
            break;
        }
        let position = tables.random(&mut stream);
        if tables.force(&position) != force || !seen.insert(position) {
            continue;
        }
        let Some(results) = results(game, tables, &position) else { continue };
        let best = results.iter().map(|result| result.verdict).max();
        let loses = results.iter().any(|result| result.verdict == Verdict::Loss);
        if best == Some(Verdict::Draw) && loses {
            starts.push(position);
        }
    }
    (force, starts)
}
