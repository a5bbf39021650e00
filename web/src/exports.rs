//! What JavaScript calls. Messages and answers are bytes in the [buffer](crate::buffer).
#![allow(unsafe_code, reason = "names and imports of WebAssembly; no block is unsafe")]

use std::cell::RefCell;
use std::time::Duration;

use crate::buffer::{put, taken};
use crate::{Answer, Tab};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Milliseconds since some moment that stays the same.
    safe fn now() -> f64;
}

thread_local! {
    static TAB: RefCell<Tab> = RefCell::new(Tab::new(clock));
}

fn clock() -> Duration {
    Duration::from_secs_f64(now() / 1000.0)
}

/// Answers the message in the buffer, an [`crate::Asked`], and returns the length of the answer, an [`Answer`].
#[unsafe(no_mangle)]
extern "C" fn ask() -> usize {
    let answer = match serde_json::from_slice(&taken()) {
        Ok(asked) => TAB.with_borrow_mut(|tab| tab.answer(&asked)),
        Err(error) => Answer { status: 400, text: error.to_string() },
    };
    put(serde_json::to_vec(&answer).expect("an answer is plain data"))
}

/// Takes the agent file in the buffer, which begins with a name of this many bytes: that of a game. Without more bytes
/// than these, there is no agent.
#[unsafe(no_mangle)]
extern "C" fn take_agent(name: usize) {
    let (name, bytes) = named(name);
    TAB.with_borrow_mut(|tab| tab.take_agent(&name, Some(&*bytes).filter(|bytes| !bytes.is_empty())));
}

/// The same with an agent file of the person; returns the length of its name, which is in the buffer.
#[unsafe(no_mangle)]
extern "C" fn take_own(name: usize) -> usize {
    let (name, bytes) = named(name);
    put(TAB.with_borrow_mut(|tab| tab.take_own(&name, bytes)).into_bytes())
}

/// Thinks; 0 if there is nothing to think about, 2 if people want a pause then.
#[unsafe(no_mangle)]
extern "C" fn think() -> u32 {
    TAB.with_borrow_mut(Tab::think) as u32
}

fn named(length: usize) -> (String, Vec<u8>) {
    let mut name = taken();
    let bytes = name.split_off(length);
    (String::from_utf8_lossy(&name).into_owned(), bytes)
}
