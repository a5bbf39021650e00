//! The first layer on the processor. Its inputs are 0 or 1 and mostly 0, so it sums the weights of the
//! features that are 1 instead of multiplying.

use jarmo_core::net::FeatureBatch;

/// The output, `[rows, width]`. `weights` are `[features, width]`, `bias` is `[width]`.
pub(super) fn forward(weights: &[f32], bias: &[f32], batch: &FeatureBatch) -> Vec<f32> {
    let width = bias.len();
    let mut sums = bias.repeat(batch.len());
    for (row, sums) in sums.chunks_exact_mut(width).enumerate() {
        for &feature in batch.row(row) {
            add(sums, &weights[feature as usize * width..][..width]);
        }
    }
    sums
}

/// The gradients of weights and bias from those of the output.
pub(super) fn backward(gradients: &[f32], batch: &FeatureBatch, [features, width]: [usize; 2]) -> (Vec<f32>, Vec<f32>) {
    let (mut weights, mut bias) = (vec![0.0; features * width], vec![0.0; width]);
    for (row, gradients) in gradients.chunks_exact(width).enumerate() {
        add(&mut bias, gradients);
        for &feature in batch.row(row) {
            add(&mut weights[feature as usize * width..][..width], gradients);
        }
    }
    (weights, bias)
}

fn add(sums: &mut [f32], numbers: &[f32]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}
