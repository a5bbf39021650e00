//! Positions with exact results, ready to be learned.

use std::collections::HashSet;

use jarmo_core::encode::Mirror;
use jarmo_core::eval::Value;
use jarmo_core::game::Mask;
use jarmo_core::net::{FeatureBatch, FrozenNet, Logits, Network, softmax};
use jarmo_core::random::{Stream, below};
use jarmo_exact::catalog::CatalogGame;
use jarmo_judge::accuracy::{Exam, Question};
use jarmo_selfplay::replay::{Sample, Samples};
use rand::Rng;

/// Positions with their exact results.
pub(super) struct Lessons {
    questions: Samples,     // with a perfect policy: every right action has the same probability
    successors: Samples,    // one of each question, at random; the policy is unknown and therefore uniform
    mirror: Option<Mirror>, // half of the positions of a batch are mirrored
}

/// Positions that must not be learned.
pub(super) struct Excluded(HashSet<Vec<u16>>);

impl Excluded {
    /// The positions of an exam, those after any action in them, and all their mirror images.
    pub(super) fn of<G: CatalogGame>(game: &G, exam: &Exam<G>) -> Excluded {
        let mirror = game.mirror();
        let mut excluded = HashSet::new();
        let mut exclude = |position: &G::Position| {
            let features = features(game, position);
            if let Some(mirror) = &mirror {
                let image = features.iter().map(|&set| mirror.inputs[usize::from(set)]);
                let mut image: Vec<u16> = image.collect();
                image.sort_unstable();
                excluded.insert(image);
            }
            excluded.insert(features);
        };
        for question in exam.questions() {
            exclude(&question.position);
            for action in game.legal(&question.position).iter() {
                let mut next = question.position;
                game.play(&mut next, action);
                exclude(&next);
            }
        }
        Excluded(excluded)
    }

    /// No positions.
    pub(super) fn none() -> Excluded {
        Excluded(HashSet::new())
    }
}

impl Lessons {
    /// No positions yet.
    pub(super) fn new<G: CatalogGame>(game: &G) -> Lessons {
        Lessons { questions: Samples::new(), successors: Samples::new(), mirror: game.mirror() }
    }

    /// Adds the positions of an exam, and for each one a position after a random action, without those that are
    /// excluded. Returns the number of excluded positions.
    pub(super) fn add<G: CatalogGame>(
        &mut self,
        game: &G,
        exam: &Exam<G>,
        excluded: &Excluded,
        draws: &mut Stream,
    ) -> usize {
        let mut left_out = 0;
        for question in exam.questions() {
            let sample = sample(game, question);
            let successor = successor(game, question, draws);
            let new = [(&mut self.questions, Some(sample)), (&mut self.successors, successor)];
            for (samples, sample) in new {
                match sample {
                    Some(sample) if excluded.0.contains(sample.get(0).features) => left_out += 1,
                    Some(sample) => samples.extend(&sample),
                    None => {}
                }
            }
        }
        left_out
    }

    /// The positions with a policy.
    pub(super) fn questions(&self) -> &Samples {
        &self.questions
    }

    /// The positions after a random action in one of [`Lessons::questions`], without a policy.
    pub(super) fn successors(&self) -> &Samples {
        &self.successors
    }

