//! Half floats (16 bits).

/// The smallest positive half.
const LEAST: f32 = 1.0 / (1 << 24) as f32;

/// Converts a half to a float.
pub(super) fn number(half: u16) -> f32 {
    let sign = u32::from(half >> 15) << 31;
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 1023));
    let size = match exponent {
        0 => (fraction as f32 * LEAST).to_bits(),
        31 => 255 << 23 | fraction << 13, // infinite, or none
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | size)
}

/// Converts a float to a half; `None` unless it is finite and exactly representable.
pub(super) fn exactly(number: f32) -> Option<u16> {
    let bits = number.to_bits();
    let sign = (bits >> 31 << 15) as u16;
    let (exponent, fraction) = (bits >> 23 & 255, bits & 0x7f_ffff);
    let size = match exponent {
        113..143 if fraction & 0x1fff == 0 => ((exponent - 112) << 10 | fraction >> 13) as u16,
        0..113 => {
            let count = number.abs() / LEAST;
            (count.fract() == 0.0).then_some(count as u16)?
        }
        _ => return None,
    };
    Some(sign | size)
}

#[cfg(test)]
mod tests {
    use super::{exactly, number};

    #[test]
    fn every_finite_half_is_a_number_that_is_exactly_this_half() {
        for half in (0..=u16::MAX).filter(|half| half >> 10 & 31 != 31) {
            assert_eq!(exactly(number(half)), Some(half));
        }
        assert_eq!([0x3c00, 0xc000, 0x7bff, 0x0001].map(number), [1.0, -2.0, 65504.0, 5.960_464_5e-8]);
        assert_eq!(number(0x7c00), f32::INFINITY);
        assert!(number(0x7e00).is_nan());
    }

    #[test]
    fn other_numbers_are_no_halves() {
        for other in [0.1, 1.0 + f32::EPSILON, 65505.0, 65536.0, 2.9e-8, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN] {
            assert_eq!(exactly(other), None, "{other}");
        }
    }
}
