//! Who wins the decided openings of jarmo: a strategy in two million positions. It is a crate of its own because a
//! registry takes at most 10 MB for one.

/// The proof of jarmo on the standard board, as a file of proofs.
pub const JARMO: &[u8] = include_bytes!("jarmo.proof");