    /// Fills a batch with questions and then successors, drawn uniformly and with replacement. The policy to learn
    /// is that of `own` without the wrong actions: this network may prefer any right action.
    pub(super) fn draw(
        &self,
        [questions, successors]: [usize; 2],
        own: &mut FrozenNet,
        draws: &mut Stream,
        batch: &mut Samples,
    ) {
        let mut drawn: Vec<(Sample<'_>, Option<&Mirror>)> = Vec::new();
        let sources = [(&self.questions, questions), (&self.successors, successors)];
        for (samples, rows) in sources {
            for _ in 0..rows {
                let place = below(draws.next_u64(), samples.len() as u32);
                let mirror = self.mirror.as_ref();
                let mirror = mirror.filter(|_| draws.next_u64() & 1 == 1);
                drawn.push((samples.get(place as usize), mirror));
            }
        }
        let mut features = FeatureBatch::new();
        for &(sample, mirror) in &drawn {
            features.push_indices(inputs(sample, mirror));
        }
        let mut logits = Logits::new(*own.shape());
        own.evaluate(&features, &mut logits);
        batch.clear();
        let mut shares = Vec::new();
        for (row, &(sample, mirror)) in drawn.iter().enumerate() {
            let actions = sample.actions.iter().map(|&action| match mirror {
                Some(mirror) => usize::from(mirror.actions[usize::from(action)]),
                None => usize::from(action),
            });
            let policy = logits.policy(row);
            shares.clear();
            shares.extend(actions.map(|action| policy[action]));
            keep_right(&mut shares, sample.policy);
            let sample = Sample { policy: &shares, ..sample };
            match mirror {
                Some(mirror) => batch.push_mirrored(sample, mirror),
                None => batch.push(sample),
            }
        }
    }
}

/// How far a network is from exact results: means over positions.
pub(super) struct Errors {
    /// Minus the logarithm of the probability of all right actions together.
    pub policy: f64,
    /// Minus the logarithm of the probability of the exact result.
    pub result: f64,
    /// The share of positions whose most probable result is the exact one.
    pub predicted: f64,
}

impl Errors {
    /// Measures a network on at most this many positions, evenly spread and not mirrored.
    pub(super) fn of(net: &mut FrozenNet, samples: &Samples, most: usize) -> Errors {
        const CHUNK: usize = 256;
        let step = samples.len().div_ceil(most).max(1);
        let samples: Vec<Sample<'_>> = samples.iter().step_by(step).collect();
        let mut logits = Logits::new(*net.shape());
        let mut shares = Vec::new();
        let mut errors = Errors { policy: 0.0, result: 0.0, predicted: 0.0 };
        for samples in samples.chunks(CHUNK) {
            let mut batch = FeatureBatch::new();
            for &sample in samples {
                batch.push_indices(inputs(sample, None));
            }
            net.evaluate(&batch, &mut logits);
            for (row, sample) in samples.iter().enumerate() {
                let policy = logits.policy(row);
                shares.clear();
                let actions = sample.actions.iter();
                shares.extend(actions.map(|&action| policy[usize::from(action)]));
                softmax(&mut shares);
                let right = shares.iter().zip(sample.policy);
                let right = right.filter(|(_, target)| **target > 0.0);
                errors.policy -= loss(right.map(|(share, _)| share).sum());
                shares.clear();
                shares.extend_from_slice(logits.result(row));
                softmax(&mut shares);
                let exact = sample.result.iter().position(|&share| share == 1.0);
                let exact = shares[exact.expect("a certain result")];
                errors.result -= loss(exact);
                errors.predicted += f64::from(u8::from(shares.iter().all(|&one| one <= exact)));
            }
        }
        let count = samples.len().max(1) as f64;
        Errors { policy: errors.policy / count, result: errors.result / count, predicted: errors.predicted / count }
    }
}

/// Turns the logits of actions into probabilities of the right ones, which have a share in the perfect policy. Wrong
/// actions get 0.
fn keep_right(logits: &mut [f32], perfect: &[f32]) {
    for (logit, &share) in logits.iter_mut().zip(perfect) {
        if share == 0.0 {
            *logit = f32::NEG_INFINITY;
        }
    }
    softmax(logits);
}

/// The logarithm of a probability, with a floor for those that round to 0.
fn loss(probability: f32) -> f64 {
    f64::from(probability.max(f32::MIN_POSITIVE)).ln()
}

/// The inputs of a position that are 1, sorted.
fn features<G: CatalogGame>(game: &G, position: &G::Position) -> Vec<u16> {
    let mut features = Vec::new();
    game.inputs(position, |index| features.push(index as u16));
    features.sort_unstable();
    features
}

/// The position of a question with a perfect policy.
fn sample<G: CatalogGame>(game: &G, question: &Question<G::Position>) -> Samples {
    let best = question.best();
    let results = question.results.iter();
    let is_right = results.map(|result| result.verdict == best.verdict);
    labelled(game, &question.position, Value::proven(best), is_right)
}

/// The position after a random action of a question; `None` if the game is over. No action is known to be wrong.
fn successor<G: CatalogGame>(game: &G, question: &Question<G::Position>, draws: &mut Stream) -> Option<Samples> {
    let legal = game.legal(&question.position);
    let rank = below(draws.next_u64(), legal.count());
    let value = Value::proven(question.results[rank as usize]);
    let mut next = question.position;
    game.play(&mut next, legal.nth(rank));
    let is_other = game.to_move(&next) != game.to_move(&question.position);
    let value = if is_other { value.flip() } else { value };
    let is_right = std::iter::repeat(true);
    game.outcome(&next).is_none().then(|| labelled(game, &next, value, is_right))
}

/// A position with its value and a uniform policy over its right actions. Its score is unknown: a win counts as one
/// point, a loss as minus one.
fn labelled<G: CatalogGame>(
    game: &G,
    position: &G::Position,
    value: Value,
    is_right: impl Iterator<Item = bool>,
) -> Samples {
    let actions: Vec<u16> = game.legal(position).iter().map(|action| action.0).collect();
    let is_right = is_right.take(actions.len());
    let mut policy: Vec<f32> = is_right.map(|right| f32::from(u8::from(right))).collect();
    let all: f32 = policy.iter().sum();
    policy.iter_mut().for_each(|share| *share /= all);
    let mut one = Samples::new();
    one.push(Sample {
        features: &features(game, position),
        actions: &actions,
        policy: &policy,
        result: value.results(),
        score: value.score as i8,
    });
    one
}

/// The inputs of a sample that are 1.
fn inputs<'a>(sample: Sample<'a>, mirror: Option<&'a Mirror>) -> impl Iterator<Item = u32> + 'a {
    sample.features.iter().map(move |&set| match mirror {
        Some(mirror) => u32::from(mirror.inputs[usize::from(set)]),
        None => u32::from(set),
    })
}

#[cfg(test)]
mod tests {
    use crate::exam::HasExam;
    use jarmo_core::game::{Action, Game, Proven};
    use jarmo_core::games::ConnectFour;
    use jarmo_core::random::stream;

