//! Bytes that threads share: the only unsafe code of the lab.
#![allow(unsafe_code)]

use std::sync::atomic::AtomicU8;

/// The same bytes, for several threads.
pub(super) fn atomics(bytes: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: `AtomicU8` has the size, the alignment and the values of `u8`, and the bytes are borrowed for
    // writing for as long as the result lives, so that nobody reads or writes them otherwise.
    unsafe { &*(std::ptr::from_mut(bytes) as *const [AtomicU8]) }
}
