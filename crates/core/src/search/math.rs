//! `exp` and `ln`, computed only by correctly rounded operations. They therefore return the same bits on every
//! machine, which the platform's functions do not guarantee. Loops over rows have no branches, so that the compiler
//! vectorizes them. Only sums are added one by one, because their bits depend on the order.

/// `exp` returns 0 below this.
const MIN_EXPONENT: f32 = -87.0;

/// `e^x` for `x` below 88, with a relative error of about one part in ten million.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    debug_assert!(x < 88.0, "overflow");
    let (is_zero, x) = if x < MIN_EXPONENT { (true, 0.0) } else { (false, x) };
    // x = n ln 2 + r with |r| <= ln 2 / 2. n ln 2 is subtracted in two parts: LN_2_HIGH has so few bits that its
    // product with n is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Adding this leaves no bits for a fraction, so the sum is rounded to an integer.
    const ROUNDER: f32 = 12_582_912.0;
    let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
    let n = rounded - ROUNDER;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    // The Taylor series of e^r. The first omitted term is below 2e-8.
    let mut sum = 1.0 / 5040.0;
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * r + coefficient;
    }
    // The lowest bits of `rounded` are those of n, which becomes the exponent of a floating-point number.
    let power_of_two = f32::from_bits(rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23);
    if is_zero { 0.0 } else { sum * power_of_two }
}

/// The largest of these numbers, none of which is NaN.
#[inline]
pub(super) fn largest(numbers: &[f32]) -> f32 {
    let (lanes, rest) = numbers.as_chunks::<8>();
    let larger = |one: f32, other: f32| if one > other { one } else { other };
    let tops =
        lanes.iter().fold([f32::NEG_INFINITY; 8], |tops, lane| std::array::from_fn(|at| larger(lane[at], tops[at])));
    tops.into_iter().chain(rest.iter().copied()).fold(f32::NEG_INFINITY, larger)
}

/// Divides numbers by their sum.
#[inline]
pub(super) fn normalize(numbers: &mut [f32]) {
    let sum: f32 = numbers.iter().sum();
    numbers.iter_mut().for_each(|number| *number /= sum);
}

/// The natural logarithm of a positive normal number.
#[inline]
pub(super) fn ln(x: f32) -> f32 {
    debug_assert!(x >= f32::MIN_POSITIVE && x.is_finite(), "positive and normal");
    // x = m 2^e with m between sqrt(1/2) and sqrt(2); ln m = 2 artanh s with s = (m - 1) / (m + 1).
    const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF_BITS); // negative below sqrt(1/2)
    let exponent = (shifted as i32) >> 23;
    let mantissa = f32::from_bits((shifted & 0x007f_ffff) + SQRT_HALF_BITS);
    let m = f64::from(mantissa);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for odd in [13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / odd;
    }
    (2.0 * s * sum + f64::from(exponent) * std::f64::consts::LN_2) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_to_the_platforms() {
        for step in -8700..=300 {
            let x = step as f32 / 100.0;
            let (ours, theirs) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / theirs - 1.0).abs() < 3e-7, "exp({x}): {ours} {theirs}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e9), 0.0);
    }

    #[test]
    fn ln_is_close_to_the_platforms() {
        let mut x = f32::MIN_POSITIVE;
        while x < 1e30 {
            let (ours, theirs) = (f64::from(ln(x)), f64::from(x).ln());
            let apart = (ours - theirs).abs();
            assert!(apart < 1e-7 * theirs.abs().max(1.0), "ln({x}): {ours} {theirs}");
            x *= 1.37;
        }
        assert_eq!(ln(1.0), 0.0);
    }
}
