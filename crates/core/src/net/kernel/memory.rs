//! Memory aligned to cache lines.

use std::ops::{Deref, DerefMut};

const LINE: usize = 64; // bytes

/// A slice of fixed length that starts on a cache line, so that no vector straddles two lines.
pub(in crate::net) struct Aligned<E> {
    data: Vec<E>, // never grows, so it never moves
    start: usize,
    len: usize,
}

impl<E: Copy + Default> Aligned<E> {
    /// A slice of default values.
    pub(in crate::net) fn new(len: usize) -> Aligned<E> {
        let data = vec![E::default(); len + LINE / size_of::<E>()];
        let start = data.as_ptr().align_offset(LINE);
        Aligned { data, start, len }
    }
}

impl<E: Copy + Default> From<&[E]> for Aligned<E> {
    fn from(slice: &[E]) -> Aligned<E> {
        let mut aligned = Aligned::new(slice.len());
        aligned.copy_from_slice(slice);
        aligned
    }
}

impl<E> Deref for Aligned<E> {
    type Target = [E];

    #[inline]
    fn deref(&self) -> &[E] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<E> DerefMut for Aligned<E> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.data[self.start..self.start + self.len]
    }
}
