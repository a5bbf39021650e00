//! Student's t, the normal distribution, and bisection.

/// Two-sided 95% quantiles of Student's t by degrees of freedom.
const T_95: [(f64, f64); 14] = [
    (1.0, 12.706),
    (2.0, 4.303),
    (3.0, 3.182),
    (4.0, 2.776),
    (5.0, 2.571),
    (6.0, 2.447),
    (8.0, 2.306),
    (10.0, 2.228),
    (15.0, 2.131),
    (20.0, 2.086),
    (30.0, 2.042),
    (60.0, 2.000),
    (120.0, 1.980),
    (f64::INFINITY, Z_95),
];

/// The two-sided 95% quantile of the normal distribution.
pub(super) const Z_95: f64 = 1.959_964;

/// The two-sided 95% quantile of Student's t with at least 1 degree of freedom. Between the rows of the table, it is
/// interpolated linearly in the reciprocal of the degrees; the error is below half a percent.
pub(super) fn t_95(degrees: f64) -> f64 {
    let degrees = degrees.max(1.0);
    let upper = T_95.partition_point(|&(row, _)| row < degrees);
    let (above, t_above) = T_95[upper];
    if upper == 0 {
        return t_above;
    }
    let (below, t_below) = T_95[upper - 1];
    let share = (1.0 / below - 1.0 / degrees) / (1.0 / below - 1.0 / above);
    t_below + share * (t_above - t_below)
}

/// The probability that a standard normal variable is below `x`.
pub(super) fn normal_cdf(x: f64) -> f64 {
    const FAR: f64 = 8.0; // beyond this the result is 0 or 1 to fifteen digits
    if x.abs() > FAR {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    // Φ(x) = 1/2 + φ(x) (x + x³/3 + x⁵/(3·5) + …)
    let mut term = x;
    let mut sum = x;
    let mut odd = 1.0;
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0.5 + density * sum).clamp(0.0, 1.0)
}

/// The point between two numbers below which `is_below` is true, found by this many halvings.
pub(super) fn bisect((mut low, mut high): (f64, f64), halvings: u32, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_agrees_with_printed_tables() {
        for (x, expected) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (-1.959_964, 0.025), (3.0, 0.998_650_102), (-6.0, 9.865_876e-10)]
        {
            let found = normal_cdf(x);
            assert!((found - expected).abs() < 1e-8, "Φ({x}) = {found}");
        }
        assert_eq!((normal_cdf(-50.0), normal_cdf(50.0)), (0.0, 1.0));
    }

    #[test]
    fn student_quantiles_agree_with_printed_tables_between_the_rows_too() {
        for (degrees, expected) in [
            (0.2, 12.706),
            (1.0, 12.706),
            (7.0, 2.365),
            (12.0, 2.179),
            (25.0, 2.060),
            (40.0, 2.021),
            (1000.0, 1.962),
            (f64::INFINITY, Z_95),
        ] {
            let found = t_95(degrees);
            assert!((found / expected - 1.0).abs() < 0.005, "t({degrees}) = {found}");
        }
    }
}
