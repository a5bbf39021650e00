//! Logits → probabilities.

/// Turns logits into probabilities that add up to 1. An empty slice stays empty.
pub fn softmax(logits: &mut [f32]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - largest).exp();
        sum += *logit;
    }
    for share in logits {
        *share /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::softmax;

    #[test]
    fn shares_add_up_and_large_logits_do_not_overflow() {
        let mut shares = [1000.0, 1000.0 + std::f32::consts::LN_2, 0.0];
        softmax(&mut shares);
        for (share, expected) in shares.iter().zip([1.0 / 3.0, 2.0 / 3.0, 0.0]) {
            assert!((share - expected).abs() < 1e-4, "{shares:?}");
        }
        softmax(&mut []);
    }
}
