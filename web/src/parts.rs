//! Agent files as the page loads them.

/// The bytes at even places, then those at odd ones. Of weights of two bytes, each half compresses better by itself: the
/// files get a tenth smaller.
pub fn parted(bytes: &[u8]) -> Vec<u8> {
    let from = |first: usize| bytes.iter().skip(first).step_by(2);
    from(0).chain(from(1)).copied().collect()
}

/// What was [`parted`].
pub(crate) fn joined(parts: &[u8]) -> Vec<u8> {
    let (even, odd) = parts.split_at(parts.len().div_ceil(2));
    (0..parts.len()).map(|place| if place % 2 == 0 { even[place / 2] } else { odd[place / 2] }).collect()
}

#[cfg(test)]
mod tests {
    use super::{joined, parted};

    #[test]
    fn parts_are_joined_again() {
        assert_eq!(parted(b"abcde"), b"acebd");
        for text in ["", "a", "ab", "abc", "abcdef"] {
            assert_eq!(joined(&parted(text.as_bytes())), text.as_bytes());
        }
    }
}
