//! Noise for the root. The caller provides the random bits.

/// A sample of the standard Gumbel distribution, from 64 random bits.
#[inline]
pub fn gumbel_noise(bits: u64) -> f32 {
    let uniform = open_uniform(bits);
    (-(-uniform.ln()).ln()) as f32
}

/// Writes a sample of the symmetric Dirichlet distribution with concentration `alpha` to `out`. `bits` returns 64
/// random bits at a time.
///
/// # Panics
/// Panics unless `alpha` is positive.
pub fn dirichlet(alpha: f64, out: &mut [f32], mut bits: impl FnMut() -> u64) {
    assert!(alpha > 0.0, "the concentration must be positive");
    // Gamma variables divided by their sum. For small alpha they are too small for a float, so we use their
    // logarithms.
    let mut top = f64::NEG_INFINITY;
    let logs: Vec<f64> = out
        .iter()
        .map(|_| {
            let log = log_gamma_variable(alpha, &mut bits);
            top = top.max(log);
            log
        })
        .collect();
    let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
    for (share, log) in out.iter_mut().zip(logs) {
        *share = ((log - top).exp() / sum) as f32;
    }
}

/// The logarithm of a gamma variable with this shape and scale 1 (Marsaglia and Tsang, 2000).
fn log_gamma_variable(shape: f64, bits: &mut impl FnMut() -> u64) -> f64 {
    if shape < 1.0 {
        // G(shape) has the distribution of G(shape + 1) · U^(1 / shape), with U uniform.
        return log_gamma_variable(shape + 1.0, bits) + open_uniform(bits()).ln() / shape;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = {
            let radius = (-2.0 * open_uniform(bits()).ln()).sqrt();
            radius * (std::f64::consts::TAU * open_uniform(bits())).cos()
        };
        let cube = (1.0 + c * normal).powi(3);
        if cube > 0.0 && open_uniform(bits()).ln() < 0.5 * normal * normal + d - d * cube + d * cube.ln() {
            return (d * cube).ln();
        }
    }
}

/// A uniform number strictly between 0 and 1.
#[inline]
fn open_uniform(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}
