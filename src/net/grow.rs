//! A network that has learned, carried on as a larger one.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis, Slice};

use super::config::{NetConfig, NetConfigError, NetShape};
use super::weights::Weights;
use crate::random::Stream;

impl NetConfig {
    /// Refuses sizes that a network of size `from` cannot be grown to.
    pub fn check_growth(&self, from: NetConfig) -> Result<(), NetConfigError> {
        let heads = |net: &NetConfig| match *net {
            NetConfig::Mlp { .. } => None,
            NetConfig::Conv { head_channels, .. } => Some(head_channels),
        };
        let (before, after) = (heads(&from), heads(self));
        let is_larger = self.width() >= from.width() && self.blocks() >= from.blocks();
        if is_larger && after >= before && after.is_some() == before.is_some() {
            return Ok(());
        }
        Err(NetConfigError(format!(
            "its network is {from}, and the settings want {self}; a network can grow, but not shrink or turn \
             into another kind: leave net.* out to keep it as it is"
        )))
    }
}

impl Weights {
    /// A larger network that gives the same answers. What was there takes nothing from what is new, and
    /// new blocks hand on what they are given; all else that is new starts as noise, for learning to find
    /// a use for it.
    ///
    /// # Panics
    /// Panics if the architecture is not valid.
    pub fn grown(&self, config: NetConfig, stream: &mut Stream) -> Result<Weights, NetConfigError> {
        config.check_growth(self.config())?;
        let shape = *self.shape();
        let mut weights = Weights::random(config, shape, stream);
        for plan in config.tensors(&shape) {
            let new = weights.numbers_mut(&plan.name);
            let Some(old) = self.tensors().get(&plan.name) else {
                if !plan.name.contains(".first.") {
                    new.fill(0.0); // what a new block would add to what it is given
                }
                continue;
            };
            let (dims, outputs) = axes(&plan.name, &plan.dims, &config, &shape);
            let (old_dims, _) = axes(&plan.name, &old.dims, &config, &shape);
            let mut new = ArrayViewMutD::from_shape(dims, new).expect("all numbers");
            let old = ArrayViewD::from_shape(old_dims, &old.data).expect("all numbers");
            new.slice_axis_mut(outputs, Slice::from(..old.len_of(outputs)))
                .fill(0.0);
            new.slice_each_axis_mut(|axis| Slice::from(..old.len_of(axis.axis)))
                .assign(&old);
        }
        Ok(weights)
    }
}

/// The dimensions of a tensor such that growth makes some of them longer and changes no other place, and the
/// axis of the outputs.
fn axes(name: &str, dims: &[usize], config: &NetConfig, shape: &NetShape) -> (Vec<usize>, Axis) {
    let in_cells = matches!(config, NetConfig::Conv { .. });
    match *dims {
        // All channels of a cell, then those of the next.
        [inputs, outputs] if in_cells && is_output(name) => {
            let cells = shape.cells();
            (vec![cells, inputs / cells, outputs], Axis(2))
        }
        [_, _] => (dims.to_vec(), Axis(1)),
        _ => (dims.to_vec(), Axis(0)),
    }
}

fn is_output(name: &str) -> bool {
    ["policy.", "result.", "score."]
        .iter()
        .any(|head| name.starts_with(head))
}
