//! The buffer in which JavaScript leaves messages and finds answers. The program that learns has one, too.
#![allow(unsafe_code, reason = "names of WebAssembly; no block is unsafe")]

use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a message and returns where it is.
#[unsafe(no_mangle)]
extern "C" fn room(bytes: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = vec![0; bytes];
        buffer.as_mut_ptr()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    BUFFER.with_borrow(|buffer| buffer.as_ptr())
}

/// The message.
pub(crate) fn taken() -> Vec<u8> {
    BUFFER.with_borrow_mut(std::mem::take)
}

/// Leaves an answer, and returns its length.
pub(crate) fn put(bytes: Vec<u8>) -> usize {
    let length = bytes.len();
    BUFFER.set(bytes);
    length
}
