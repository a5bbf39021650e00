//! Chooses positions at random from a seed: critical ones for an exam, and ones that are draws as starts.

use std::collections::HashSet;

use crate::accuracy::{Exam, Phase, Question, results};
use jarmo_core::game::{Game, Proven, Verdict};
use jarmo_core::random::{Stream, stream};
use jarmo_exact::tables::Endgames;

/// Mixed into the seed for each use.
const EXAM: u64 = 0x6672_6573_6865_7861;
const STARTS: u64 = 0x7374_6172_7473_5f5f;

/// After this many random positions, there are probably no more of the wanted kind.
const MOST_DRAWN: usize = 1 << 20;

/// How many random positions are looked at to find the highest force of the tables.
const FORCES_DRAWN: usize = 256;

/// An exam of different critical positions of the tables, none of which is `published`; `None` if none are wanted.
pub(super) fn exam<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    published: &[G::Position],
    wanted: u32,
    seed: u64,
) -> Option<Exam<G>> {
    let published: HashSet<&G::Position> = published.iter().collect();
    let mut stream = stream(seed, EXAM);
    let questions: Vec<Question<G::Position>> = different(game, tables, &mut stream, |one| !published.contains(one))
        .map(|(position, results)| Question { position, phase: Phase::End, results })
        .filter(Question::is_critical)
        .take(wanted as usize)
        .collect();
    let force = questions.iter().map(|question| tables.force(&question.position)).max().unwrap_or(0);
    let made =
        format!("{} random critical placements of all forces to {force}, by tables; seed {seed}", questions.len());
    (!questions.is_empty()).then(|| Exam::new(game, &made, questions))
}

/// The highest force of the tables, and different critical positions of this force whose result is a draw.
pub(super) fn drawn<G: Game>(game: &G, tables: &dyn Endgames<G>, wanted: usize, seed: u64) -> (u32, Vec<G::Position>) {
    let mut stream = stream(seed, STARTS);
    let force = (0..FORCES_DRAWN).map(|_| tables.force(&tables.random(&mut stream))).max().unwrap_or(0);
    let is_drawn = |results: &[Proven]| {
        let verdicts = || results.iter().map(|result| result.verdict);
        verdicts().max() == Some(Verdict::Draw) && verdicts().any(|verdict| verdict == Verdict::Loss)
    };
    let starts = different(game, tables, &mut stream, |position| tables.force(position) == force)
        .filter(|(_, results)| is_drawn(results))
        .map(|(position, _)| position);
    (force, starts.take(wanted).collect())
}

/// Different random positions that fit, with the results of their actions, as far as the tables know them.
fn different<G: Game>(
    game: &G,
    tables: &dyn Endgames<G>,
    stream: &mut Stream,
    fits: impl Fn(&G::Position) -> bool,
) -> impl Iterator<Item = (G::Position, Vec<Proven>)> {
    let mut seen = HashSet::new();
    (0..MOST_DRAWN)
        .map(|_| tables.random(stream))
        .filter(move |position| fits(position) && seen.insert(*position))
        .filter_map(|position| Some((position, results(game, tables, &position)?)))
}
