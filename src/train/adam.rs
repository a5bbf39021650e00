//! AdamW on plain numbers, so that its memory is saved and restored bit by bit.

use serde::{Deserialize, Serialize};

use super::backprop::Gradients;
use super::learner::Numbers;

/// Settings of AdamW.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdamConfig {
    /// How much of the mean gradient is kept from step to step.
    pub beta1: f32,
    /// How much of the mean squared gradient is kept.
    pub beta2: f32,
    /// Added to the root of the mean square, so that nothing is divided by zero.
    pub epsilon: f32,
    /// How much smaller a weight gets in a step, times the learning rate. Biases keep their size.
    pub weight_decay: f32,
}

/// Where AdamW stands: means of gradients and of their squares.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    pub(super) first: Numbers,
    pub(super) second: Numbers,
    pub(super) steps: u64,
}

impl Adam {
    /// Nothing seen yet, for weights of these sizes.
    pub(super) fn new(weights: &Numbers) -> Adam {
        let zeros: Numbers = weights
            .iter()
            .map(|(name, numbers)| (name.clone(), vec![0.0; numbers.len()]))
            .collect();
        Adam {
            first: zeros.clone(),
            second: zeros,
            steps: 0,
        }
    }

    /// One step down the gradients, each multiplied by `scale` first.
    pub(super) fn step(
        &mut self,
        config: &AdamConfig,
        rate: f32,
        weights: &mut Numbers,
        gradients: &Gradients,
        scale: f32,
    ) {
        self.steps += 1;
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let correct1 = 1.0 - config.beta1.powi(steps);
        let correct2 = 1.0 - config.beta2.powi(steps);
        for (name, weights) in weights.iter_mut() {
            let keep = if name.ends_with(".bias") {
                1.0
            } else {
                1.0 - rate * config.weight_decay
            };
            let gradients = &gradients[name];
            let first = self.first.get_mut(name).expect("means of every tensor");
            let second = self.second.get_mut(name).expect("means of every tensor");
            for (((weight, first), second), gradient) in
                weights.iter_mut().zip(first).zip(second).zip(gradients)
            {
                let gradient = gradient * scale;
                *first += (1.0 - config.beta1) * (gradient - *first);
                *second += (1.0 - config.beta2) * (gradient * gradient - *second);
                let root = (*second / correct2).sqrt() + config.epsilon;
                *weight = *weight * keep - rate * (*first / correct1) / root;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps computed by hand with beta1 0.5, beta2 0.75, rate 0.1, decay 0.1.
    #[test]
    fn a_step_follows_the_published_formula() {
        let config = AdamConfig {
            beta1: 0.5,
            beta2: 0.75,
            epsilon: 0.0,
            weight_decay: 0.1,
        };
        let mut weights = Numbers::from([
            ("a.bias".to_owned(), vec![1.0]),
            ("a.weight".to_owned(), vec![1.0]),
        ]);
        let mut adam = Adam::new(&weights);
        let gradients = |number: f32| {
            Gradients::from([
                ("a.bias".to_owned(), vec![number]),
                ("a.weight".to_owned(), vec![number]),
            ])
        };
        // The first step goes `rate` in the direction of the sign, whatever the size.
        adam.step(&config, 0.1, &mut weights, &gradients(4.0), 0.5);
        assert!((weights["a.bias"][0] - 0.9).abs() < 1e-6);
        assert!((weights["a.weight"][0] - 0.89).abs() < 1e-6);
        adam.step(&config, 0.1, &mut weights, &gradients(-1.0), 1.0);
        // first = 1 + 0.5 * (-1 - 1) = 0; the weight moves by its decay alone.
        assert!((weights["a.bias"][0] - 0.9).abs() < 1e-6);
        assert!((weights["a.weight"][0] - 0.89 * 0.99).abs() < 1e-6);
        // first = 1.5, corrected by 0.875; second = 1 + 0.25 * (9 - 1) = 3, corrected by 0.578125.
        adam.step(&config, 0.1, &mut weights, &gradients(3.0), 1.0);
        let step = 0.1 * (1.5 / 0.875) / (3.0_f32 / 0.578_125).sqrt();
        assert!((weights["a.bias"][0] - (0.9 - step)).abs() < 1e-6);
        assert!((weights["a.weight"][0] - (0.89 * 0.99 * 0.99 - step)).abs() < 1e-6);
    }
}
