//! The page of `play` without a server: a worker beside the page runs this crate as WebAssembly.
//!
//! [`Tab`] answers the messages of the page; the sessions, texts, lessons and puzzles are those of `jarmo_session`.

#[cfg(target_family = "wasm")]
mod buffer;
#[cfg(target_family = "wasm")]
mod exports;
mod parts;
mod tab;

pub use parts::parted;
pub use tab::{Answer, Asked, LACKS_AGENT, NOTHING_NEW, Tab, Thinking};
