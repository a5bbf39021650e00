//! The set features of a batch of positions.

use crate::encode::Encode;

/// The indices of the features that are 1, as one list per position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureBatch {
    indices: Vec<u32>,
    ends: Vec<usize>, // where each position's list ends
}

impl FeatureBatch {
    /// An empty batch.
    pub fn new() -> FeatureBatch {
        FeatureBatch::default()
    }

    /// Removes all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.ends.clear();
    }

    /// Adds a position.
    #[inline]
    pub fn push<G: Encode>(&mut self, game: &G, position: &G::Position) {
        game.inputs(position, |index| self.indices.push(index as u32));
        self.ends.push(self.indices.len());
    }

    /// Adds a position given by its set features.
    pub fn push_indices(&mut self, indices: impl IntoIterator<Item = u32>) {
        self.indices.extend(indices);
        self.ends.push(self.indices.len());
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the batch holds no position.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The set features of a position.
    #[inline]
    pub fn row(&self, row: usize) -> &[u32] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.indices[start..self.ends[row]]
    }
}