    use super::*;

    /// A question about the position after a stone in this column. Only the first two columns win.
    fn question(game: &ConnectFour, column: u16) -> Exam<ConnectFour> {
        let mut position = game.start();
        game.play(&mut position, Action(column));
        let mut results = vec![Proven::loss(9); 7];
        results[..2].fill(Proven::win(9));
        let phase = game.phase(&position);
        let question = Question { position, phase, results };
        Exam::new(game, "", vec![question])
    }

    #[test]
    fn positions_of_the_exam_and_their_mirror_images_are_never_learned() {
        let game = ConnectFour::new(0);
        let excluded = Excluded::of(&game, &question(&game, 1));
        let mut lessons = Lessons::new(&game);
        for (column, learned) in [(1, 0), (5, 0), (2, 1)] {
            let exam = question(&game, column);
            lessons.add(&game, &exam, &excluded, &mut stream(1, 0));
            assert_eq!(lessons.questions().len(), learned, "{column}");
        }
    }

    #[test]
    fn a_successor_has_the_result_of_its_action_for_its_own_player() {
        let game = ConnectFour::new(0);
        let exam = question(&game, 3);
        let question = &exam.questions()[0];
        let mut seen = HashSet::new();
        for seed in 0..100 {
            let samples = successor(&game, question, &mut stream(seed, 0)).unwrap();
            let sample = samples.get(0);
            let column = (0..7).find(|&column| {
                let mut next = question.position;
                game.play(&mut next, Action(column));
                features(&game, &next) == sample.features
            });
            let column = column.expect("a position after one action");
            let is_lost = f32::from(u8::from(column < 2)); // after a win of the other player
            assert_eq!(sample.result, [1.0 - is_lost, 0.0, is_lost], "{column}");
            seen.insert(column);
        }
        assert_eq!(seen.len(), 7);
    }

    #[test]
    fn positions_after_an_action_in_the_exam_are_never_learned() {
        let game = ConnectFour::new(0);
        let exam = question(&game, 3);
        let excluded = Excluded::of(&game, &exam);
        let mut lessons = Lessons::new(&game);
        for seed in 0..20 {
            lessons.add(&game, &exam, &excluded, &mut stream(seed, 0));
        }
        assert_eq!(lessons.successors().len(), 0);
    }

    #[test]
    fn wrong_actions_get_nothing_and_right_ones_keep_their_proportion() {
        let mut shares = [0.0, 80.0, 3.0_f32.ln(), -80.0];
        keep_right(&mut shares, &[0.5, 0.0, 0.5, 0.0]);
        for (share, expected) in shares.iter().zip([0.25, 0.0, 0.75, 0.0]) {
            assert!((share - expected).abs() < 1e-6, "{shares:?}");
        }
    }
}
