//! A network that has learned, carried on as a larger one.

use super::config::{NetConfig, NetError};
use super::weights::Weights;
use crate::random::Stream;

impl Weights {
    /// A larger network that gives the same answers. What was there takes nothing from what is new, and
    /// new blocks hand on what they are given; all else that is new starts as noise, for learning to find
    /// a use for it.
    ///
    /// # Panics
    /// Panics if the size is not valid.
    pub fn grown(&self, config: NetConfig, stream: &mut Stream) -> Result<Weights, NetError> {
        config.check_growth(self.config())?;
        let mut weights = Weights::random(config, *self.shape(), stream);
        for (name, tensor) in weights.tensors_mut() {
            let Some(old) = self.tensors().get(name) else {
                tensor.data.fill(0.0); // what a new block would add to what it is given
                continue;
            };
            // A row is all outputs of an input; a bias is one row.
            let (outputs, old_outputs) = (tensor.outputs(), old.outputs());
            let mut old_rows = old.data.chunks_exact(old_outputs);
            for row in tensor.data.chunks_exact_mut(outputs) {
                let there = &mut row[..old_outputs];
                match old_rows.next() {
                    Some(old_row) => there.copy_from_slice(old_row),
                    None => there.fill(0.0),
                }
            }
        }
        Ok(weights)
    }
}
