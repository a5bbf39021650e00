//! Samples side by side: few long rows of numbers instead of many small objects.

/// One position of a finished game with what a network should say about it. Everything is for the
/// player to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The set features.
    pub features: Vec<u16>,
    /// Every legal action, lowest first.
    pub actions: Vec<u16>,
    /// The share of each of them in the policy that search came to.
    pub policy: Vec<f32>,
    /// Probabilities of win, draw and loss to learn: those of the end of the game, or what search
    /// expected on the way there.
    pub result: [f32; 3],
    /// Own points minus the opponent's at the end.
    pub score: i8,
    /// How far search moved the policy away from the network's: the divergence in nats.
    pub surprise: f32,
}

/// A [`Sample`] where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleView<'a> {
    /// See [`Sample::features`].
    pub features: &'a [u16],
    /// See [`Sample::actions`].
    pub actions: &'a [u16],
    /// See [`Sample::policy`].
    pub policy: &'a [f32],
    /// See [`Sample::result`].
    pub result: [f32; 3],
    /// See [`Sample::score`].
    pub score: i8,
    /// See [`Sample::surprise`].
    pub surprise: f32,
}

/// Any number of samples, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    pub(super) features: Vec<u16>,
    pub(super) feature_ends: Vec<u32>, // where each sample's features end
    pub(super) actions: Vec<u16>,
    pub(super) policy: Vec<f32>,
    pub(super) action_ends: Vec<u32>, // where each sample's actions end
    pub(super) results: Vec<f32>,     // win, draw, loss of each
    pub(super) scores: Vec<i8>,
    pub(super) surprises: Vec<f32>,
}

impl Samples {
    /// No samples yet.
    pub fn new() -> Samples {
        Samples::default()
    }

    /// Adds a sample.
    ///
    /// # Panics
    /// Panics unless every action has a share.
    pub fn push(&mut self, sample: &Sample) {
        assert_eq!(sample.actions.len(), sample.policy.len(), "a share each");
        self.features.extend_from_slice(&sample.features);
        self.feature_ends.push(self.features.len() as u32);
        self.actions.extend_from_slice(&sample.actions);
        self.policy.extend_from_slice(&sample.policy);
        self.action_ends.push(self.actions.len() as u32);
        self.results.extend_from_slice(&sample.result);
        self.scores.push(sample.score);
        self.surprises.push(sample.surprise);
    }

    /// Adds other samples after these.
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
        self.surprises.extend_from_slice(&other.surprises);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// A sample.
    ///
    /// # Panics
    /// Panics unless `index < len()`.
    pub fn get(&self, index: usize) -> SampleView<'_> {
        let part = |ends: &[u32]| {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            start as usize..ends[index] as usize
        };
        let actions = part(&self.action_ends);
        SampleView {
            features: &self.features[part(&self.feature_ends)],
            actions: &self.actions[actions.clone()],
            policy: &self.policy[actions],
            result: self.results.as_chunks().0[index],
            score: self.scores[index],
            surprise: self.surprises[index],
        }
    }

    /// All samples in order.
    pub fn iter(&self) -> impl Iterator<Item = SampleView<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}
