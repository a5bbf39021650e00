//! The set features of a batch of positions.

use crate::encode::Encode;
use crate::game::Mask;

/// The indices of the features that are 1, as one list per position; for a network on a device also the legal actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureBatch {
    indices: Vec<u32>,
    ends: Vec<usize>, // where each position's list ends
    legal: Vec<u32>,
    legal_ends: Vec<usize>, // likewise, or empty
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
        self.legal.clear();
        self.legal_ends.clear();
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

    /// Adds the legal actions of the position that was added last.
    pub fn push_legal(&mut self, legal: &impl Mask) {
        self.legal.extend(legal.iter().map(|action| u32::from(action.0)));
        self.legal_ends.push(self.legal.len());
    }

    /// Adds the positions of another batch.
    pub fn extend(&mut self, other: &FeatureBatch) {
        let (indices, legal) = (self.indices.len(), self.legal.len());
        self.indices.extend_from_slice(&other.indices);
        self.ends.extend(other.ends.iter().map(|end| indices + end));
        self.legal.extend_from_slice(&other.legal);
        self.legal_ends.extend(other.legal_ends.iter().map(|end| legal + end));
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
        part(&self.indices, &self.ends, row)
    }

    /// The legal actions of a position, in ascending order, if they were added.
    pub fn legal(&self, row: usize) -> Option<&[u32]> {
        (!self.legal_ends.is_empty()).then(|| part(&self.legal, &self.legal_ends, row))
    }
}

/// The list of a position.
#[inline]
fn part<'a>(all: &'a [u32], ends: &[usize], row: usize) -> &'a [u32] {
    let start = row.checked_sub(1).map_or(0, |before| ends[before]);
    &all[start..ends[row]]
}
