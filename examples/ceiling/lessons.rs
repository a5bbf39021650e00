//! Positions with exact results, ready to be learned.

use std::collections::HashSet;

use jarmo::accuracy::{Exam, Question};
use jarmo::catalog::CatalogGame;
use jarmo::encode::Mirror;
use jarmo::eval::Value;
use jarmo::game::Mask;
use jarmo::net::{FeatureBatch, FrozenNet, Logits, softmax};
use jarmo::random::{Stream, below};
use jarmo::replay::{Sample, SampleView, Samples};
use jarmo::train::TrainBatch;
use rand::Rng;

/// Positions with their exact results and a perfect policy: every right action has the same probability.
pub struct Lessons {
    samples: Samples,
    mirror: Option<Mirror>, // half of the positions of a batch are mirrored
}

/// Positions that must not be learned, and their mirror images.
pub struct Excluded(HashSet<Vec<u16>>);

impl Excluded {
    /// The positions of an exam.
    pub fn of<G: CatalogGame>(game: &G, exam: &Exam<G>) -> Excluded {
        let mirror = game.mirror();
        let mut excluded = HashSet::new();
        for question in exam.questions() {
            let features = features(game, question);
            if let Some(mirror) = &mirror {
                let image = features.iter().map(|&set| mirror.inputs[usize::from(set)]);
                let mut image: Vec<u16> = image.collect();
                image.sort_unstable();
                excluded.insert(image);
            }
            excluded.insert(features);
        }
        Excluded(excluded)
    }

    /// No positions.
    pub fn none() -> Excluded {
        Excluded(HashSet::new())
    }
}

impl Lessons {
    /// No positions yet.
    pub fn new<G: CatalogGame>(game: &G) -> Lessons {
        Lessons {
            samples: Samples::new(),
            mirror: game.mirror(),
        }
    }

