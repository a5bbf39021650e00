//! The blocks that a thread decoded last.

use std::cell::RefCell;

use super::BLOCK;

/// Blocks kept by each thread.
const KEPT: usize = 128;

/// A block: the number of its file in this process, and its number in the file.
pub(super) type Key = (u64, u64);

struct Cache {
    keys: [Option<Key>; KEPT],
    symbols: Box<[[u8; BLOCK]; KEPT]>,
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::new(Cache {
        keys: [None; KEPT],
        symbols: vec![[0; BLOCK]; KEPT].try_into().expect("the length is right"),
    });
}

/// One symbol of a block; `decode` writes all of them if this thread does not have the block.
pub(super) fn symbol(key: Key, at: usize, decode: impl FnOnce(&mut [u8; BLOCK])) -> u8 {
    CACHE.with_borrow_mut(|cache| {
        let slot = (key.1.wrapping_add(key.0.wrapping_mul(11)) % KEPT as u64) as usize;
        let symbols = &mut cache.symbols[slot];
        if cache.keys[slot] != Some(key) {
            cache.keys[slot] = None;
            decode(symbols);
            cache.keys[slot] = Some(key);
        }
        symbols[at]
    })
}
