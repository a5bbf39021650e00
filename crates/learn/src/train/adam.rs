//! AdamW on plain numbers, so that its moments are saved and restored exactly. The constants are the
//! usual ones.

use super::backprop::Gradients;
use jarmo_core::net::Weights;

/// Decay rates of the first and second moments.
pub(super) const BETA1: f32 = 0.9;
pub(super) const BETA2: f32 = 0.999;

/// Added to the root of the second moment to avoid a division by zero.
pub(super) const EPSILON: f32 = 1e-8;

/// Weight decay per step, as a factor of the learning rate. Biases do not decay.
pub(super) const WEIGHT_DECAY: f32 = 0.01;

/// AdamW's moments: running means of the gradients and of their squares.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Adam {
    pub(super) first: Weights,
    pub(super) second: Weights,
    pub(super) steps: u64,
}

impl Adam {
    /// Zero moments for weights of this shape.
    pub(super) fn new(weights: &Weights) -> Adam {
        let mut zeros = weights.clone();
        for (_, tensor) in zeros.tensors_mut() {
            tensor.data.fill(0.0);
        }
        Adam { first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// Takes one step. Gradients are multiplied by `scale` first.
    pub(super) fn step(&mut self, rate: f32, weights: &mut Weights, gradients: &Gradients, scale: f32) {
        self.steps += 1;
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let correct1 = 1.0 - BETA1.powi(steps);
        let correct2 = 1.0 - BETA2.powi(steps);
        let means = self.first.tensors_mut().zip(self.second.tensors_mut());
        for ((name, weights), ((_, first), (_, second))) in weights.tensors_mut().zip(means) {
            let keep = if name.ends_with(".bias") { 1.0 } else { 1.0 - rate * WEIGHT_DECAY };
            let numbers = weights.data.iter_mut().zip(&gradients[name]);
            let means = first.data.iter_mut().zip(&mut second.data);
            for ((weight, gradient), (first, second)) in numbers.zip(means) {
                let gradient = gradient * scale;
                *first += (1.0 - BETA1) * (gradient - *first);
                *second += (1.0 - BETA2) * (gradient * gradient - *second);
                let root = (*second / correct2).sqrt() + EPSILON;
                *weight = *weight * keep - rate * (*first / correct1) / root;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jarmo_core::net::{NetSettings, NetShape};
    use jarmo_core::random::stream;

    /// Three steps of one weight and one bias, by the formula in 64 bits.
    #[test]
    fn a_step_follows_the_published_formula() {
        let shape = NetShape { features: 1, actions: 1, points: 0 };
        let config = NetSettings { width: 32, blocks: 0 };
        let mut weights = Weights::random(config, shape, &mut stream(1, 0));
        let mut adam = Adam::new(&weights);
        let mut expected = ["stem.weight", "stem.bias"].map(|name| (name, f64::from(weights.get(name)[7])));
        let (mut first, mut second) = (0.0, 0.0);
        for (step, (gradient, scale)) in [(4.0, 0.5), (-1.0, 1.0), (3.0, 1.0)].into_iter().enumerate() {
            let gradients =
                weights.tensors().iter().map(|(name, tensor)| (name.clone(), vec![gradient as f32; tensor.data.len()]));
            let gradients = gradients.collect();
            adam.step(0.1, &mut weights, &gradients, scale as f32);
            let gradient = gradient * scale;
            first = 0.9 * first + 0.1 * gradient;
            second = 0.999 * second + 0.001 * gradient * gradient;
            let steps = step as i32 + 1;
            let mean = first / (1.0 - 0.9_f64.powi(steps));
            let square: f64 = second / (1.0 - 0.999_f64.powi(steps));
            for (name, expected) in &mut expected {
                let decay = if *name == "stem.weight" { 0.001 } else { 0.0 };
                *expected -= decay * *expected + 0.1 * mean / square.sqrt();
                let weight = f64::from(weights.get(name)[7]);
                assert!((weight - *expected).abs() < 1e-4, "{name}: {weight}, not {expected}");
            }
        }
    }
}
