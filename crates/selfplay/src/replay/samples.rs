//! Samples as a struct of arrays, which means a few long vectors instead of many small objects.

use jarmo_core::encode::Mirror;

/// One position of a finished game with its training targets. Policy, result and point difference are those of the
/// player to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The indices of the features that are 1.
    pub features: &'a [u16],
    /// The indices of the legal actions, in ascending order.
    pub actions: &'a [u16],
    /// The policy target: a probability for each of `actions`.
    pub policy: &'a [f32],
    /// The value target: probabilities of win, draw and loss. It is a mixture of the game's result and the values
    /// that search expected.
    pub result: [f32; 3],
    /// The point difference at the end of the game.
    pub score: i8,
}

/// Samples in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    pub(super) features: Vec<u16>,
    pub(super) feature_ends: Vec<u32>, // [samples]: where each one's features end
    pub(super) actions: Vec<u16>,
    pub(super) policy: Vec<f32>,
    pub(super) action_ends: Vec<u32>, // [samples]: where each one's actions end
    pub(super) results: Vec<f32>,     // [samples, 3]
    pub(super) scores: Vec<i8>,
}

impl Samples {
    /// No samples yet.
    pub fn new() -> Samples {
        Samples::default()
    }

    /// Adds a sample.
    ///
    /// # Panics
    /// Panics unless there is one probability per action.
    pub fn push(&mut self, sample: Sample<'_>) {
        assert_eq!(sample.actions.len(), sample.policy.len(), "one probability per action");
        self.features.extend_from_slice(sample.features);
        self.feature_ends.push(self.features.len() as u32);
        self.actions.extend_from_slice(sample.actions);
        self.policy.extend_from_slice(sample.policy);
        self.action_ends.push(self.actions.len() as u32);
        self.results.extend_from_slice(&sample.result);
        self.scores.push(sample.score);
    }

    /// Adds the mirror image of a sample, with its actions in the order of the original.
    ///
    /// # Panics
    /// Panics unless there is one probability per action.
    pub fn push_mirrored(&mut self, sample: Sample<'_>, mirror: &Mirror) {
        let (features, actions) = (self.features.len(), self.actions.len());
        self.push(sample);
        for feature in &mut self.features[features..] {
            *feature = mirror.inputs[usize::from(*feature)];
        }
        for action in &mut self.actions[actions..] {
            *action = mirror.actions[usize::from(*action)];
        }
    }

    pub(crate) fn set_value(&mut self, index: usize, result: [f32; 3], score: i8) {
        self.results.as_chunks_mut().0[index] = result;
        self.scores[index] = score;
    }

    /// Removes all samples, but keeps the memory for new ones.
    pub fn clear(&mut self) {
        self.features.clear();
        self.feature_ends.clear();
        self.actions.clear();
        self.policy.clear();
        self.action_ends.clear();
        self.results.clear();
        self.scores.clear();
    }

    /// Appends other samples.
    pub fn extend(&mut self, other: &Samples) {
        let (features, actions) = (self.features.len() as u32, self.actions.len() as u32);
        self.features.extend_from_slice(&other.features);
        let ends = other.feature_ends.iter();
        self.feature_ends.extend(ends.map(|end| features + end));
        self.actions.extend_from_slice(&other.actions);
        self.policy.extend_from_slice(&other.policy);
        let ends = other.action_ends.iter();
        self.action_ends.extend(ends.map(|end| actions + end));
        self.results.extend_from_slice(&other.results);
        self.scores.extend_from_slice(&other.scores);
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The sample with this index.
    ///
    /// # Panics
    /// Panics unless `index < len()`.
    pub fn get(&self, index: usize) -> Sample<'_> {
        let part = |ends: &[u32]| {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            start as usize..ends[index] as usize
        };
        let actions = part(&self.action_ends);
        Sample {
            features: &self.features[part(&self.feature_ends)],
            actions: &self.actions[actions.clone()],
            policy: &self.policy[actions],
            result: self.results.as_chunks().0[index],
            score: self.scores[index],
        }
    }

    /// All samples in order.
    pub fn iter(&self) -> impl Iterator<Item = Sample<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}