    /// Adds the positions of an exam that are not excluded. Returns the number of those that are.
    pub fn add<G: CatalogGame>(&mut self, game: &G, exam: &Exam<G>, excluded: &Excluded) -> usize {
        let mut left_out = 0;
        for question in exam.questions() {
            let features = features(game, question);
            if excluded.0.contains(&features) {
                left_out += 1;
            } else {
                self.samples.push(&sample(game, question, features));
            }
        }
        left_out
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Fills a batch with positions drawn uniformly, with replacement. The policy to learn is that of
    /// `own` without the wrong actions, if there is such a network, otherwise the perfect policy.
    pub fn draw(
        &self,
        rows: usize,
        own: Option<&mut FrozenNet>,
        draws: &mut Stream,
        batch: &mut TrainBatch,
    ) {
        let drawn: Vec<(SampleView<'_>, Option<&Mirror>)> = (0..rows)
            .map(|_| {
                let place = below(draws.next_u64(), self.len() as u32);
                let mirror = self.mirror.as_ref();
                let mirror = mirror.filter(|_| draws.next_u64() & 1 == 1);
                (self.samples.get(place as usize), mirror)
            })
            .collect();
        let logits = own.map(|net| {
            let mut features = FeatureBatch::new();
            for &(sample, mirror) in &drawn {
                features.push_indices(inputs(sample, mirror));
            }
            let mut logits = Logits::new(*net.shape());
            net.evaluate(&features, &mut logits);
            logits
        });
        batch.clear();
        let mut shares = Vec::new();
        for (row, &(sample, mirror)) in drawn.iter().enumerate() {
            let actions = sample.actions.iter().map(|&action| match mirror {
                Some(mirror) => usize::from(mirror.actions[usize::from(action)]),
                None => usize::from(action),
            });
            shares.clear();
            match &logits {
                None => shares.extend_from_slice(sample.policy),
                Some(logits) => {
                    let policy = logits.policy(row);
                    shares.extend(actions.clone().map(|action| policy[action]));
                    keep_right(&mut shares, sample.policy);
                }
            }
            let policy = actions.zip(shares.iter().copied());
            let score = i32::from(sample.score);
            batch.push(inputs(sample, mirror), policy, sample.result, score);
        }
    }
}

/// How far a network is from exact results: means over positions.
pub struct Errors {
    /// Minus the logarithm of the probability of all right actions together.
    pub policy: f64,
    /// Minus the logarithm of the probability of the exact result.
    pub result: f64,
    /// The share of positions whose most probable result is the exact one.
    pub predicted: f64,
}

impl Errors {
    /// Measures a network on at most this many positions, evenly spread and not mirrored.
    pub fn of(net: &mut FrozenNet, lessons: &Lessons, most: usize) -> Errors {
        const CHUNK: usize = 256;
        let step = lessons.len().div_ceil(most).max(1);
        let samples: Vec<SampleView<'_>> = lessons.samples.iter().step_by(step).collect();
        let mut logits = Logits::new(*net.shape());
        let mut shares = Vec::new();
        let mut errors = Errors {
            policy: 0.0,
            result: 0.0,
            predicted: 0.0,
        };
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
        Errors {
            policy: errors.policy / count,
            result: errors.result / count,
            predicted: errors.predicted / count,
        }
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
fn features<G: CatalogGame>(game: &G, question: &Question<G::Position>) -> Vec<u16> {
    let mut features = Vec::new();
    game.inputs(&question.position, |index| features.push(index as u16));
    features.sort_unstable();
    features
}

/// The position of a question. Its score is unknown; a win counts as one point, a loss as minus one.
fn sample<G: CatalogGame>(
    game: &G,
    question: &Question<G::Position>,
    features: Vec<u16>,
) -> Sample {
    let best = question.best();
    let right = |verdict| u8::from(verdict == best.verdict);
    let rights: u32 = question
        .results
        .iter()
        .map(|one| u32::from(right(one.verdict)))
        .sum();
    let share = 1.0 / rights as f32;
    let results = question.results.iter();
    let value = Value::proven(best);
    Sample {
        features,
        actions: game
            .legal(&question.position)
            .iter()
            .map(|action| action.0)
            .collect(),
        policy: results
            .map(|one| share * f32::from(right(one.verdict)))
            .collect(),
        result: value.results(),
        score: value.score as i8,
    }
}

/// The inputs of a sample that are 1.
fn inputs<'a>(
    sample: SampleView<'a>,
    mirror: Option<&'a Mirror>,
) -> impl Iterator<Item = u32> + 'a {
    sample.features.iter().map(move |&set| match mirror {
        Some(mirror) => u32::from(mirror.inputs[usize::from(set)]),
        None => u32::from(set),
    })
}

#[cfg(test)]
mod tests {
    use jarmo::accuracy::HasExam;
    use jarmo::game::{Action, Game, Proven};
    use jarmo::games::ConnectFour;

    use super::*;

    /// A question about the position after a stone in this column. Only the first two columns win.
    fn question(game: &ConnectFour, column: u16) -> Exam<ConnectFour> {
        let mut position = game.start();
        game.play(&mut position, Action(column));
        let mut results = vec![Proven::loss(9); 7];
        results[..2].fill(Proven::win(9));
        let phase = game.phase(&position);
        let question = Question {
            position,
            phase,
            results,
        };
        Exam::new(game, "", vec![question])
    }

    #[test]
    fn positions_of_the_exam_and_their_mirror_images_are_left_out() {
        let game = ConnectFour::new(0);
        let excluded = Excluded::of(&game, &question(&game, 1));
        let mut lessons = Lessons::new(&game);
        for (column, left_out) in [(1, 1), (5, 1), (2, 0)] {
            let exam = question(&game, column);
            assert_eq!(lessons.add(&game, &exam, &excluded), left_out, "{column}");
        }
        assert_eq!(lessons.len(), 1);
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
