//! Growing a trained network.

use super::own::NetKind;
use super::settings::{NetError, NetSettings, NetShape};
use super::weights::Weights;
use crate::random::Stream;

impl Weights {
    /// A larger network with the same outputs. Old units take no input from new ones, and new blocks
    /// are the identity. All other new weights are random.
    ///
    /// # Panics
    /// Panics if the size is not valid.
    pub fn grown(&self, settings: NetSettings, stream: &mut Stream) -> Result<Weights, NetError> {
        let NetKind::BuiltIn(from) = self.net() else {
            let text = "only the built-in network grows, not one of one's own";
            return Err(NetError(text.to_owned()));
        };
        settings.check_growth(*from)?;
        let mut weights = Weights::random(settings, *self.shape(), stream);
        for (name, tensor) in weights.tensors_mut() {
            let Some(old) = self.tensors().get(name) else {
                tensor.data.fill(0.0); // with these weights a residual block is the identity
                continue;
            };
            // A row holds all outputs of one input; a bias is one row.
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

    /// The same network with more inputs, which it ignores: their weights are 0. `None` for a network of one's own.
    pub(super) fn with_inputs(&self, features: usize) -> Option<Weights> {
        let NetKind::BuiltIn(settings) = self.net() else { return None };
        let mut tensors = self.tensors().clone();
        let first = tensors.get_mut("stem.weight").expect("every network has a first layer");
        first.data.resize(features * settings.width, 0.0);
        first.dims[0] = features;
        Some(Weights::new(*settings, NetShape { features, ..*self.shape() }, tensors).expect("only inputs were added"))
    }
}
