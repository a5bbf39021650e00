//! Packed tables, in a sixth (tammi) to a thirty-fifth (jarmo) of the space of the tables that they are made from.
//!
//! A layer is one or several matrices of *symbols*, numbers below 81. What a symbol says is up to the game: four results
//! without distances in jarmo ([`four`]), a value with its distance in tammi. A matrix is cut into blocks of [`BLOCK`]
//! symbols, each coded by itself (`coder.rs`), so that a lookup decodes one.

mod cache;
mod coder;
mod file;
pub(super) mod four;
mod write;

pub(super) use file::PackedLayer;
pub use write::pack;

/// Symbols in a block.
const BLOCK: usize = 1024;
